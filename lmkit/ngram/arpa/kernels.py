"""What the compiled kernels of the ARPA format share: inlining, and powers of ten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from lmkit.jit import inner

F = TypeVar("F", bound=Callable[..., Any])

LN10 = np.log(10.0)
POWERS = np.array([10.0**i for i in range(23)])
TENS = np.array([10**i for i in range(19)], dtype=np.uint64)


def inlined(function: F) -> F:
    """Make ``function`` part of the kernels that call it.

    A call of a separate kernel counts references to the arrays it is given, which takes longer
    than what a small kernel does with them.
    """
    jitted: F = numba.njit(
        inline="always", nogil=True, boundscheck=False, error_model="numpy", no_cfunc_wrapper=True
    )(function)
    return jitted


@inner
def scaled(mantissa, exponent):  # type: ignore[no-untyped-def]
    """Return mantissa * 10 ** exponent, rounded once where both fit float64."""
    if exponent > 400 and mantissa > 0:
        return np.inf
    if exponent < -400:
        return 0.0
    while exponent < 0:
        step = min(-exponent, 22)
        mantissa /= POWERS[step]
        exponent += step
    while exponent > 0:
        step = min(exponent, 22)
        mantissa *= POWERS[step]
        exponent -= step
    return mantissa
