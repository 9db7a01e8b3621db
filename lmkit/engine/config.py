"""What a training run is made of besides the model: data, settings, result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from lmkit.engine.optim import OptimizerConfig
from lmkit.engine.schedule import ScheduleConfig
from lmkit.errors import UserError

Arrays = dict[str, NDArray[Any]]


class Source(Protocol):
    """Batches to train on; see ``lmkit.text.batches``."""

    steps_per_epoch: int
    tokens_per_batch: int

    def batch(self, step: int) -> Arrays:
        """Return the batch of a step: a pure function of it."""


class HeldOut(Protocol):
    """Tokens to validate on."""

    def everything(self, rows: int) -> Iterator[Arrays]:
        """Yield batches that together predict each token once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """How to train."""

    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    """Its ``steps`` are how many are taken."""
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    minutes: float | None = None
    """Take as many steps as fit into this, instead of ``schedule.steps``."""
    micro_batch: int | None = None
    """Rows that go through the network together; None: those of a step."""
    clip: float = 0.0
    """Largest norm of a step's gradient; 0: no limit."""
    eval_every: int = 0
    """Steps between validations; 0: eight in all."""
    eval_rows: int = 32
    """Rows that are validated together."""
    save_every: int = 0
    """Steps between checkpoints; 0: at each validation."""
    keep: int = 2
    """Newest checkpoints kept, beside the best."""
    patience: int | None = None
    """Stop after so many validations without a better one."""
    ema: float = 0.0
    """How little the running average of the weights forgets a step; 0: there is none."""
    seed: int = 1
    """Of dropout and the like."""
    compile: bool = False
    """Whether torch compiles the network first."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("eval_every", "save_every", "clip", "ema"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} {getattr(self, name)} is below 0")
        if self.micro_batch is not None and self.micro_batch < 1:
            raise UserError(f"a micro-batch of {self.micro_batch} rows is none")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingResult:
    """How a run ended."""

    steps: int
    """Steps taken, those before a resumption counted."""
    loss: float
    """Natural log per token of the last step; NaN if none was taken."""
    valid_loss: float
    """The best validation's, natural log per token."""
    valid_count: int
    """Tokens of a validation."""
    best_step: int
    """Behind which the best validation was."""
    tokens: int
    """Predicted tokens trained on."""
    seconds: float
    """Of training, validations and checkpoints not counted; of this process."""
