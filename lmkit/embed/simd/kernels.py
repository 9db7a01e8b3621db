"""Small matrix products on rows of float32, for the kernels of training.

Loops that numba compiles are far slower: LLVM must not reorder a float sum, and cannot know that
rows do not overlap. So these are intrinsics (see ``lmkit.embed.simd.emit``). They stand at module
level, where numba's cache finds them.

Rows lie at addresses that are multiples of 64 bytes and hold ``chunks`` * 16 floats. Addresses are
int64, lists of them are given as the address of an int64 array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from lmkit.embed.simd.emit.kernels import (
    F32,
    I32,
    I64,
    INPUTS,
    WIDTH,
    constant,
    floats,
    half_tanh,
    int32,
    int64,
    lane_sums,
    load,
    multiply_add,
    row_at,
    rows_at,
    splat,
    steps,
    store,
    zeros,
)
from lmkit.jit import inlined, inner

OUTPUTS = 6
"""Output rows that :func:`score6` and :func:`update6` take."""
NODES = 4
"""Output rows that :func:`score4` and :func:`update4` take."""


def make_scores(num_inputs: int, num_outputs: int) -> Any:
    """Make the intrinsic that multiplies each of a few rows with each of a few others."""

    @intrinsic
    def scores(typing_context: Any, inputs: Any, outputs: Any, out: Any, chunks: Any) -> Any:
        signature = types.void(types.int64, types.int64, types.int64, types.int64)

        def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
            inputs, outputs, out, chunks = args
            xs, ys = rows_at(b, inputs, num_inputs), rows_at(b, outputs, num_outputs)
            sums = zeros(b, num_inputs * num_outputs)
            for total in sums:
                b.store(constant(0.0, WIDTH), total)
            with cgutils.for_range(b, steps(b, chunks), intp=I64) as loop:
                offset = b.mul(loop.index, int64(WIDTH))
                right = [load(b, y, offset, WIDTH, WIDTH * 4) for y in ys]
                for i, x in enumerate(xs):
                    left = load(b, x, offset, WIDTH, WIDTH * 4)
                    for j in range(num_outputs):
                        total = sums[i * num_outputs + j]
                        b.store(multiply_add(b, left, right[j], b.load(total)), total)
            values, place, done = [b.load(total) for total in sums], floats(b, out), 0
            while done < len(values):
                size = next(s for s in (8, 4, 2, 1) if s <= len(values) - done)
                store(b, lane_sums(b, values[done : done + size]), place, int64(done), 4)
                done += size
            return context.get_dummy_value()

        return signature, generate

    return scores


def make_update(num_outputs: int) -> Any:
    """Make the intrinsic of the two rank updates of :func:`update6`."""

    @intrinsic
    def update(
        typing_context: Any, inputs: Any, count: Any, outputs: Any, rates: Any, chunks: Any
    ) -> Any:
        signature = types.void(*[types.int64] * 5)

        def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
            inputs, count, outputs, rates, chunks = args
            ys = rows_at(b, outputs, num_outputs)
            places, rates = b.inttoptr(inputs, I64.as_pointer()), floats(b, rates)
            grown = zeros(b, num_outputs)
            align = WIDTH * 4
            with cgutils.for_range(b, steps(b, chunks), intp=I64) as chunk:
                offset = b.mul(chunk.index, int64(WIDTH))
                right = [load(b, y, offset, WIDTH, align) for y in ys]
                for j in range(num_outputs):
                    b.store(right[j], grown[j])
                with cgutils.for_range(b, count, intp=I64) as row:
                    x = floats(b, b.load(b.gep(places, [row.index])))
                    left = load(b, x, offset, WIDTH, align)
                    sums = [left, constant(0.0, WIDTH)]
                    first = b.mul(row.index, int64(num_outputs))
                    for j in range(num_outputs):
                        rate = b.load(b.gep(rates, [b.add(first, int64(j))]))
                        rate = splat(b, rate, WIDTH)
                        sums[j % 2] = multiply_add(b, rate, right[j], sums[j % 2])
                        b.store(multiply_add(b, rate, left, b.load(grown[j])), grown[j])
                    store(b, b.fadd(sums[0], sums[1]), x, offset, align)
                for j in range(num_outputs):
                    store(b, b.load(grown[j]), ys[j], offset, align)
            return context.get_dummy_value()

        return signature, generate

    return update


_scores16, _scores26 = make_scores(1, OUTPUTS), make_scores(2, OUTPUTS)
_scores46 = make_scores(4, OUTPUTS)
_scores14, _scores24 = make_scores(1, NODES), make_scores(2, NODES)
_scores44 = make_scores(4, NODES)
_update6, _update4 = make_update(OUTPUTS), make_update(NODES)


@intrinsic
def logistic_gradients(
    typing_context: Any,
    scores: Any,
    positives: Any,
    totals: Any,
    count: Any,
    rate: Any,
    bound: Any,
) -> Any:
    """Replace each of ``count`` scores s by ``rate`` * (p - t * sigmoid(s)).

    That is the gradient of p ln sigmoid(s) + (t - p) ln sigmoid(-s): p positive and t - p negative
    examples. It is 0 where the absolute score exceeds ``bound``. All are float32 at the addresses
    given; what follows up to the next multiple of 16 is overwritten.
    """
    signature = types.void(*[types.int64] * 4, types.float32, types.float32)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        scores, positives, totals = (floats(b, address) for address in args[:3])
        rate, bound = splat(b, args[4], WIDTH), splat(b, args[5], WIDTH)
        half, nothing = constant(0.5, WIDTH), constant(0.0, WIDTH)
        registers = b.udiv(b.add(args[3], int64(WIDTH - 1)), int64(WIDTH))
        vector = ir.VectorType(F32, WIDTH)
        absolute = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(vector, [vector]), f"llvm.fabs.v{WIDTH}f32"
        )
        with cgutils.for_range(b, registers, intp=I64) as loop:
            offset = b.mul(loop.index, int64(WIDTH))
            score = load(b, scores, offset, WIDTH, 4)
            size = b.call(absolute, [score])
            sigmoid = multiply_add(b, half_tanh(b, score), half, half)
            expected = b.fmul(load(b, totals, offset, WIDTH, 4), sigmoid)
            residual = b.fsub(load(b, positives, offset, WIDTH, 4), expected)
            gradient = b.select(b.fcmp_ordered("<=", size, bound), b.fmul(residual, rate), nothing)
            store(b, gradient, scores, offset, 4)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def score_pairs(
    typing_context: Any, inputs: Any, outputs: Any, count: Any, out: Any, chunks: Any
) -> Any:
    """Write the dot product of each of ``count`` rows with its counterpart to ``out``."""
    signature = types.void(*[types.int64] * 5)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        inputs, outputs, count, out, chunks = args
        (total,) = zeros(b, 1)
        with cgutils.for_range(b, count, intp=I64) as pair:
            x, y = (row_at(b, places, pair.index) for places in (inputs, outputs))
            b.store(constant(0.0, WIDTH), total)
            with cgutils.for_range(b, steps(b, chunks), intp=I64) as chunk:
                offset = b.mul(chunk.index, int64(WIDTH))
                left, right = (load(b, row, offset, WIDTH, WIDTH * 4) for row in (x, y))
                b.store(multiply_add(b, left, right, b.load(total)), total)
            store(b, lane_sums(b, [b.load(total)]), floats(b, out), pair.index, 4)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def update_pairs(
    typing_context: Any, inputs: Any, outputs: Any, count: Any, rates: Any, chunks: Any
) -> Any:
    """Add to each of ``count`` rows its counterpart times a rate, and the other way round."""
    signature = types.void(*[types.int64] * 5)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        inputs, outputs, count, rates, chunks = args
        align = WIDTH * 4
        with cgutils.for_range(b, count, intp=I64) as pair:
            x, y = (row_at(b, places, pair.index) for places in (inputs, outputs))
            rate = splat(b, b.load(b.gep(floats(b, rates), [pair.index])), WIDTH)
            with cgutils.for_range(b, steps(b, chunks), intp=I64) as chunk:
                offset = b.mul(chunk.index, int64(WIDTH))
                left, right = (load(b, row, offset, WIDTH, align) for row in (x, y))
                store(b, multiply_add(b, rate, right, left), x, offset, align)
                store(b, multiply_add(b, rate, left, right), y, offset, align)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mean_rows(
    typing_context: Any, inputs: Any, count: Any, out: Any, copy: Any, scale: Any, chunks: Any
) -> Any:
    """Write ``scale`` times the sum of ``count`` rows to the row ``out`` and to ``copy``."""
    signature = types.void(*[types.int64] * 4, types.float32, types.int64)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        inputs, count, out, copy, scale, chunks = args
        places = b.inttoptr(inputs, I64.as_pointer())
        results = [floats(b, out), floats(b, copy)]
        factor = splat(b, scale, WIDTH)
        (total,) = zeros(b, 1)
        with cgutils.for_range(b, steps(b, chunks), intp=I64) as chunk:
            offset = b.mul(chunk.index, int64(WIDTH))
            b.store(constant(0.0, WIDTH), total)
            with cgutils.for_range(b, count, intp=I64) as row:
                x = floats(b, b.load(b.gep(places, [row.index])))
                b.store(b.fadd(b.load(total), load(b, x, offset, WIDTH, WIDTH * 4)), total)
            mean = b.fmul(b.load(total), factor)
            for result in results:
                store(b, mean, result, offset, WIDTH * 4)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def add_difference(
    typing_context: Any, inputs: Any, count: Any, new: Any, old: Any, scale: Any, chunks: Any
) -> Any:
    """Add ``scale`` * (row ``new`` - row ``old``) to each of ``count`` rows."""
    signature = types.void(*[types.int64] * 4, types.float32, types.int64)

    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        inputs, count, new, old, scale, chunks = args
        places = b.inttoptr(inputs, I64.as_pointer())
        new, old = floats(b, new), floats(b, old)
        factor, align = splat(b, scale, WIDTH), WIDTH * 4
        with cgutils.for_range(b, steps(b, chunks), intp=I64) as chunk:
            offset = b.mul(chunk.index, int64(WIDTH))
            moved = b.fsub(load(b, new, offset, WIDTH, align), load(b, old, offset, WIDTH, align))
            moved = b.fmul(moved, factor)
            with cgutils.for_range(b, count, intp=I64) as row:
                x = floats(b, b.load(b.gep(places, [row.index])))
                store(b, b.fadd(load(b, x, offset, WIDTH, align), moved), x, offset, align)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _prefetch_line(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        function = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32]), "llvm.prefetch.p0"
        )
        read, level2, data = int32(0), int32(2), int32(1)
        b.call(function, [b.inttoptr(args[0], byte), read, level2, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@inlined
def prefetch_row(address, chunks):
    """Ask the processor to load a row."""
    for line in range(chunks):
        _prefetch_line(address + 64 * line)


@inner
def score6(inputs, count, outputs, out, chunks):
    """Write the dot products of ``count`` rows with 6 others to ``out`` [count, 6]."""
    done = np.int64(0)
    if INPUTS == 4:
        while count - done >= 4:
            _scores46(inputs + 8 * done, outputs, out + 4 * OUTPUTS * done, chunks)
            done += 4
    while count - done >= 2:
        _scores26(inputs + 8 * done, outputs, out + 4 * OUTPUTS * done, chunks)
        done += 2
    if count - done == 1:
        _scores16(inputs + 8 * done, outputs, out + 4 * OUTPUTS * done, chunks)


@inner
def score4(inputs, count, outputs, out, chunks):
    """Write the dot products of ``count`` rows with 4 others to ``out`` [count, 4]."""
    done = np.int64(0)
    if INPUTS == 4:
        while count - done >= 4:
            _scores44(inputs + 8 * done, outputs, out + 4 * NODES * done, chunks)
            done += 4
    while count - done >= 2:
        _scores24(inputs + 8 * done, outputs, out + 4 * NODES * done, chunks)
        done += 2
    if count - done == 1:
        _scores14(inputs + 8 * done, outputs, out + 4 * NODES * done, chunks)


@inner
def update6(inputs, count, outputs, rates, chunks):
    """Add rates @ Y to the rows X, and rates.T @ X (as they were) to the 6 rows Y.

    ``rates`` is the address of float32 [count, 6].
    """
    _update6(inputs, count, outputs, rates, chunks)


@inner
def update4(inputs, count, outputs, rates, chunks):
    """Do as :func:`update6` does, for 4 rows."""
    _update4(inputs, count, outputs, rates, chunks)
