"""The n-grams of one order after the other, sorted, and found by context and word.

Reading hands over chunks of n-grams in the order of the file (:class:`RawNgrams`); they become a
:class:`Level`, which is needed to find the contexts of the next order.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.trie import kernels
from lmkit.ngram.arpa.trie.search import kernels as search

Words = NDArray[np.uint32]
Rows = NDArray[np.uint32]
NONE = 0xFFFFFFFF
_BUCKETS = 9
"""The contexts are cut into at most 2 ** _BUCKETS buckets."""
_UNSHARED = 1 << 16
"""N-grams up to which a table is filled by one thread."""


@dataclass(slots=True)
class Orphans:
    """N-grams whose context is not in the order below."""

    words: Words
    """[n, k]"""
    lines: NDArray[np.uint32]
    logprobs: NDArray[np.float32]
    backoffs: NDArray[np.float32]


@dataclass(slots=True)
class Chunk:
    """A stretch of n-grams: ``raw[begin:begin + size]``, and the orphans among them."""

    begin: int
    size: int
    bounds: NDArray[np.int64]
    """[buckets + 1]: where each bucket begins, from ``begin``."""
    orphans: Orphans | None
    first_line: int = 0

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return self.size + (len(self.orphans.lines) if self.orphans else 0)


class RawNgrams:
    """The n-grams of one order as they are read; threads may add to it side by side."""

    def __init__(self, capacity: int, num_contexts: int) -> None:
        """Make room for ``capacity`` n-grams; more than that are counted but not kept."""
        self.raw = np.empty((capacity, 5), dtype=np.uint32)
        self.num_contexts = num_contexts
        self.bucket_bits = max(0, (num_contexts - 1).bit_length() - _BUCKETS)
        self.num_buckets = ((num_contexts - 1) >> self.bucket_bits) + 1
        self.used = 0
        self._lock = Lock()

    def add(
        self,
        contexts: NDArray[np.uint32],
        words: Words,
        lines: NDArray[np.uint32],
        logprobs: NDArray[np.float32],
        backoffs: NDArray[np.float32],
        num_orphans: int,
    ) -> Chunk:
        """Add n-grams; ``words`` [n, k]. Those with the context NONE become orphans."""
        size = len(contexts) - num_orphans
        with self._lock:
            begin = self.used
            self.used += size
        bounds = np.empty(self.num_buckets + 1, dtype=np.int64)
        if self.used <= len(self.raw):
            kernels.fill_buckets(
                contexts, words[-1], lines, logprobs, backoffs, self.bucket_bits, bounds,
                self.raw[begin : begin + size],
            )  # fmt: skip
        orphans = None
        if num_orphans:
            alone = contexts == NONE
            orphans = Orphans(words[:, alone], lines[alone], logprobs[alone], backoffs[alone])
        return Chunk(begin, size, bounds, orphans)


@dataclass(slots=True)
class Level:
    """All n-grams of one order, and how to find them."""

    rows: Rows
    starts: NDArray[np.uint32]
    slots: NDArray[np.uint64]
    shape: NDArray[np.int64]

    @property
    def finder(self) -> tuple[Any, ...]:
        """What the kernels need to find a row."""
        return self.slots, self.shape, self.rows

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


class Trie:
    """The orders read so far."""

    def __init__(
        self,
        logprobs: NDArray[np.float32],
        backoffs: NDArray[np.float32],
        pool: Executor,
        threads: int,
    ) -> None:
        """Start with the 1-grams [V]."""
        self.logprobs = logprobs
        self.backoffs = backoffs
        self.levels: list[Level] = []
        """Orders 2, 3, ..."""
        self.pool = pool
        self.threads = threads

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
            missing = search.descend(places, words[n - 1], *self.levels[n - 2].finder)
        return places, missing

    def add_level(self, ngrams: RawNgrams, chunks: Sequence[Chunk], *, searched: bool) -> None:
        """Sort the n-grams of the next order; with ``searched`` make them findable.

        Raises:
            Repeated: two n-grams are the same.
        """
        bounds = np.zeros((len(chunks), ngrams.num_buckets + 1), dtype=np.int64)
        for c, chunk in enumerate(chunks):
            bounds[c] = chunk.bounds
        chunk_begins = np.array([chunk.begin for chunk in chunks], dtype=np.int64)
        begins = bounds.sum(axis=0)
        starts = np.empty(ngrams.num_contexts + 1, dtype=np.uint32)
        starts[-1] = begins[-1]
        rows = np.empty((int(begins[-1]), 4), dtype=np.uint32)
        targets = np.linspace(0, len(rows), 4 * self.threads + 1)
        cuts = np.searchsorted(begins[:-1], targets)
        cuts[0], cuts[-1] = 0, ngrams.num_buckets

        def run(k: int) -> int:
            repeated = kernels.sort_buckets(
                ngrams.raw, chunk_begins, bounds, cuts[k], cuts[k + 1], ngrams.bucket_bits,
                begins, starts, rows,
            )  # fmt: skip
            return int(repeated)

        for place in self.pool.map(run, range(len(cuts) - 1)):
            if place >= 0:
                raise Repeated(int(rows[place, 1]), int(rows[place, 0]))
        self.levels.append(self._level(rows, starts, searched=searched))

    def replace_level(self, n: int, rows: Rows) -> None:
        """Replace order ``n`` by other rows, which are in order."""
        num_contexts = self.size(n - 1)
        starts = np.zeros(num_contexts + 1, dtype=np.uint32)
        counts = np.bincount(rows[:, 1], minlength=num_contexts)
        np.cumsum(counts, out=starts[1:], dtype=np.uint32)
        self.levels[n - 2] = self._level(rows, starts, searched=True)

    def _level(self, rows: Rows, starts: NDArray[np.uint32], *, searched: bool) -> Level:
        num_contexts = len(starts) - 1
        shape = np.zeros(4, dtype=np.int64)
        if not searched:
            return Level(rows, starts, np.zeros(1, dtype=np.uint64), shape)
        slot_bits = max(4, (len(rows) * 3 // 2).bit_length())
        word_bits = (len(self.logprobs) - 1).bit_length()
        key_bits = max(slot_bits, word_bits + (num_contexts - 1).bit_length())
        assert key_bits < 64, "more n-grams than states of 32 bits"
        parts = 1
        if len(rows) > _UNSHARED:
            parts = 1 << min(4, (self.threads - 1).bit_length())
        shape[search.WORD_BITS] = word_bits
        shape[search.KEY_BITS] = key_bits
        shape[search.SLOT_BITS] = slot_bits
        shape[search.PART_MASK] = (1 << slot_bits) // parts - 1
        slots = np.zeros(1 << slot_bits, dtype=np.uint64)

        def fill(part: int) -> None:
            search.insert_rows(rows, slots, shape, part)

        list(self.pool.map(fill, range(parts)))
        return Level(rows, starts, slots, shape)
