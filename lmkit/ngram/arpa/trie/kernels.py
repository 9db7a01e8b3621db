"""Compiled kernels that sort n-grams, read in any order, into the records of a model.

Legend: ``raw`` uint32 [count, 5] are n-grams of one order as they were read: last word, context
(the place of the first n - 1 words in the order below), float32 bits of the log probability and
the back-off, line within its chunk. Each chunk is ordered by buckets of contexts (see ``search``),
so that what belongs to one bucket stays in the cache while it is sorted and linked.
``inner`` [I + 1, 5] and ``records`` ([count, 5], or [count, 3] at the top) are as in
``lmkit.ngram.query.kernels``.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inner, kernel
from lmkit.ngram.arpa.trie.search.kernels import NONE, UNRESOLVED, find_many, insert


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
def build_buckets(  # type: ignore[no-untyped-def]
    raw, chunks, bounds, first, last, n, lower_base, below_base, base, inner, records,
    slots, places, shape, searched, lower_slots, lower_places, lower_shape, result,
):  # fmt: skip
    """Turn the ``n``-grams of the buckets ``first`` to ``last`` into records.

    Chunk c begins at ``raw[chunks[c]]``; its part of bucket b lies between ``bounds[c, b]`` and
    ``bounds[c, b + 1]`` in it. ``base`` is the state of the first record, ``lower_base`` that of
    the first context, ``below_base`` that of the first (n - 2)-gram. Sets the first children of
    the contexts, fills the hash table of the order if it will be ``searched``, and takes links
    from that of order n - 1. ``result`` [3] gets how many links are left UNRESOLVED and, if an
    n-gram is there twice, its context and word.
    """
    bucket_bits = shape[0]
    fill = np.empty(1 << bucket_bits, np.int64)
    rows = np.empty((0, 4), np.uint32)
    num_contexts = base - lower_base
    top = records.shape[1] == 3
    for bucket in range(first, last):
        begin = places[bucket, 1]
        count = places[bucket + 1, 1] - begin
        context = bucket << bucket_bits
        width = min(1 << bucket_bits, num_contexts - context)
        if len(rows) < count:
            rows = np.empty((count + count // 4, 4), np.uint32)
        _gather(raw, chunks, bounds, bucket, context, width, fill, rows)
        row = 0
        for k in range(width):
            inner[lower_base + context + k, 4] = base + begin + row
            repeated = _sort_row(rows, row, fill[k])
            if repeated >= 0:
                result[1] = context + k
                result[2] = rows[repeated, 0]
                return
            row = fill[k]
        if searched:
            for i in range(count):
                insert(context + rows[i, 1], rows[i, 0], i, slots, places, shape)
        links = rows[:count, 0].copy()
        if n > 2:
            links = _link(
                rows, count, lower_base + context, below_base, lower_base, inner, lower_slots,
                lower_places, lower_shape,
            )  # fmt: skip
        for i in range(count):
            records[begin + i, 0] = rows[i, 0]
            records[begin + i, 1] = rows[i, 2]
            result[0] += links[i] == UNRESOLVED
            if top:
                records[begin + i, 2] = links[i]
            else:
                records[begin + i, 2] = rows[i, 3]
                records[begin + i, 3] = links[i]


@inner
def _gather(raw, chunks, bounds, bucket, context, width, fill, rows):  # type: ignore[no-untyped-def]
    """Collect a bucket sorted by context: word, context in the bucket, the two numbers.

    ``fill`` gets where each context ends.
    """
    fill[:width] = 0
    for c in range(len(chunks)):
        for i in range(chunks[c] + bounds[c, bucket], chunks[c] + bounds[c, bucket + 1]):
            fill[raw[i, 1] - context] += 1
    place = 0
    for k in range(width):
        count = fill[k]
        fill[k] = place
        place += count
    for c in range(len(chunks)):
        for i in range(chunks[c] + bounds[c, bucket], chunks[c] + bounds[c, bucket + 1]):
            k = raw[i, 1] - context
            place = fill[k]
            fill[k] = place + 1
            rows[place, 0] = raw[i, 0]
            rows[place, 1] = k
            rows[place, 2] = raw[i, 2]
            rows[place, 3] = raw[i, 3]


@inner
def _link(rows, count, context, below_base, lower_base, inner, slots, places, shape):  # type: ignore[no-untyped-def]
    """Return the links of a bucket's n-grams: the record of the word behind the context's link."""
    suffixes = np.empty(count, np.uint32)
    words = np.empty(count, np.uint32)
    links = np.empty(count, np.uint32)
    for i in range(count):
        suffix = np.int64(inner[context + rows[i, 1], 3]) - below_base
        suffixes[i] = NONE if suffix < 0 else np.uint32(suffix)
        words[i] = rows[i, 0]
    find_many(suffixes, words, slots, places, shape, links)
    for i in range(count):
        links[i] = UNRESOLVED if links[i] == NONE else links[i] + np.uint32(lower_base)
    return links


@inner
def _sort_row(rows, begin, end):  # type: ignore[no-untyped-def]
    """Sort the children of one context by word; return the place of one there twice, or -1.

    Most rows are in order. The others get Shell's sort (gaps of Tokuda).
    """
    rising = True
    for place in range(begin + 1, end):
        rising &= rows[place - 1, 0] < rows[place, 0]
    if rising:
        return np.int64(-1)
    gap = 1
    while gap < end - begin:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        gap = (gap - 1) * 4 // 9 if gap > 1 else 0
        step = max(gap, 1)
        for place in range(begin + step, end):
            word, logprob, backoff = rows[place, 0], rows[place, 2], rows[place, 3]
            k = place
            while k >= begin + step and rows[k - step, 0] > word:
                rows[k, 0] = rows[k - step, 0]
                rows[k, 2] = rows[k - step, 2]
                rows[k, 3] = rows[k - step, 3]
                k -= step
            rows[k, 0] = word
            rows[k, 2] = logprob
            rows[k, 3] = backoff
    for place in range(begin + 1, end):
        if rows[place - 1, 0] == rows[place, 0]:
            return np.int64(place)
    return np.int64(-1)
