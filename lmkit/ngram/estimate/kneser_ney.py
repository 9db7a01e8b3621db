"""Modified Kneser-Ney estimation with interpolation (Chen & Goodman 1999), any order.

As KenLM's lmplz computes it: n-grams below the highest order count by the number of distinct
words to their left, those that begin with <s> by their raw count; discounts come from the
counts before pruning; what pruning drops goes to its context's back-off.

One order after the other: the n-grams of order n are read off the suffix order, scattered into
the rows of their contexts (a counting sort, so that the words of a row are sorted), and each
row is normalised. Records of order n - 1 are final then and are handed on, so that no more than
two orders are in memory at a time; all large arrays are made once and used for every order, since
fresh memory costs more time than any of the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate import kernels
from lmkit.ngram.estimate.counting import SuffixOrder, padded_stream, sort_suffixes
from lmkit.ngram.estimate.discounts import Discounts, estimate_discounts
from lmkit.ngram.estimate.result import (
    Estimate,
    Records,
    Sink,
    WideRows,
    estimate_unigrams,
    unigram_records,
)
from lmkit.ngram.layout import NONE, WIDE


def estimate(
    ids: Ids,
    num_words: int,
    config: NgramConfig,
    sink: Sink,
    *,
    threads: int = 1,
    listener: Listener = SILENT,
) -> Estimate:
    """Estimate a model of encoded text [T]; ids below ``num_words``.

    ``sink`` is called once for each order, from 1 up, with its records: uint32 [count, 5] (word,
    probability, back-off, link, first child), at the highest order above 1 [count, 4] (word,
    probability, count, link); probabilities and back-offs are float32 bits, not logarithms. What
    it returns is called before the array is used again.
    """
    if config.order == 1:
        return estimate_unigrams(ids, num_words, config, sink)
    stream = padded_stream(ids, config)
    del ids
    with ThreadPoolExecutor(threads) as pool:
        order = sort_suffixes(stream, num_words, config, pool, listener)
        del stream
        return _Levels(order, num_words, config, sink, pool, threads).run(listener)


@dataclass(slots=True)
class _Part:
    """One thread's range of suffixes and its arrays, of the size that the largest order needs."""

    begin: int
    end: int
    words: NDArray[np.uint32]
    """[groups] the last words of the suffixes, in their order."""
    counts: NDArray[np.uint32]
    """[n-grams] adjusted counts, in suffix order; then where the record of each is."""
    contexts: NDArray[np.uint32]
    """[n-grams] the record of each one's first n - 1 words."""
    children: NDArray[np.uint32]
    """[contexts] n-grams kept; then where the next one's row is."""
    lower_index: NDArray[np.uint32]
    """[(n-1)-grams] where each one's record is, in suffix order."""
    lost: NDArray[np.uint32]
    """[contexts] counts that were pruned; one 0 where nothing is."""
    histogram: NDArray[np.int64]
    """Counts of the counts 0 to 4."""
    seen: int = 0
    """n-grams of this order."""

    @classmethod
    def of(cls, order: SuffixOrder, begin: int, end: int, highest: int) -> _Part:
        """Make the arrays for the suffixes ``begin`` to ``end``."""
        heads = np.flatnonzero(order.shared[begin:end] == 0) + begin
        most = int(np.count_nonzero(order.shared[begin:end] < highest))
        lower_index = np.empty(max(most, len(heads)), dtype=np.uint32)
        words = order.stream[order.suffixes[heads]]
        lower_index[: len(heads)] = words
        return cls(
            begin=begin,
            end=end,
            words=words,
            counts=np.empty(most, dtype=np.uint32),
            contexts=np.empty(most, dtype=np.uint32),
            children=np.empty(0, dtype=np.uint32),  # a row of the array of all parts
            lower_index=lower_index,
            lost=np.zeros(1, dtype=np.uint32),
            histogram=np.zeros(5, dtype=np.int64),
        )


class _Levels:
    """Walks the orders from 1 up."""

    def __init__(
        self,
        order: SuffixOrder,
        num_words: int,
        config: NgramConfig,
        sink: Sink,
        pool: Executor,
        threads: int,
    ) -> None:
        self.suffix_order = order
        self.config = config
        self.sink = sink
        self.pool = pool
        self.threads = threads
        highest = config.order
        self.sizes = [int(np.count_nonzero(order.shared < n)) for n in range(highest + 1)]
        self.parts = [_Part.of(order, a, b, highest) for a, b in order.split(threads)]
        self.lower, first = unigram_records(order.left_words(num_words), config)
        self.result = Estimate([num_words], [first], WideRows())
        self.states = order.stream  # a word is the state of its own; later orders write over it
        self.lower_base = 0
        most_contexts = max(num_words, *self.sizes[1:highest])
        self.children = np.empty((len(self.parts), most_contexts), dtype=np.uint32)
        for part, row in zip(self.parts, self.children, strict=True):
            part.children = row
        self.buffers = [np.empty(self._buffer_size(odd), dtype=np.uint32) for odd in (0, 1)]
        self.released: list[Callable[[], object]] = []

    def _buffer_size(self, parity: int) -> int:
        """Return how many numbers the records of the odd or the even orders take at most."""
        highest = self.config.order
        return (
            max(
                (self.sizes[n] * (4 if n == highest else 5))
                for n in range(2, highest + 1)
                if n % 2 == parity
            )
            if highest > 2 or parity == 0
            else 0
        )

    def run(self, listener: Listener) -> Estimate:
        """Estimate orders 2 to N; return the counts and discounts."""
        order = self.config.order
        listener.phase("estimating", sum(self.sizes[2:]), "n-grams")
        for n in range(2, order + 1):
            self._count(n)
            self._emit(n)
            listener.advance(self.sizes[n])
        self.sink(order, self.lower, self.lower_base + len(self.lower))
        return self.result

    def _count(self, n: int) -> None:
        config, order = self.config, self.suffix_order
        threshold = config.threshold(n)
        num_contexts = len(self.lower)

        def run(part: _Part) -> None:
            part.children[:num_contexts] = 0
            part.lost = np.zeros(max(num_contexts, 2) if threshold else 1, dtype=np.uint32)
            part.histogram[:] = 0
            part.seen = kernels.count_ngrams(
                order.suffixes, order.shared, order.reach, part.begin, part.end, n,
                n == config.order, config.mode == "sentence", threshold, self.states,
                part.counts, part.contexts, part.histogram, part.children, part.lost,
            )  # fmt: skip

        list(self.pool.map(run, self.parts))

    def _emit(self, n: int) -> None:
        config, order, parts = self.config, self.suffix_order, self.parts
        histogram = np.sum([part.histogram for part in parts], axis=0)
        discounts = estimate_discounts(histogram, config.fallback)
        size = len(self.lower)
        num_kept = int(kernels.row_starts(self.children, size))
        highest = n == config.order
        records = self._room(n, num_kept)
        lower, lower_base = self.lower, self.lower_base
        if highest:  # what only a higher order would need makes room for the records
            order.stream = self.states = np.empty(0, dtype=np.uint32)

        def run(part: _Part) -> None:
            kernels.emit_records(
                order.suffixes, order.shared, order.reach, part.words, part.begin, part.end,
                n, highest, part.counts, part.contexts, part.seen, part.children,
                lower, lower_base, part.lower_index, records, self.states,
            )  # fmt: skip
            part.lower_index, part.counts = part.counts, part.lower_index

        list(self.pool.map(run, parts))
        lost = np.stack([part.lost for part in parts]).sum(axis=0, dtype=np.uint32)
        base = lower_base + len(lower)
        ends = self.children[-1, :size]
        self._normalize(records, ends, lost, discounts, base)
        self._note_wide_rows(ends, records, lower_base, base)
        self.result.counts.append(len(records))
        self.result.discounts.append(discounts)
        self.released.append(self.sink(n - 1, lower, base + len(records)))
        self.lower, self.lower_base = records, base

    def _note_wide_rows(
        self, ends: NDArray[np.uint32], records: Records, lower_base: int, base: int
    ) -> None:
        """Keep what the table of wide contexts needs of this order: :meth:`WideRows.add`."""
        arrays = [np.empty(0, dtype=np.uint32)] * 4
        where = (ends, WIDE, records, lower_base, base)
        rows, children = kernels.wide_rows(*where, *arrays)
        arrays = [np.empty(size, dtype=np.uint32) for size in (rows, rows, rows, children)]
        kernels.wide_rows(*where, *arrays)
        self.result.wide.append(*arrays)

    def _room(self, n: int, count: int) -> Records:
        """Return uninitialised records of order ``n``, where those of order n - 2 were."""
        columns = 4 if n == self.config.order else 5
        if n > 3:
            self.released[n - 3]()
        if self.lower_base + len(self.lower) + count >= NONE:
            raise UserError(f"more than {NONE:,} n-grams", "Lower --order, or raise --prune")
        return self.buffers[n % 2][: count * columns].reshape(count, columns)

    def _normalize(
        self,
        records: Records,
        ends: NDArray[np.uint32],
        lost: NDArray[np.uint32],
        discounts: Discounts,
        base: int,
    ) -> None:
        lower, values = self.lower, discounts.array()
        probabilities, backoffs = records.view(np.float32), lower.view(np.float32)
        cuts = np.linspace(0, len(lower), 4 * self.threads + 1).astype(np.int64)

        def run(k: int) -> None:
            first, last = int(cuts[k]), int(cuts[k + 1])
            kernels.normalize(
                records, probabilities, ends, lost, first, last, values, lower, backoffs, base
            )

        list(self.pool.map(run, range(len(cuts) - 1)))
