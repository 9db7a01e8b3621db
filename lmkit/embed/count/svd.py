"""The largest singular values of a sparse matrix, by randomised subspace iteration.

Halko, Martinsson & Tropp 2011, algorithms 4.4 and 5.1: a random sketch of the range, sharpened by
multiplying with A A^T and orthonormalised every time. From a matrix one may subtract the product
of a column and a row that are not sparse, as PCA does with the means, without making it dense.

Letters: A [M, N] the matrix, K singular values, P columns of the sketch (K and some more).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.sparse import product, transposed
from lmkit.embed.count.workers import Workers
from lmkit.embed.vectors import Floats
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener

ITERATIONS = 6
"""Times that the sketch is multiplied with A A^T."""

_NEGLIGIBLE = 1e-12
"""Squares of lengths that are rounding errors, as parts of the largest."""
_SMALLEST = 1e-6
"""Singular values that are rounding errors, as parts of the largest."""
_BLOCK = 1 << 13
"""Rows of a matrix that are converted to double precision at a time."""


@dataclass(frozen=True, slots=True)
class Svd:
    """A = U diag(s) V^T of the K largest singular values; U's largest entries are positive."""

    left: Floats
    """U [M, K]."""
    values: Floats
    """s [K], falling."""
    right: Floats
    """V [N, K]."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A column and a row whose product is subtracted from a matrix."""

    column: NDArray[np.float32]
    """[M]."""
    row: NDArray[np.float32]
    """[N]."""


def truncated_svd(
    matrix: SparseMatrix,
    size: int,
    *,
    shift: Shift | None = None,
    seed: int = 0,
    iterations: int = ITERATIONS,
    workers: Workers,
    listener: Listener = SILENT,
) -> Svd:
    """Return the ``size`` largest singular values of ``matrix``, less ``shift``, and their vectors.

    Args:
        matrix: A.
        size: K.
        shift: what to subtract from A.
        seed: of the random sketch; the same seed gives the same bytes, whatever the threads.
        iterations: more of them bring singular values that lie close together apart.
        workers: threads to multiply in.
        listener: hears of the progress.

    Raises:
        UserError: the matrix has fewer than ``size`` rows or columns.
    """
    least = min(matrix.num_rows, matrix.num_columns)
    if size > least:
        raise UserError(f"--size {size} is above the number of words, {least:,}", "Lower --size")
    sketch = min(least, -(-(size + max(16, size // 4)) // 16) * 16)
    mirror = transposed(matrix)
    listener.phase("singular values", 2 * iterations + 2, "products")

    def times(dense: Floats) -> Floats:
        out = product(matrix, dense, workers)
        if shift is not None:
            out -= np.outer(shift.column, shift.row @ dense)
        listener.advance(1)
        return out

    def transpose_times(dense: Floats) -> Floats:
        out = product(mirror, dense, workers)
        if shift is not None:
            out -= np.outer(shift.row, shift.column @ dense)
        listener.advance(1)
        return out

    rng = np.random.default_rng(seed)
    basis = _orthonormal(times(rng.standard_normal((matrix.num_columns, sketch), np.float32)))
    for _ in range(iterations):
        basis = _orthonormal(times(_orthonormal(transpose_times(basis))))
    return _from_basis(basis, transpose_times(basis), size)


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis [M, at most P] of what ``columns`` [M, P] span.

    By the eigenvectors of their dot products, in double precision, twice, since the first time
    leaves rounding errors; several times faster than Householder's QR, whose columns are long.
    """
    basis = columns
    for _ in range(2):
        values, vectors = np.linalg.eigh(_dot_products(basis))
        present = values > values.max(initial=0) * _NEGLIGIBLE
        scaled = vectors[:, present] / np.sqrt(values[present])
        basis = basis @ scaled.astype(np.float32)
    return basis


def _dot_products(columns: Floats) -> NDArray[np.float64]:
    """Return the dot products [P, P] of the columns of a matrix [M, P]."""
    total = np.zeros((columns.shape[1], columns.shape[1]), dtype=np.float64)
    for begin in range(0, len(columns), _BLOCK):
        block = columns[begin : begin + _BLOCK].astype(np.float64)
        total += block.T @ block
    return total


def _from_basis(basis: Floats, projected: Floats, size: int) -> Svd:
    """Return the SVD of Q B^T from an orthonormal Q [M, P] and B = A^T Q [N, P].

    Singular values beyond the rank of A are 0, and so are their vectors.
    """
    squares, inner = np.linalg.eigh(_dot_products(projected))
    order = np.argsort(-squares, kind="stable")[:size]
    values = np.sqrt(np.maximum(squares[order], 0))
    present = values > values.max(initial=0) * _SMALLEST
    order, values = order[present], values[present]
    left = basis @ inner[:, order].astype(np.float32)
    right = projected @ (inner[:, order] / values).astype(np.float32)
    largest = np.abs(left).argmax(axis=0)
    signs = np.where(left[largest, np.arange(len(order))] < 0, np.float32(-1), np.float32(1))
    missing = ((0, 0), (0, size - len(order)))
    return Svd(
        np.pad(left * signs, missing),
        np.pad(values.astype(np.float32), missing[1]),
        np.pad(right * signs, missing),
    )
