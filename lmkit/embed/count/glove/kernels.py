"""Compiled kernels of GloVe; ``training.py`` drives them.

Legend: ``words`` and ``contexts`` float32 [V * 2 * S] hold a word's coordinates (S floats), then
what AdaGrad has summed up for each of them (S floats); S is a multiple of 16, and the arrays begin
at multiples of 64 bytes. A matrix of counts is given by ``offsets``, ``columns`` and ``values``
(:class:`lmkit.embed.count.cells.SparseMatrix`). A group is at most GROUP cells of one row that
stand side by side, written as one uint64: the row in the upper 26 bits, the first cell below.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from lmkit.embed.simd.emit.kernels import (
    F32,
    I64,
    WIDTH,
    constant,
    int32,
    load,
    shuffle,
    splat,
    store,
)
from lmkit.jit import kernel, prefetch

GROUP = 4
"""Cells of one row that are taken at a time."""
CELL_BITS = 38
MAX_ROWS = 1 << (64 - CELL_BITS)
BAND = 128
"""Columns that stay together when groups are put in order."""

_CELL = np.uint64((1 << CELL_BITS) - 1)
_ROW = np.uint64(CELL_BITS)
_FAR = 6
_LINE = 16
_FREE = ("reassoc", "contract", "arcp", "afn", "nsz")
"""What LLVM may do to sums and square roots; NaN and infinity stay what they are."""
_VECTOR = ir.VectorType(F32, WIDTH)


def _load(b, pointer, offset):  # type: ignore[no-untyped-def]
    return load(b, pointer, offset, WIDTH, WIDTH * 4)


def _store(b, value, pointer, offset):  # type: ignore[no-untyped-def]
    store(b, value, pointer, offset, WIDTH * 4)


def _sum(b, vector):  # type: ignore[no-untyped-def]
    size = WIDTH
    while size > 1:
        low, high = list(range(size // 2)), list(range(size // 2, size))
        vector = b.fadd(
            shuffle(b, vector, vector, low), shuffle(b, vector, vector, high), flags=_FREE
        )
        size //= 2
    return b.extract_element(vector, int32(0))


def _multiply(b, x, y):  # type: ignore[no-untyped-def]
    return b.fmul(x, y, flags=_FREE)


def _add(b, x, y):  # type: ignore[no-untyped-def]
    return b.fadd(x, y, flags=_FREE)


def _step(b, value, gradient, squares):  # type: ignore[no-untyped-def]
    """Return ``value`` after a step of AdaGrad: value - gradient / sqrt(squares)."""
    root = cgutils.get_or_insert_function(
        b.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.sqrt.v{WIDTH}f32"
    )
    scale = b.fdiv(constant(1.0, WIDTH), b.call(root, [squares], fastmath=_FREE), flags=_FREE)
    return b.fsub(value, _multiply(b, gradient, scale), flags=_FREE)


def _data(context, b, sig, args, number):  # type: ignore[no-untyped-def]
    return context.make_array(sig.args[number])(context, b, args[number]).data


@intrinsic
def _dot(typing_context, left, left_at, right, right_at, size):  # type: ignore[no-untyped-def]
    """Return the dot product of ``size`` floats of two arrays, from two places on."""
    signature = types.float32(left, types.int64, right, types.int64, types.int64)

    def generate(context, b, sig, args):  # type: ignore[no-untyped-def]
        x = b.gep(_data(context, b, sig, args, 0), [args[1]])
        y = b.gep(_data(context, b, sig, args, 2), [args[3]])
        total = cgutils.alloca_once_value(b, constant(0.0, WIDTH))
        b.store(constant(0.0, WIDTH), total)
        with cgutils.for_range_slice(b, I64(0), args[4], I64(WIDTH)) as (k, _):
            b.store(_add(b, b.load(total), _multiply(b, _load(b, x, k), _load(b, y, k))), total)
        return _sum(b, b.load(total))

    return signature, generate


@intrinsic
def _descend(typing_context, words, word_at, contexts, places, slopes, count, size):  # type: ignore[no-untyped-def]
    """Take the steps of one group: AdaGrad on a word's row and on ``count`` rows of contexts.

    The derivative of a cell's loss by the score is its slope; all gradients are those before the
    group, and their squares are added to the sums before the step.
    """
    signature = types.void(words, types.int64, contexts, places, slopes, types.int64, types.int64)

    def generate(context, b, sig, args):  # type: ignore[no-untyped-def]
        row = b.gep(_data(context, b, sig, args, 0), [args[1]])
        table, places, slopes = (_data(context, b, sig, args, n) for n in (2, 3, 4))
        count, size = args[5], args[6]
        zero = constant(0.0, WIDTH)
        gradient, squares = (cgutils.alloca_once_value(b, zero) for _ in range(2))
        with cgutils.for_range_slice(b, I64(0), size, I64(WIDTH)) as (k, _):
            word, behind = _load(b, row, k), b.add(k, size)
            b.store(zero, gradient)
            b.store(zero, squares)
            with cgutils.for_range(b, count, intp=I64) as cell:
                other = b.gep(table, [b.load(b.gep(places, [cell.index]))])
                slope = splat(b, b.load(b.gep(slopes, [cell.index])), WIDTH)
                value, down = _load(b, other, k), _multiply(b, slope, word)
                sums = _add(b, _load(b, other, behind), _multiply(b, down, down))
                _store(b, _step(b, value, down, sums), other, k)
                _store(b, sums, other, behind)
                down = _multiply(b, slope, value)
                b.store(_add(b, b.load(gradient), down), gradient)
                b.store(_add(b, b.load(squares), _multiply(b, down, down)), squares)
            sums = _add(b, _load(b, row, behind), b.load(squares))
            _store(b, _step(b, word, b.load(gradient), sums), row, k)
            _store(b, sums, row, behind)
        return context.get_dummy_value()

    return signature, generate


@kernel
def list_groups(offsets, starts, first, last, out):  # type: ignore[no-untyped-def]
    """Write the groups ``first`` to ``last`` of all; those of row w begin at ``starts[w]``."""
    row, above = 0, len(starts) - 1
    while above - row > 1:
        middle = (row + above) // 2
        if starts[middle] <= first:
            row = middle
        else:
            above = middle
    for number in range(first, last):
        while starts[row + 1] <= number:
            row += 1
        cell = offsets[row] + (number - starts[row]) * GROUP
        out[number - first] = (np.uint64(row) << _ROW) | np.uint64(cell)


@kernel
def sort_by_band(groups, columns, shift, room, ends):  # type: ignore[no-untyped-def]
    """Sort ``groups`` [G] by the band of their columns, keeping the order within a band.

    The bands are taken from number ``shift`` on, round and round, so that threads do not work on
    the same contexts at the same time. ``room`` [G] and ``ends`` [bands + 1] are room to work in.
    """
    bands = len(ends) - 1
    ends[:] = 0
    for k in range(len(groups)):
        band = (columns[np.int64(groups[k] & _CELL)] // BAND + shift) % bands
        ends[band + 1] += 1
    for band in range(bands):
        ends[band + 1] += ends[band]
    for k in range(len(groups)):
        band = (columns[np.int64(groups[k] & _CELL)] // BAND + shift) % bands
        room[ends[band]] = groups[k]
        ends[band] += 1
    for k in range(len(groups)):
        groups[k] = room[k]


@kernel
def train_groups(  # type: ignore[no-untyped-def]
    groups, offsets, columns, values, words, contexts, size, x_max, alpha
):
    """Train on ``groups`` in their order; return the sum of f (score - log x)^2 / 2 of the cells.

    ``size`` is S. The loss of a cell is what it is before its group.
    """
    places, slopes = np.empty(GROUP, dtype=np.int64), np.empty(GROUP, dtype=np.float32)
    ceiling = np.float32(np.log(x_max))
    loss = 0.0
    for number in range(len(groups)):
        if number + 1 < len(groups):
            row = np.int64(groups[number + 1] >> _ROW)
            first = np.int64(groups[number + 1] & _CELL)
            for cell in range(first, min(first + GROUP, offsets[row + 1])):
                place = np.int64(columns[cell]) * 2 * size
                prefetch(contexts, place)
                prefetch(contexts, place + _LINE)
                prefetch(contexts, place + size)
                prefetch(contexts, place + size + _LINE)
        if number + _FAR < len(groups):
            far = np.int64(groups[number + _FAR] & _CELL)
            prefetch(columns, far)
            prefetch(values, far)
        row = np.int64(groups[number] >> _ROW)
        first = np.int64(groups[number] & _CELL)
        count = min(np.int64(GROUP), offsets[row + 1] - first)
        for k in range(count):
            place = np.int64(columns[first + k]) * 2 * size
            log_count = np.log(values[first + k])
            residual = _dot(words, row * 2 * size, contexts, place, size) - log_count
            slope = residual
            if log_count < ceiling:
                slope *= np.exp(alpha * (log_count - ceiling))
            loss += np.float64(slope) * np.float64(residual)
            places[k] = place
            slopes[k] = slope
        _descend(words, row * 2 * size, contexts, places, slopes, count, size)
    return 0.5 * loss
