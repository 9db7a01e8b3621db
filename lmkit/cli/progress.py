"""Listeners that show progress on stderr: bars, plain lines, JSON Lines, or nothing.

Everything here goes to stderr; rich is imported only when bars are drawn.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TextIO

from lmkit.events import SILENT, Listener, hear_of_compiling

Mode = Literal["auto", "rich", "plain", "json", "none"]

PLAIN_SECONDS = 10.0
JSON_SECONDS = 1.0
BAR_SECONDS = 0.1
"""Least time between two reports of each kind."""


@contextmanager
def listening(
    quiet: bool = False, mode: Mode = "auto", *, streams_results: bool = False
) -> Iterator[Listener]:
    """Yield the listener for a command; what it draws is taken down when the block ends.

    Args:
        quiet: show warnings only.
        mode: the value of ``--progress``; ``"auto"`` draws bars on a terminal, else plain lines.
        streams_results: the command writes results while it works; then ``"auto"`` draws no bars
            if they go to a terminal too.
    """
    if mode == "auto" and streams_results and sys.stdout is not None and sys.stdout.isatty():
        mode = "none"
    listener = listener_for(quiet, mode)
    hear_of_compiling(listener)
    try:
        yield listener
    finally:
        listener.finish()
        hear_of_compiling(SILENT)


def listener_for(quiet: bool, mode: Mode, stderr: TextIO | None = None) -> Listener:
    """Return the listener for ``--quiet`` and ``--progress``, writing to ``stderr``."""
    stream = stderr if stderr is not None else sys.stderr
    if mode == "auto":
        mode = "none" if quiet else "rich" if _can_draw(stream) else "plain"
    if mode == "json":
        return JsonProgress(stream, quiet)
    if mode == "rich":
        from lmkit.cli.bars import BarProgress

        return BarProgress(stream, quiet)
    return PlainProgress(stream, quiet, every=PLAIN_SECONDS if mode == "plain" else None)


def _can_draw(stream: TextIO) -> bool:
    return stream is not None and stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


class StreamListener(Listener):
    """What the listeners share: counting, the clock, notes and warnings.

    Args:
        stream: where to write.
        quiet: leave out notes.
        every: seconds between two calls of :meth:`report`; None for never.
        clock: returns seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        quiet: bool = False,
        every: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._quiet = quiet
        self._every = every
        self._clock = clock
        self.name: str | None = None
        self.total: int | None = None
        self.unit = ""
        self.done = 0
        self.values: dict[str, float] = {}
        self._begun = self._reported = 0.0

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Begin a phase."""
        self.finish()
        self.name, self.total, self.unit, self.done = name, total, unit, 0
        self.values = {}
        self._begun = self._reported = self._clock()

    def advance(self, amount: int) -> None:
        """Count, and report when it is time to."""
        self.done += amount
        if self._every is not None and self.name is not None:
            now = self._clock()
            if now - self._reported >= self._every:
                self._reported = now
                self.report(now - self._begun)

    def figures(self, **values: float) -> None:
        """Keep the figures for the next report."""
        self.values.update(values)

    def finish(self) -> None:
        """End the phase."""
        self.name = None

    def report(self, seconds: float) -> None:
        """Show how far the phase is after ``seconds``."""

    def note(self, message: str) -> None:
        """Write a note, unless quiet."""
        if not self._quiet:
            self.write(f"lmkit: {message}")

    def warn(self, message: str) -> None:
        """Write a warning."""
        self.write(f"lmkit: warning: {message}")

    def write(self, line: str) -> None:
        """Write one line for people."""
        print(line, file=self._stream, flush=True)


class PlainProgress(StreamListener):
    """A line every ten seconds, and one at the end of each phase that took that long."""

    def finish(self) -> None:
        """End the phase, with a line if it was long."""
        if self.name is not None and self._reported > self._begun:
            seconds = self._clock() - self._begun
            parts = [f"{quantity(self.done, self.unit)} in {clock(seconds)}", *shown(self.values)]
            self.write(f"lmkit: {self.name}: {', '.join(parts)}")
        super().finish()

    def report(self, seconds: float) -> None:
        """Write how far the phase is, how fast it goes and how long it will take."""
        parts = [quantity(self.done, self.unit)]
        if self.total:
            parts[0] += f" of {quantity(self.total, self.unit)} ({self.done / self.total:.0%})"
        if seconds > 0:
            parts.append(f"{quantity(self.done / seconds, self.unit)}/s")
        if self.total and 0 < self.done < self.total:
            parts.append(f"{clock(seconds * (self.total - self.done) / self.done)} left")
        parts += shown(self.values)
        self.write(f"lmkit: {self.name}: {', '.join(parts)}")


class JsonProgress(StreamListener):
    """JSON Lines: an object with the key ``event`` for every phase, second, note and warning."""

    def __init__(
        self,
        stream: TextIO,
        quiet: bool = False,
        every: float | None = JSON_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, quiet, every, clock)

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Begin a phase: ``{"event": "phase", "phase", "total", "unit"}``."""
        super().phase(name, total, unit)
        self._event("phase", phase=name, total=total, unit=unit)

    def report(self, seconds: float) -> None:
        """``{"event": "progress", "phase", "done", "total", "unit", "seconds"}`` and figures."""
        self._progress("progress", seconds)

    def finish(self) -> None:
        """End the phase: the keys of progress with ``"event": "finish"``."""
        if self.name is not None:
            self._progress("finish", self._clock() - self._begun)
        super().finish()

    def note(self, message: str) -> None:
        """``{"event": "note", "message"}``."""
        if not self._quiet:
            self._event("note", message=message)

    def warn(self, message: str) -> None:
        """``{"event": "warning", "message"}``."""
        self._event("warning", message=message)

    def _progress(self, event: str, seconds: float) -> None:
        self._event(
            event,
            phase=self.name,
            done=self.done,
            total=self.total,
            unit=self.unit,
            seconds=round(seconds, 3),
            **{name: _finite(value) for name, value in self.values.items()},
        )

    def _event(self, event: str, **facts: Any) -> None:
        self.write(json.dumps({"event": event, **facts}))


def _finite(value: float) -> float | None:
    return value if value - value == 0.0 else None


def shown(values: Mapping[str, float]) -> list[str]:
    """Return figures as people read them: ``loss 2.345``."""
    return [f"{name} {value:.4g}" for name, value in values.items()]


def quantity(amount: float, unit: str) -> str:
    """Return an amount in three digits or so: ``1.25M tokens``, ``34.1 MB``, ``17 lines``."""
    scale = ""
    for bigger in ("k", "M", "G", "T"):
        if amount < 1000:
            break
        amount /= 1000
        scale = bigger
    number = f"{amount:.0f}" if not scale and amount == int(amount) else f"{amount:.3g}"
    if float(number) >= 1000:
        number = f"{amount:.0f}"
    return f"{number} {scale}B" if unit == "B" else f"{number}{scale} {unit}".rstrip()


def clock(seconds: float) -> str:
    """Return a time as people read it: ``0.8s``, ``42s``, ``3m05s``, ``2h07m``."""
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"
