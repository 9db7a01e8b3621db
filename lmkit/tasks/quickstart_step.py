"""What the steps of the tour ``lmkit quickstart`` take and give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmkit.store.artifact import open_artifact
from lmkit.store.home import models_dir


@dataclass(frozen=True, kw_only=True, slots=True)
class QuickstartConfig:
    """Settings of ``lmkit quickstart``."""

    seed: int = 1
    """Seed of the samples and of the word vectors."""
    threads: int = 1
    """Threads of all that comes out the same with several; word vectors take one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """What one step of the tour did: a table, and how to get the same from the commands."""

    name: str
    """One word, for programs."""
    title: str
    """What was done."""
    lesson: str
    """What to see in the table."""
    commands: tuple[str, ...]
    """The command lines that do the same."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float, ...], ...]


def model_path(name: str) -> Path:
    """Return where the model ``name`` of the tour lies: always in the home."""
    return models_dir() / name


def model_size(path: Path) -> int:
    """Return the bytes of the files of a model."""
    return sum(file["size"] for file in open_artifact(path).card["files"].values())
