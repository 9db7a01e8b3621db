"""A compiled kernel that lists the n-gram buckets of all words of a vocabulary."""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, kernel

_BASIS = np.uint32(2166136261)
_PRIME = np.uint32(16777619)


@inlined
def _byte(arena, begin, size, place):  # type: ignore[no-untyped-def]
    """Return byte ``place`` of ``<word>``, the word being ``arena[begin:begin + size]``."""
    if place == 0:
        return np.uint8(60)
    if place == size + 1:
        return np.uint8(62)
    return arena[begin + place - 1]


@inlined
def _hashed(value, byte):  # type: ignore[no-untyped-def]
    """Take one more byte, which is signed as in fastText, into a 32-bit FNV-1a hash."""
    wide = np.uint32(byte)
    if wide >= 128:
        wide |= np.uint32(0xFFFFFF00)
    return np.uint32((value ^ wide) * _PRIME)


@kernel
def list_buckets(  # type: ignore[no-untyped-def]
    arena, offsets, minimum, maximum, num_buckets, starts, buckets
):
    """Write the buckets of word i to ``buckets[starts[i]:starts[i + 1]]``; see ``ngram_buckets``.

    With room for none (``buckets`` empty) only ``starts`` [V + 1] is written.
    """
    fill = buckets.shape[0] > 0
    found = np.int64(0)
    starts[0] = 0
    for word in range(offsets.shape[0] - 1):
        begin, size = offsets[word], offsets[word + 1] - offsets[word]
        for first in range(size + 2):
            if _byte(arena, begin, size, first) & 0xC0 == 0x80:
                continue
            value = _BASIS
            end = first
            characters = np.int64(0)
            while end < size + 2 and characters < maximum:
                value = _hashed(value, _byte(arena, begin, size, end))
                end += 1
                while end < size + 2 and _byte(arena, begin, size, end) & 0xC0 == 0x80:
                    value = _hashed(value, _byte(arena, begin, size, end))
                    end += 1
                characters += 1
                mark_alone = characters == 1 and (first == 0 or end == size + 2)
                if characters >= minimum and not mark_alone:
                    if fill:
                        buckets[found] = np.int32(value % np.uint32(num_buckets))
                    found += 1
        starts[word + 1] = found
