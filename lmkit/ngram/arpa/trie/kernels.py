"""Compiled kernels that put n-grams read in any order into the trie of a model.

Legend: ``rows`` uint32 [count, 4] are the n-grams of one order, sorted by context and word: word,
context (the place of the first n - 1 words in the order below), and the float32 bits of the log
probability and the back-off. ``starts`` uint32 [contexts + 1] tells where the row of each context
begins. ``slots`` uint64 is a hash table over them, a power of two in size and cut into ``parts``
that are filled by different threads: ``tag << 32 | place + 1``, 0 where free. The hash of
``context << 32 | word`` gives the slot with its upper bits and the tag with its lower ones; a tag
only saves looks at ``rows``, which decide.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import kernel, prefetch
from lmkit.ngram.query.kernels import find_child

NONE = np.uint32(0xFFFFFFFF)
UNRESOLVED = np.uint32(0xFFFFFFFE)
"""The link of an n-gram whose suffix of n - 1 words is not in the model, while it is unknown."""
_AHEAD = 24
_SMALL_ROW = 32
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def _hash_key(context, word):  # type: ignore[no-untyped-def]
    value = (np.uint64(context) << _32 | np.uint64(word)) * _MIX_1
    value ^= value >> _32
    return value * _MIX_2


@kernel
def find_row(context, word, slots, shift, part_mask, rows):  # type: ignore[no-untyped-def]
    """Return the place of ``word`` behind ``context`` in ``rows``, or -1."""
    value = _hash_key(context, word)
    slot = np.int64(value >> shift)
    tag = value & _LOW_32
    base = slot & ~part_mask
    while True:
        entry = slots[slot]
        if entry == 0:
            return np.int64(-1)
        if entry >> _32 == tag:
            place = np.int64(entry & _LOW_32) - 1
            if rows[place, 0] == word and rows[place, 1] == context:
                return place
        slot = base | ((slot + 1) & part_mask)


@kernel
def insert_rows(rows, slots, shift, part, part_mask):  # type: ignore[no-untyped-def]
    """Enter the rows that belong to one part of the table."""
    base = np.int64(part) * (part_mask + 1)
    end = base + part_mask
    size = len(rows)
    for place in range(size):
        if place + _AHEAD < size:
            ahead = np.int64(_hash_key(rows[place + _AHEAD, 1], rows[place + _AHEAD, 0]) >> shift)
            if base <= ahead <= end:
                prefetch(slots, ahead)
        value = _hash_key(rows[place, 1], rows[place, 0])
        slot = np.int64(value >> shift)
        if base <= slot <= end:
            while slots[slot] != 0:
                slot = base | ((slot + 1) & part_mask)
            slots[slot] = (value & _LOW_32) << _32 | np.uint64(place + 1)


@kernel
def descend(contexts, words, slots, shift, part_mask, rows):  # type: ignore[no-untyped-def]
    """Replace each context by the place of ``words`` behind it, NONE where it has none.

    Returns how many are NONE.
    """
    missing = 0
    size = len(contexts)
    context = NONE
    word = NONE
    place = NONE
    for i in range(size):
        if i + _AHEAD < size and contexts[i + _AHEAD] != NONE:
            value = _hash_key(contexts[i + _AHEAD], words[i + _AHEAD])
            prefetch(slots, np.int64(value >> shift))
        if contexts[i] != context or words[i] != word:
            context, word = contexts[i], words[i]
            place = NONE
            if context != NONE:
                found = find_row(context, word, slots, shift, part_mask, rows)
                place = NONE if found < 0 else np.uint32(found)
        contexts[i] = place
        missing += place == NONE
    return missing


@kernel
def count_children(contexts, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts`` how often each context occurs."""
    size = len(contexts)
    for i in range(size):
        if i + _AHEAD < size:
            prefetch(counts, np.int64(contexts[i + _AHEAD]))
        counts[contexts[i]] += np.uint32(1)


@kernel
def scatter(contexts, words, logprobs, backoffs, fill, rows):  # type: ignore[no-untyped-def]
    """Write n-grams to the rows of their contexts; ``fill`` is the next free place of each."""
    values = rows.view(np.float32)
    size = len(contexts)
    for i in range(size):
        if i + 2 * _AHEAD < size:
            prefetch(fill, np.int64(contexts[i + 2 * _AHEAD]))
        if i + _AHEAD < size:
            prefetch(rows, np.int64(fill[contexts[i + _AHEAD]]) * 4)
        context = contexts[i]
        place = fill[context]
        fill[context] = place + 1
        rows[place, 0] = words[i]
        rows[place, 1] = context
        values[place, 2] = logprobs[i]
        values[place, 3] = backoffs[i]


@kernel
def sort_rows(rows, starts, first, last):  # type: ignore[no-untyped-def]
    """Sort the rows of the contexts ``first`` to ``last`` by word.

    Returns the place of an n-gram that is there twice, or -1.
    """
    for context in range(first, last):
        begin = np.int64(starts[context])
        end = np.int64(starts[context + 1])
        sorted_ = True
        for place in range(begin + 1, end):
            sorted_ &= rows[place - 1, 0] < rows[place, 0]
        if sorted_:
            continue
        if end - begin <= _SMALL_ROW:
            _sort_small(rows, begin, end)
        else:
            _sort_large(rows, begin, end)
        for place in range(begin + 1, end):
            if rows[place - 1, 0] == rows[place, 0]:
                return place
    return np.int64(-1)


@kernel
def _sort_small(rows, begin, end):  # type: ignore[no-untyped-def]
    """Insertion sort; the context is the same in all rows and stays."""
    for place in range(begin + 1, end):
        word, logprob, backoff = rows[place, 0], rows[place, 2], rows[place, 3]
        k = place
        while k > begin and rows[k - 1, 0] > word:
            rows[k, 0] = rows[k - 1, 0]
            rows[k, 2] = rows[k - 1, 2]
            rows[k, 3] = rows[k - 1, 3]
            k -= 1
        rows[k, 0] = word
        rows[k, 2] = logprob
        rows[k, 3] = backoff


@kernel
def _sort_large(rows, begin, end):  # type: ignore[no-untyped-def]
    keys = np.empty(end - begin, np.uint64)
    for place in range(begin, end):
        keys[place - begin] = np.uint64(rows[place, 0]) << _32 | np.uint64(place - begin)
    keys.sort()
    unsorted = rows[begin:end].copy()
    for k in range(end - begin):
        source = np.int64(keys[k] & _LOW_32)
        for column in range(4):
            rows[begin + k, column] = unsorted[source, column]


@kernel
def emit_rows(  # type: ignore[no-untyped-def]
    rows, begin, end, n, lower_base, below_base, slots, shift, part_mask, lower_rows,
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
                value = _hash_key(np.uint32(ahead), rows[place + _AHEAD, 0])
                prefetch(slots, np.int64(value >> shift))
            suffix = np.int64(inner[lower_base + np.int64(rows[place, 1]), 3]) - below_base
            found = np.int64(-1)
            if suffix >= 0:
                found = find_row(np.uint32(suffix), word, slots, shift, part_mask, lower_rows)
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
