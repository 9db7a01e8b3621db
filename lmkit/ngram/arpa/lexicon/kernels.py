"""Compiled kernels that find the ids of words.

``slots`` uint32 (a power of two in size, at most half full) holds ``tag << id_bits | id + 1`` of
words, 0 where free. ``heads`` uint64 [V, 2] holds the first 16 bytes of each word, zeros behind
its end, so that shorter words are told apart by them alone, without a branch on their length.
The words themselves lie in ``arena``, word i from ``offsets[i]`` to ``offsets[i + 1]``.

``seen`` uint64 [words, 4] are words to find: place << 32 | size, hash, and the first 16 bytes.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, inner, kernel, load64, prefetch
from lmkit.text.kernels import first_bytes

HEAD = 16
_FAR, _NEAR = 48, 24
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_0 = np.uint64(0)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_PRIME_1 = np.uint64(0x9E3779B97F4A7C15)
_PRIME_2 = np.uint64(0xFF51AFD7ED558CCD)


@inlined
def head_of(data, start, size):  # type: ignore[no-untyped-def]
    """Return the first 16 bytes of a word of ``size`` > 0 as two numbers."""
    first = load64(data, start) & (_ALL >> np.uint64(64 - 8 * min(size, 8)))
    rest = min(max(size - 8, 1), 8)
    second = load64(data, start + 8) & (_ALL >> np.uint64(64 - 8 * rest))
    return first, second if size > 8 else _0


@inlined
def same_rest(data, start, other, other_start, size):  # type: ignore[no-untyped-def]
    """Return whether two words of ``size`` bytes are equal behind their first 16 bytes."""
    i = HEAD
    while i < size:
        if first_bytes(data, start + i, size - i) != first_bytes(other, other_start + i, size - i):
            return False
        i += 8
    return True


@inlined
def hash_of(data, start, size, first, second):  # type: ignore[no-untyped-def]
    """Return the hash of a word whose first 16 bytes are at hand."""
    value = (np.uint64(size) * _PRIME_1 ^ first) * _PRIME_2
    value ^= value >> _32
    value = (value ^ second) * _PRIME_2
    value ^= value >> _32
    i = HEAD
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
    word_to_find = np.empty(4, np.uint64)
    for word in range(len(offsets) - 1):
        start = offsets[word]
        size = offsets[word + 1] - start
        note_word(arena, start, size, word_to_find)
        if find(arena, word_to_find, arena, offsets, id_bits, slots, heads) >= 0:
            return word
        value = word_to_find[1]
        slot = np.int64(value) & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        tag = np.uint32(value >> np.uint64(32 + id_bits))
        slots[slot] = tag << np.uint32(id_bits) | np.uint32(word + 1)
        heads[word, 0] = word_to_find[2]
        heads[word, 1] = word_to_find[3]
    return -1


@inlined
def note_word(data, start, size, out):  # type: ignore[no-untyped-def]
    """Write a word's row of ``seen``."""
    first, second = head_of(data, start, size)
    out[0] = np.uint64(start) << _32 | np.uint64(size)
    out[1] = hash_of(data, start, size, first, second)
    out[2] = first
    out[3] = second


@inlined
def find(data, word, arena, offsets, id_bits, slots, heads):  # type: ignore[no-untyped-def]
    """Return the id of a word of ``data``, given as a row of ``seen``, or -1."""
    mask = np.int64(len(slots) - 1)
    slot = np.int64(word[1]) & mask
    tag = np.uint32(word[1] >> np.uint64(32 + id_bits))
    id_mask = np.uint32((1 << id_bits) - 1)
    while True:
        entry = slots[slot]
        if entry == 0:
            return np.int64(-1)
        if entry >> np.uint32(id_bits) == tag:
            index = np.int64(entry & id_mask) - 1
            if (heads[index, 0] == word[2]) & (heads[index, 1] == word[3]):
                size = np.int64(word[0] & _LOW_32)
                if size < HEAD:
                    return index
                begin = offsets[index]
                if offsets[index + 1] - begin == size and same_rest(
                    data, np.int64(word[0] >> _32), arena, begin, size
                ):
                    return index
        slot = (slot + 1) & mask


@inner
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
            prefetch(heads, 2 * max(np.int64(entry & id_mask) - 1, 0))
        index = find(data, seen[i], arena, offsets, id_bits, slots, heads)
        if index < 0:
            return i
        seen[i, 1] = index
    return np.int64(-1)
