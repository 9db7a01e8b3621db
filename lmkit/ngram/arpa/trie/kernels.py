"""Compiled kernels that put n-grams read in any order into the trie of a model.

Legend: ``raw`` uint32 [count, 5] are n-grams of one order as they were read: last word, context
(the place of the first n - 1 words in the order below), float32 bits of the log probability and
the back-off, line within its chunk. Each chunk is ordered by buckets: runs of 2 ** ``bucket_bits``
contexts, few enough that what belongs to one bucket stays in the cache while it is sorted.
``rows`` uint32 [count, 4] are the same n-grams, without the line, sorted by context and word;
``starts`` uint32 [contexts + 1] tells where each context's row begins.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import kernel

_SMALL_ROW = 32
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)


@kernel
def fill_buckets(contexts, words, lines, logprobs, backoffs, bucket_bits, ends, raw):  # type: ignore[no-untyped-def]
    """Write n-grams to ``raw`` ordered by bucket; ``ends`` [buckets + 1] gets where each begins.

    Those without a context (NONE) are left out.
    """
    values = raw.view(np.float32)
    ends[:] = 0
    num_buckets = len(ends) - 1
    for i in range(len(contexts)):
        bucket = np.int64(contexts[i]) >> bucket_bits
        if bucket < num_buckets:
            ends[bucket] += 1
    begin = 0
    for bucket in range(num_buckets + 1):
        size = ends[bucket]
        ends[bucket] = begin
        begin += size
    for i in range(len(contexts)):
        bucket = np.int64(contexts[i]) >> bucket_bits
        if bucket < num_buckets:
            place = ends[bucket]
            ends[bucket] = place + 1
            raw[place, 0] = words[i]
            raw[place, 1] = contexts[i]
            values[place, 2] = logprobs[i]
            values[place, 3] = backoffs[i]
            raw[place, 4] = lines[i]
    for bucket in range(num_buckets, 0, -1):
        ends[bucket] = ends[bucket - 1]
    ends[0] = 0


@kernel
def sort_buckets(raw, chunks, bounds, first, last, bucket_bits, begins, starts, rows):  # type: ignore[no-untyped-def]
    """Sort the n-grams of the buckets ``first`` to ``last`` by context and word.

    Chunk c begins at ``raw[chunks[c]]``; its part of bucket b lies between ``bounds[c, b]`` and
    ``bounds[c, b + 1]`` in it. The rows of bucket b go to ``rows[begins[b]:]``. Returns the place
    of an n-gram that is there twice, or -1.
    """
    width = 1 << bucket_bits
    fill = np.empty(width, np.int64)
    num_contexts = len(starts) - 1
    for bucket in range(first, last):
        base = bucket << bucket_bits
        size = min(width, num_contexts - base)
        fill[:] = 0
        for c in range(len(chunks)):
            for i in range(chunks[c] + bounds[c, bucket], chunks[c] + bounds[c, bucket + 1]):
                fill[raw[i, 1] - base] += 1
        place = begins[bucket]
        for k in range(size):
            count = fill[k]
            fill[k] = place
            starts[base + k] = place
            place += count
        for c in range(len(chunks)):
            for i in range(chunks[c] + bounds[c, bucket], chunks[c] + bounds[c, bucket + 1]):
                k = raw[i, 1] - base
                place = fill[k]
                fill[k] = place + 1
                for column in range(4):
                    rows[place, column] = raw[i, column]
        begin = begins[bucket]
        for k in range(size):
            repeated = _sort_row(rows, begin, fill[k])
            if repeated >= 0:
                return repeated
            begin = fill[k]
    return np.int64(-1)


@kernel
def _sort_row(rows, begin, end):  # type: ignore[no-untyped-def]
    """Sort the children of one context by word; return the place of one there twice, or -1."""
    rising = True
    for place in range(begin + 1, end):
        rising &= rows[place - 1, 0] < rows[place, 0]
    if rising:
        return np.int64(-1)
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
