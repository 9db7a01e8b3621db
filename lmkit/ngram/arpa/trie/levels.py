"""The trie of a model, built one order after the other.

Reading hands over chunks of n-grams in the order of the file (:class:`RawNgrams`), whose contexts
it finds in the orders below; :meth:`Trie.add_order` sorts them into the records of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.trie import kernels
from lmkit.ngram.arpa.trie.search import kernels as search
from lmkit.ngram.estimate.result import WideRows

Words = NDArray[np.uint32]
NONE = 0xFFFFFFFF
_LINE = 8
"""Slots in a line of the cache."""
_BUCKETS = 9
"""Contexts are cut into 2 ** _BUCKETS buckets or somewhat fewer, if their keys allow."""


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

    def __init__(self, raw: NDArray[np.uint32], num_contexts: int, num_words: int) -> None:
        """Keep n-grams in ``raw`` [capacity, 5]; more than that are counted but not kept."""
        self.raw = raw
        num_contexts = max(num_contexts, 1)
        word_bits = (num_words - 1).bit_length()
        bucket_bits = min(
            (num_contexts - 1).bit_length() - _BUCKETS, 63 - word_bits - len(raw).bit_length()
        )
        bucket_bits = max(0, bucket_bits)
        self.num_buckets = ((num_contexts - 1) >> bucket_bits) + 1
        self.shape = np.array([bucket_bits, word_bits, 64 - word_bits - bucket_bits])
        self.used = 0
        self._lock = Lock()

    def add(
        self,
        contexts: NDArray[np.uint32],
        words: Words,
        lines: NDArray[np.uint32],
        logprobs: NDArray[np.float32],
        backoffs: NDArray[np.float32],
        num_orphans: int = 0,
    ) -> Chunk:
        """Add n-grams; ``words`` [n, k]. Those with the context NONE become orphans."""
        size = len(contexts) - num_orphans
        with self._lock:
            begin = self.used
            self.used += size
        bounds = np.zeros(self.num_buckets + 1, dtype=np.int64)
        if begin + size <= len(self.raw):
            kernels.fill_buckets(
                contexts, words[-1], lines, logprobs, backoffs, self.shape[0], bounds,
                self.raw[begin : begin + size],
            )  # fmt: skip
        orphans = None
        if num_orphans:
            alone = contexts == NONE
            orphans = Orphans(words[:, alone], lines[alone], logprobs[alone], backoffs[alone])
        return Chunk(begin, size, bounds, orphans)


Table = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]
"""``slots``, ``places`` and ``shape``; see ``search/kernels.py``."""


class Repeated(Exception):
    """An n-gram is there twice; ``context`` and ``word`` say which."""

    def __init__(self, context: int, word: int) -> None:
        super().__init__(context, word)
        self.context = context
        self.word = word


class Trie:
    """The records of the orders read so far.

    Attributes:
        inner: uint32 [I + 1, 5], see ``lmkit.ngram.query.kernels``.
        top: uint32 [T, 3].
        bases: the first record of each order, and the one behind the last.
    """

    def __init__(
        self,
        logprobs: NDArray[np.float32],
        backoffs: NDArray[np.float32],
        counts: Sequence[int],
        pool: Executor,
        threads: int,
    ) -> None:
        """Start with the 1-grams [V]; ``counts`` are the numbers of n-grams there will be."""
        size = len(logprobs)
        self.order = len(counts)
        self.inner = np.empty((size + sum(counts[1:-1]) + 1, 5), dtype=np.uint32)
        self.inner[:size, 0] = np.arange(size)
        self.inner[:size, 1] = logprobs.view(np.uint32)
        self.inner[:size, 2] = backoffs.view(np.uint32)
        self.inner[:size, 3] = NONE
        self.inner[:size, 4] = size
        self.inner[-1] = (0, 0, 0, NONE, size)
        self.top = np.empty((0, 3), dtype=np.uint32)
        self.bases = [0, size]
        self.pool = pool
        self.threads = threads
        self._tables: list[Table] = []  # of orders 2, 3, ...
        self._wide: list[Future[WideRows]] = []

    def size(self, n: int) -> int:
        """Return the number of n-grams of order ``n``."""
        return self.bases[n] - self.bases[n - 1]

    def find(self, words: Words) -> tuple[NDArray[np.uint32], int]:
        """Return the place of each n-gram of ``words`` [n, k] in its order, and how many have none.

        NONE stands for none. The orders up to n must have been read, and not be the highest.
        """
        places = words[0].copy()
        missing = 0
        for n in range(2, len(words) + 1):
            missing = search.find_many(places, words[n - 1], *self._tables[n - 2], places)
        return places, missing

    def add_order(self, ngrams: RawNgrams, chunks: Sequence[Chunk]) -> None:
        """Sort the n-grams of the next order into records, and link them.

        Raises:
            Repeated: two n-grams are the same.
        """
        n, base = len(self.bases), self.bases[-1]
        bounds = np.zeros((len(chunks), ngrams.num_buckets + 1), dtype=np.int64)
        for c, chunk in enumerate(chunks):
            bounds[c] = chunk.bounds
        begins = bounds.sum(axis=0)
        count = int(begins[-1])
        if n == self.order:
            records = self.top = np.empty((count, 3), dtype=np.uint32)
        else:
            records = self.inner[base : base + count]
        self.inner[base, 4] = base + count
        table = self._new_table(ngrams, begins, searched=n < self.order)
        self._build(n, ngrams, chunks, bounds, table, records)
        self.bases.append(base + count)
        self._tables.append(table)
        self._wide.append(self.pool.submit(self._find_wide, n, records))

    def wide_table(self) -> NDArray[np.uint32]:
        """Return the table [power of two] of the children of wide contexts; 0 is a free slot."""
        wide = WideRows()
        for future in self._wide:
            rows = future.result()
            wide.append(rows.states[0], rows.firsts[0], rows.sizes[0], rows.words[0])
        return wide.table()

    def _find_wide(self, n: int, records: NDArray[np.uint32]) -> WideRows:
        """Return the contexts of order ``n`` - 1 that have many children."""
        lower, base, end = self.bases[n - 2 : n + 1]
        starts = np.append(self.inner[lower:base, 4], np.uint32(end)) - np.uint32(base)
        wide = WideRows()
        wide.add(starts, records, lower, base)
        return wide

    def _new_table(self, ngrams: RawNgrams, begins: NDArray[np.int64], *, searched: bool) -> Table:
        """Return an empty table for n-grams of which those of each bucket begin at ``begins``."""
        sizes = np.left_shift(1, np.frexp(np.diff(begins) * 1.5)[1], dtype=np.int64)
        sizes = np.maximum(sizes, _LINE)
        places = np.zeros((len(begins), 2), dtype=np.int64)
        np.cumsum(sizes, out=places[1:, 0])
        places[:, 1] = begins
        slots = np.zeros(int(places[-1, 0]) + _LINE if searched else _LINE, dtype=np.uint64)
        unaligned = slots.__array_interface__["data"][0] // slots.itemsize % _LINE
        return slots[-unaligned % _LINE :], places, ngrams.shape

    def _build(
        self,
        n: int,
        ngrams: RawNgrams,
        chunks: Sequence[Chunk],
        bounds: NDArray[np.int64],
        table: Table,
        records: NDArray[np.uint32],
    ) -> None:
        base, lower_base = self.bases[n - 1], self.bases[n - 2]
        below_base = self.bases[n - 3] if n > 2 else 0
        chunk_begins = np.array([chunk.begin for chunk in chunks], dtype=np.int64)
        lower = self._tables[-1] if n > 2 else table
        begins = table[1][:, 1]
        targets = np.linspace(0, len(records), 8 * self.threads + 1)
        cuts = np.searchsorted(begins[:-1], targets)
        cuts[0], cuts[-1] = 0, ngrams.num_buckets

        def build(k: int) -> NDArray[np.int64]:
            result = np.array([0, -1, -1])
            kernels.build_buckets(
                ngrams.raw, chunk_begins, bounds, cuts[k], cuts[k + 1], n, lower_base,
                below_base, base, self.inner, records, *table, n < self.order, *lower, result,
            )  # fmt: skip
            return result

        results = list(self.pool.map(build, range(len(cuts) - 1)))
        for _, context, word in results:
            if context >= 0:
                raise Repeated(int(context), int(word))
        if sum(result[0] for result in results):
            search.resolve_links(lower_base, base, base, self.inner, self.top, records)
