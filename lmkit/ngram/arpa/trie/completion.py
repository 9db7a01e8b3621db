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
    trie: Trie, ngrams: RawNgrams, chunks: Sequence[Chunk]
) -> tuple[RawNgrams, list[Chunk], int]:
    """Add the contexts that n-grams lack to ``trie``, which holds the orders below.

    Returns:
        All n-grams in one chunk, lines counted from the start of the file, and the number of
        n-grams added to the orders below.
    """
    before = sum(len(level) for level in trie.levels)
    lists = [(chunk, chunk.orphans) for chunk in chunks if chunk.orphans is not None]
    words = np.concatenate([orphans.words for _, orphans in lists], axis=1)
    moved = _add_contexts(trie, words[:-1])
    kept = ngrams.raw[: ngrams.used]
    for chunk in chunks:
        kept[chunk.begin : chunk.begin + chunk.size, 4] += np.uint32(chunk.first_line)
    lines = [orphans.lines + np.uint32(chunk.first_line) for chunk, orphans in lists]
    logprobs = [orphans.logprobs for _, orphans in lists]
    backoffs = [orphans.backoffs for _, orphans in lists]
    values = kept.view(np.float32)
    merged = RawNgrams(len(kept) + words.shape[1], trie.size(len(words) - 1))
    chunk = merged.add(
        np.concatenate([moved[kept[:, 1]], trie.find(words[:-1])[0]]),
        np.concatenate([kept[:, 0], words[-1]])[np.newaxis],
        np.concatenate([kept[:, 4], *lines]),
        np.concatenate([values[:, 2], *logprobs]),
        np.concatenate([values[:, 3], *backoffs]),
        0,
    )
    return merged, [chunk], sum(len(level) for level in trie.levels) - before


def _add_contexts(trie: Trie, words: Words) -> NDArray[np.uint32]:
    """Add those n-grams of ``words`` [n, k] that are lacking, and what they begin with.

    Returns the new places of the n-grams of order n that were there before.
    """
    wanted = np.unique(words, axis=1)
    moved = np.arange(trie.size(1), dtype=np.uint32)
    for n in range(2, len(wanted) + 1):
        moved = _add(trie, n, wanted[:n])
    return moved


def _add(trie: Trie, n: int, wanted: Words) -> NDArray[np.uint32]:
    """Add those of ``wanted`` [n, k] that order ``n`` lacks; return the new places of its rows."""
    places, _ = trie.find(wanted)
    added = np.unique(wanted[:, places == NONE], axis=1)
    new = np.zeros((added.shape[1], 4), dtype=np.uint32)
    new[:, 0] = added[-1]
    new[:, 1] = trie.find(added[:-1])[0]
    new[:, 2] = _back_off(trie, added).astype(np.float32).view(np.uint32)
    new_keys = new[:, 1].astype(np.uint64) << np.uint64(32) | new[:, 0]
    order = np.argsort(new_keys)
    new, new_keys = new[order], new_keys[order]
    old = trie.levels[n - 2]
    moved = np.arange(len(old)) + np.searchsorted(new_keys, old.keys)
    rows = np.insert(old.rows, np.searchsorted(old.keys, new_keys), new, axis=0)
    trie.replace_level(n, rows)
    if n - 1 < len(trie.levels):
        above = trie.levels[n - 1].rows
        above[:, 1] = moved[above[:, 1]]
        trie.replace_level(n + 1, above)
    return moved.astype(np.uint32)


def _back_off(trie: Trie, words: Words) -> NDArray[np.float64]:
    """Return ln p(last | the other words) of n-grams [n, k] as the orders below n give it."""
    n, size = words.shape
    total = np.zeros(size)
    pending = np.ones(size, dtype=bool)
    for start in range(n):
        if start > 0:
            found, _ = trie.find(words[start:])
            logprobs, _ = _values(trie, n - start, found)
            here = pending & (found != NONE)
            total[here] += logprobs[here]
            pending &= ~here
        if start < n - 1:
            context, _ = trie.find(words[start:-1])
            _, backoffs = _values(trie, n - start - 1, context)
            total[pending] += backoffs[pending]
    return total


def _values(
    trie: Trie, n: int, places: NDArray[np.uint32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the log probabilities and back-offs at ``places`` of order ``n``; 0 for NONE."""
    known = places != NONE
    logprobs = np.zeros(len(places), dtype=np.float32)
    backoffs = np.zeros(len(places), dtype=np.float32)
    if n == 1:
        logprobs[known], backoffs[known] = trie.logprobs[places[known]], trie.backoffs[places[known]]
    else:
        values = trie.levels[n - 2].rows.view(np.float32)
        logprobs[known], backoffs[known] = values[places[known], 2], values[places[known], 3]
    return logprobs, backoffs
