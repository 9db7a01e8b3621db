"""Compiled kernels of the formats: numbers to and from text, and the vectors of fastText models.

Decimal and binary are exact: what the kernels cannot prove to be so they leave to Python.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, inner, kernel

PLACE, ROWS, ARENA = range(3)
"""Places of the numbers in the ``state`` array of :func:`parse_lines`."""
POWERS = np.array([10.0**i for i in range(23)])
"""All powers of ten that float64 holds exactly."""
TENS = np.array([10**i for i in range(19)], dtype=np.int64)
_LARGEST = np.float32(3.4028235e38)
_DIGITS_MOST = 19


@kernel
def parse_lines(data, size, most, matrix, arena, sizes, state):  # type: ignore[no-untyped-def]
    """Parse lines ``word number ... number`` from ``state[PLACE]`` on; return whether all are done.

    Rows go to ``matrix`` [R, D] from ``state[ROWS]`` on, at most ``most`` of them; words to
    ``arena`` from ``state[ARENA]`` on, their sizes to ``sizes``. A line that is not plainly of
    this form, blanks in the word among them, is left to the caller: PLACE is where it begins.
    """
    place = state[PLACE]
    row = state[ROWS]
    used = state[ARENA]
    done = True
    while place < size and row < most:
        i = place
        while data[i] > 32:
            arena[used + i - place] = data[i]
            i += 1
        # Other control characters are part of a word.
        while data[i] != 32 and data[i] != 9 and data[i] != 10:
            arena[used + i - place] = data[i]
            i += 1
        length = i - place
        if length == 0 or data[i] == 10:
            done = False
            break
        i = _parse_row(data, i, matrix, row)
        if i < 0:
            done = False
            break
        sizes[row] = length
        used += length
        row += 1
        place = i
    state[PLACE] = place
    state[ROWS] = row
    state[ARENA] = used
    return done


@inner
def _parse_row(data, i, matrix, row):  # type: ignore[no-untyped-def]
    """Parse the numbers from ``data[i]``, a blank, on; return where the next line begins, or -1."""
    for column in range(matrix.shape[1]):
        while data[i] == 32 or data[i] == 9:
            i += 1
        value, i, sure = _parse_number(data, i)
        c = data[i]
        if not sure or (c != 32 and c != 9 and c != 10 and c != 13):
            return -1
        matrix[row, column] = value
    while data[i] == 32 or data[i] == 9 or data[i] == 13:
        i += 1
    return i + 1 if data[i] == 10 else -1


@inlined
def _parse_number(data, i):  # type: ignore[no-untyped-def]
    """Return float32(float64(number)), the place behind the number, and whether that is sure."""
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    mantissa = np.uint64(0)
    digits = 0
    kept = 0
    exponent = 0
    digit = np.int64(data[i]) - 48
    while 0 <= digit <= 9:
        digits += 1
        if kept < _DIGITS_MOST:
            mantissa = mantissa * np.uint64(10) + np.uint64(digit)
            kept += mantissa > 0
        else:
            exponent += 1
        i += 1
        digit = np.int64(data[i]) - 48
    if data[i] == 46:
        i += 1
        digit = np.int64(data[i]) - 48
        while 0 <= digit <= 9:
            digits += 1
            if kept < _DIGITS_MOST:
                mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                kept += mantissa > 0
                exponent -= 1
            i += 1
            digit = np.int64(data[i]) - 48
    sure = digits > 0
    if data[i] == 101 or data[i] == 69:
        more, i = _parse_exponent(data, i + 1)
        sure &= more < 1000
        exponent += more
    value, known = _scaled(mantissa, exponent)
    return -value if negative else value, i, sure and known


@inner
def _parse_exponent(data, i):  # type: ignore[no-untyped-def]
    """Return the exponent at ``data[i]`` and the place behind it; 1000 where there is none."""
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    if not 48 <= data[i] <= 57:
        return 1000, i
    exponent = 0
    while 48 <= data[i] <= 57:
        exponent = min(exponent * 10 + np.int64(data[i]) - 48, 999)
        i += 1
    return -exponent if negative else exponent, i


@inlined
def _scaled(mantissa, exponent):  # type: ignore[no-untyped-def]
    """Return float32(float64(mantissa * 10 ** exponent)) and whether that is sure.

    Where mantissa and power of ten both fit float64 one operation rounds once (Clinger 1990).
    Else up to four operations may be off by 2 ** -50; if float32 rounds both ends of that
    interval alike, it rounds the number like that too.
    """
    value = np.float64(mantissa)
    if mantissa < np.uint64(1 << 53) and -22 <= exponent <= 22:
        value = value / POWERS[-exponent] if exponent < 0 else value * POWERS[exponent]
        rounded = np.float32(value)
        return rounded, rounded <= _LARGEST
    if mantissa == 0:
        return np.float32(0.0), True
    if not -60 <= exponent <= 20:
        return np.float32(0.0), False
    while exponent < 0:
        step = min(-exponent, 22)
        value /= POWERS[step]
        exponent += step
    value *= POWERS[exponent]
    low = np.float32(value * (1.0 - 2.0**-48))
    high = np.float32(value * (1.0 + 2.0**-48))
    return low, low == high and low > np.float32(1e-30) and low <= _LARGEST


@kernel
def format_rows(rows, begin, arena, offsets, first, out):  # type: ignore[no-untyped-def]
    """Write lines ``word number ... number`` for ``rows`` from ``begin`` on.

    Row i has the word ``first`` + i of ``arena``. Each number is the shortest that float32 reads
    back as the same, spelled as Python does.

    Returns:
        The row that could not be written (or how many rows there are), and the bytes in ``out``.
    """
    place = 0
    for row in range(begin, len(rows)):
        start = place
        for k in range(offsets[first + row], offsets[first + row + 1]):
            out[place] = arena[k]
            place += 1
        for column in range(rows.shape[1]):
            out[place] = 32
            place = _write_number(rows[row, column], out, place + 1)
            if place < 0:
                return row, start
        out[place] = 10
        place += 1
    return len(rows), place


@inner
def _write_number(value, out, place):  # type: ignore[no-untyped-def]
    """Write the shortest spelling of a float32 at ``place``; return the place behind it, or -1."""
    size = np.float64(abs(value))
    if size == 0.0:
        if np.signbit(value):
            out[place] = 45
            place += 1
        out[place], out[place + 1], out[place + 2] = 48, 46, 48
        return place + 3
    if not 1e-13 <= size <= 1e21:
        return -1
    digits, exponent = _shortest(np.float32(size), size)
    if digits < 0:
        return -1
    if value < 0:
        out[place] = 45
        place += 1
    return _spell(digits, exponent, out, place)


@inner
def _shortest(value, size):  # type: ignore[no-untyped-def]
    """Return the fewest digits D, no trailing zeros, and K so that D.DDD * 10 ** K is ``value``.

    The digits are -1 where none were found. ``size`` is ``value`` as a float64.
    """
    exponent = np.int64(np.floor(np.log10(size)))
    best = np.int64(-1)
    count = np.int64(8)
    while 6 <= count <= 9:
        shift = count - 1 - exponent
        scaled = size * POWERS[shift] if shift >= 0 else size / POWERS[-shift]
        digits = np.int64(np.rint(scaled))
        back = digits / POWERS[shift] if shift >= 0 else digits * POWERS[-shift]
        if np.float32(back) == value:
            best = digits
            best_shift = shift
            if count == 9:
                break
            count -= 1
        elif best >= 0 or count < 8:
            break
        else:
            count = 9 if count == 8 else 10
    if best < 0:
        return best, exponent
    while best % 10 == 0:
        best //= 10
        best_shift -= 1
    length = 1
    while length < 19 and best >= TENS[length]:
        length += 1
    return best, length - 1 - best_shift


@inner
def _spell(digits, exponent, out, place):  # type: ignore[no-untyped-def]
    """Write D.DDD * 10 ** ``exponent``: plainly from 1e-4 to 1e16, else with an exponent."""
    length = 1
    while length < 19 and digits >= TENS[length]:
        length += 1
    plain = -4 <= exponent < 16
    point = exponent + 1 if plain else 1  # digits before the point
    if point <= 0:
        out[place], out[place + 1] = 48, 46
        place += 2
        for _ in range(-point):
            out[place] = 48
            place += 1
    for k in range(length):
        if k == point and k > 0:
            out[place] = 46
            place += 1
        out[place] = 48 + digits // TENS[length - 1 - k] % 10
        place += 1
    if plain and point >= length:
        for _ in range(point - length):
            out[place] = 48
            place += 1
        out[place], out[place + 1] = 46, 48
        place += 2
    if not plain:
        out[place] = 101
        out[place + 1] = 45 if exponent < 0 else 43
        size = abs(exponent)
        out[place + 2] = 48 + size // 10
        out[place + 3] = 48 + size % 10
        place += 4
    return place


@kernel
def add_ngrams(  # type: ignore[no-untyped-def]
    arena, offsets, shortest, longest, num_buckets, ngram_rows, matrix
):
    """Turn each row of ``matrix`` into its mean with the rows of the n-grams of its word.

    Words lie in ``arena`` with their marks: ``<word>``; one of no bytes has no n-grams. Bucket b
    has the row ``ngram_rows[b]``. Characters are counted as fastText does: a byte 10xxxxxx belongs
    to the one before it.
    """
    size = matrix.shape[1]
    for word in range(len(offsets) - 1):
        begin = offsets[word]
        end = offsets[word + 1]
        count = 1
        for start in range(begin, end):
            if arena[start] & 0xC0 == 0x80:
                continue
            value = np.uint32(2166136261)
            i = start
            for length in range(1, longest + 1):
                if i >= end:
                    break
                value = _hashed(value, arena[i])
                i += 1
                while i < end and arena[i] & 0xC0 == 0x80:
                    value = _hashed(value, arena[i])
                    i += 1
                if length < shortest or (length == 1 and (start == begin or i == end)):
                    continue
                bucket = np.int64(value) % num_buckets
                for d in range(size):
                    matrix[word, d] += ngram_rows[bucket, d]
                count += 1
        share = np.float32(1.0 / count)
        for d in range(size):
            matrix[word, d] *= share


@inlined
def _hashed(value, byte):  # type: ignore[no-untyped-def]
    """Return one step of FNV-1a over signed bytes."""
    wide = np.uint32(byte) | np.uint32(0xFFFFFF00) if byte >= 128 else np.uint32(byte)
    return np.uint32((value ^ wide) * np.uint32(16777619))
