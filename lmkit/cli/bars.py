"""Progress bars on a terminal, one a phase, drawn by rich (the only module that imports it)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from lmkit.cli.progress import BAR_SECONDS, StreamListener, clock, quantity, shown

if TYPE_CHECKING:
    from rich.progress import Task, TaskID


class BarProgress(StreamListener):
    """A bar for every phase with its amount, rate and time left; finished ones stay as lines."""

    def __init__(
        self,
        stream: TextIO,
        quiet: bool = False,
        every: float | None = BAR_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, quiet, every, clock)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn
        from rich.text import Text

        class Figures(ProgressColumn):
            """Amount, rate and time left."""

            def render(self, task: Task) -> Text:
                return Text(figures(task), no_wrap=True)

        self._progress = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            Figures(),
            console=Console(file=stream),
            redirect_stdout=False,  # what is printed there is a result and stays one
            redirect_stderr=False,
        )
        self._task: TaskID | None = None

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Begin a phase with a bar of its own."""
        super().phase(name, total, unit)
        self._progress.start()
        self._task = self._progress.add_task(name, total=total, unit=unit)

    def report(self, seconds: float) -> None:
        """Move the bar."""
        if self._task is not None:
            self._progress.update(self._task, completed=self.done, values=self.values)

    def finish(self) -> None:
        """Fill the bar and leave it standing."""
        if self._task is not None:
            done = self.done if self.total is not None else max(self.done, 1)
            total = self.total if self.total is not None else done
            self._progress.update(self._task, completed=done, total=total)
            self._progress.stop_task(self._task)
            self._progress.stop()
            self._progress.remove_task(self._task)
            self._task = None
        super().finish()

    def write(self, line: str) -> None:
        """Write a line above the bar."""
        self._progress.console.print(line, markup=False, highlight=False, soft_wrap=True)


def figures(task: Task) -> str:
    """Return what stands right of the bar of ``task``."""
    unit = task.fields.get("unit", "")
    parts = [quantity(task.completed, unit)] if unit else []
    elapsed = task.elapsed or 0.0
    if task.stop_time is not None:
        parts.append(clock(elapsed))
    else:
        if unit and elapsed > 0 and task.completed:
            parts.append(f"{quantity(task.completed / elapsed, unit)}/s")
        if task.total and 0 < task.completed < task.total:
            left = elapsed * (task.total - task.completed) / task.completed
            parts.append(f"{clock(left)} left")
    return "  ".join(parts + shown(task.fields.get("values", {})))
