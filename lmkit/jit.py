"""The one door to numba: the decorators of kernels, and intrinsics that they use.

Only this module and files named ``kernels.py`` import numba. Kernels are compiled without the
GIL, so threads of one process run them side by side, and cached on disk, so only the first run
on a machine compiles.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

_hide_coverage = "coverage" not in sys.modules
if _hide_coverage:  # where it is installed numba imports it, which takes a third of the time
    sys.modules["coverage"] = None  # type: ignore[assignment]
import numba
import numba.core.event
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys
from numba.extending import intrinsic

if _hide_coverage:
    del sys.modules["coverage"]

from lmkit import events

F = TypeVar("F", bound=Callable[..., Any])


class _Announcer(numba.core.event.Listener):  # type: ignore[misc]
    """Says once when numba compiles, so that nobody wonders why the first run takes longer."""

    said = False
    message = "compiling kernels, once on this machine"

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            events.compile_listener.note(self.message)

    def on_end(self, event: Any) -> None:
        pass


numba.core.event.register("numba:compile", _Announcer())


def kernel(function: F) -> F:
    """Compile ``function`` on first use: no GIL, no bounds checks, IEEE arithmetic, cached."""
    jitted: F = numba.njit(
        nogil=True, boundscheck=False, error_model="numpy", no_cfunc_wrapper=True
    )(function)
    try:
        jitted._cache = _KernelCache(function)  # type: ignore[attr-defined]
    except RuntimeError:  # no folder can be written; numba tries its own, then the user's
        _Announcer.message = "compiling kernels; without a writable cache this is so every time"
    return jitted


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of compiled functions on disk, but for two things.

    numba takes a compiled function for current as long as its own file is unchanged; here all files
    of kernels count, since what a kernel calls is compiled into it. And numba sets up all that it
    knows about types before it loads a function, a tenth of a second that only compiling needs
    (and the compiler does it by itself).
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = _stamp()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for a signature, or None."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


@cache
def _stamp() -> tuple[str, int]:
    """Return what tells whether compiled kernels are of this version: a sum of their sources."""
    package = Path(__file__).parent
    sources = [Path(__file__), *sorted(package.rglob("kernels.py")), *package.rglob("layout.py")]
    return "lmkit", crc32(b"".join(source.read_bytes() for source in sources))


def inner(function: F) -> F:
    """Compile ``function`` as part of the kernels that call it; Python cannot call it."""
    return _part_of_kernels(function, inline="never")


def inlined(function: F) -> F:
    """Make ``function`` part of the kernels that call it, line by line.

    A call of a separate function counts references to the arrays it is given, which takes longer
    than what a small one does with them; for larger ones :func:`inner` compiles faster.
    """
    return _part_of_kernels(function, inline="always")


def _part_of_kernels(function: F, inline: str) -> F:
    jitted: F = numba.njit(
        nogil=True,
        boundscheck=False,
        error_model="numpy",
        no_cfunc_wrapper=True,
        no_cpython_wrapper=True,
        inline=inline,
    )(function)
    return jitted


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask the processor to load the cache line of ``array.flat[index]``; changes nothing."""
    signature = types.void(array, index)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, sig, args)
        byte_pointer = ir.IntType(8).as_pointer()
        int32 = ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte_pointer, int32, int32, int32]),
            "llvm.prefetch.p0",
        )
        read, keep, data = ir.Constant(int32, 0), ir.Constant(int32, 3), ir.Constant(int32, 1)
        builder.call(function, [builder.bitcast(pointer, byte_pointer), read, keep, data])
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def load64(typing_context: Any, array: Any, index: Any) -> Any:
    """Return the 8 bytes of a uint8 ``array`` from ``index`` on as one little-endian uint64."""
    signature = types.uint64(array, index)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, sig, args)
        word = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        return builder.load(word, align=1)

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing_context: Any, value: Any) -> Any:
    """Return the number of trailing zero bits of a uint64 (64 for zero)."""
    signature = types.int64(types.uint64)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return signature, generate


def _element_pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = context.make_array(sig.args[0])(context, builder, args[0])
    index = args[1]
    if index.type.width < 64:
        index = builder.sext(index, ir.IntType(64))
    return builder.gep(array.data, [index])
