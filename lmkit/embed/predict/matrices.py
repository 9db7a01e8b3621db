"""Matrices as the kernels of training want them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LANES = 16
"""Rows are padded to a multiple of so many floats, one cache line."""
_BLOCK = 1 << 14
"""Rows filled at a time."""


def zeros(rows: int, size: int) -> NDArray[np.float32]:
    """Return zeros [rows, size rounded up], each row on a border of 64 bytes."""
    width = -(-size // LANES) * LANES
    buffer = np.zeros(rows * width + LANES, dtype=np.float32)
    begin = -(buffer.ctypes.data // 4) % LANES
    return buffer[begin : begin + rows * width].reshape(rows, width)


def uniform_rows(
    matrix: NDArray[np.float32], rows: slice, size: int, bound: float, seed: int
) -> None:
    """Fill ``rows`` with numbers from -bound to bound; the padding stays 0."""
    random = np.random.default_rng(seed)
    begin, end, _ = rows.indices(len(matrix))
    for first in range(begin, end, _BLOCK):
        last = min(first + _BLOCK, end)
        values = random.random((last - first, size), dtype=np.float32)
        values -= np.float32(0.5)
        values *= np.float32(2 * bound)
        matrix[first:last, :size] = values
