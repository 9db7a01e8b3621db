"""Compiled kernels that parse the lines of an ARPA file.

``data`` uint8 holds whole lines (and >= 64 bytes more); ``breaks`` uint32 are the places of its
separators (space, TAB, LF, CR), found 64 bytes at a time, so that the fields of a line lie between
neighbours of ``breaks`` and splitting costs no branch per byte. A word that equals the one above
it is not looked up again, which is most of them, whether the file is sorted by first words or
(as KenLM's) by last words.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, inner, kernel, load64, trailing_zeros
from lmkit.ngram.arpa.kernels import LN10, POWERS, TENS, scaled
from lmkit.ngram.arpa.lexicon.kernels import HEAD, hash_of, head_of, look_up, same_rest

STATUS, PLACE, FIELD, NGRAMS, LINES, SEEN = range(6)
"""Places of the numbers in the ``state`` array of the parsing kernels."""
OK, BAD_FIELDS, BAD_NUMBER, POSITIVE, BAD_BACKOFF, UNKNOWN_WORD = range(6)
"""What they write to ``state[STATUS]``. PLACE is then where the line begins and FIELD the field at
fault (with BAD_FIELDS, how many there are; with UNKNOWN_WORD, PLACE is where the word begins)."""

LARGE = 1e30
"""Back-offs of this size are none."""
ROUNDING = 1e-5
"""Log probabilities above 0 by no more than this are taken for 0."""

_HIGH_BITS = np.uint64(0x8080808080808080)
_33 = np.uint64(0x2121212121212121)
_GATHER = np.uint64(0x0102040810204080)
_ZEROS = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
_NIBBLES = np.uint64(0xF0F0F0F0F0F0F0F0)
_BYTES_0_4 = np.uint64(0x000000FF000000FF)
_32 = np.uint64(32)


@inner
def find_breaks(data, begin, end, breaks):  # type: ignore[no-untyped-def]
    """Write the places of all bytes up to 32 (separators among them); return how many."""
    count = 0
    for i in range(begin, end, 64):
        mask = np.uint64(0)
        for k in range(8):
            chunk = load64(data, i + 8 * k)
            low = ~((chunk | _HIGH_BITS) - _33) & ~chunk & _HIGH_BITS
            mask |= (((low >> np.uint64(7)) * _GATHER) >> np.uint64(56)) << np.uint64(8 * k)
        if end - i < 64:
            mask &= (np.uint64(1) << np.uint64(end - i)) - np.uint64(1)
        while mask != 0:
            breaks[count] = i + trailing_zeros(mask)
            count += 1
            mask &= mask - np.uint64(1)
    return count


@inlined
def split_line(data, start, breaks, at, most, starts, sizes):  # type: ignore[no-untyped-def]
    """Find the fields of the line at ``start``; return how many and the next place in ``breaks``.

    The first ``most`` fields are written to ``starts`` and ``sizes``.
    """
    count = 0
    while True:
        place = np.int64(breaks[at])
        at += 1
        c = data[place]
        if c != 32 and c != 9 and c != 10 and c != 13:
            continue  # another control character, which is part of a word
        if place > start:
            if count < most:
                starts[count] = start
                sizes[count] = place - start
            count += 1
        start = place + 1
        if c == 10:
            return count, at


@inlined
def parse_number(data, start, size):  # type: ignore[no-untyped-def]
    """Return the number in a field; NaN where it is none. A separator must follow the field."""
    negative = data[start] == 45
    i = start + negative
    scale = size - negative - 2
    if data[i + 1] != 46 or not 48 <= data[i] <= 57 or not 0 < scale <= 16:
        return _parse_any(data, start, start + size)
    mantissa = np.uint64(data[i] - 48)
    more = max(scale - 8, 0)
    fraction, other = _eight_digits(load64(data, i + 2), scale - more)
    mantissa = mantissa * TENS[scale - more] + fraction
    if more > 0:
        fraction, wrong = _eight_digits(load64(data, i + 10), more)
        mantissa = mantissa * TENS[more] + fraction
        other |= wrong
    if other != 0:
        return _parse_any(data, start, start + size)
    value = np.float64(mantissa) / POWERS[scale]
    return -value if negative else value


@inlined
def _eight_digits(chunk, scale):  # type: ignore[no-untyped-def]
    """Return the number in the first ``scale`` bytes of ``chunk``, and non-zero if it is none."""
    chunk = (chunk ^ _ZEROS) << np.uint64(64 - 8 * scale)
    other = (chunk + _SIXES | chunk) & _NIBBLES
    chunk = chunk * np.uint64(10) + (chunk >> np.uint64(8))
    high = (chunk & _BYTES_0_4) * np.uint64(0x000F424000000064)
    low = (chunk >> np.uint64(16) & _BYTES_0_4) * np.uint64(0x0000271000000001)
    return (high + low) >> np.uint64(32), other


@inner
def _parse_any(data, i, end):  # type: ignore[no-untyped-def]
    """Return any number, sign, exponent and infinity included; NaN where it is none."""
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    if (data[i] | 32) == 105 and _is_infinity(data, i, end):
        return -np.inf if negative else np.inf
    mantissa = np.uint64(0)
    digits = 0
    scale = 0
    while 48 <= data[i] <= 57 or (data[i] == 46 and scale == 0):
        if data[i] == 46:
            scale = 1
        else:
            digits += 1
            if mantissa < TENS[17]:
                mantissa = mantissa * np.uint64(10) + np.uint64(data[i] - 48)
                if scale > 0:
                    scale += 1
            elif scale == 0:
                return np.nan  # a log probability of 18 digits before the point
        i += 1
    if digits == 0:
        return np.nan
    exponent = np.int64(0)
    if i < end and (data[i] | 32) == 101:
        exponent, i = _parse_exponent(data, i + 1, end)
    if i != end:
        return np.nan
    value = scaled(np.float64(mantissa), exponent - max(scale - 1, 0))
    return -value if negative else value


@inner
def _is_infinity(data, start, end):  # type: ignore[no-untyped-def]
    word = b"infinity"
    size = end - start
    if size != 3 and size != 8:
        return False
    same = True
    for k in range(size):
        same &= (data[start + k] | 32) == word[k]
    return same


@inner
def _parse_exponent(data, i, end):  # type: ignore[no-untyped-def]
    """Return the exponent and the place behind it, which is -1 where there is none."""
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += 1
    if i == end:
        return np.int64(0), np.int64(-1)
    value = np.int64(0)
    while 48 <= data[i] <= 57:
        value = min(value * 10 + np.int64(data[i] - 48), 9999)
        i += 1
    return (-value if negative else value), np.int64(i)


@inner
def _diagnose(num_fields, n, logprob, backoff, state):  # type: ignore[no-untyped-def]
    """Return what is wrong with the fields of a line."""
    if num_fields != n + 1 and num_fields != n + 2:
        state[FIELD] = num_fields
        return BAD_FIELDS
    state[FIELD] = 0
    if np.isnan(logprob):
        return BAD_NUMBER
    if logprob > ROUNDING:
        return POSITIVE
    state[FIELD] = n + 1
    return BAD_BACKOFF


@kernel
def parse_ngrams(  # type: ignore[no-untyped-def]
    data, begin, end, n, breaks, seen, words, lines, logprobs, backoffs, state
):
    """Parse lines of ``n``-grams: the words, and the two numbers.

    ``seen`` uint64 [n * lines, 4] gets the words that differ from the one above, for
    ``lexicon/kernels.py`` to find; ``words`` [n, >= lines] the row of ``seen`` of each word, and
    ``lines`` the number of each n-gram's line, from 0.
    """
    find_breaks(data, begin, end, breaks)
    starts = np.empty(n + 2, np.int64)
    sizes = np.empty(n + 2, np.int64)
    above = np.zeros(n, np.int64)
    above_sizes = np.zeros(n, np.int64)
    at = 0
    count = 0
    line = 0
    num_seen = 0
    start = begin
    state[STATUS] = OK
    while start < end:
        num_fields, at = split_line(data, start, breaks, at, n + 2, starts, sizes)
        if num_fields > 0:
            logprob = parse_number(data, starts[0], sizes[0])
            backoff = 0.0
            if num_fields == n + 2:
                backoff = parse_number(data, starts[n + 1], sizes[n + 1])
            good = num_fields == n + 1 or num_fields == n + 2
            if not (good and logprob <= ROUNDING and abs(backoff) < LARGE):
                state[STATUS] = _diagnose(num_fields, n, logprob, backoff, state)
                state[PLACE] = start
                break
            for k in range(n):
                place, size = starts[k + 1], sizes[k + 1]
                first, second = head_of(data, place, size)
                row = seen[above[k]]
                same = (first == row[2]) & (second == row[3]) & (size == above_sizes[k])
                if size > HEAD and same:
                    same = same_rest(data, place, data, np.int64(row[0] >> _32), size)
                if not same:
                    seen[num_seen, 0] = np.uint64(place) << _32 | np.uint64(size)
                    seen[num_seen, 1] = hash_of(data, place, size, first, second)
                    seen[num_seen, 2] = first
                    seen[num_seen, 3] = second
                    above[k] = num_seen
                    num_seen += 1
                    above_sizes[k] = size
                words[k, count] = above[k]
            lines[count] = line
            logprobs[count] = min(logprob, 0.0) * LN10 + 0.0  # never -0.0
            backoffs[count] = backoff * LN10 + 0.0
            count += 1
        line += 1
        start = np.int64(breaks[at - 1]) + 1
    state[LINES] = line
    state[NGRAMS] = count
    state[SEEN] = num_seen


@kernel
def number_words(  # type: ignore[no-untyped-def]
    data, arena, offsets, id_bits, slots, heads, seen, words, lines, state
):
    """Replace the rows of ``seen`` in ``words`` by ids (see ``lexicon/kernels.py``).

    All words are looked up in one go, so that the memory reads overlap.
    """
    unknown = look_up(data, seen[: state[SEEN]], arena, offsets, id_bits, slots, heads)
    for k in range(len(words)):
        for i in range(state[NGRAMS]):
            row = np.int64(words[k, i])
            if row == unknown and (state[STATUS] != UNKNOWN_WORD or lines[i] < state[LINES]):
                state[STATUS] = UNKNOWN_WORD
                state[PLACE] = np.int64(seen[row, 0] >> _32)
                state[LINES] = lines[i]
            words[k, i] = np.uint32(seen[row, 1])


@kernel
def gather_words(data, starts, sizes, out):  # type: ignore[no-untyped-def]
    """Copy words one behind the other to ``out``."""
    i = 0
    for word in range(len(starts)):
        start = starts[word]
        for k in range(sizes[word]):
            out[i + k] = data[start + k]
        i += sizes[word]
