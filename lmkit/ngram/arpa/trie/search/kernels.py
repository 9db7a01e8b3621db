"""Compiled kernels that find n-grams of one order by context and word.

Contexts are cut into buckets of 2 ** BUCKET_BITS; each bucket has a hash table of its own, so that
filling it stays in the cache. ``slots`` uint64 holds the tables one behind the other; ``places``
int64 [buckets + 1, 2] tells where each bucket's table and its n-grams begin. Tables begin on a line
of the cache (8 slots) and are a power of two in size, at least one line.

A slot is ``key << PLACE_BITS | place + 1``, 0 where free. The key is ``context << WORD_BITS |
word``, the context counted from the bucket's first, and the place from the bucket's first n-gram.
So the slot alone decides, and one memory read does. ``shape`` int64 [3] holds the numbers of bits.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, kernel
from lmkit.ngram.query.kernels import find_child

BUCKET_BITS, WORD_BITS, PLACE_BITS = range(3)
NONE = np.uint32(0xFFFFFFFF)
UNRESOLVED = np.uint32(0xFFFFFFFE)
"""The link of an n-gram whose suffix of n - 1 words is not in the model, while it is unknown."""
_BATCH = 256
_1 = np.uint64(1)
_32 = np.uint64(32)
_MIX = np.uint64(0x9E3779B97F4A7C15)


@inlined
def key_of(context, word, shape):  # type: ignore[no-untyped-def]
    """Return the key of an n-gram, unique in its bucket."""
    inside = np.uint64(context) & ((_1 << np.uint64(shape[BUCKET_BITS])) - _1)
    return inside << np.uint64(shape[WORD_BITS]) | np.uint64(word)


@inlined
def home_slot(key, begin, end):  # type: ignore[no-untyped-def]
    """Return where to look first in the table ``slots[begin:end]``, a power of two in size."""
    value = key * _MIX
    value ^= value >> _32
    return begin + (np.int64(value * _MIX >> _32) & (end - begin - 1))


@inlined
def next_slot(slot, step, begin, end):  # type: ignore[no-untyped-def]
    """Return where to look next in the table ``slots[begin:end]`` after ``step`` moves, and step.

    All slots of a line of the cache come before those of the next line.
    """
    step += 1
    line = slot & ~7
    if step & 7 == 0:
        line += 8
        if line == end:
            line = begin
    return line | (slot + 1 & 7), step


@kernel
def find_many(contexts, words, slots, places, shape, found):  # type: ignore[no-untyped-def]
    """Write the place of each word behind its context to ``found``, NONE where it has none.

    Contexts may be NONE. The first slots of a batch are read in a loop that does nothing else,
    so that the processor waits for many of them at a time. Returns how many are NONE.
    """
    keys = np.empty(_BATCH, np.uint64)
    homes = np.empty(_BATCH, np.int64)
    entries = np.empty(_BATCH, np.uint64)
    bits = np.uint64(shape[PLACE_BITS])
    place_mask = (_1 << bits) - _1
    last_bucket = len(places) - 2
    missing = 0
    for begin in range(0, len(contexts), _BATCH):
        size = min(_BATCH, len(contexts) - begin)
        for i in range(size):
            context = np.int64(contexts[begin + i])
            bucket = min(context >> shape[BUCKET_BITS], last_bucket)
            keys[i] = key_of(context, words[begin + i], shape)
            homes[i] = home_slot(keys[i], places[bucket, 0], places[bucket + 1, 0])
        for i in range(size):
            entries[i] = slots[homes[i]]
        for i in range(size):
            context = np.int64(contexts[begin + i])
            bucket = min(context >> shape[BUCKET_BITS], last_bucket)
            entry = entries[i]
            if entry >> bits != keys[i] and entry != 0:
                slot = homes[i]
                step = 0
                while entry >> bits != keys[i] and entry != 0:
                    slot, step = next_slot(slot, step, places[bucket, 0], places[bucket + 1, 0])
                    entry = slots[slot]
            if entry == 0 or contexts[begin + i] == NONE:
                found[begin + i] = NONE
                missing += 1
            else:
                place = places[bucket, 1] + np.int64(entry & place_mask) - 1
                found[begin + i] = np.uint32(place)
    return missing


@inlined
def insert(context, word, place, slots, places, shape):  # type: ignore[no-untyped-def]
    """Enter an n-gram that is not in the table; ``place`` counts from the bucket's first."""
    bucket = np.int64(context) >> shape[BUCKET_BITS]
    begin, end = places[bucket, 0], places[bucket + 1, 0]
    key = key_of(context, word, shape)
    slot = home_slot(key, begin, end)
    step = 0
    while slots[slot] != 0:
        slot, step = next_slot(slot, step, begin, end)
    slots[slot] = key << np.uint64(shape[PLACE_BITS]) | np.uint64(place + 1)


@kernel
def resolve_links(first, last, base, inner, top, records):  # type: ignore[no-untyped-def]
    """Set the UNRESOLVED links behind the contexts ``first`` to ``last``, which are states.

    The link becomes the longest suffix that is in the model. The children begin at
    ``base`` and are ``records`` [count, 5] or, at the top, [count, 3].
    """
    column = 3 if records.shape[1] == 5 else 2
    for context in range(first, last):
        for state in range(inner[context, 4], inner[context + 1, 4]):
            place = state - base
            if records[place, column] != UNRESOLVED:
                continue
            word = records[place, 0]
            link = word
            suffix = inner[context, 3]
            while suffix != NONE:
                found = find_child(suffix, word, inner, top)
                if found >= 0:
                    link = np.uint32(found)
                    break
                suffix = inner[suffix, 3]
            records[place, column] = link
