"""A few threads that kernels run in; they keep the order of what they are given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

import numpy as np

from lmkit.embed.count.cells import SparseMatrix

Job = TypeVar("Job")
Result = TypeVar("Result")

_PARTS = 8
"""Ranges of rows for each thread."""


class Workers:
    """Threads to work in, for the time of a ``with`` statement."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Workers:
        """Return the threads."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Wait for what is running."""
        self._pool.shutdown(cancel_futures=True)

    def in_order(self, work: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        """Yield ``work(job)`` of each job in the order of the jobs, few of them ahead of time."""
        waiting: deque[Future[Result]] = deque()
        try:
            for job in jobs:
                waiting.append(self._pool.submit(work, job))
                if len(waiting) > 2 * self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def by_rows(self, matrix: SparseMatrix, work: Callable[[np.int64, np.int64], None]) -> None:
        """Call ``work`` with ranges of rows (first, behind the last) of about as many cells."""
        goals = np.linspace(0, len(matrix), _PARTS * self.threads + 1)[1:-1]
        cuts = np.searchsorted(matrix.offsets, goals)
        cuts = np.unique(np.concatenate([[0], cuts, [matrix.num_rows]])).clip(0, matrix.num_rows)
        list(self._pool.map(work, cuts[:-1], cuts[1:]))
