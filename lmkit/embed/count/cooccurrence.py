"""Counts how often words stand near each other, in bounded memory.

The positions of every word are gathered by a counting sort; a row of the matrix is then summed up
in one dense array, so that no pair of words is ever sorted. A text that does not fit is counted
in segments, whose matrices (runs) are written to disk and added up row by row. All sums are of
integers, weights being multiples of one unit, so the result depends neither on the number of
threads nor on the bound of memory.

Letters: V words, T ids, N cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from math import lcm
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.count import kernels
from lmkit.embed.count.cells import Grower, SparseMatrix
from lmkit.embed.count.config import DEFAULT_MEMORY, Weighting
from lmkit.embed.count.workers import Workers
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS

_FINEST = 1 << 31
"""Units of a pair's count at most; beyond, weights are rounded to multiples of one part of it."""
_BLOCK_CELLS = 1 << 19
_LONGEST_SEGMENT = 1 << 30

Block = tuple[int, int, int]
"""First row, row behind the last, most cells that these rows can have."""
Room = tuple[
    NDArray[np.int64],
    NDArray[np.uint64],
    NDArray[np.int32],
    NDArray[np.int64],
    NDArray[np.int64],
]
"""The row being summed, its bits; then what is filled: columns, sums, cells of each row."""
Counted = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], int]
"""Columns, sums, number of cells of each row; how much work that was, for the progress bar."""


def cooccurrences(
    ids: NDArray[np.uint32],
    num_words: int,
    *,
    window: int,
    weighting: Weighting = "inverse",
    symmetric: bool = True,
    threads: int = 1,
    memory: int = DEFAULT_MEMORY,
    listener: Listener = SILENT,
) -> SparseMatrix:
    """Count pairs of words in encoded text: rows are words, columns their contexts [V, V].

    Args:
        ids: [T] 0 for a word outside the vocabulary (it is passed over, and windows close over
            it), 2 for the end of a sentence (windows end there), 3 + w for word w.
        num_words: V.
        window: words of context on a side.
        weighting: what a pair at distance d counts: ``inverse`` 1/d (Pennington et al. 2014);
            ``linear`` (window - d + 1) / window, which is what a window of random size gives on
            average (Mikolov et al. 2013); ``flat`` 1.
        symmetric: count contexts on both sides; else only those to the left of a word.
        threads: how many rows are summed at a time.
        memory: bytes to work in, roughly; beyond, the matrix goes to a temporary file, as large
            as it is. (12 V bytes a thread are taken in any case.)
        listener: hears of the phases.

    Raises:
        UserError: if no window can be that wide, or the disk is full.
    """
    if window < 1:
        raise UserError(f"--window {window} is below 1")
    weights, unit = pair_weights(window, weighting)
    counter = _Counter(num_words, weights, symmetric, threads, memory, listener)
    with closing(counter), Workers(threads) as workers:
        return counter.run(ids, unit, workers)


def pair_weights(window: int, weighting: Weighting) -> tuple[NDArray[np.int64], int]:
    """Return integer weights by distance [window + 1] and the unit they are multiples of.

    Exact for ``linear`` and ``flat``, and for ``inverse`` up to a window of 22; beyond, to one
    part in 2^31 of a pair at distance 1.
    """
    distances = np.arange(1, window + 1)
    if weighting == "flat":
        unit, weights = 1, np.ones(window, dtype=np.int64)
    elif weighting == "linear":
        unit, weights = window, window + 1 - distances
    elif weighting == "inverse":
        unit = _common_unit(window)
        weights = np.maximum(np.rint(unit / distances), 1).astype(np.int64)
    else:
        raise UserError(f"unknown weighting {weighting!r}", "Known: inverse, linear, flat")
    return np.concatenate([[0], weights]).astype(np.int64), unit


def _common_unit(window: int) -> int:
    """Return the least common multiple of all distances, or the finest unit where it is more."""
    unit = 1
    for distance in range(2, window + 1):
        unit = lcm(unit, distance)
        if unit >= _FINEST:  # the multiple of thousands has thousands of digits
            return _FINEST
    return unit


class _Counter:
    """Counts the segments of a text, then adds them up."""

    def __init__(
        self,
        num_words: int,
        weights: NDArray[np.int64],
        symmetric: bool,
        threads: int,
        memory: int,
        listener: Listener,
    ) -> None:
        self.num_words = num_words
        self.weights = weights
        self.symmetric = symmetric
        self.threads = threads
        self.memory = memory
        self.listener = listener
        self.rooms: SimpleQueue[tuple[NDArray[np.int64], NDArray[np.uint64]]] = SimpleQueue()
        for _ in range(threads):
            sums = np.zeros(num_words, dtype=np.int64)
            self.rooms.put((sums, np.zeros((num_words + 63) // 64, dtype=np.uint64)))
        self.columns = Grower(np.int32, memory // 4)
        self.values = Grower(np.float32, memory // 4)
        self.run_columns = Grower(np.int32, memory // 8)
        self.run_cells = Grower(np.int64, memory // 4)

    def close(self) -> None:
        """Give up the temporary files; those that the result is mapped from live on with it."""
        for grower in (self.columns, self.values, self.run_columns, self.run_cells):
            grower.close()

    def run(self, ids: NDArray[np.uint32], unit: int, workers: Workers) -> SparseMatrix:
        """Return the matrix of all of ``ids``."""
        self.listener.phase("counting pairs", int(np.count_nonzero(ids > EOS)), "words")
        segment = int(np.clip(self.memory // 4 // 8, 1024, _LONGEST_SEGMENT))
        streams = self._segments(ids, segment)
        if len(ids) <= segment:
            offsets = self._collect(self._count(next(streams), workers), unit)
        else:
            runs = [self._store_run(self._count(stream, workers)) for stream in streams]
            self.listener.phase("adding up", self.num_words, "rows")
            offsets = self._collect(self._merge(np.stack(runs), workers), unit)
        columns, values = self.columns.finish(), self.values.finish()
        return SparseMatrix(offsets, columns, values, self.num_words)

    def _segments(
        self, ids: NDArray[np.uint32], segment: int
    ) -> Iterator[tuple[NDArray[np.int32], int, int]]:
        """Yield the text in pieces: a stream, and between which positions its words count.

        The words around them are there as contexts; every word counts in one piece.
        """
        reach = len(self.weights) - 1
        tail = np.full(2 * reach, -1, dtype=np.int32)
        for begin in range(0, max(len(ids), 1), segment):
            piece = ids[begin : begin + segment]
            stream = np.empty(len(tail) + len(piece) + reach, dtype=np.int32)
            stream[: len(tail)] = tail
            end = int(kernels.compact(piece, stream, np.int64(len(tail))))
            if begin + segment >= len(ids):
                stream[end : end + reach] = -1
                end += reach
            yield stream[:end], reach, end - reach
            tail = stream[end - 2 * reach : end].copy()

    def _count(
        self, piece: tuple[NDArray[np.int32], int, int], workers: Workers
    ) -> Iterator[Counted]:
        """Yield the rows of one segment, block by block."""
        stream, begin, end = piece[0], np.int64(piece[1]), np.int64(piece[2])
        starts = np.empty(self.num_words + 1, dtype=np.int64)
        kernels.count_words(stream, begin, end, starts)
        positions = np.empty(int(starts[-1]), dtype=np.uint32)
        kernels.place_by_word(stream, begin, end, starts[:-1].copy(), positions)
        most = np.diff(starts) * ((len(self.weights) - 1) * (2 if self.symmetric else 1))

        def count(block: Block) -> Counted:
            first, last, _ = block
            with self._room(block) as room:
                size = kernels.count_rows(
                    stream, positions, starts, np.int64(first), np.int64(last), self.weights,
                    self.symmetric, *room,
                )  # fmt: skip
            return *_filled(room, size), int(starts[last] - starts[first])

        return workers.in_order(count, self._blocks(most))

    def _merge(self, offsets: NDArray[np.int64], workers: Workers) -> Iterator[Counted]:
        """Yield the rows of the sum of all runs, block by block; ``offsets`` [runs, V + 1]."""
        runs = self.run_columns.finish(), self.run_cells.finish()

        def merge(block: Block) -> Counted:
            first, last, _ = block
            with self._room(block) as room:
                size = kernels.merge_rows(*runs, offsets, np.int64(first), np.int64(last), *room)
            return *_filled(room, size), last - first

        return workers.in_order(merge, self._blocks(np.diff(offsets).sum(axis=0)))

    @contextmanager
    def _room(self, block: Block) -> Iterator[Room]:
        """Lend the arrays that one block is counted in."""
        first, last, most = block
        sums, seen = self.rooms.get()
        try:
            columns, cells = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64)
            yield sums, seen, columns, cells, np.empty(last - first, dtype=np.int64)
        finally:
            self.rooms.put((sums, seen))

    def _blocks(self, most: NDArray[np.int64]) -> Iterator[Block]:
        """Cut the rows into blocks; ``most`` [V] bounds the cells of each row."""
        limit = int(np.clip(self.memory // 64 // self.threads, 1024, _BLOCK_CELLS))
        ends = np.cumsum(np.minimum(most, self.num_words))
        first, done = 0, 0
        while first < self.num_words:
            last = max(int(np.searchsorted(ends, done + limit, side="right")), first + 1)
            yield first, last, int(ends[last - 1]) - done
            first, done = last, int(ends[last - 1])

    def _store_run(self, blocks: Iterable[Counted]) -> NDArray[np.int64]:
        """Keep one segment's rows as they are; return where they begin [V + 1]."""
        begin = self.run_columns.size
        sizes = []
        for columns, cells, counts, work in blocks:
            self.run_columns.append(columns)
            self.run_cells.append(cells)
            sizes.append(counts)
            self.listener.advance(work)
        return np.concatenate([[begin], begin + np.cumsum(np.concatenate(sizes))])

    def _collect(self, blocks: Iterable[Counted], unit: int) -> NDArray[np.int64]:
        """Keep the final rows as floats; return where they begin [V + 1]."""
        sizes = [np.zeros(1, dtype=np.int64)]
        for columns, cells, counts, work in blocks:
            self.columns.append(columns)
            self.values.append((cells / unit).astype(np.float32))
            sizes.append(counts)
            self.listener.advance(work)
        return np.cumsum(np.concatenate(sizes))


def _filled(
    room: Room, size: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    _, _, columns, cells, sizes = room
    return columns[:size], cells[:size], sizes
