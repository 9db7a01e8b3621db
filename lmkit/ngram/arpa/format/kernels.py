"""Compiled kernels that write records as the lines of an ARPA file.

Records are as in ``lmkit.ngram.query.kernels``: ``inner`` [I + 1, 5] and ``top`` [T, 3]. Those of
one order lie context by context, so the n-grams of a context share its words, which are put
together once.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, inner, kernel
from lmkit.ngram.arpa.kernels import LN10, POWERS, TENS, scaled

MINUS_99 = np.float32(-99.0 * LN10)


@inlined
def put_number(out, i, value):  # type: ignore[no-untyped-def]
    """Write a natural logarithm (float32) as log10 to ``out[i:]``; return the place behind it.

    With as many digits, 7 to 9, as bring the same float32 back (trailing zeros dropped). Minus
    infinity is written -99, as is the custom.
    """
    if value == 0:
        out[i] = 48
        return i + 1
    if value == -np.inf:
        value = MINUS_99
    if value < 0:
        out[i] = 45
        i += 1
        value = -value
    number = np.float64(value) / LN10
    if number < 1e-5 or number >= 1e8:
        return _put_scientific(out, i, number)
    scale = 7 if number >= 0.1 else 11
    while scale > 0 and number >= POWERS[12 - scale] * 1e-5:
        scale -= 1
    mantissa = np.rint(number * POWERS[scale])
    while np.float32(mantissa / POWERS[scale] * LN10) != value and scale < 14:
        scale += 1
        mantissa = np.rint(number * POWERS[scale])
    whole = np.uint64(mantissa / POWERS[scale])
    rest = np.uint64(mantissa) - whole * TENS[scale]
    i = _put_digits(out, i, whole)
    return _put_fraction(out, i, rest, scale)


@inner
def _put_scientific(out, i, number):  # type: ignore[no-untyped-def]
    """Write a positive number as d.dddddddde-xx."""
    exponent = np.int64(np.floor(np.log10(number)))
    mantissa = np.uint64(np.rint(scaled(number, 8 - exponent)))
    whole = mantissa // TENS[8]
    i = _put_digits(out, i, whole)
    i = _put_fraction(out, i, mantissa - whole * TENS[8], 8)
    out[i] = 101
    i += 1
    if exponent < 0:
        out[i] = 45
        i += 1
        exponent = -exponent
    return _put_digits(out, i, np.uint64(exponent))


@inlined
def _put_digits(out, i, number):  # type: ignore[no-untyped-def]
    """Write a whole number."""
    size = 1
    while size < 19 and number >= TENS[size]:
        size += 1
    for k in range(i + size - 1, i - 1, -1):
        tenth = number // np.uint64(10)
        out[k] = 48 + np.uint8(number - tenth * np.uint64(10))
        number = tenth
    return i + size


@inlined
def _put_fraction(out, i, rest, scale):  # type: ignore[no-untyped-def]
    """Write a point and ``rest`` / 10 ** ``scale`` behind it, or nothing for 0."""
    if rest == 0:
        return i
    tenth = rest // np.uint64(10)
    while rest == tenth * np.uint64(10):
        rest = tenth
        tenth = rest // np.uint64(10)
        scale -= 1
    out[i] = 46
    for k in range(i + scale, i, -1):
        tenth = rest // np.uint64(10)
        out[k] = 48 + np.uint8(rest - tenth * np.uint64(10))
        rest = tenth
    return i + scale + 1


@kernel
def format_ngrams(first, last, n, highest, bases, inner, top, arena, offsets, longest, out):  # type: ignore[no-untyped-def]
    """Write the lines of the records ``first`` to ``last`` of order ``n`` while ``out`` has room.

    ``bases`` [N + 1]: the first record of each order; ``longest``: bytes that a line may take.
    Returns the bytes written and the record behind the last one.
    """
    num_inner = len(inner) - 1
    probabilities = inner.view(np.float32)
    top_probabilities = top.view(np.float32)
    prefix = np.empty(longest, np.uint8)
    prefix_size = 0
    path = np.zeros(n + 1, np.int64)
    child = first
    for m in range(n - 1, 0, -1):
        path[m] = _parent(child, bases[m - 1], bases[m], inner)
        child = path[m]
    fresh = True
    i = 0
    for record in range(first, last):
        if i + longest > len(out):
            return i, record
        if n > 1 and (fresh or record >= inner[path[n - 1] + 1, 4]):
            fresh = False
            child = record
            for m in range(n - 1, 0, -1):
                while child >= inner[path[m] + 1, 4]:
                    path[m] += 1
                child = path[m]
            prefix_size = 0
            for m in range(1, n):
                prefix_size = _put_word(prefix, prefix_size, inner[path[m], 0], arena, offsets)
                prefix[prefix_size] = 32
                prefix_size += 1
        if record < num_inner:
            word, logprob = inner[record, 0], probabilities[record, 1]
        else:
            word, logprob = top[record - num_inner, 0], top_probabilities[record - num_inner, 1]
        i = put_number(out, i, logprob)
        out[i] = 9
        i += 1
        for k in range(prefix_size):
            out[i + k] = prefix[k]
        i = _put_word(out, i + prefix_size, word, arena, offsets)
        if not highest:
            out[i] = 9
            i = put_number(out, i + 1, probabilities[record, 2])
        out[i] = 10
        i += 1
    return i, last


@inner
def _parent(record, begin, end, inner):  # type: ignore[no-untyped-def]
    """Return the context among the records ``begin`` to ``end`` whose child is ``record``."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if inner[middle, 4] <= record:
            low = middle + 1
        else:
            high = middle
    return low - 1


@inlined
def _put_word(out, i, word, arena, offsets):  # type: ignore[no-untyped-def]
    """Write a word's bytes; return the place behind them."""
    begin = offsets[word]
    size = offsets[word + 1] - begin
    for k in range(size):
        out[i + k] = arena[begin + k]
    return i + size
