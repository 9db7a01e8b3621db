"""What decides word vectors by prediction: settings of ``lmkit embed fit``; free of numba."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from lmkit.errors import UserError

PredictArch = Literal["skipgram", "cbow", "collobert"]
Loss = Literal["negative", "hierarchical", "softmax", "nce", "rank"]
Formula = Literal["word2vec", "paper"]
LOSSES: dict[PredictArch, tuple[Loss, ...]] = {
    "skipgram": ("negative", "hierarchical", "softmax", "nce"),
    "cbow": ("negative", "hierarchical"),
    "collobert": ("rank",),
}
"""The losses that go with an architecture, the default first."""
MEANS: dict[str, tuple[Loss, ...]] = {
    "negative": ("negative", "nce"),
    "noise_power": ("negative", "nce", "rank"),
    "subsample": ("negative", "hierarchical", "softmax", "nce"),
    "subsample_formula": ("negative", "hierarchical", "softmax", "nce"),
    "hidden": ("rank",),
}
"""The losses with which a setting means something; those not listed do with all."""
LARGE_SOFTMAX = 20_000
"""Words above which the full softmax takes so long that it is said beforehand."""

RATES: dict[PredictArch, float] = {"skipgram": 0.04, "cbow": 0.06}
HIERARCHICAL_RATES: dict[PredictArch, float] = {"skipgram": 0.03, "cbow": 0.05}
REFERENCE_RATES: dict[Loss, float] = {"softmax": 0.1, "nce": 0.05, "rank": 0.007}
SUBWORD_RATE = 0.05
LARGEST = 2**31 - 1
"""Of a number without a bound of its own."""
MOST = {"size": 10_000, "window": 1000, "hidden": 10_000, "negative": 1000}
"""The largest numbers that settings may be; those of word vectors by counting too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictConfig:
    """Settings of word vectors by prediction."""

    arch: PredictArch = "skipgram"
    """skipgram (neighbours are predicted one by one), cbow (their mean predicts the word) or
    collobert (a network scores windows, Collobert & Weston 2008)."""
    loss: Loss = "negative"
    """negative (sampling) or hierarchical (softmax over a Huffman tree); skipgram also: softmax
    (over all words) or nce (noise-contrastive estimation); collobert: rank."""
    size: int = 100
    """Coordinates of a vector."""
    window: int = 5
    """Most words of context on a side; each word draws a number up to this one (collobert: always
    so many)."""
    negative: int | None = None
    """negative, nce: drawn words from which each word is told apart, by default 5 and 25."""
    noise_power: float | None = None
    """negative, nce, rank: power that tempers the counts by which words are drawn, by default 0.75
    (rank: 0, every word as often as any other)."""
    hidden: int = 100
    """rank: units of the hidden layer."""
    epochs: int = 5
    """Passes over the text."""
    learning_rate: float | None = None
    """Of the first step; falls to nearly 0 on a straight line."""
    subsample: float = 1e-3
    """Share of a word in the text above which some of its occurrences are left out; 0 for none."""
    subsample_formula: Formula = "word2vec"
    """How many stay, f being the share and t the threshold: sqrt(t/f) + t/f as in the program
    word2vec, or sqrt(t/f) as in the paper (Mikolov et al. 2013b, equation 5)."""
    subword: tuple[int, int] | None = None
    """Characters of the shortest and longest n-grams whose rows a word's vector averages."""
    buckets: int = 2_000_000
    """subword: n-grams are hashed to so many buckets."""
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.arch not in get_args(PredictArch):
            raise UserError(f"unknown --arch {self.arch}", f"Known: {', '.join(LOSSES)}")
        if self.loss not in get_args(Loss):
            raise UserError(f"unknown --loss {self.loss}", f"Known: {', '.join(get_args(Loss))}")
        if self.loss not in LOSSES[self.arch]:
            raise UserError(
                f"--loss {self.loss} means nothing for --arch {self.arch}",
                f"It has {', '.join(LOSSES[self.arch])}",
            )
        if self.subsample_formula not in get_args(Formula):
            raise UserError(
                f"unknown --subsample-formula {self.subsample_formula}", "Known: word2vec, paper"
            )
        least = {"size": 1, "window": 1, "epochs": 1, "hidden": 1, "buckets": 1, "seed": 0}
        for name, bound in (least if self.negative is None else least | {"negative": 1}).items():
            value, largest = getattr(self, name), MOST.get(name, LARGEST)
            if not bound <= value <= largest:
                raise UserError(f"--{name} {value} is not from {bound} to {largest}")
        if not 0 < self.rate < float("inf"):
            raise UserError(f"--learning-rate {self.rate:g} is not above 0")
        if not -2 <= self.power <= 2:
            raise UserError(f"--noise-power {self.power:g} is not between -2 and 2")
        if not 0 <= self.subsample <= 1:
            raise UserError(f"--subsample {self.subsample:g} is not between 0 and 1")
        if self.subword is not None and not 1 <= self.subword[0] <= self.subword[1] <= 100:
            raise UserError(
                f"--subword {self.subword[0]}-{self.subword[1]} is no range of sizes", "Try 3-6"
            )
        if self.subword is not None and self.loss != "negative":
            raise UserError("--subword goes with --loss negative")

    @property
    def rate(self) -> float:
        """Return the first learning rate, by default the architecture's."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.subword is not None:
            return SUBWORD_RATE
        if self.loss in REFERENCE_RATES:
            return REFERENCE_RATES[self.loss]
        return (RATES if self.loss == "negative" else HIERARCHICAL_RATES)[self.arch]

    @property
    def draws(self) -> int:
        """Return the number of noise words, by default the loss's."""
        if self.negative is not None:
            return self.negative
        return 25 if self.loss == "nce" else 5

    @property
    def power(self) -> float:
        """Return the power of the counts of noise words, by default the loss's."""
        if self.noise_power is not None:
            return self.noise_power
        return 0.0 if self.loss == "rank" else 0.75

    def meaningful(self) -> dict[str, Any]:
        """Return the settings that mean something for the loss, with the defaults filled in."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found |= {"learning_rate": self.rate, "negative": self.draws, "noise_power": self.power}
        if self.subword is None:
            del found["subword"], found["buckets"]
        return {key: found[key] for key in found if self.loss in MEANS.get(key, (self.loss,))}
