"""The n-grams of one order after the other, found by context and word; see ``kernels.py``."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.trie import kernels

Words = NDArray[np.uint32]
Rows = NDArray[np.uint32]
NONE = 0xFFFFFFFF
_UNSHARED = 1 << 16
"""N-grams up to which a table is filled by one thread (and is in one part)."""


@dataclass(slots=True)
class Ngrams:
    """Some n-grams of one order in the order of the file."""

    contexts: NDArray[np.uint32]
    """The place of each one's first n - 1 words in the order below, or NONE."""
    words: NDArray[np.uint32]
    """The last word of each."""
    logprobs: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    missing: Words
    """[n - 1, k]: the first words of those whose context is NONE."""

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return len(self.contexts)


@dataclass(slots=True)
class Level:
    """All n-grams of one order, and how to find them."""

    rows: Rows
    starts: NDArray[np.uint32]
    slots: NDArray[np.uint64]
    shift: np.uint64
    part_mask: int

    @property
    def finder(self) -> tuple[Any, ...]:
        """What the kernels need to find a row."""
        return self.slots, self.shift, self.part_mask, self.rows

    @property
    def keys(self) -> NDArray[np.uint64]:
        """``context << 32 | word`` of all rows, in rising order."""
        return self.rows[:, 1].astype(np.uint64) << np.uint64(32) | self.rows[:, 0]

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return len(self.rows)


class Repeated(Exception):
    """An n-gram is there twice; ``context`` and ``word`` say which."""

    def __init__(self, context: int, word: int) -> None:
        super().__init__(context, word)
        self.context = context
        self.word = word


def build_level(
    chunks: Sequence[Ngrams],
    num_contexts: int,
    pool: Executor,
    threads: int,
    *,
    searched: bool,
) -> Level:
    """Sort n-grams by context and word; with ``searched`` make them findable.

    Raises:
        Repeated: two n-grams are the same.
    """
    groups = _split(chunks, threads)
    fills = [np.zeros(num_contexts, dtype=np.uint32) for _ in groups]

    def count(k: int) -> None:
        for chunk in groups[k]:
            kernels.count_children(chunk.contexts, fills[k])

    list(pool.map(count, range(len(groups))))
    starts = np.zeros(num_contexts + 1, dtype=np.uint32)
    for fill in fills:
        starts[1:] += fill
    np.cumsum(starts, out=starts, dtype=np.uint32)
    begin = starts[:-1].copy()
    for k, fill in enumerate(fills):
        fills[k], begin = begin, begin + fill
    rows = np.empty((int(starts[-1]), 4), dtype=np.uint32)

    def place(k: int) -> None:
        for chunk in groups[k]:
            kernels.scatter(
                chunk.contexts, chunk.words, chunk.logprobs, chunk.backoffs, fills[k], rows
            )

    list(pool.map(place, range(len(groups))))
    del fills, begin
    _sort(rows, starts, pool, threads)
    return Level(rows, starts, *make_table(rows, pool, threads, searched=searched))


def _split(chunks: Sequence[Ngrams], threads: int) -> list[list[Ngrams]]:
    """Cut the chunks into ``threads`` runs of about the same number of n-grams."""
    ends = np.cumsum([len(chunk) for chunk in chunks], dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.searchsorted(ends, [total * k // threads for k in range(1, threads)], side="right")
    bounds = [0, *cuts.tolist(), len(chunks)]
    return [list(chunks[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]


def _sort(rows: Rows, starts: NDArray[np.uint32], pool: Executor, threads: int) -> None:
    targets = np.linspace(0, len(rows), 4 * threads + 1).astype(np.int64)
    cuts = np.searchsorted(starts, targets, side="left")
    cuts[0], cuts[-1] = 0, len(starts) - 1

    def run(k: int) -> int:
        return int(kernels.sort_rows(rows, starts, cuts[k], cuts[k + 1]))

    for place in pool.map(run, range(len(cuts) - 1)):
        if place >= 0:
            raise Repeated(int(rows[place, 1]), int(rows[place, 0]))


def make_table(
    rows: Rows, pool: Executor, threads: int, *, searched: bool
) -> tuple[NDArray[np.uint64], np.uint64, int]:
    """Return the hash table over ``rows``: slots, shift and part mask."""
    if not searched:
        return np.zeros(1, dtype=np.uint64), np.uint64(63), 0
    bits = max(4, (len(rows) * 3 // 2).bit_length())
    parts = 1 if len(rows) <= _UNSHARED else 1 << min(4, (threads - 1).bit_length())
    slots = np.zeros(1 << bits, dtype=np.uint64)
    shift, part_mask = np.uint64(64 - bits), (1 << bits) // parts - 1

    def fill(part: int) -> None:
        kernels.insert_rows(rows, slots, shift, part, part_mask)

    list(pool.map(fill, range(parts)))
    return slots, shift, part_mask


class Trie:
    """The orders read so far."""

    def __init__(
        self, logprobs: NDArray[np.float32], backoffs: NDArray[np.float32]
    ) -> None:
        """Start with the 1-grams [V]."""
        self.logprobs = logprobs
        self.backoffs = backoffs
        self.levels: list[Level] = []
        """Orders 2, 3, ..."""

    def size(self, n: int) -> int:
        """Return the number of n-grams of order ``n``."""
        return len(self.logprobs) if n == 1 else len(self.levels[n - 2])

    def find(self, words: Words) -> tuple[NDArray[np.uint32], int]:
        """Return the place of each n-gram of ``words`` [n, k] in its order, and how many have none.

        NONE stands for none. The orders up to n must have been read.
        """
        places = words[0].copy()
        missing = 0
        for n in range(2, len(words) + 1):
            missing = kernels.descend(places, words[n - 1], *self.levels[n - 2].finder)
        return places, missing
