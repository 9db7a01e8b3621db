"""Signals that stop a training run behind a checkpoint."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """A run was stopped by a signal, and its checkpoint is written.

    Attributes:
        step: steps that are done.
        number: of the signal.
    """

    def __init__(self, step: int, number: int) -> None:
        self.step = step
        self.number = number
        super().__init__(step, number)


class StopSwitch:
    """Notes SIGINT and SIGTERM for whoever polls :attr:`number`; a second one acts at once.

    A context manager; outside of the main thread, where there are no handlers, it notes nothing.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
