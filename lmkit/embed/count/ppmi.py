"""PPMI-SVD: positive pointwise mutual information, factorised (Levy & Goldberg 2014; 2015).

PMI(w, c) = log(P(w, c) / (P(w) P_a(c))) with P_a(c) proportional to #(c)^a, which tempers rare
contexts; the matrix of max(0, PMI - log k) is then U S V^T, and the vectors are U S^p. The shift
log k stands for k negative samples: skip-gram with negative sampling has PMI - log k as its
optimum.
"""

from __future__ import annotations

import numpy as np

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.sparse import Scales, column_sums, ratios, row_sums
from lmkit.embed.count.svd import truncated_svd
from lmkit.embed.count.workers import Workers
from lmkit.embed.vectors import Floats
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener


def ppmi_matrix(
    counts: SparseMatrix,
    *,
    shift: float = 1.0,
    smoothing: float = 0.75,
    num_contexts: int | None = None,
    workers: Workers,
) -> SparseMatrix:
    """Return max(0, PMI - log ``shift``) of co-occurrence counts [V, V].

    Args:
        counts: rows are words, columns contexts.
        shift: k, the number of negative samples it stands for; 1 subtracts nothing.
        smoothing: a, the power of the contexts' counts (Levy et al. 2015, section 3.2).
        num_contexts: use the first so many columns; None for all of them.
        workers: threads to work in.
    """
    words = row_sums(counts, num_contexts)
    contexts = column_sums(counts, num_contexts)
    powers: Scales = np.power(contexts, smoothing, where=contexts > 0, out=np.zeros_like(contexts))
    chances = powers * (shift / max(float(powers.sum()), np.finfo(np.float64).tiny))
    return ratios(counts, words, chances, power=0.0, above=1.0, workers=workers)


def ppmi_vectors(
    counts: SparseMatrix,
    size: int,
    *,
    shift: float = 1.0,
    smoothing: float = 0.75,
    power: float = 0.5,
    num_contexts: int | None = None,
    seed: int = 0,
    workers: Workers,
    listener: Listener = SILENT,
) -> Floats:
    """Return U S^``power`` [V, ``size``] of the PPMI matrix; see :func:`ppmi_matrix`.

    A word without cells gets a vector of zeros.

    Raises:
        UserError: the matrix is empty, or has fewer than ``size`` rows or columns.
    """
    matrix = ppmi_matrix(
        counts,
        shift=shift,
        smoothing=smoothing,
        num_contexts=num_contexts,
        workers=workers,
    )
    if not len(matrix):
        raise UserError(f"no two words have a PMI above --shift {shift:g}", "Lower --shift")
    svd = truncated_svd(matrix, size, seed=seed, workers=workers, listener=listener)
    vectors: Floats = svd.left * svd.values**power
    return vectors
