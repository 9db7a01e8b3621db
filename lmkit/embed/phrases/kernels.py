"""Compiled kernels that count pairs of neighbours and join those that are phrases.

Pairs live in open addressing over ``pairs`` uint64 [slots, 2], a power of two of them: the key
``left << 32 | right`` (0: the slot is free) and the count. No left id is 0.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, kernel, prefetch
from lmkit.text.kernels import find_word, hash_word, word_end

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_AHEAD = 16


@inlined
def pair_key(left, right):  # type: ignore[no-untyped-def]
    """Return the key of two ids."""
    return (np.uint64(left) << _32) | np.uint64(right)


@inlined
def pair_slot(key, shift):  # type: ignore[no-untyped-def]
    """Return the slot at which the search for a key begins; ``shift`` is 64 - log2(slots)."""
    return np.int64((key * _GOLDEN) >> shift)


@kernel
def count_pairs(ids, begin, first, pairs, shift, used, limit):  # type: ignore[no-untyped-def]
    """Count the pairs of ``ids[begin:]``; ids below ``first`` stand between sentences.

    Returns:
        The place of the first id whose pair with the one before it was not counted, for it is
        new and ``limit`` pairs are there; and the number of pairs.
    """
    mask = np.int64(pairs.shape[0] - 1)
    size = ids.shape[0]
    for i in range(begin, size):
        if i + _AHEAD < size:
            prefetch(pairs, pair_slot(pair_key(ids[i + _AHEAD - 1], ids[i + _AHEAD]), shift) * 2)
        if i == 0 or ids[i] < first or ids[i - 1] < first:
            continue
        key = pair_key(ids[i - 1], ids[i])
        slot = pair_slot(key, shift)
        while pairs[slot, 0] != key:
            if pairs[slot, 0] == 0:
                if used >= limit:
                    return i, used
                pairs[slot, 0] = key
                used += 1
                break
            slot = (slot + 1) & mask
        pairs[slot, 1] += np.uint64(1)
    return size, used


@kernel
def copy_pairs(source, least, target, shift):  # type: ignore[no-untyped-def]
    """Enter the pairs of ``source`` counted at least ``least`` times into ``target``.

    Returns:
        How many they are.
    """
    mask = np.int64(target.shape[0] - 1)
    used = np.int64(0)
    for i in range(source.shape[0]):
        key = source[i, 0]
        if key != 0 and source[i, 1] >= least:
            slot = pair_slot(key, shift)
            while target[slot, 0] != 0:
                slot = (slot + 1) & mask
            target[slot, 0] = key
            target[slot, 1] = source[i, 1]
            used += 1
    return used


@inlined
def has_pair(pairs, shift, key):  # type: ignore[no-untyped-def]
    """Tell whether a key is among ``pairs``."""
    mask = np.int64(pairs.shape[0] - 1)
    slot = pair_slot(key, shift)
    while pairs[slot, 0] != 0:
        if pairs[slot, 0] == key:
            return True
        slot = (slot + 1) & mask
    return False


@kernel
def join_phrases(  # type: ignore[no-untyped-def]
    data, size, table, arena, offsets, pairs, shift, delimiter, out
):
    """Copy ``data[:size]`` to ``out`` with ``delimiter`` between the words of each phrase.

    From left to right, and a word belongs to one phrase at most. Words are looked up in
    ``table`` (see ``lmkit.text.kernels``); word i has id i + 1 in ``pairs``.

    Returns:
        The number of bytes written.
    """
    i = np.int64(0)
    copied = np.int64(0)
    written = np.int64(0)
    previous = np.uint64(0)
    previous_end = np.int64(0)
    while i < size:
        c = data[i]
        if c == 10:
            previous = np.uint64(0)
            i += 1
            continue
        if c == 32 or c == 9 or c == 13 or c == 0:
            i += 1
            continue
        end = word_end(data, i)
        slot = find_word(data, i, end - i, hash_word(data, i, end - i), table, arena, offsets)
        word = table[slot, 1] & _LOW_32
        if previous != 0 and word != 0 and has_pair(pairs, shift, pair_key(previous, word)):
            for k in range(copied, previous_end):
                out[written + k - copied] = data[k]
            written += previous_end - copied
            for k in range(delimiter.shape[0]):
                out[written + k] = delimiter[k]
            written += delimiter.shape[0]
            copied = i
            word = np.uint64(0)
        previous = word
        previous_end = end
        i = end
    for k in range(copied, size):
        out[written + k - copied] = data[k]
    return written + size - copied
