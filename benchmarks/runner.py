"""Runs contenders in turn, A B A B, so that what disturbs the machine disturbs them alike."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import measure
from measure import Command, Outcome
from results import Reading, Run, Series

Read = Callable[[Outcome], Reading]


@dataclass(frozen=True, kw_only=True, slots=True)
class Contender:
    """One way to do the work of a benchmark."""

    name: str
    commands: tuple[Command, ...]
    """Run one behind the other and measured together."""
    read: Read
    """Says from the output what was done; called after the clock was stopped."""
    fresh: tuple[Path, ...] = ()
    """Files and folders removed before each run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Folders:
    """Where things lie; shown in reports by the names of these variables."""

    peers: Path
    data: Path | None
    work: Path
    python: Path | None = None
    """A Python that has the peers' modules."""

    def shown(self, text: str) -> str:
        """Return ``text`` with the folders' names for their paths."""
        named = [("$WORK", self.work), ("$PEERS", self.peers), ("$DATA", self.data)]
        named.append(("$PEER_PYTHON", self.python))
        for name, path in named:
            if path is not None:
                text = text.replace(str(path), name)
        text = text.replace(str(Path(__file__).parent), "benchmarks")
        return text.replace(f"{Path(sys.executable).parent}/", "")


class Runner:
    """Runs and measures commands in one environment."""

    def __init__(self, folders: Folders, runs: int) -> None:
        """Measure in ``folders``, ``runs`` times each; kernels are cached in the work folder."""
        self.folders = folders
        self.runs = runs
        self.environment = {
            name: value for name, value in os.environ.items() if name not in measure.UNSET
        }
        self.environment["LMKIT_HOME"] = str(folders.work / "home")
        self.environment["NUMBA_CACHE_DIR"] = str(folders.work / "kernels")
        script = Path(sys.executable).with_name("lmkit")
        self._lmkit = (str(script),) if script.exists() else (sys.executable, "-m", "lmkit")

    def lmkit(self, *arguments: str | Path) -> tuple[str, ...]:
        """Return the command line of lmkit with ``arguments``."""
        return (*self._lmkit, *map(str, arguments))

    def python(self, script: str, *arguments: str | Path) -> tuple[str, ...]:
        """Return the command line of a script beside this file."""
        return (sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments))

    def run(self, *argv: str, **variables: str) -> Outcome:
        """Run a command whose time does not matter."""
        return measure.run(Command(argv=argv, variables=variables), self.environment)

    def run_command(self, command: Command) -> Outcome:
        """Run a command, as a shell would, whose time does not matter."""
        return measure.run(command, self.environment)

    def alternate(
        self,
        contenders: Sequence[Contender],
        *,
        at_least: int = 1,
        runs: int | None = None,
        warm_up: bool = False,
    ) -> list[Series]:
        """Run every contender in turn, and that ``runs`` times (``at_least`` where it is more).

        With ``warm_up`` each is run once more, before all others, which does not count.

        Raises:
            CommandError: a command failed.
        """
        for contender in contenders if warm_up else ():
            self._once(contender)
        series = [Series(name=one.name, commands=one.commands) for one in contenders]
        for number in range(max(runs or self.runs, at_least)):
            for contender, own in zip(contenders, series, strict=True):
                own.runs.append(self._once(contender))
                _say(f"    run {number + 1}, {own.name}: {own.runs[-1].seconds:.3f} s")
        return series

    def _once(self, contender: Contender) -> Run:
        for path in contender.fresh:
            remove(path)
        os.sync()  # what others wrote is on the disk before the clock starts
        outcomes = [measure.run(command, self.environment) for command in contender.commands]
        outcome = Outcome.total(outcomes)
        return Run(outcome=outcome, reading=contender.read(outcome))

    def shown(self, command: Command) -> str:
        """Return ``command`` as one would type it."""
        text = shlex.join(command.argv)
        for name, value in command.variables.items():
            text = f"{name}={shlex.quote(value)} {text}"
        if command.stdin:
            text += f" < {command.stdin}"
        if command.stdout:
            text += f" > {command.stdout}"
        return self.folders.shown(text)


def remove(path: Path) -> None:
    """Remove a file or folder that may not be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
