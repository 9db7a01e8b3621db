"""Looking n-grams up with NumPy alone: for a handful of lines, where loading numba would cost more.

The twin of ``kernels.py``: same records, same sums in the same order, so equal to the last bit.
Instead of walking links token by token it finds, order by order, the record of the n-gram that
ends at every position: record_n[t] = child(record_{n-1}[t - 1], word[t]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import BOS, EOS, Ids, Logprobs
from lmkit.ngram.layout import NONE

_ABSENT = -1


@dataclass(frozen=True, slots=True)
class Records:
    """The mapped arrays of a model; see ``kernels.py`` for the legend."""

    inner: NDArray[np.uint32]
    top: NDArray[np.uint32]
    wide: NDArray[np.uint32]

    @property
    def num_inner(self) -> int:
        """Number of records in ``inner``, the sentinel not counted."""
        return len(self.inner) - 1

    def words(self, begin: int, end: int) -> NDArray[np.uint32]:
        """Return the words of the records ``begin`` to ``end``, which are of one order."""
        if begin >= self.num_inner:
            return self.top[begin - self.num_inner : end - self.num_inner, 0]
        return self.inner[begin:end, 0]

    def logprobs(self, begin: int, end: int) -> NDArray[np.float32]:
        """Return the log probabilities of the records ``begin`` to ``end`` of one order."""
        if begin >= self.num_inner:
            return self.top[begin - self.num_inner : end - self.num_inner, 1].view(np.float32)
        return self.inner[begin:end, 1].view(np.float32)

    def row(self, state: int) -> tuple[int, int]:
        """Return where the children of ``state`` begin and end."""
        return int(self.inner[state, 4]), int(self.inner[state + 1, 4])

    def link(self, state: int) -> int:
        """Return the state of the longest proper suffix of ``state``, or NONE."""
        if state >= self.num_inner:
            return int(self.top[state - self.num_inner, 2])
        return int(self.inner[state, 3])

    def child(self, state: int, word: int) -> int:
        """Return the record of ``word`` behind ``state``, or -1."""
        begin, end = self.row(state)
        words = self.words(begin, end)
        place = int(np.searchsorted(words, np.uint32(word)))
        return begin + place if place < end - begin and words[place] == word else _ABSENT

    def advance(self, state: int, word: int, sentences: bool) -> int:
        """Return the context after reading ``word`` in context ``state``."""
        if word == EOS:
            return BOS if sentences else NONE
        while state != NONE:
            found = self.child(state, word)
            if found != _ABSENT:
                return self.link(found) if found >= self.num_inner else found
            state = int(self.inner[state, 3])
        return word


def score_stream(
    ids: Ids, skip: int, sentences: bool, order: int, records: Records, at_start: bool
) -> Logprobs:
    """Return ln p of ``ids[skip:]``; see ``kernels.score_stream``.

    ``at_start``: the stream begins at the start context (<s> in sentence mode), else its first
    tokens only have each other for context.
    """
    stream, places = _with_starts(ids, sentences, at_start)
    inner, top = records.inner, records.top
    probabilities = inner[:, 1].view(np.float32)
    backoffs = inner[:, 2].view(np.float32)
    predicted = np.ones(len(stream), dtype=bool)
    predicted[stream == BOS] = False
    breaks = np.zeros(len(stream), dtype=bool)
    if not sentences:
        breaks = stream == EOS
        predicted[breaks] = False
    found = [np.where(breaks, _ABSENT, stream.astype(np.int64))]
    for _ in range(2, order + 1):
        before = np.concatenate([[_ABSENT], found[-1][:-1]])
        found.append(_children(before, stream, predicted, records))
    totals = np.zeros(len(stream))
    pending = predicted.copy()
    for n in range(order, 0, -1):
        here = np.flatnonzero(pending & (found[n - 1] != _ABSENT))
        state = found[n - 1][here]
        is_top = state >= records.num_inner
        totals[here[is_top]] += top[state[is_top] - records.num_inner, 1].view(np.float32)
        totals[here[~is_top]] += probabilities[state[~is_top]]
        pending[here] = False
        if n > 1:
            contexts = np.concatenate([[_ABSENT], found[n - 2][:-1]])
            passed = np.flatnonzero(pending & (contexts != _ABSENT))
            totals[passed] += backoffs[contexts[passed]]
    return totals[places][skip:]


def _with_starts(ids: Ids, sentences: bool, at_start: bool) -> tuple[Ids, NDArray[np.int64]]:
    """Put <s> before every sentence; return the stream and where the ids are in it."""
    if not sentences:
        return ids, np.arange(len(ids))
    begins = np.flatnonzero(ids[:-1] == EOS) + 1
    if at_start:
        begins = np.concatenate([[0], begins])
    places = np.arange(len(ids)) + np.searchsorted(begins, np.arange(len(ids)), side="right")
    return np.insert(ids, begins, np.uint32(BOS)), places


def _children(
    before: NDArray[np.int64], stream: Ids, predicted: NDArray[np.bool_], records: Records
) -> NDArray[np.int64]:
    """Return the child of each record of ``before`` at the word of ``stream``, by bisection."""
    found = np.full(len(stream), _ABSENT, dtype=np.int64)
    active = np.flatnonzero(predicted & (before != _ABSENT))
    parents = before[active]
    low = records.inner[parents, 4].astype(np.int64)
    end = records.inner[parents + 1, 4].astype(np.int64)
    some = low < end
    active, low, end = active[some], low[some], end[some]
    if not len(active):
        return found
    words = stream[active]
    column = _WordColumn(records)
    high = end.copy()
    while (low < high).any():
        middle = (low + high) // 2
        open_ = low < high
        smaller = np.zeros(len(low), dtype=bool)
        smaller[open_] = column.at(middle[open_]) < words[open_]
        low = np.where(smaller, middle + 1, low)
        high = np.where(open_ & ~smaller, middle, high)
    inside = np.flatnonzero(low < end)
    hit = inside[column.at(low[inside]) == words[inside]]
    found[active[hit]] = low[hit]
    return found


class _WordColumn:
    """The words of all records, inner and top."""

    def __init__(self, records: Records) -> None:
        self._inner = records.inner[:, 0]
        self._top = records.top[:, 0]
        self._num_inner = records.num_inner

    def at(self, states: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the words of ``states``; those of one row are all inner or all top."""
        out = np.empty(len(states), dtype=np.uint32)
        is_top = states >= self._num_inner
        out[is_top] = self._top[states[is_top] - self._num_inner]
        out[~is_top] = self._inner[states[~is_top]]
        return out


def next_logprobs(state: int, records: Records, vocabulary_size: int, sentences: bool) -> Logprobs:
    """Return ln p(w | context) for every word: one walk up the links, one row a context."""
    chain = []
    while state != NONE:
        chain.append(state)
        state = int(records.inner[state, 3])
    result = records.inner[:vocabulary_size, 1].view(np.float32).astype(np.float64)
    for context in reversed(chain):
        result += records.inner[context, 2:3].view(np.float32)
        begin, end = records.row(context)
        result[records.words(begin, end)] = records.logprobs(begin, end)
    result[BOS] = -np.inf
    if not sentences:
        result[EOS] = -np.inf
    return result
