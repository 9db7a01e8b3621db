"""Hellinger PCA: principal components of the square roots of context distributions.

Lebret & Collobert 2013: row w of the matrix is sqrt(P(c | w)) over the context words c. The
Hellinger distance of two distributions is 1 / sqrt(2) of the Euclidean distance of their roots,
so PCA of the roots keeps Hellinger distances as well as so few dimensions can.
"""

from __future__ import annotations

import numpy as np

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.sparse import column_sums, ratios, row_sums
from lmkit.embed.count.svd import Shift, truncated_svd
from lmkit.embed.count.workers import Workers
from lmkit.embed.vectors import Floats
from lmkit.events import SILENT, Listener


def root_matrix(
    counts: SparseMatrix,
    *,
    num_contexts: int | None = None,
    workers: Workers,
) -> SparseMatrix:
    """Return sqrt(P(c | w)) [V, ``num_contexts``]; rows of words without contexts are empty."""
    columns = counts.num_columns if num_contexts is None else num_contexts
    ones = np.ones(min(columns, counts.num_columns))
    words = row_sums(counts, num_contexts)
    return ratios(counts, words, ones, power=0.5, workers=workers)


def hellinger_vectors(
    counts: SparseMatrix,
    size: int,
    *,
    power: float = 1.0,
    num_contexts: int | None = None,
    seed: int = 0,
    workers: Workers,
    listener: Listener = SILENT,
) -> Floats:
    """Return the principal components U S^``power`` [V, ``size``] of the roots.

    With a power of 1, distances between vectors come as near to sqrt(2) times the Hellinger
    distances as ``size`` dimensions allow. The mean is that of the words that have contexts;
    a word without any gets a vector of zeros.
    """
    matrix = root_matrix(counts, num_contexts=num_contexts, workers=workers)
    present = (np.diff(matrix.offsets) > 0).astype(np.float32)
    mean = column_sums(matrix) / max(float(present.sum()), 1.0)
    svd = truncated_svd(
        matrix,
        size,
        shift=Shift(present, mean.astype(np.float32)),
        seed=seed,
        workers=workers,
        listener=listener,
    )
    vectors: Floats = svd.left * svd.values**power
    return vectors
