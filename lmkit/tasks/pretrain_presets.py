"""What ``--size`` stands for: the shape of each architecture and the recipe that trains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from lmkit.errors import UserError

Size = Literal["tiny", "small", "base", "gpt2"]
Optimizer = Literal["muon", "adamw", "sgd", "asgd"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A shape and a recipe."""

    settings: dict[str, Any] = field(default_factory=dict)
    """Fields of the architecture's settings."""
    context: int = 64
    """Tokens of a training window."""
    batch: int = 12
    """Windows of a step; for nplm contexts."""
    steps: int = 1000
    """Steps unless --steps, --epochs or --minutes says otherwise."""
    optimizer: Optimizer = "adamw"
    learning_rate: float = 3e-3
    """Of all weights but those that Muon trains."""
    matrix_rate: float = 0.02
    """Of the hidden matrices that Muon trains."""
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 0.0
    """Largest norm of the gradient; 0: no limit."""
    warmup: int = 0
    """Steps of a linear rise."""
    cooldown: float = 0.7
    """Part of the steps over which the rate falls to nothing at the end."""


def _gpt(layers: int, heads: int, features: int, context: int, batch: int, steps: int) -> Preset:
    return Preset(
        settings={"num_layers": layers, "num_heads": heads, "num_features": features},
        context=context,
        batch=batch,
        steps=steps,
        optimizer="muon",
        learning_rate=6e-3,
        matrix_rate=0.03,
        betas=(0.8, 0.95),
    )


def _recurrent(size: int, layers: int, dropout: float, context: int, batch: int) -> Preset:
    shape = {"embedding_size": size, "hidden_size": size, "num_layers": layers}
    return Preset(
        settings={**shape, "dropout": dropout},
        context=context,
        batch=batch,
        steps=2000,
        learning_rate=4e-3,
        clip=1.0,
        warmup=20,
    )


def _nplm(embedding: int, hidden: int, dropout: float, steps: int) -> Preset:
    shape = {"embedding_size": embedding, "hidden_size": hidden, "dropout": dropout}
    return Preset(settings=shape, context=1, batch=1024, steps=steps, learning_rate=4e-3)


PRESETS: dict[str, dict[str, Preset]] = {
    "gpt": {
        "tiny": _gpt(4, 4, 128, 64, 12, 1000),
        "small": _gpt(6, 6, 384, 256, 16, 3000),
        "base": _gpt(8, 8, 512, 512, 16, 10000),
        "gpt2": _gpt(12, 12, 768, 1024, 32, 100000),
    },
    "lstm": {
        "tiny": _recurrent(128, 1, 0.0, 32, 16),
        "small": _recurrent(200, 2, 0.2, 32, 20),
        "base": _recurrent(650, 2, 0.5, 35, 20),
    },
    "gru": {
        "tiny": _recurrent(128, 1, 0.0, 32, 16),
        "small": _recurrent(200, 2, 0.2, 32, 20),
        "base": _recurrent(650, 2, 0.5, 35, 20),
    },
    "rnn": {
        "tiny": _recurrent(128, 1, 0.0, 32, 16),
        "small": _recurrent(200, 1, 0.2, 32, 20),
        "base": _recurrent(400, 1, 0.2, 32, 20),
    },
    "nplm": {
        "tiny": _nplm(30, 50, 0.0, 1000),
        "small": _nplm(60, 100, 0.1, 4000),
        "base": _nplm(100, 100, 0.3, 10000),
    },
}
"""Architecture -> size -> preset."""


def preset(arch: str, size: str) -> Preset:
    """Return the preset of an architecture in a size.

    Raises:
        UserError: there is none.
    """
    if arch not in PRESETS:
        raise UserError(f"no architecture {arch!r}", f"Choose from {', '.join(PRESETS)}")
    if size not in PRESETS[arch]:
        raise UserError(f"--arch {arch} has no size {size}", f"It has {', '.join(PRESETS[arch])}")
    return PRESETS[arch][size]
