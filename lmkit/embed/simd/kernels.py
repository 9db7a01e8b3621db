"""Small matrix products on rows of float32, written as LLVM vectors that stay in registers.

Loops that numba compiles do not get there: LLVM must not reorder a float sum, and cannot know
that rows do not overlap. So these are intrinsics that emit ``<W x float>`` arithmetic; LLVM lowers
it to what the processor has. W and the number of rows at a time follow from its registers: 32 of
16 floats with AVX-512, else 16 of 8. They stand at module level, where numba's cache finds them.

Rows lie at addresses that are multiples of 64 bytes and hold ``chunks`` * 16 floats. Addresses are
int64, lists of them are given as the address of an int64 array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from lmkit.jit import inlined, inner

LANES = 16
"""Floats of a chunk; rows are padded to whole chunks."""
OUTPUTS = 6
"""Output rows that :func:`score6` and :func:`update6` take."""
NODES = 4
"""Output rows that :func:`score4` and :func:`update4` take."""
_FAST = ("fast",)
_FUSE = ("contract",)


def _has_wide_registers() -> bool:
    """Tell whether kernels may use AVX-512: the processor has it and nobody asked numba not to."""
    if config.CPU_FEATURES is not None:
        return "+avx512f" in config.CPU_FEATURES
    return config.CPU_NAME in (None, "host") and binding.get_host_cpu_features().get(
        "avx512f", False
    )


WIDE = _has_wide_registers()
WIDTH = 16 if WIDE else 8
"""Floats of a register."""
INPUTS = 4 if WIDE else 2
"""Input rows that are multiplied at a time."""

_F32, _I32, _I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)


def _int32(value: int) -> Any:
    return ir.Constant(_I32, value)


def _int64(value: int) -> Any:
    return ir.Constant(_I64, value)


def _shuffle(b: Any, x: Any, y: Any, lanes: list[int]) -> Any:
    return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(_I32, len(lanes)), lanes))


def _splat(b: Any, value: Any, width: int) -> Any:
    empty = ir.Constant(ir.VectorType(_F32, width), ir.Undefined)
    return _shuffle(b, b.insert_element(empty, value, _int32(0)), empty, [0] * width)


def _constant(value: float, width: int) -> Any:
    return ir.Constant(ir.VectorType(_F32, width), [value] * width)


def _multiply_add(b: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x * y + z, fused where the processor can."""
    return b.fadd(b.fmul(x, y, flags=_FUSE), z, flags=_FUSE)


def _load(b: Any, pointer: Any, offset: Any, width: int, align: int) -> Any:
    place = b.bitcast(b.gep(pointer, [offset]), ir.VectorType(_F32, width).as_pointer())
    return b.load(place, align=align)


def _store(b: Any, value: Any, pointer: Any, offset: Any, align: int) -> None:
    b.store(value, b.bitcast(b.gep(pointer, [offset]), value.type.as_pointer()), align=align)


def _floats(b: Any, address: Any) -> Any:
    return b.inttoptr(address, _F32.as_pointer())


def _rows(b: Any, addresses: Any, count: int) -> list[Any]:
    """Return pointers to ``count`` rows whose addresses lie at ``addresses``."""
    place = b.inttoptr(addresses, _I64.as_pointer())
    return [_floats(b, b.load(b.gep(place, [_int64(i)]))) for i in range(count)]


def _steps(b: Any, chunks: Any) -> Any:
    """Return the number of registers that a row of ``chunks`` fills."""
    return b.mul(chunks, _int64(LANES // WIDTH))


def _zeros(b: Any, count: int) -> list[Any]:
    """Make ``count`` accumulators; LLVM turns them into registers."""
    return [cgutils.alloca_once_value(b, _constant(0.0, WIDTH)) for _ in range(count)]


def _sums(b: Any, vectors: list[Any]) -> Any:
    """Return the sums of the lanes of 1, 2, 4 or 8 vectors as one vector."""
    count, parts = len(vectors), 1
    while len(vectors) > 1:
        half = WIDTH // parts // 2
        paired = []
        for x, y in zip(vectors[::2], vectors[1::2], strict=True):
            starts = [side * WIDTH + part * 2 * half for side in (0, 1) for part in range(parts)]
            low = [start + i for start in starts for i in range(half)]
            high = [start + half + i for start in starts for i in range(half)]
            paired.append(b.fadd(_shuffle(b, x, y, low), _shuffle(b, x, y, high), flags=_FAST))
        vectors, parts = paired, parts * 2
    vector, size = vectors[0], WIDTH // count
    while size > 1:
        half = size // 2
        low = [part * size + i for part in range(count) for i in range(half)]
        high = [part * size + half + i for part in range(count) for i in range(half)]
        vector = b.fadd(
            _shuffle(b, vector, vector, low), _shuffle(b, vector, vector, high), flags=_FAST
        )
        size = half
    return vector


def make_scores(num_inputs: int, num_outputs: int) -> Any:
    """Make the intrinsic that multiplies each of a few rows with each of a few others."""

    @intrinsic
    def scores(typing_context: Any, inputs: Any, outputs: Any, out: Any, chunks: Any) -> Any:
        signature = types.void(types.int64, types.int64, types.int64, types.int64)

        def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
            inputs, outputs, out, chunks = args
            xs, ys = _rows(b, inputs, num_inputs), _rows(b, outputs, num_outputs)
            sums = _zeros(b, num_inputs * num_outputs)
            for total in sums:
                b.store(_constant(0.0, WIDTH), total)
            with cgutils.for_range(b, _steps(b, chunks), intp=_I64) as loop:
                offset = b.mul(loop.index, _int64(WIDTH))
                right = [_load(b, y, offset, WIDTH, WIDTH * 4) for y in ys]
                for i, x in enumerate(xs):
                    left = _load(b, x, offset, WIDTH, WIDTH * 4)
                    for j in range(num_outputs):
                        total = sums[i * num_outputs + j]
                        b.store(_multiply_add(b, left, right[j], b.load(total)), total)
            values, place, done = [b.load(total) for total in sums], _floats(b, out), 0
            while done < len(values):
                size = next(s for s in (8, 4, 2, 1) if s <= len(values) - done)
                _store(b, _sums(b, values[done : done + size]), place, _int64(done), 4)
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
            ys = _rows(b, outputs, num_outputs)
            places, rates = b.inttoptr(inputs, _I64.as_pointer()), _floats(b, rates)
            grown = _zeros(b, num_outputs)
            align = WIDTH * 4
            with cgutils.for_range(b, _steps(b, chunks), intp=_I64) as chunk:
                offset = b.mul(chunk.index, _int64(WIDTH))
                right = [_load(b, y, offset, WIDTH, align) for y in ys]
                for j in range(num_outputs):
                    b.store(right[j], grown[j])
                with cgutils.for_range(b, count, intp=_I64) as row:
                    x = _floats(b, b.load(b.gep(places, [row.index])))
                    left = _load(b, x, offset, WIDTH, align)
                    sums = [left, _constant(0.0, WIDTH)]
                    first = b.mul(row.index, _int64(num_outputs))
                    for j in range(num_outputs):
                        rate = b.load(b.gep(rates, [b.add(first, _int64(j))]))
                        rate = _splat(b, rate, WIDTH)
                        sums[j % 2] = _multiply_add(b, rate, right[j], sums[j % 2])
                        b.store(_multiply_add(b, rate, left, b.load(grown[j])), grown[j])
                    _store(b, b.fadd(sums[0], sums[1]), x, offset, align)
                for j in range(num_outputs):
                    _store(b, b.load(grown[j]), ys[j], offset, align)
            return context.get_dummy_value()

        return signature, generate

    return update


_scores16, _scores26 = make_scores(1, OUTPUTS), make_scores(2, OUTPUTS)
_scores46 = make_scores(4, OUTPUTS)
_scores14, _scores24 = make_scores(1, NODES), make_scores(2, NODES)
_scores44 = make_scores(4, NODES)
_update6, _update4 = make_update(OUTPUTS), make_update(NODES)

# tanh(x) as x P(x^2) / Q(x^2) on |x| < 7.9, within two units of float32's last place: a minimax
# fit, whose coefficients are those that Eigen's math library made widely known.
_TANH_BOUND = 7.90531110763549805
_TANH_ABOVE = (
    -2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
    1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03,
)  # fmt: skip
_TANH_BELOW = (
    1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03,
)  # fmt: skip


def _sigmoids(b: Any, scores: Any) -> Any:
    """Return tanh(s / 2) = 2 sigmoid(s) - 1 of each score s."""
    vector = ir.VectorType(_F32, WIDTH)
    pick = ir.FunctionType(vector, [vector, vector])
    least = cgutils.get_or_insert_function(b.module, pick, f"llvm.minnum.v{WIDTH}f32")
    most = cgutils.get_or_insert_function(b.module, pick, f"llvm.maxnum.v{WIDTH}f32")
    x = b.fmul(scores, _constant(0.5, WIDTH))
    x = b.call(least, [x, _constant(_TANH_BOUND, WIDTH)])
    x = b.call(most, [x, _constant(-_TANH_BOUND, WIDTH)])
    square = b.fmul(x, x)
    above, below = (_constant(c[0], WIDTH) for c in (_TANH_ABOVE, _TANH_BELOW))
    for coefficient in _TANH_ABOVE[1:]:
        above = _multiply_add(b, above, square, _constant(coefficient, WIDTH))
    for coefficient in _TANH_BELOW[1:]:
        below = _multiply_add(b, below, square, _constant(coefficient, WIDTH))
    return b.fdiv(b.fmul(x, above), below)


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
        scores, positives, totals = (_floats(b, address) for address in args[:3])
        rate, bound = _splat(b, args[4], WIDTH), _splat(b, args[5], WIDTH)
        half, nothing = _constant(0.5, WIDTH), _constant(0.0, WIDTH)
        steps = b.udiv(b.add(args[3], _int64(WIDTH - 1)), _int64(WIDTH))
        vector = ir.VectorType(_F32, WIDTH)
        absolute = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(vector, [vector]), f"llvm.fabs.v{WIDTH}f32"
        )
        with cgutils.for_range(b, steps, intp=_I64) as loop:
            offset = b.mul(loop.index, _int64(WIDTH))
            score = _load(b, scores, offset, WIDTH, 4)
            size = b.call(absolute, [score])
            sigmoid = _multiply_add(b, _sigmoids(b, score), half, half)
            expected = b.fmul(_load(b, totals, offset, WIDTH, 4), sigmoid)
            residual = b.fsub(_load(b, positives, offset, WIDTH, 4), expected)
            gradient = b.select(b.fcmp_ordered("<=", size, bound), b.fmul(residual, rate), nothing)
            _store(b, gradient, scores, offset, 4)
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
        places = b.inttoptr(inputs, _I64.as_pointer())
        results = [_floats(b, out), _floats(b, copy)]
        factor = _splat(b, scale, WIDTH)
        (total,) = _zeros(b, 1)
        with cgutils.for_range(b, _steps(b, chunks), intp=_I64) as chunk:
            offset = b.mul(chunk.index, _int64(WIDTH))
            b.store(_constant(0.0, WIDTH), total)
            with cgutils.for_range(b, count, intp=_I64) as row:
                x = _floats(b, b.load(b.gep(places, [row.index])))
                b.store(b.fadd(b.load(total), _load(b, x, offset, WIDTH, WIDTH * 4)), total)
            mean = b.fmul(b.load(total), factor)
            for result in results:
                _store(b, mean, result, offset, WIDTH * 4)
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
        places = b.inttoptr(inputs, _I64.as_pointer())
        new, old = _floats(b, new), _floats(b, old)
        factor, align = _splat(b, scale, WIDTH), WIDTH * 4
        with cgutils.for_range(b, _steps(b, chunks), intp=_I64) as chunk:
            offset = b.mul(chunk.index, _int64(WIDTH))
            moved = b.fsub(_load(b, new, offset, WIDTH, align), _load(b, old, offset, WIDTH, align))
            moved = b.fmul(moved, factor)
            with cgutils.for_range(b, count, intp=_I64) as row:
                x = _floats(b, b.load(b.gep(places, [row.index])))
                _store(b, b.fadd(_load(b, x, offset, WIDTH, align), moved), x, offset, align)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _prefetch_line(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, b: Any, sig: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        function = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32]), "llvm.prefetch.p0"
        )
        read, keep, data = _int32(0), _int32(3), _int32(1)
        b.call(function, [b.inttoptr(args[0], byte), read, keep, data])
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
