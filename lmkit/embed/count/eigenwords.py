"""Eigenwords: canonical correlation of words and the contexts to their left and right.

Dhillon, Foster & Ungar 2015 (one-step CCA): singular vectors of Cww^-1/2 Cwc Ccc^-1/2, where Cww
counts words, Cwc words with contexts, and Ccc contexts; a word to the left and the same word to
the right are two contexts. Taking every pair of a word and a context as one observation, Cww and
Ccc are diagonal, so this is CCA without approximation; the paper comes to the same by leaving out
what is off their diagonals. The first pair of singular vectors, of value 1, says only how frequent
words are; subtracting it is subtracting the means, which CCA does.

A ``count_power`` of 1/2 takes the roots of all counts first, which damps the frequent ones
(Stratos, Collins & Hsu 2015); what is subtracted is what independent words would have.
"""

from __future__ import annotations

import numpy as np

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.sparse import Scales, column_sums, ratios, row_sums, stacked, transposed
from lmkit.embed.count.svd import Shift, truncated_svd
from lmkit.embed.count.workers import Workers
from lmkit.embed.vectors import Floats
from lmkit.events import SILENT, Listener


def correlation_matrix(
    left: SparseMatrix,
    *,
    count_power: float = 1.0,
    num_contexts: int | None = None,
    workers: Workers,
) -> tuple[SparseMatrix, Scales, Scales]:
    """Return Ccc^-1/2 Ccw Cww^-1/2 [2 C, V] and the diagonals of Ccc [2 C] and Cww [V].

    Contexts are the rows: the C words as left contexts, then as right ones.

    Args:
        left: counts [V, V] of words (rows) and the contexts to their left.
        count_power: counts are raised to it first.
        num_contexts: C, the first so many words; None for all of them.
        workers: threads to work in.
    """
    right = transposed(left)
    size = left.num_columns if num_contexts is None else min(num_contexts, left.num_columns)
    words = row_sums(left, size) + row_sums(right, size)
    sides = []
    for counts, contexts in ((left, column_sums(left, size)), (right, column_sums(right, size))):
        scaled = ratios(
            counts, np.sqrt(words), np.sqrt(contexts), power=count_power, workers=workers
        )
        sides.append((transposed(scaled), contexts))
    both = np.concatenate([contexts for _, contexts in sides])
    return stacked(sides[0][0], sides[1][0]), both, words


def eigenword_vectors(
    left: SparseMatrix,
    size: int,
    *,
    power: float = 0.0,
    count_power: float = 1.0,
    num_contexts: int | None = None,
    seed: int = 0,
    workers: Workers,
    listener: Listener = SILENT,
) -> Floats:
    """Return the canonical variates of words, Cww^-1/2 U S^``power``, as [V, ``size``].

    With ``count_power`` 1 each has variance 1 over the pairs that were counted, and S holds the
    canonical correlations. A word without contexts gets a vector of zeros.
    """
    matrix, contexts, words = correlation_matrix(
        left, count_power=count_power, num_contexts=num_contexts, workers=workers
    )
    total = max(float(words.sum()), 1.0)
    column, row = ((sums / total) ** (count_power / 2) for sums in (contexts, words))
    svd = truncated_svd(
        matrix,
        size,
        shift=Shift(column.astype(np.float32), row.astype(np.float32)),
        seed=seed,
        workers=workers,
        listener=listener,
    )
    spread = np.divide(1.0, row, where=row > 0, out=np.zeros_like(row))
    vectors: Floats = svd.right * svd.values**power * spread[:, None].astype(np.float32)
    return vectors
