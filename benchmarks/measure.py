"""Runs one command and measures it: wall time, processor time, greatest resident memory.

The numbers are those the system keeps of a finished process and of the children it waited for
(``wait4``). A process counts the memory of its parent at the moment it was started, so whoever
measures must stay small itself: nothing here, or in what runs the benchmarks, loads numpy or
reads a corpus.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

UNSET = (
    "LMKIT_MODEL",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
)
"""Variables that change what is measured; commands run without them."""


class CommandError(Exception):
    """A command that was to be measured failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command as a shell would run it."""

    argv: tuple[str, ...]
    stdin: Path | None = None
    """Read from this file; None: from nothing."""
    stdout: Path | None = None
    """Written to this file; None: kept in the outcome."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set in the environment, for this command alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What a command took, and what it wrote."""

    wall: float
    """Seconds."""
    user: float
    """Seconds."""
    system: float
    """Seconds."""
    memory: int
    """Greatest resident set, bytes."""
    stdout: str
    stderr: str

    @classmethod
    def total(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Return what commands run one behind the other took together."""
        return cls(
            wall=sum(outcome.wall for outcome in outcomes),
            user=sum(outcome.user for outcome in outcomes),
            system=sum(outcome.system for outcome in outcomes),
            memory=max(outcome.memory for outcome in outcomes),
            stdout="".join(outcome.stdout for outcome in outcomes),
            stderr="".join(outcome.stderr for outcome in outcomes),
        )


def run(command: Command, environment: Mapping[str, str]) -> Outcome:
    """Run ``command`` to its end and return what it took.

    Raises:
        CommandError: it could not be run or did not exit with 0.
    """
    with (
        open(command.stdin or os.devnull, "rb") as stdin,
        _output(command.stdout) as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        start = time.perf_counter()
        try:
            process = subprocess.Popen(
                command.argv,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env={**environment, **command.variables},
            )
        except OSError as error:
            raise CommandError(f"{command.argv[0]}: {error.strerror}") from error
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        written = "" if command.stdout else _text(stdout)
        said = _text(stderr)
    if process.returncode != 0:
        last = (said.strip() or written.strip()).splitlines()[-1:]
        shown = " ".join(command.argv)
        raise CommandError(f"exit code {process.returncode} from {shown}: {''.join(last)}")
    return Outcome(
        wall=wall,
        user=usage.ru_utime,
        system=usage.ru_stime,
        memory=usage.ru_maxrss * 1024,
        stdout=written,
        stderr=said,
    )


def _output(path: Path | None) -> IO[bytes]:
    return open(path, "wb") if path else tempfile.TemporaryFile()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
