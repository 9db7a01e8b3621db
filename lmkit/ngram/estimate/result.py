"""What an estimator hands on, and the parts that need no kernels: unigrams, wide contexts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.language_model import BOS, EOS, UNK, Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate.discounts import Discounts, estimate_discounts
from lmkit.ngram.layout import NONE, WIDE

Records = NDArray[np.uint32]
Sink = Callable[[int, Records, int], Callable[[], object]]
"""Takes an order, its final records (probabilities and back-offs still linear), and the state
behind the last child of the last record; returns what waits until it needs them no more."""
_FEW = 20_000
"""Children of wide contexts up to which the table is made without the compiled kernels."""
_MULTIPLIER = 0x9E3779B97F4A7C15


@dataclass(slots=True)
class WideRows:
    """Contexts with more than WIDE children: where their rows are and the words in them."""

    states: list[NDArray[np.uint32]] = field(default_factory=list)
    firsts: list[NDArray[np.uint32]] = field(default_factory=list)
    sizes: list[NDArray[np.uint32]] = field(default_factory=list)
    words: list[NDArray[np.uint32]] = field(default_factory=list)

    def add(self, starts: NDArray[np.uint32], records: Records, lower_base: int, base: int) -> None:
        """Take note of the wide rows of one order.

        Args:
            starts: [contexts + 1], the first row of each context of order n - 1.
            records: [rows, C] of order n, the word in column 0.
            lower_base: the state of the first record of order n - 1.
            base: the state of the first record of order n.
        """
        sizes = np.diff(starts)
        wide = sizes > WIDE
        states = np.flatnonzero(wide).astype(np.uint32) + np.uint32(lower_base)
        firsts = starts[:-1][wide] + np.uint32(base)
        self.append(states, firsts, sizes[wide], records[:, 0][np.repeat(wide, sizes)])

    def append(
        self,
        states: NDArray[np.uint32],
        firsts: NDArray[np.uint32],
        sizes: NDArray[np.uint32],
        words: NDArray[np.uint32],
    ) -> None:
        """Take note of wide rows: their contexts, first children, sizes, and all their words."""
        self.states.append(states)
        self.firsts.append(firsts)
        self.sizes.append(sizes)
        self.words.append(words)

    def table(self) -> NDArray[np.uint32]:
        """Return the hash table [power of two] of record ids; 0 is a free slot."""
        num_children = sum(len(words) for words in self.words)
        table = np.zeros(wide_table_size(num_children), dtype=np.uint32)
        rows = list(zip(self.states, self.firsts, self.sizes, self.words, strict=True))
        if num_children <= _FEW:
            for arrays in rows:
                _insert_wide(*arrays, table)
            return table
        from lmkit.ngram.estimate import kernels

        slots, entries = np.empty(32, dtype=np.int64), np.empty(32, dtype=np.uint32)
        for arrays in rows:
            kernels.insert_wide(*arrays, table, slots, entries)
        return table


def wide_table_size(num_children: int) -> int:
    """Return the number of slots for so many children: a power of two, at most 3/4 full."""
    return max(2, 1 << (num_children * 4 // 3).bit_length())


def _insert_wide(
    states: NDArray[np.uint32],
    firsts: NDArray[np.uint32],
    sizes: NDArray[np.uint32],
    words: NDArray[np.uint32],
    table: NDArray[np.uint32],
) -> None:
    """Enter the children of wide contexts: the twin of ``kernels.insert_wide``."""
    mask = len(table) - 1
    owners = np.repeat(states.astype(np.uint64), sizes)
    rows = np.repeat(firsts.astype(np.int64) - np.cumsum(sizes) + sizes, sizes)
    entries = (rows + np.arange(len(words))).tolist()
    keys = ((owners << np.uint64(32)) | words).tolist()
    slots = table.tolist()
    for key, entry in zip(keys, entries, strict=True):
        mixed = key * _MULTIPLIER & 0xFFFFFFFFFFFFFFFF
        slot = (mixed ^ mixed >> 32) & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = entry
    table[:] = slots


@dataclass(slots=True)
class Estimate:
    """What was estimated, beside the records themselves."""

    counts: list[int]
    """Number of n-grams of each order."""
    discounts: list[Discounts]
    wide: WideRows

    def wide_table(self) -> NDArray[np.uint32]:
        """Return the hash table of the children of wide contexts."""
        return self.wide.table()


def unigram_records(counts: NDArray[np.int64], config: NgramConfig) -> tuple[Records, Discounts]:
    """Return the records [V, 5] of order 1 for adjusted counts [V], rows of children not yet set.

    p(w) = (c - D(c)) / sum c + gamma / V', V' the number of words that can be predicted.
    """
    counts_of_counts = np.bincount(np.minimum(counts, 5), minlength=6)
    discounts = estimate_discounts(counts_of_counts, config.fallback)
    values = discounts.array()
    total = int(counts.sum())
    if total == 0:
        raise UserError("no tokens to count", "Give a text with at least one word")
    free = sum(values[i] * np.count_nonzero(np.minimum(counts, 3) == i) for i in (1, 2, 3))
    probabilities = (counts - values[np.minimum(counts, 3)]) / total
    if config.interpolate_unigrams:
        never_predicted = 1 if config.mode == "sentence" else 2
        probabilities += free / total / (len(counts) - never_predicted)
    else:
        probabilities[UNK] = free / total
    if config.mode == "document":
        probabilities[EOS] = 0.0
    probabilities[BOS] = 1.0
    records = np.empty((len(counts), 5), dtype=np.uint32)
    records[:, 0] = np.arange(len(counts))
    records[:, 1] = probabilities.astype(np.float32).view(np.uint32)
    records[:, 2] = np.float32(1.0).view(np.uint32)
    records[:, 3] = NONE
    records[:, 4] = len(counts)
    return records, discounts


def estimate_unigrams(ids: Ids, num_words: int, config: NgramConfig, sink: Sink) -> Estimate:
    """Estimate a model of order 1 from raw counts, as lmplz does."""
    counts = np.bincount(ids, minlength=num_words)
    if config.mode == "document":
        counts[EOS] = 0
    records, discounts = unigram_records(counts, config)
    sink(1, records, num_words)
    return Estimate([num_words], [discounts], WideRows())
