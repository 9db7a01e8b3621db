"""LLVM code for vectors of float32 that stay in registers: what the intrinsics are made of.

LLVM lowers ``<W x float>`` arithmetic to what the processor has. W and the number of rows at a time
follow from its registers: 32 of 16 floats with AVX-512, else 16 of 8. ``b`` is a builder of LLVM
code, values and pointers are LLVM's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, config

LANES = 16
"""Floats of a chunk; rows are padded to whole chunks."""
FAST = ("fast",)
FUSE = ("contract",)


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

F32, I32, I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)


def int32(value: int) -> Any:
    """Return a constant."""
    return ir.Constant(I32, value)


def int64(value: int) -> Any:
    """Return a constant."""
    return ir.Constant(I64, value)


def shuffle(b: Any, x: Any, y: Any, lanes: list[int]) -> Any:
    """Return the given lanes of two vectors, those of ``y`` numbered on from ``x``."""
    return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(lanes)), lanes))


def splat(b: Any, value: Any, width: int) -> Any:
    """Return a vector of which every lane is ``value``."""
    empty = ir.Constant(ir.VectorType(F32, width), ir.Undefined)
    return shuffle(b, b.insert_element(empty, value, int32(0)), empty, [0] * width)


def constant(value: float, width: int) -> Any:
    """Return a constant vector of which every lane is ``value``."""
    return ir.Constant(ir.VectorType(F32, width), [value] * width)


def multiply_add(b: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x * y + z, fused where the processor can."""
    return b.fadd(b.fmul(x, y, flags=FUSE), z, flags=FUSE)


def load(b: Any, pointer: Any, offset: Any, width: int, align: int) -> Any:
    """Return ``width`` floats from ``pointer[offset]`` on, aligned to ``align`` bytes."""
    place = b.bitcast(b.gep(pointer, [offset]), ir.VectorType(F32, width).as_pointer())
    return b.load(place, align=align)


def store(b: Any, value: Any, pointer: Any, offset: Any, align: int) -> None:
    """Write a vector to ``pointer[offset]``."""
    b.store(value, b.bitcast(b.gep(pointer, [offset]), value.type.as_pointer()), align=align)


def floats(b: Any, address: Any) -> Any:
    """Return an address as a pointer to floats."""
    return b.inttoptr(address, F32.as_pointer())


def rows_at(b: Any, addresses: Any, count: int) -> list[Any]:
    """Return pointers to ``count`` rows whose addresses lie at ``addresses``."""
    place = b.inttoptr(addresses, I64.as_pointer())
    return [floats(b, b.load(b.gep(place, [int64(i)]))) for i in range(count)]


def row_at(b: Any, addresses: Any, index: Any) -> Any:
    """Return a pointer to row ``index`` of those whose addresses lie at ``addresses``."""
    return floats(b, b.load(b.gep(b.inttoptr(addresses, I64.as_pointer()), [index])))


def steps(b: Any, chunks: Any) -> Any:
    """Return the number of registers that a row of ``chunks`` fills."""
    return b.mul(chunks, int64(LANES // WIDTH))


def zeros(b: Any, count: int) -> list[Any]:
    """Make ``count`` accumulators; LLVM turns them into registers."""
    return [cgutils.alloca_once_value(b, constant(0.0, WIDTH)) for _ in range(count)]


def lane_sums(b: Any, vectors: list[Any]) -> Any:
    """Return the sums of the lanes of 1, 2, 4 or 8 vectors as one vector."""
    count, parts = len(vectors), 1
    while len(vectors) > 1:
        half = WIDTH // parts // 2
        paired = []
        for x, y in zip(vectors[::2], vectors[1::2], strict=True):
            starts = [side * WIDTH + part * 2 * half for side in (0, 1) for part in range(parts)]
            low = [start + i for start in starts for i in range(half)]
            high = [start + half + i for start in starts for i in range(half)]
            paired.append(b.fadd(shuffle(b, x, y, low), shuffle(b, x, y, high), flags=FAST))
        vectors, parts = paired, parts * 2
    vector, size = vectors[0], WIDTH // count
    while size > 1:
        half = size // 2
        low = [part * size + i for part in range(count) for i in range(half)]
        high = [part * size + half + i for part in range(count) for i in range(half)]
        vector = b.fadd(
            shuffle(b, vector, vector, low), shuffle(b, vector, vector, high), flags=FAST
        )
        size = half
    return vector


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


def half_tanh(b: Any, scores: Any) -> Any:
    """Return tanh(s / 2) = 2 sigmoid(s) - 1 of each score s."""
    vector = ir.VectorType(F32, WIDTH)
    pick = ir.FunctionType(vector, [vector, vector])
    least = cgutils.get_or_insert_function(b.module, pick, f"llvm.minnum.v{WIDTH}f32")
    most = cgutils.get_or_insert_function(b.module, pick, f"llvm.maxnum.v{WIDTH}f32")
    x = b.fmul(scores, constant(0.5, WIDTH))
    x = b.call(least, [x, constant(_TANH_BOUND, WIDTH)])
    x = b.call(most, [x, constant(-_TANH_BOUND, WIDTH)])
    square = b.fmul(x, x)
    above, below = (constant(c[0], WIDTH) for c in (_TANH_ABOVE, _TANH_BELOW))
    for coefficient in _TANH_ABOVE[1:]:
        above = multiply_add(b, above, square, constant(coefficient, WIDTH))
    for coefficient in _TANH_BELOW[1:]:
        below = multiply_add(b, below, square, constant(coefficient, WIDTH))
    return b.fdiv(b.fmul(x, above), below)
