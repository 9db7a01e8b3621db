"""Compiled kernels that find the ids of words.

``slots`` uint32 (a power of two in size, at most half full) holds ``tag << id_bits | id + 1`` of
words, 0 where free; ``heads`` uint64 [V] their first 8 bytes. That is a quarter of the memory of
the table of ``lmkit.text.kernels``, and the heads of frequent words, which tend to have small
ids, lie close together: what is looked up most stays in the cache. The words themselves lie in
``arena``, word i from ``offsets[i]`` to ``offsets[i + 1]``.

``seen`` uint64 [words, 3] are words to find: place << 32 | size, hash, first 8 bytes.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import kernel, load64, prefetch
from lmkit.text.kernels import first_bytes

_FAR, _NEAR = 24, 12
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_1 = np.uint64(1)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_PRIME_1 = np.uint64(0x9E3779B97F4A7C15)
_PRIME_2 = np.uint64(0xFF51AFD7ED558CCD)


@kernel
def head_of(data, start, size):  # type: ignore[no-untyped-def]
    """Return the first 8 bytes of a word of ``size`` > 0, those behind its end as zeros."""
    return load64(data, start) & (_ALL >> np.uint64(64 - 8 * min(size, 8)))


@kernel
def same_rest(data, start, other, other_start, size):  # type: ignore[no-untyped-def]
    """Return whether two words of ``size`` bytes are equal behind their first 8 bytes."""
    i = 8
    while i < size:
        if first_bytes(data, start + i, size - i) != first_bytes(other, other_start + i, size - i):
            return False
        i += 8
    return True


@kernel
def hash_from(data, start, size, head):  # type: ignore[no-untyped-def]
    """Return the hash of a word whose first 8 bytes are at hand."""
    value = (np.uint64(size) * _PRIME_1 ^ head) * _PRIME_2
    value ^= value >> _32
    i = 8
    while i < size:
        value = (value ^ first_bytes(data, start + i, size - i)) * _PRIME_2
        value ^= value >> _32
        i += 8
    return value


@kernel
def index_words(arena, offsets, id_bits, slots, heads):  # type: ignore[no-untyped-def]
    """Enter all words into empty ``slots``, up to one that is there already.

    Returns the index of that one, or -1.
    """
    mask = np.int64(len(slots) - 1)
    bits = np.uint64(id_bits)
    for word in range(len(offsets) - 1):
        start = offsets[word]
        size = offsets[word + 1] - start
        head = head_of(arena, start, size)
        value = hash_from(arena, start, size, head)
        if find(arena, start, size, value, head, arena, offsets, id_bits, slots, heads) >= 0:
            return word
        slot = np.int64(value) & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = np.uint32(value >> (_32 + bits) << bits) | np.uint32(word + 1)
        heads[word] = head
    return -1


@kernel
def find(data, start, size, value, head, arena, offsets, id_bits, slots, heads):  # type: ignore[no-untyped-def]
    """Return the id of a word of ``data``, or -1."""
    mask = np.int64(len(slots) - 1)
    slot = np.int64(value) & mask
    tag = np.uint32(value >> np.uint64(32 + id_bits))
    id_mask = np.uint32((1 << id_bits) - 1)
    while True:
        entry = slots[slot]
        if entry == 0:
            return np.int64(-1)
        if entry >> np.uint32(id_bits) == tag:
            word = np.int64(entry & id_mask) - 1
            if heads[word] == head:
                if size < 8:  # the padding tells that the other ends here too
                    return word
                begin = offsets[word]
                if offsets[word + 1] - begin == size and same_rest(data, start, arena, begin, size):
                    return word
        slot = (slot + 1) & mask


@kernel
def look_up(data, seen, arena, offsets, id_bits, slots, heads):  # type: ignore[no-untyped-def]
    """Put the id of each word of ``seen`` in the place of its hash.

    Stops at the first unknown word and returns its index; -1 where there is none.
    """
    mask = np.int64(len(slots) - 1)
    id_mask = np.uint32((1 << id_bits) - 1)
    size = len(seen)
    for i in range(size):
        if i + _FAR < size:
            prefetch(slots, np.int64(seen[i + _FAR, 1]) & mask)
        if i + _NEAR < size:
            entry = slots[np.int64(seen[i + _NEAR, 1]) & mask]
            prefetch(heads, max(np.int64(entry & id_mask) - 1, 0))
        place = np.int64(seen[i, 0] >> _32)
        length = np.int64(seen[i, 0] & _LOW_32)
        word = find(
            data, place, length, seen[i, 1], seen[i, 2], arena, offsets, id_bits, slots, heads
        )
        if word < 0:
            return i
        seen[i, 1] = word
    return np.int64(-1)
