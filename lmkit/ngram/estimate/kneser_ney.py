"""Modified Kneser-Ney estimation with interpolation (Chen & Goodman 1999), any order.

As KenLM's lmplz computes it: n-grams below the highest order count by the number of distinct
words to their left, those that begin with <s> by their raw count; discounts come from the
counts before pruning; what pruning drops goes to its context's back-off.

One order after the other: the n-grams of order n are read off the suffix order, scattered into
the rows of their contexts (a counting sort, so that the words of a row are sorted), and each
row is normalised. Records of order n - 1 are final then and are handed on, so that no more than
two orders are in memory at a time.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lmkit.events import SILENT, Listener
from lmkit.language_model import Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate import kernels
from lmkit.ngram.estimate.counting import SuffixOrder, sort_suffixes
from lmkit.ngram.estimate.discounts import Discounts, estimate_discounts
from lmkit.ngram.estimate.result import (
    Estimate,
    Records,
    Sink,
    WideRows,
    estimate_unigrams,
    unigram_records,
)


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
    probability, count, link); probabilities and back-offs are float32 bits, not logarithms.
    """
    if config.order == 1:
        return estimate_unigrams(ids, num_words, config, sink)
    with ThreadPoolExecutor(threads) as pool:
        order = sort_suffixes(ids, num_words, config, pool, listener)
        return _Levels(order, num_words, config, sink, pool, threads).run(listener)


@dataclass(slots=True)
class _Part:
    """One thread's range of suffixes and what it holds of the current order."""

    begin: int
    end: int
    counts: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    contexts: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    children: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    lost: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(1, np.uint32))
    lower_index: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros(5, np.int64))
    kept: int = 0


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
        self.parts = [_Part(a, b) for a, b in order.split(threads)]
        counts = np.zeros(num_words, dtype=np.int64)
        kernels.count_unigrams(order.suffixes, order.shared, order.stream, counts)
        self.lower, first = unigram_records(counts, config)
        self.result = Estimate([num_words], [first], WideRows())
        self.states: NDArray[np.uint32] = order.stream
        self.lower_base = 0

    def run(self, listener: Listener) -> Estimate:
        """Estimate orders 2 to N; return the counts and discounts."""
        order = self.config.order
        sizes = [int(np.count_nonzero(self.suffix_order.shared < n)) for n in range(2, order + 1)]
        listener.phase("estimating", sum(sizes), "n-grams")
        for n in range(2, order + 1):
            self._count(n)
            self._emit(n)
            listener.advance(sizes[n - 2])
        self.sink(order, self.lower, self.lower_base + len(self.lower))
        return self.result

    def _count(self, n: int) -> None:
        config, order = self.config, self.suffix_order
        threshold = config.threshold(n)
        num_contexts = len(self.lower)

        def run(part: _Part) -> None:
            seen = int(np.count_nonzero(order.shared[part.begin : part.end] < n))
            part.counts = np.empty(seen, dtype=np.uint32)
            part.contexts = np.empty(seen, dtype=np.uint32)
            part.children = np.zeros(num_contexts, dtype=np.uint32)
            part.lost = np.zeros(num_contexts if threshold else 1, dtype=np.uint32)
            part.histogram = np.zeros(5, dtype=np.int64)
            if n == 2:
                heads = np.flatnonzero(order.shared[part.begin : part.end] == 0) + part.begin
                part.lower_index = order.stream[order.suffixes[heads]]
            seen, part.kept = kernels.count_ngrams(
                order.suffixes, order.shared, order.reach, part.begin, part.end, n,
                n == config.order, config.mode == "sentence", threshold, self.states,
                part.counts, part.contexts, part.histogram, part.children, part.lost,
            )  # fmt: skip
            part.counts, part.contexts = part.counts[:seen], part.contexts[:seen]

        list(self.pool.map(run, self.parts))

    def _emit(self, n: int) -> None:
        config, order, parts = self.config, self.suffix_order, self.parts
        histogram = np.sum([part.histogram for part in parts], axis=0)
        discounts = estimate_discounts(histogram, config.fallback)
        starts = self._row_starts()
        highest = n == config.order
        records = np.empty((int(starts[-1]), 4 if highest else 5), dtype=np.uint32)
        states = self.states if highest else np.empty(len(order.stream), dtype=np.uint32)
        lower, lower_base = self.lower, self.lower_base

        def run(part: _Part) -> None:
            index = np.empty(0 if highest else len(part.counts), dtype=np.uint32)
            kernels.emit_records(
                order.suffixes, order.shared, order.reach, order.stream, part.begin, part.end,
                n, highest, part.counts, part.contexts, len(part.counts), part.children,
                lower, lower_base, part.lower_index, records, index, states,
            )  # fmt: skip
            part.lower_index = index

        list(self.pool.map(run, parts))
        lost = np.sum([part.lost for part in parts], axis=0, dtype=np.uint32)
        base = lower_base + len(lower)
        self._normalize(records, starts, lost, discounts, base)
        self.result.wide.add(starts, records, lower_base, base)
        self.result.counts.append(len(records))
        self.result.discounts.append(discounts)
        self.sink(n - 1, lower, base + len(records))
        self.lower, self.lower_base, self.states = records, base, states
        for part in parts:
            part.counts = part.contexts = part.children = np.empty(0, dtype=np.uint32)

    def _row_starts(self) -> NDArray[np.uint32]:
        """Return [contexts + 1] where rows start; make each part's ``children`` its first rows."""
        parts = self.parts
        starts = np.zeros(len(self.lower) + 1, dtype=np.uint32)
        for part in parts:
            starts[1:] += part.children
        np.cumsum(starts, out=starts)
        begin = starts[:-1]
        for i, part in enumerate(parts):
            own = part.children
            part.children = begin.copy() if i == 0 else begin
            begin = part.children + own if i + 1 < len(parts) else begin
        return starts

    def _normalize(
        self,
        records: Records,
        starts: NDArray[np.uint32],
        lost: NDArray[np.uint32],
        discounts: Discounts,
        base: int,
    ) -> None:
        lower = self.lower
        cuts = np.linspace(0, len(lower), 4 * self.threads + 1).astype(np.int64)

        def run(k: int) -> None:
            first, last = int(cuts[k]), int(cuts[k + 1])
            kernels.normalize(records, starts, lost, first, last, discounts.array(), lower, base)

        list(self.pool.map(run, range(len(cuts) - 1)))
