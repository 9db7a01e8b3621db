"""What decides word vectors by counting: settings of ``lmkit embed fit``; free of numba."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, get_args

from lmkit.embed.predict.config import LARGEST, MOST
from lmkit.errors import UserError

CountArch = Literal["glove", "ppmi", "hellinger", "eigenwords"]
Weighting = Literal["inverse", "linear", "flat"]

DEFAULT_MEMORY = 2 << 30
"""Bytes that counting may take."""

_WINDOWS: dict[CountArch, int] = {"glove": 10, "ppmi": 5, "hellinger": 5, "eigenwords": 2}
_WEIGHTINGS: dict[CountArch, Weighting] = {
    "glove": "inverse",
    "ppmi": "linear",
    "hellinger": "flat",
    "eigenwords": "flat",
}
_POWERS: dict[CountArch, float] = {"glove": 0.0, "ppmi": 0.5, "hellinger": 1.0, "eigenwords": 0.0}

_MEANS: dict[CountArch, tuple[str, ...]] = {
    "glove": ("epochs", "x_max", "alpha", "learning_rate"),
    "ppmi": ("shift", "context_smoothing", "power", "contexts"),
    "hellinger": ("power", "contexts"),
    "eigenwords": ("power", "count_power", "contexts"),
}
"""Settings that only some architectures have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CountConfig:
    """Settings of word vectors by counting."""

    arch: CountArch = "glove"
    """glove, ppmi (PPMI-SVD), hellinger (Hellinger PCA) or eigenwords (CCA)."""
    size: int = 100
    """Coordinates of a vector."""
    window: int | None = None
    """Words of context on a side; by default glove 10, ppmi and hellinger 5, eigenwords 2."""
    epochs: int = 25
    """glove: passes over the cells of the matrix."""
    x_max: float = 10.0
    """glove: count from which a cell weighs as much as any (100 in the paper, for large texts)."""
    alpha: float = 0.75
    """glove: exponent of the weight of a cell that counts less."""
    learning_rate: float = 0.05
    """glove: of the first steps; AdaGrad shortens later ones."""
    shift: float = 1.0
    """ppmi: subtract the logarithm of this number of negative samples; 1 subtracts nothing."""
    context_smoothing: float = 0.75
    """ppmi: power that tempers the counts of contexts; 1 leaves them."""
    power: float | None = None
    """Power of the singular values; by default ppmi 0.5, hellinger 1, eigenwords 0."""
    count_power: float = 0.5
    """eigenwords: power that tempers all counts: 0.5 takes their roots, 1 is plain CCA."""
    contexts: int | None = None
    """ppmi, hellinger, eigenwords: only the so many most frequent words are contexts."""
    seed: int = 0
    """Of the random numbers."""

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.arch not in get_args(CountArch):
            raise UserError(
                f"unknown --arch {self.arch}", "Known: glove, ppmi, hellinger, eigenwords"
            )
        least = {"size": 1, "epochs": 1, "window": 1, "contexts": 1, "seed": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise UserError(f"--{name} {value} is below {bound}")
            if value is not None and value > (largest := MOST.get(name, LARGEST)):
                raise UserError(f"--{name} {value} is above {largest}")
        if self.power is not None and not isfinite(self.power):
            raise UserError(f"--power {self.power:g} is not finite")
        for name in ("x_max", "learning_rate", "shift", "count_power"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise UserError(f"--{name.replace('_', '-')} {value:g} is not above 0")
        for name in ("alpha", "context_smoothing"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise UserError(f"--{name.replace('_', '-')} {value:g} is not between 0 and 1")

    @property
    def window_size(self) -> int:
        """Return the window, by default the architecture's."""
        return _WINDOWS[self.arch] if self.window is None else self.window

    @property
    def weighting(self) -> Weighting:
        """Return what a pair of words counts by its distance; see ``cooccurrences``."""
        return _WEIGHTINGS[self.arch]

    @property
    def singular_power(self) -> float:
        """Return the power of the singular values, by default the architecture's."""
        return _POWERS[self.arch] if self.power is None else self.power

    def meaningful(self) -> dict[str, Any]:
        """Return the settings that mean something for the architecture, defaults filled in."""
        names = ("arch", "size", *_MEANS[self.arch], "seed")
        found = {name: getattr(self, name) for name in names}
        found["window"] = self.window_size
        if "power" in found:
            found["power"] = self.singular_power
        return {name: value for name, value in found.items() if value is not None}
