"""Learning rates as pure functions of the step, as factors of the highest rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lmkit.errors import UserError

ScheduleKind = Literal["constant", "linear", "cosine", "wsd", "noam", "inverse_sqrt", "plateau"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleConfig:
    """Which schedule, and its lengths in steps."""

    kind: ScheduleKind = "wsd"
    """constant; linear or cosine fall to the floor; wsd holds and falls at the end (warm-up,
    stable, decay); noam (Vaswani 2017) and inverse_sqrt fall as 1 / sqrt(step); plateau falls
    when validation no longer gets better."""
    steps: int = 1
    """Of the whole training; linear, cosine and wsd end there."""
    warmup: int = 0
    """Steps of a linear rise at the start."""
    cooldown: float = 0.4
    """wsd: part of the steps in which the rate falls."""
    floor: float = 0.0
    """linear, cosine: the factor at the end."""
    shrink: float = 0.5
    """plateau: by what the rate is multiplied each time."""
    patience: int = 1
    """plateau: validations without a better one after which it shrinks."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.steps < 1 or self.warmup < 0 or not 0.0 <= self.cooldown <= 1.0:
            raise UserError("a schedule needs steps from 1, warm-up from 0, cooldown in 0..1")


def rate_factor(config: ScheduleConfig, step: int, history: Sequence[float] = ()) -> float:
    """Return by what the highest rate is multiplied in ``step``.

    Args:
        config: the schedule.
        step: from 0.
        history: plateau: the validation losses so far.
    """
    if config.kind in ("noam", "inverse_sqrt"):
        warmup, number = max(1, config.warmup), step + 1
        return min(number / warmup, math.sqrt(warmup / number))
    if config.kind == "cosine":
        if step < config.warmup:
            return (step + 1) / (config.warmup + 1)
        share = min(1.0, (step - config.warmup) / max(1, config.steps - config.warmup))
        return config.floor + 0.5 * (1.0 + math.cos(math.pi * share)) * (1.0 - config.floor)
    rise = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    if config.kind == "wsd":
        length = config.cooldown * config.steps
        return rise * (min(1.0, max(0.0, (config.steps - step) / length)) if length else 1.0)
    if config.kind == "linear":
        left = max(0.0, 1.0 - step / config.steps)
        return rise * (config.floor + (1.0 - config.floor) * left)
    if config.kind == "plateau":
        return rise * config.shrink ** _plateaus(history, config.patience)
    return rise


def _plateaus(history: Sequence[float], patience: int) -> int:
    """Return how often ``patience`` validations in a row brought nothing better."""
    best, waited, count = math.inf, 0, 0
    for loss in history:
        waited = 0 if loss < best else waited + 1
        best = min(best, loss)
        if waited >= patience:
            count, waited = count + 1, 0
    return count
