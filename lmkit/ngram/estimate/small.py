"""Kneser-Ney estimation of a small text with NumPy alone, where loading numba would cost more.

The twin of ``kneser_ney.py`` and its kernels: the same records, to the last bit. The n-grams of
order n are numbered by sorting (number of the first n - 1 words, last word).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.events import SILENT, Listener
from lmkit.language_model import BOS, EOS, Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate.discounts import estimate_discounts
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
    """Estimate a model of encoded text [T]; see ``kneser_ney.estimate``."""
    del threads
    if config.order == 1:
        return estimate_unigrams(ids, num_words, config, sink)
    listener.phase("estimating")
    text = _Text.of(ids, config)
    number = text.stream.astype(np.int64)
    state = number.copy()
    counts = np.bincount(text.stream[text.positions], minlength=num_words)
    counts = _left_words(number, text, 1, np.arange(len(counts)))
    lower, first = unigram_records(counts, config)
    result = Estimate([num_words], [first], WideRows())
    lower_base = 0
    for n in range(2, config.order + 1):
        grams = _Grams.of(n, number, text, num_words, config)
        discounts = estimate_discounts(
            np.bincount(grams.counts[grams.counts < 5], minlength=5), config.fallback
        )
        contexts = state[grams.places - 1]
        kept = grams.raw > config.threshold(n)
        lost = np.zeros(len(lower), dtype=np.int64)
        dropped = ~kept & (contexts >= 0)
        np.add.at(lost, contexts[dropped], grams.counts[dropped])
        base = lower_base + len(lower)
        starts = np.zeros(len(lower) + 1, dtype=np.uint32)
        np.cumsum(np.bincount(contexts[kept], minlength=len(lower)), out=starts[1:])
        places = grams.places[kept]
        below = state[places]
        width = 4 if n == config.order else 5
        records = np.empty((len(places), width), dtype=np.uint32)
        records[:, 0] = text.stream[places]
        records[:, 2] = grams.counts[kept]
        records[:, 3] = lower_base + below
        inherited = lower[below, 1].view(np.float32)
        _normalize(records, inherited, contexts[kept], lost, discounts.array(), lower)
        lower[:, 4] = base + starts[:-1]
        result.wide.add(starts, records, lower_base, base)
        result.counts.append(len(records))
        result.discounts.append(discounts)
        sink(n - 1, lower, base + len(records))
        number = grams.number
        rank = np.where(kept, np.cumsum(kept) - 1, -1)
        state = np.full(len(number), -1, dtype=np.int64)
        state[number >= 0] = rank[number[number >= 0]]
        lower, lower_base = records, base
    sink(config.order, lower, lower_base + len(lower))
    return result


@dataclass(slots=True)
class _Text:
    """The padded text; see ``kernels.py`` for the legend."""

    stream: NDArray[np.uint32]
    positions: NDArray[np.int64]
    """Where the tokens are that are not barriers."""
    reach: NDArray[np.int64]
    """[S] of every position."""
    sentences: bool

    @classmethod
    def of(cls, ids: Ids, config: NgramConfig) -> _Text:
        sentences = config.mode == "sentence"
        ends = ids == EOS
        stream = ids[~ends] if not sentences else ids
        begins = np.flatnonzero(ends[:-1]) + 1
        if not sentences:
            begins = begins - np.arange(1, len(begins) + 1)
        begins = np.concatenate([[0], begins])
        stream = np.insert(stream, np.repeat(begins, config.order - 1), np.uint32(BOS))
        is_token = stream != BOS
        index = np.arange(len(stream))
        barrier = np.maximum.accumulate(np.where(is_token, -1, index))
        reach = np.where(is_token, np.minimum(index - barrier, config.order), 0)
        reach -= 0 if sentences else 1
        return cls(stream, np.flatnonzero(is_token), reach, sentences)


def _left_words(
    number: NDArray[np.int64], text: _Text, n: int, distinct: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the number of distinct words before each n-gram of ``distinct`` numbers."""
    places = text.positions[number[text.positions] >= 0]
    size = int(text.stream.max()) + 1
    pairs = np.unique(number[places] * size + text.stream[places - n])
    return np.bincount(pairs // size, minlength=len(distinct))


@dataclass(slots=True)
class _Grams:
    """The distinct n-grams of one order, sorted by (first n - 1 words, last word)."""

    number: NDArray[np.int64]
    """[S]: which of them ends at each position, -1 for none."""
    places: NDArray[np.int64]
    """Where each ends for the first time."""
    raw: NDArray[np.int64]
    counts: NDArray[np.int64]
    """Adjusted counts."""

    @classmethod
    def of(
        cls, n: int, lower: NDArray[np.int64], text: _Text, num_words: int, config: NgramConfig
    ) -> _Grams:
        places = text.positions[text.reach[text.positions] + 1 >= n]
        keys = lower[places - 1] * num_words + text.stream[places]
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        number = np.full(len(text.stream), -1, dtype=np.int64)
        number[places] = inverse
        raw = np.bincount(inverse, minlength=len(distinct))
        counts = raw
        if n < config.order:
            counts = _left_words(number, text, n, distinct)
            if text.sentences:
                counts = np.where(text.reach[places[first]] + 1 == n, raw, counts)
        return cls(number, places[first], raw, counts)


def _normalize(
    records: Records,
    inherited: NDArray[np.float32],
    contexts: NDArray[np.int64],
    lost: NDArray[np.int64],
    discounts: NDArray[np.float64],
    lower: Records,
) -> None:
    """Turn counts into probabilities: the twin of ``kernels.normalize``."""
    counts = records[:, 2].astype(np.int64)
    size = len(lower)
    totals = lost + np.bincount(contexts, weights=counts, minlength=size).astype(np.int64)
    ones = np.bincount(contexts[counts == 1], minlength=size)
    twos = np.bincount(contexts[counts == 2], minlength=size)
    more = np.bincount(contexts[counts > 2], minlength=size)
    free = discounts[1] * ones + discounts[2] * twos + discounts[3] * more + lost
    has_children = np.bincount(contexts, minlength=size) > 0
    gamma = np.ones(size)
    gamma[has_children] = free[has_children] / totals[has_children]
    lower[:, 2] = gamma.astype(np.float32).view(np.uint32)
    rest = (counts - discounts[np.minimum(counts, 3)]) / totals[contexts]
    probabilities = rest + gamma[contexts] * inherited
    records[:, 1] = probabilities.astype(np.float32).view(np.uint32)
