"""What the compiled kernels of the ARPA format share: powers of ten."""

from __future__ import annotations

import numpy as np

from lmkit.jit import inner

LN10 = np.log(10.0)
POWERS = np.array([10.0**i for i in range(23)])
TENS = np.array([10**i for i in range(19)], dtype=np.uint64)


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
