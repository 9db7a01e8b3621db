"""Small runs of the trainer for its tests; as a program, one that is killed at a step."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lmkit.engine.config import Arrays, TrainingConfig
from lmkit.engine.device import Machine
from lmkit.engine.optim import OptimizerConfig
from lmkit.engine.schedule import ScheduleConfig
from lmkit.engine.trainer import Trainer
from lmkit.models.gpt import Gpt, GptConfig
from lmkit.models.lstm import Lstm, LstmConfig
from lmkit.objectives.causal import CausalObjective
from lmkit.text.batches import Lanes, Windows

CPU = Machine(torch.device("cpu"), "fp32", 1, "plain", 0.0)
STEPS = 24


def text(size: int = 3000) -> np.ndarray[Any, Any]:
    """Return ids that a model can learn: each follows from the one before, nearly always."""
    rng = np.random.default_rng(1)
    ids = (np.arange(size) * 7) % 17 + 3
    return np.where(rng.random(size) < 0.1, rng.integers(3, 20, size), ids).astype(np.uint16)


def trainer(
    directory: Path | None,
    kind: str = "gpt",
    dropout: float = 0.1,
    method: Any = "muon",
    **settings: Any,
) -> Trainer:
    """Return the trainer of a small network on :func:`text`."""
    torch.set_num_threads(1)
    torch.manual_seed(5)
    ids, held_out = text()[:2600], text()[2600:]
    if kind == "gpt":
        shape = GptConfig(
            num_tokens=20, context_size=16, num_layers=2, num_heads=2, num_features=16,
            dropout=dropout, never=(1, 2),
        )  # fmt: skip
        objective = CausalObjective(Gpt(shape))
        batches: Any = Windows(ids, 16, 8, seed=1, mode="document")
        valid: Any = Windows(held_out, 16, 8, seed=1, mode="document")
    else:
        shape_of_lstm = LstmConfig(
            num_tokens=20, embedding_size=12, hidden_size=12, num_layers=1, dropout=dropout,
            never=(1, 2),
        )  # fmt: skip
        objective = CausalObjective(Lstm(shape_of_lstm), carry=True)
        batches = Lanes(ids, 8, 8, mode="document")
        valid = Lanes(held_out, 8, 8, mode="document")
    usual: dict[str, Any] = {
        "schedule": ScheduleConfig(steps=STEPS, warmup=3),
        "optimizer": OptimizerConfig(kind=method, learning_rate=0.01),
        "eval_every": 6,
        "save_every": 5,
    }
    config = TrainingConfig(**{**usual, **settings})
    return Trainer(objective, batches, config, CPU, directory=directory, held_out=valid)


class Killed:
    """Batches that kill the process by a signal when a step asks for its batch."""

    def __init__(self, inner: Any, step: int, number: int) -> None:
        self.inner, self.step, self.number = inner, step, number
        self.steps_per_epoch = inner.steps_per_epoch
        self.tokens_per_batch = inner.tokens_per_batch

    def batch(self, step: int) -> Arrays:
        """Return the batch, unless the time has come."""
        if step == self.step:
            os.kill(os.getpid(), self.number)
        return dict(self.inner.batch(step))


def main() -> None:
    """Train: DIRECTORY KIND STEP SIGNAL DROPOUT OPTIMIZER; be killed at STEP if it is not -1."""
    directory, kind, step, number = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    made = trainer(directory, kind, float(sys.argv[5]), sys.argv[6])
    if int(step) >= 0:
        made._source = Killed(made._source, int(step), int(number))
    made.run()
    print("torch._dynamo" in sys.modules)


if __name__ == "__main__":
    main()
