"""What a training run keeps on the disk until its model is whole."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lmkit.errors import UserError

CHECKPOINTS, SEAL = "checkpoints", "run"


def run_directory(out: Path) -> Path:
    """Return where the run of the model ``out`` keeps checkpoints and log: a hidden sibling."""
    return out.with_name(f".{out.name}.training")


def seal_of(facts: Mapping[str, Any]) -> bytes:
    """Return what two runs have in common if they are the same: settings and texts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest().encode()


@contextmanager
def training_run(out: Path, seal: bytes, *, resume: bool, force: bool) -> Iterator[Path]:
    """Yield the directory of a run, which no other process may use meanwhile.

    Args:
        out: the model to be.
        seal: of the settings and texts.
        resume: take the one of a stopped run.
        force: begin anew even if a stopped run has checkpoints.

    Raises:
        UserError: there is no run to resume, or it is another one; there is one that would be
            lost; another process trains it; the disk is full or not writable.
    """
    run = run_directory(out)
    stopped = any(run.glob(f"{CHECKPOINTS}/*"))
    if resume and not (run / SEAL).is_file():
        raise UserError(f"no stopped run of {out} to resume", "Leave out --resume to begin one")
    if stopped and not resume and not force:
        raise UserError(
            f"a stopped run of {out} has checkpoints",
            "Go on with --resume, or begin anew with --force",
        )
    try:
        run.mkdir(parents=True, exist_ok=True)
        lock = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _not_writable(run, error) from error
    try:
        _claim(run, lock, seal, resume)
        yield run
    finally:
        os.close(lock)


def _claim(run: Path, lock: int, seal: bytes, resume: bool) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UserError(f"another process trains {run}", "Choose another --out") from None
    mark = run / SEAL
    if resume:
        if mark.read_bytes() != seal:
            raise UserError(
                "the stopped run had other settings or texts",
                "Give the same command as then, or begin anew with --force",
            )
        return
    try:
        for entry in run.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        mark.write_bytes(seal)
    except OSError as error:
        raise _not_writable(run, error) from error


def _not_writable(run: Path, error: OSError) -> UserError:
    return UserError(f"cannot write {run}: {error.strerror}", "Choose another --out")
