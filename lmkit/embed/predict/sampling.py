"""Which words are left out, which are drawn as noise (Mikolov et al. 2013b, sections 2.2, 2.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.config import Formula

_LEAST_DRAWS = 1 << 22
_DRAWS_PER_WORD = 16


def keep_probabilities(
    counts: NDArray[np.int64], threshold: float, formula: Formula
) -> NDArray[np.float32]:
    """Return the probability [V] with which an occurrence of each word stays in the text.

    Args:
        counts: [V] how often each word occurs.
        threshold: t; 0 keeps everything.
        formula: ``"word2vec"``: sqrt(t/f) + t/f; ``"paper"``: sqrt(t/f).
    """
    if threshold == 0:
        return np.ones(len(counts), dtype=np.float32)
    ratios = threshold / (counts / counts.sum())
    kept = np.sqrt(ratios) + (ratios if formula == "word2vec" else 0.0)
    shares: NDArray[np.float32] = np.minimum(kept, 1.0).astype(np.float32)
    return shares


def noise_words(counts: NDArray[np.int64], power: float, seed: int) -> NDArray[np.int32]:
    """Return words drawn in proportion to ``counts ** power``, in random order.

    Each word stands there as often as it is expected to (rounded), so that reading from anywhere
    gives the distribution without a search for each draw.
    """
    weights = counts.astype(np.float64) ** power
    size = max(_LEAST_DRAWS, _DRAWS_PER_WORD * len(counts))
    bounds = np.rint(np.cumsum(weights) / weights.sum() * size).astype(np.int64)
    repeats = np.diff(bounds, prepend=0)
    words = np.repeat(np.arange(len(counts), dtype=np.int32), repeats)
    np.random.default_rng(seed).shuffle(words)
    return words
