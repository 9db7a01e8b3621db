"""Vectors of words from their character n-grams (Bojanowski et al. 2017, fastText).

The n-grams of ``<word>`` (with marks for its ends) of ``minimum`` to ``maximum`` characters are
hashed to buckets with 32-bit FNV-1a over signed bytes, as fastText does, so that its models can
be read. A word that was never seen gets the mean of the rows of its n-grams.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Subwords:
    """The trained rows of the buckets."""

    minimum: int
    """Characters of the shortest n-gram, the marks counted."""
    maximum: int
    """Characters of the longest n-gram."""
    num_buckets: int
    rows: NDArray[np.float32]
    """[U, D] rows of the buckets that were trained."""
    buckets: NDArray[np.int32] | None = None
    """[U] the bucket of each row, ascending; None when row i is bucket i."""

    def vector(self, word: str) -> NDArray[np.float32] | None:
        """Return the mean [D] of the rows of the n-grams of ``word``; None if it has none."""
        rows = self.rows_of(ngram_buckets(word, self.minimum, self.maximum, self.num_buckets))
        if not len(rows):
            return None
        mean: NDArray[np.float32] = self.rows[rows].mean(axis=0)
        return mean

    def find(self, buckets: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the row of each of ``buckets``, -1 for those that were never trained."""
        if self.buckets is None:
            return buckets.astype(np.int64)
        rows = np.minimum(np.searchsorted(self.buckets, buckets), max(len(self.buckets) - 1, 0))
        return np.where(self.buckets[rows] == buckets, rows, -1) if len(self.buckets) else rows - 1

    def rows_of(self, buckets: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the rows of ``buckets``, leaving out those that were never trained."""
        rows = self.find(buckets)
        return rows[rows >= 0]


def ngrams(word: str, minimum: int, maximum: int) -> list[str]:
    """Return the character n-grams of ``<word>``, from left to right, short ones first."""
    marked = f"<{word}>"
    found = []
    for begin in range(len(marked)):
        for end in range(begin + minimum, min(begin + maximum, len(marked)) + 1):
            if end - begin > 1 or 0 < begin < len(marked) - 1:  # a mark alone says nothing
                found.append(marked[begin:end])
    return found


def ngram_buckets(word: str, minimum: int, maximum: int, num_buckets: int) -> NDArray[np.int32]:
    """Return the bucket of each of :func:`ngrams`."""
    hashes = [
        _fnv1a(gram.encode("utf-8", "surrogateescape")) % num_buckets
        for gram in ngrams(word, minimum, maximum)
    ]
    return np.array(hashes, dtype=np.int32)


def _fnv1a(data: bytes) -> int:
    value = 2166136261
    for byte in data:
        signed = byte if byte < 128 else byte | 0xFFFFFF00
        value = (value ^ signed) * 16777619 & 0xFFFFFFFF
    return value
