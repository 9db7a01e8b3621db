"""Adds the contexts that a model lacks.

An n-gram is found by way of its first n - 1 words, which must be in the model too. Tools that
prune by entropy may leave them out. Such a context gets the probability that the model gave it
before, by backing off, and no back-off weight of its own, so all probabilities stay what they were.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.trie.levels import NONE, Level, Ngrams, Trie, Words, make_table


def add_contexts(
    trie: Trie, chunks: list[Ngrams], pool: Executor, threads: int
) -> int:
    """Add the contexts that n-grams of ``chunks`` lack, and set them; return how many were added.

    ``trie`` holds the orders below that of the n-grams.
    """
    wanted = np.unique(np.concatenate([c.missing for c in chunks], axis=1), axis=1)
    before = sum(len(level) for level in trie.levels)
    for n in range(2, len(wanted) + 1):
        moved = _add(trie, n, wanted[:n], pool, threads)
    for chunk in chunks:
        known = chunk.contexts != NONE
        chunk.contexts[known] = moved[chunk.contexts[known]]
        chunk.contexts[~known] = trie.find(chunk.missing)[0]
    return sum(len(level) for level in trie.levels) - before


def _add(
    trie: Trie, n: int, wanted: Words, pool: Executor, threads: int
) -> NDArray[np.uint32]:
    """Add those of ``wanted`` [n, k] that order ``n`` lacks; return the new places of its rows."""
    level = trie.levels[n - 2]
    places, _ = trie.find(wanted)
    added = np.unique(wanted[:, places == NONE], axis=1)
    new = np.empty((added.shape[1], 4), dtype=np.uint32)
    new[:, 0] = added[-1]
    new[:, 1] = trie.find(added[:-1])[0]
    new[:, 2] = _back_off(trie, added).astype(np.float32).view(np.uint32)
    new[:, 3] = 0
    new_keys = new[:, 1].astype(np.uint64) << np.uint64(32) | new[:, 0]
    order = np.argsort(new_keys)
    new, new_keys = new[order], new_keys[order]
    old_keys = level.keys
    moved = np.arange(len(level)) + np.searchsorted(new_keys, old_keys)
    rows = np.insert(level.rows, np.searchsorted(old_keys, new_keys), new, axis=0)
    trie.levels[n - 2] = _rebuilt(rows, trie.size(n - 1), pool, threads)
    if n - 1 < len(trie.levels):
        above = trie.levels[n - 1].rows
        above[:, 1] = moved[above[:, 1]]
        trie.levels[n - 1] = _rebuilt(above, len(rows), pool, threads)
    return moved.astype(np.uint32)


def _rebuilt(rows: NDArray[np.uint32], num_contexts: int, pool: Executor, threads: int) -> Level:
    """Make a level of rows in order."""
    starts = np.zeros(num_contexts + 1, dtype=np.uint32)
    np.cumsum(np.bincount(rows[:, 1], minlength=num_contexts), out=starts[1:], dtype=np.uint32)
    return Level(rows, starts, *make_table(rows, pool, threads, searched=True))


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
    safe = np.where(known, places, 0)
    if n == 1:
        logprobs, backoffs = trie.logprobs[safe], trie.backoffs[safe]
    else:
        values = trie.levels[n - 2].rows.view(np.float32)
        if not len(values):
            values = np.zeros((1, 4), dtype=np.float32)
        logprobs, backoffs = values[safe, 2], values[safe, 3]
    return np.where(known, logprobs, 0), np.where(known, backoffs, 0)
