"""Checkpoints: all that a run needs to go on exactly where it was.

``checkpoints/STEP/`` holds ``weights.safetensors``, ``optimizer.safetensors`` (its state, the
state that a recurrent network carries, averages, torch's random numbers) and ``state.json`` with
the checksums of both. It is written beside, fsynced, and renamed: whoever is killed on the way
leaves the former checkpoint.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmkit.errors import ModelError, UserError
from lmkit.store.arrays import TensorFileWriter, map_tensors
from lmkit.store.artifact import ModelFile
from lmkit.store.checksum import checksum_file

WEIGHTS, OPTIMIZER, STATE = "weights.safetensors", "optimizer.safetensors", "state.json"


@dataclass(slots=True)
class Checkpoint:
    """What is kept of a run."""

    step: int
    """Steps done."""
    weights: dict[str, Tensor]
    """Of the network."""
    memory: dict[str, Tensor]
    """All other tensors."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What else there is, as JSON values."""


def checkpoints(directory: Path) -> list[Path]:
    """Return the checkpoints in ``directory`` by step."""
    if not directory.is_dir():
        return []
    found = [path for path in directory.iterdir() if path.name.isdigit()]
    return sorted(found, key=lambda path: int(path.name))


def save_checkpoint(directory: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint below ``directory`` and return its own directory.

    Raises:
        UserError: the disk is full or not writable; former checkpoints stay.
    """
    path = directory / str(checkpoint.step)
    staging = directory / f".{checkpoint.step}.tmp-{os.getpid()}"
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        sums = {
            name: _write_tensors(staging / name, tensors)
            for name, tensors in ((WEIGHTS, checkpoint.weights), (OPTIMIZER, checkpoint.memory))
        }
        state = {"step": checkpoint.step, "files": sums, **checkpoint.facts}
        file = ModelFile(staging / STATE)
        file.write(json.dumps(state, sort_keys=True).encode())
        file.close()
        shutil.rmtree(path, ignore_errors=True)
        os.rename(staging, path)
    except (OSError, ModelError) as error:
        reason = error.what if isinstance(error, ModelError) else error.strerror
        raise UserError(
            f"cannot save step {checkpoint.step}: {reason}",
            "Free some space; --resume goes on from the checkpoint before",
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return path


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> str:
    """Write tensors; return the checksum of the file."""
    file = ModelFile(path)
    try:
        with TensorFileWriter(file, 4096 * (4 + len(tensors) // 16)) as writer:
            for name, tensor in tensors.items():
                writer.append(name, tensor.detach().cpu().numpy())
    except BaseException:
        file.abandon()
        raise
    file.close()
    return file.sum.digest()


def load_checkpoint(path: Path) -> Checkpoint:
    """Read the checkpoint in ``path``.

    Raises:
        ModelError: it is damaged.
    """
    try:
        state = json.loads((path / STATE).read_bytes())
        sums, step = dict(state.pop("files")), int(state.pop("step"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(path, f"its {STATE} is not readable") from None
    parts = []
    for name in (WEIGHTS, OPTIMIZER):
        if not (path / name).is_file():
            raise _damaged(path, f"{name} is missing")
        if checksum_file(path / name) != sums.get(name):
            raise _damaged(path, f"{name} is not what was written (wrong checksum)")
        arrays = map_tensors(path / name)
        parts.append({key: torch.from_numpy(np.array(array)) for key, array in arrays.items()})
    return Checkpoint(step, parts[0], parts[1], state)


def keep_checkpoints(directory: Path, last: int, best: int | None) -> None:
    """Remove all but the ``last`` newest checkpoints and that of step ``best``."""
    every = checkpoints(directory)
    for path in every[: max(0, len(every) - last)]:
        if int(path.name) != best:
            shutil.rmtree(path, ignore_errors=True)


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Return the mean of the weights of checkpoints (Vaswani et al. 2017 take the last five)."""
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, tensor in load_checkpoint(path).weights.items():
            total[name] = total.get(name, torch.zeros_like(tensor).double()) + tensor.double()
    return {name: (tensor / len(paths)).float() for name, tensor in total.items()}


def _damaged(path: Path, how: str) -> ModelError:
    where = f"{path.parent.name}/{path.name}"
    return ModelError(f"checkpoint {where} is damaged: {how}", "Remove it, or begin a new run")
