"""Compiled kernels that find n-grams by context and word, and link them to their suffixes.

``rows`` and ``starts`` are as in ``lmkit.ngram.arpa.trie.kernels``. ``slots`` uint64 is a hash
table over the rows, a power of two in size and cut into parts that different threads fill. The
key ``context << word_bits | word``, a number of ``key_bits`` bits, is shuffled by steps that can
be undone; the upper ``slot_bits`` bits of the result are the home slot, and the lower ones, with
the distance from home, the tag. So a slot (``tag << 32 | place + 1``, 0 where free) tells for
certain whether it holds the key, and one memory read does; only where the key is too long for the
tag, or the distance too far, does ``rows`` decide. ``shape`` int64 holds the numbers named.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import kernel, prefetch
from lmkit.ngram.query.kernels import find_child

WORD_BITS, KEY_BITS, SLOT_BITS, PART_MASK = range(4)
"""Places of the numbers in ``shape``."""
NONE = np.uint32(0xFFFFFFFF)
UNRESOLVED = np.uint32(0xFFFFFFFE)
"""The link of an n-gram whose suffix of n - 1 words is not in the model, while it is unknown."""
TAG_BITS = 26
"""Bits of the key that a tag can hold; the distance takes the other 6."""
_FAR = 63
_AHEAD = 24
_1 = np.uint64(1)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TAG_MASK = np.uint64((1 << TAG_BITS) - 1)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def _shuffle(context, word, shape):  # type: ignore[no-untyped-def]
    """Return the key of an n-gram, shuffled."""
    bits = np.uint64(shape[KEY_BITS])
    mask = (_1 << bits) - _1
    value = np.uint64(context) << np.uint64(shape[WORD_BITS]) | np.uint64(word)
    value = value * _MIX_1 & mask
    value ^= value >> (bits >> _1)
    return value * _MIX_2 & mask


@kernel
def _home(value, shape):  # type: ignore[no-untyped-def]
    return np.int64(value >> np.uint64(shape[KEY_BITS] - shape[SLOT_BITS]))


@kernel
def find_row(context, word, slots, shape, rows):  # type: ignore[no-untyped-def]
    """Return the place of ``word`` behind ``context`` in ``rows``, or -1."""
    value = _shuffle(context, word, shape)
    rest_bits = shape[KEY_BITS] - shape[SLOT_BITS]
    slot = _home(value, shape)
    tag = (value & ((_1 << np.uint64(rest_bits)) - _1) & _TAG_MASK) << np.uint64(6)
    base = slot & ~shape[PART_MASK]
    distance = 0
    while True:
        entry = slots[slot]
        if entry == 0:
            return np.int64(-1)
        if entry >> _32 == tag | np.uint64(min(distance, _FAR)):
            place = np.int64(entry & _LOW_32) - 1
            if rest_bits <= TAG_BITS and distance < _FAR:
                return place
            if rows[place, 0] == word and rows[place, 1] == context:
                return place
        slot = base | ((slot + 1) & shape[PART_MASK])
        distance += 1


@kernel
def insert_rows(rows, slots, shape, part):  # type: ignore[no-untyped-def]
    """Enter the rows that belong to one part of the table."""
    part_mask = shape[PART_MASK]
    base = np.int64(part) * (part_mask + 1)
    rest_mask = (_1 << np.uint64(shape[KEY_BITS] - shape[SLOT_BITS])) - _1
    size = len(rows)
    for place in range(size):
        if place + _AHEAD < size:
            ahead = _shuffle(rows[place + _AHEAD, 1], rows[place + _AHEAD, 0], shape)
            slot = _home(ahead, shape)
            if slot & ~part_mask == base:
                prefetch(slots, slot)
        value = _shuffle(rows[place, 1], rows[place, 0], shape)
        slot = _home(value, shape)
        if slot & ~part_mask == base:
            distance = 0
            while slots[slot] != 0:
                slot = base | ((slot + 1) & part_mask)
                distance += 1
            tag = (value & rest_mask & _TAG_MASK) << np.uint64(6) | np.uint64(min(distance, _FAR))
            slots[slot] = tag << _32 | np.uint64(place + 1)


@kernel
def descend(contexts, words, slots, shape, rows):  # type: ignore[no-untyped-def]
    """Replace each context by the place of ``words`` behind it, NONE where it has none.

    Returns how many are NONE.
    """
    missing = 0
    size = len(contexts)
    context = NONE
    word = NONE
    place = NONE
    for i in range(size):
        if i + _AHEAD < size:
            value = _shuffle(contexts[i + _AHEAD], words[i + _AHEAD], shape)
            prefetch(slots, _home(value, shape))
        if contexts[i] != context or words[i] != word:
            context, word = contexts[i], words[i]
            place = NONE
            if context != NONE:
                found = find_row(context, word, slots, shape, rows)
                place = NONE if found < 0 else np.uint32(found)
        contexts[i] = place
        missing += place == NONE
    return missing


@kernel
def emit_rows(  # type: ignore[no-untyped-def]
    rows, begin, end, n, lower_base, below_base, slots, shape, lower_rows,
    inner, records, next_starts, next_base,
):  # fmt: skip
    """Write the records [count, 5] or, at the top, [count, 3] of rows ``begin`` to ``end``.

    The link of (context, word) is the record of ``word`` behind the link of the context. The
    table is that of order n - 1, whose records begin at ``lower_base`` and whose contexts begin at
    ``below_base`` in ``inner``; ``next_starts`` and ``next_base`` tell where the children begin.
    Returns how many links are left UNRESOLVED.
    """
    unresolved = 0
    for place in range(begin, end):
        word = rows[place, 0]
        link = word
        if n > 2:
            if place + _AHEAD < end:
                ahead = inner[lower_base + np.int64(rows[place + _AHEAD, 1]), 3] - below_base
                value = _shuffle(np.uint32(ahead), rows[place + _AHEAD, 0], shape)
                prefetch(slots, _home(value, shape))
            suffix = np.int64(inner[lower_base + np.int64(rows[place, 1]), 3]) - below_base
            found = np.int64(-1)
            if suffix >= 0:
                found = find_row(np.uint32(suffix), word, slots, shape, lower_rows)
            link = UNRESOLVED if found < 0 else np.uint32(lower_base + found)
            unresolved += found < 0
        records[place, 0] = word
        records[place, 1] = rows[place, 2]
        if records.shape[1] == 5:
            records[place, 2] = rows[place, 3]
            records[place, 3] = link
            records[place, 4] = next_base + next_starts[place]
        else:
            records[place, 2] = link
    return unresolved


@kernel
def resolve_links(rows, begin, end, lower_base, inner, top, records):  # type: ignore[no-untyped-def]
    """Set the UNRESOLVED links to the longest suffix that is in the model."""
    column = 3 if records.shape[1] == 5 else 2
    for place in range(begin, end):
        if records[place, column] == UNRESOLVED:
            word = rows[place, 0]
            link = word
            suffix = inner[lower_base + np.int64(rows[place, 1]), 3]
            while suffix != NONE:
                found = find_child(suffix, word, inner, top)
                if found >= 0:
                    link = np.uint32(found)
                    break
                suffix = inner[suffix, 3]
            records[place, column] = link
