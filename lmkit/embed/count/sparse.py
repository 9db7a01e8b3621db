"""What is done to sparse matrices on the way to an SVD: rescale, transpose, put side by side.

Every row is worked on by one thread, in one order, so the number of threads changes no byte.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.count import kernels
from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.workers import Workers
from lmkit.embed.vectors import Floats

Scales = NDArray[np.float64]


def row_sums(matrix: SparseMatrix, num_columns: int | None = None) -> Scales:
    """Return the sum of each row [rows], of its first ``num_columns`` columns (all of them)."""
    totals = np.empty(matrix.num_rows, dtype=np.float64)
    limit = np.int64(matrix.num_columns if num_columns is None else num_columns)
    kernels.sum_rows(matrix.offsets, matrix.columns, matrix.values, limit, totals)
    return totals


def column_sums(matrix: SparseMatrix, num_columns: int | None = None) -> Scales:
    """Return the sum of each column, or of the first ``num_columns`` of them."""
    size = matrix.num_columns if num_columns is None else min(num_columns, matrix.num_columns)
    totals = np.zeros(size, dtype=np.float64)
    kernels.sum_columns(matrix.columns, matrix.values, totals)
    return totals


def ratios(
    matrix: SparseMatrix,
    row_scales: Scales,
    column_scales: Scales,
    *,
    power: float,
    above: float = 0.0,
    workers: Workers,
) -> SparseMatrix:
    """Return (x / (row scale * column scale)) ** ``power`` of the cells whose ratio is > ``above``.

    Args:
        matrix: cells x.
        row_scales: [rows]
        column_scales: [columns]; of fewer columns, where those behind them are left out.
        power: 0 stands for the natural logarithm of the ratio.
        above: ratios up to this one become 0.
        workers: threads to work in.
    """
    cells = matrix.offsets, matrix.columns, matrix.values
    rule = row_scales, column_scales, np.float64(above)
    sizes = np.zeros(matrix.num_rows + 1, dtype=np.int64)

    def count(first: np.int64, last: np.int64) -> None:
        kernels.count_ratios(*cells, *rule, first, last, sizes[1:])

    workers.by_rows(matrix, count)
    offsets = np.cumsum(sizes)
    columns = np.empty(int(offsets[-1]), dtype=np.int32)
    values = np.empty(int(offsets[-1]), dtype=np.float32)

    def write(first: np.int64, last: np.int64) -> None:
        kernels.write_ratios(
            *cells, *rule, np.float64(power), first, last, offsets, columns, values
        )

    workers.by_rows(matrix, write)
    return SparseMatrix(offsets, columns, values, len(column_scales))


def transposed(matrix: SparseMatrix) -> SparseMatrix:
    """Return the transpose."""
    offsets = np.empty(matrix.num_columns + 1, dtype=np.int64)
    kernels.count_columns(matrix.columns, offsets)
    columns, values = np.empty_like(matrix.columns), np.empty_like(matrix.values)
    kernels.transpose(
        matrix.offsets, matrix.columns, matrix.values, offsets[:-1].copy(), columns, values
    )
    return SparseMatrix(offsets, columns, values, matrix.num_rows)


def stacked(upper: SparseMatrix, lower: SparseMatrix) -> SparseMatrix:
    """Return the rows of ``upper``, then those of ``lower``, of as many columns."""
    assert upper.num_columns == lower.num_columns
    return SparseMatrix(
        np.concatenate([upper.offsets, lower.offsets[1:] + upper.offsets[-1]]),
        np.concatenate([upper.columns, lower.columns]),
        np.concatenate([upper.values, lower.values]),
        upper.num_columns,
    )


def product(matrix: SparseMatrix, dense: Floats, workers: Workers) -> Floats:
    """Return the product [rows, K] with ``dense`` [columns, K]."""
    dense = np.ascontiguousarray(dense, dtype=np.float32)
    out = np.empty((matrix.num_rows, dense.shape[1]), dtype=np.float32)

    def multiply(first: np.int64, last: np.int64) -> None:
        kernels.multiply_rows(
            matrix.offsets, matrix.columns, matrix.values, dense, first, last, out
        )

    workers.by_rows(matrix, multiply)
    return out
