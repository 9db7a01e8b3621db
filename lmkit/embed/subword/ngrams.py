"""The character n-grams of a whole vocabulary, as the rows of a matrix that they train."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.text.vocab import WordTable


@dataclass(frozen=True, slots=True)
class NgramRows:
    """Which rows belong to which word: those of word i are ``rows[starts[i]:starts[i + 1]]``.

    Only the U buckets that some word falls into have a row; fastText keeps all of them.
    """

    starts: NDArray[np.int64]
    """[V + 1]"""
    rows: NDArray[np.int32]
    """[N] numbers from 0 to U - 1."""
    buckets: NDArray[np.int32]
    """[U] the bucket of each row, ascending."""

    @property
    def longest(self) -> int:
        """Return how many n-grams the word with the most has."""
        return int(np.diff(self.starts).max(initial=0))


def word_ngrams(words: WordTable, minimum: int, maximum: int, num_buckets: int) -> NgramRows:
    """Return the n-grams of ``minimum`` to ``maximum`` characters of all words, hashed to buckets.

    See :func:`lmkit.embed.subwords.ngram_buckets`, which does the same for one word.
    """
    from lmkit.embed.subword import kernels

    starts = np.zeros(len(words) + 1, dtype=np.int64)
    settings = np.int64(minimum), np.int64(maximum), np.int64(num_buckets)
    nothing = np.zeros(0, dtype=np.int32)
    kernels.list_buckets(words.arena, words.offsets, *settings, starts, nothing)
    buckets = np.zeros(starts[-1], dtype=np.int32)
    kernels.list_buckets(words.arena, words.offsets, *settings, starts, buckets)
    used = np.zeros(num_buckets, dtype=bool)
    used[buckets] = True
    numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return NgramRows(starts, numbers[buckets], np.flatnonzero(used).astype(np.int32))


def mean_of_rows(
    word_rows: NDArray[np.float32], ngram_rows: NDArray[np.float32], ngrams: NgramRows
) -> NDArray[np.float32]:
    """Return the vectors of all words: the mean of a word's own row and those of its n-grams.

    Args:
        word_rows: [V, D].
        ngram_rows: [U, D].
        ngrams: which rows belong to which word.
    """
    sizes = np.diff(ngrams.starts)
    vectors = word_rows.astype(np.float32, copy=True)
    for begin in range(0, len(vectors), _BLOCK):
        end = min(begin + _BLOCK, len(vectors))
        first, last = ngrams.starts[begin], ngrams.starts[end]
        owners = np.repeat(np.arange(end - begin), sizes[begin:end])
        rows = ngram_rows[ngrams.rows[first:last]]
        if len(rows):
            filled = np.flatnonzero(sizes[begin:end])
            sums = np.add.reduceat(rows, np.searchsorted(owners, filled), axis=0)
            vectors[begin + filled] += sums
    vectors /= (1 + sizes).astype(np.float32)[:, None]
    return vectors


_BLOCK = 1 << 13
"""Words whose n-grams are summed at a time."""
