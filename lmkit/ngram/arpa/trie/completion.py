"""Adds the contexts that a model lacks.

An n-gram is found by way of its first n - 1 words, which must be in the model too. Tools that
prune by entropy may leave them out. Such a context gets the probability that the model gave it
before, by backing off, and no back-off weight of its own, so all probabilities stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.trie.levels import NONE, Chunk, RawNgrams, Trie, Words


def adopt_orphans(
    trie: Trie, ngrams: RawNgrams, chunks: Sequence[Chunk], room: Sequence[int]
) -> tuple[Trie, RawNgrams, list[Chunk]]:
    """Make a trie with the contexts that n-grams lack in ``trie``, which holds the orders below.

    ``room`` are the numbers of n-grams of all orders that the file may hold.

    Returns:
        The trie, and all n-grams in one chunk, lines counted from the start of the file.
    """
    lists = [(chunk, chunk.orphans) for chunk in chunks if chunk.orphans is not None]
    words = np.concatenate([orphans.words for _, orphans in lists], axis=1)
    completed, moved = _completed(trie, words[:-1], room)
    kept = ngrams.raw[: ngrams.used]
    for chunk in chunks:
        kept[chunk.begin : chunk.begin + chunk.size, 4] += np.uint32(chunk.first_line)
    lines = [orphans.lines + np.uint32(chunk.first_line) for chunk, orphans in lists]
    values = kept.view(np.float32)
    size = len(kept) + words.shape[1]
    merged = _raw(completed, len(words), size)
    chunk = merged.add(
        np.concatenate([moved[kept[:, 1]], completed.find(words[:-1])[0]]),
        np.concatenate([kept[:, 0], words[-1]])[np.newaxis],
        np.concatenate([kept[:, 4], *lines]),
        np.concatenate([values[:, 2], *(orphans.logprobs for _, orphans in lists)]),
        np.concatenate([values[:, 3], *(orphans.backoffs for _, orphans in lists)]),
    )
    return completed, merged, [chunk]


def _raw(trie: Trie, n: int, size: int) -> RawNgrams:
    """Return room for ``size`` n-grams."""
    raw = np.empty((size, 5), dtype=np.uint32)
    return RawNgrams(raw, trie.size(n - 1), trie.size(1))


def _completed(trie: Trie, words: Words, room: Sequence[int]) -> tuple[Trie, NDArray[np.uint32]]:
    """Return a trie that has the n-grams ``words`` [n, k] too, and what they begin with.

    Also returns the new place of each n-gram of order n that was there before.
    """
    wanted = np.unique(words, axis=1)
    order = len(wanted)
    added = []
    for n in range(2, order + 1):
        places, _ = trie.find(wanted[:n])
        added.append(np.unique(wanted[:n, places == NONE], axis=1))
    grown = [trie.size(n + 2) + new.shape[1] for n, new in enumerate(added)]
    unigrams = trie.inner[: trie.size(1)].view(np.float32)
    completed = Trie(
        unigrams[:, 1].copy(), unigrams[:, 2].copy(), [trie.size(1), *grown, *room[order:]],
        trie.pool, trie.threads,
    )  # fmt: skip
    moved = np.arange(trie.size(1), dtype=np.uint32)
    for n, new in enumerate(added, 2):
        moved = _add_order(completed, trie, n, new, moved)
    return completed, moved


def _add_order(
    completed: Trie, trie: Trie, n: int, new: Words, moved: NDArray[np.uint32]
) -> NDArray[np.uint32]:
    """Add order ``n`` of ``trie`` and the n-grams ``new`` [n, k]; return where the old ones are.

    ``moved`` are the new places of the contexts.
    """
    low, base, end = trie.bases[n - 2 : n + 1]
    firsts = np.append(trie.inner[low:base, 4].astype(np.int64), end)
    contexts = moved[np.repeat(np.arange(base - low), np.diff(firsts))]
    old = trie.inner[base:end]
    values = old.view(np.float32)
    size = len(old) + new.shape[1]
    raw = _raw(completed, n, size)
    new_contexts, _ = completed.find(new[:-1])
    all_contexts = np.concatenate([contexts, new_contexts])
    words = np.concatenate([old[:, 0], new[-1]])
    chunk = raw.add(
        all_contexts,
        words[np.newaxis],
        np.zeros(size, dtype=np.uint32),
        np.concatenate([values[:, 1], _back_off(trie, new).astype(np.float32)]),
        np.concatenate([values[:, 2], np.zeros(new.shape[1], dtype=np.float32)]),
    )
    completed.add_order(raw, [chunk])
    order = np.lexsort((words, all_contexts))
    places = np.empty(size, dtype=np.uint32)
    places[order] = np.arange(size, dtype=np.uint32)
    return places[: len(old)]


def _back_off(trie: Trie, words: Words) -> NDArray[np.float64]:
    """Return ln p(last | the other words) of n-grams [n, k] that ``trie`` lacks."""
    n, size = words.shape
    total = np.zeros(size)
    pending = np.ones(size, dtype=bool)
    for start in range(n):
        if start > 0:
            found, logprobs = _values(trie, words[start:], 1)
            here = pending & found
            total[here] += logprobs[here]
            pending &= ~here
        if start < n - 1:
            _, backoffs = _values(trie, words[start:-1], 2)
            total[pending] += backoffs[pending]
    return total


def _values(trie: Trie, words: Words, column: int) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Return which n-grams [n, k] are there, and a column of their records (0 for the others)."""
    places, _ = trie.find(words)
    known = places != NONE
    values = np.zeros(len(places), dtype=np.float32)
    records = trie.inner.view(np.float32)
    values[known] = records[trie.bases[len(words) - 1] + places[known].astype(np.int64), column]
    return known, values
