"""Compiled kernels of the Kneser-Ney estimator; ``counting.py`` and ``kneser_ney.py`` drive them.

Legend: ``stream`` uint32 [S] is the text, every sentence preceded by N - 1 copies of ``<s>``
(barriers); ``suffixes`` uint32 [P] are the positions of the P tokens that are not barriers,
sorted by the n-gram that ends there, read backwards; ``shared`` uint8 [P] is the number of words
that suffix k has in common with suffix k - 1 (255: at least N), so that a new n-gram begins
wherever ``shared < n``; ``reach`` uint8 [P] is min(N, number of tokens from the sentence's start
to the position), less one in document mode: the n-gram at k holds at most one ``<s>`` where
``reach + 1 >= n``.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, kernel, prefetch
from lmkit.ngram import layout

ALONE = 255
NONE = np.uint32(layout.NONE)
PRUNED = np.uint32(0x80000000)
COUNT = np.uint32(0x7FFFFFFF)
_BOS = np.uint32(1)
_EOS = np.uint32(2)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_BIG = 4096


@kernel
def pad_stream(ids, barriers, sentences, stream):  # type: ignore[no-untyped-def]
    """Write ``ids`` [T] with ``barriers`` copies of <s> before every sentence; return its size."""
    out = 0
    for _ in range(barriers):
        stream[out] = _BOS
        out += 1
    last = len(ids) - 1
    for i in range(len(ids)):
        word = ids[i]
        if word == _EOS:
            if sentences:
                stream[out] = word
                out += 1
            if i < last:
                for _ in range(barriers):
                    stream[out] = _BOS
                    out += 1
        else:
            stream[out] = word
            out += 1
    return out


@kernel
def place_by_word(stream, offsets, suffixes):  # type: ignore[no-untyped-def]
    """Counting sort: write the positions of word w from ``offsets[w]`` on, in order."""
    for i in range(len(stream)):
        word = stream[i]
        if word != _BOS:
            k = offsets[word]
            offsets[word] = k + 1
            suffixes[k] = i


@kernel
def sort_chunk(  # type: ignore[no-untyped-def]
    suffixes, shared, stream, begin, end, order, word_bits, keys, spare, places, stack
):
    """Sort the groups of a chunk, which share their last word, by the words before it.

    A range of small groups goes through all rounds while it is in the cache; a big group is
    sorted by one word and then cut into ranges, which wait on a stack. Small groups are sorted
    by insertion, large ones by digits of the word, the least first. Where the n-th word back
    changes inside a group, ``shared`` becomes n - 1. The last four arrays are room to work in:
    see :func:`sorting_room`.
    """
    stack[0, 0], stack[0, 1], stack[0, 2] = begin, end, 2
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low, high, n = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        last = order
        if high - low > _BIG:
            last = n
            ready = low
            k = low
            while k < high:
                q = k + 1
                while q < high and shared[q] == ALONE:
                    q += 1
                if q - ready > _BIG and k > ready:
                    stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = ready, k, n
                    waiting += 1
                    ready = k
                k = q
            if ready > low:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = ready, high, n
                waiting += 1
                continue
        for m in range(n, last + 1):
            back = m - 1
            work = 0
            k = low
            while k < high:
                q = k + 1
                while q < high and shared[q] == ALONE:
                    q += 1
                size = q - k
                if size == 1:
                    k = q
                    continue
                work += 1
                for i in range(k, q):
                    if i + 16 < high:
                        prefetch(stream, np.int64(suffixes[i + 16]) - back)
                    word = np.uint64(stream[np.int64(suffixes[i]) - back])
                    keys[i - k] = (word << _32) | np.uint64(suffixes[i])
                source = keys
                target = spare
                if size > 48:
                    passes = 3 if size < 2048 else 2
                    digit_bits = (word_bits + passes - 1) // passes
                    mask = (_ONE << np.uint64(digit_bits)) - _ONE
                    for turn in range(passes):
                        shift = np.uint64(32 + turn * digit_bits)
                        for digit in range(mask + _ONE):
                            places[digit] = 0
                        for i in range(size):
                            places[(source[i] >> shift) & mask] += 1
                        total = 0
                        for digit in range(mask + _ONE):
                            total += places[digit]
                            places[digit] = total - places[digit]
                        for i in range(size):
                            digit = (source[i] >> shift) & mask
                            target[places[digit]] = source[i]
                            places[digit] += 1
                        source, target = target, source
                else:
                    for i in range(1, size):
                        key = keys[i]
                        j = i
                        while j > 0 and keys[j - 1] > key:
                            keys[j] = keys[j - 1]
                            j -= 1
                        keys[j] = key
                before = source[0] >> _32
                for i in range(size):
                    suffixes[k + i] = source[i] & _LOW_32
                    if source[i] >> _32 != before:
                        shared[k + i] = back
                        before = source[i] >> _32
                k = q
            if work == 0:
                break
        if high - low > _BIG and n < order:
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = low, high, n + 1
            waiting += 1


def sorting_room(size, order, word_bits):  # type: ignore[no-untyped-def]
    """Return the arrays that :func:`sort_chunk` needs for a chunk of ``size``; plain Python.

    Ranges that wait on the stack do not overlap, and of two neighbours cut from one range at
    least one is big; besides, every order may leave one small piece behind.
    """
    return (
        np.empty(size, np.uint64),
        np.empty(size, np.uint64),
        np.empty(1 << ((word_bits + 1) // 2), np.int64),
        np.empty((4 * size // _BIG + 2 * order + 16, 3), np.int64),
    )


@kernel
def count_ngrams(  # type: ignore[no-untyped-def]
    suffixes, shared, reach, begin, end, n, highest, raw_start, threshold,
    states, counts, contexts, histogram, children, lost,
):  # fmt: skip
    """Count the n-grams of a range of suffixes, in suffix order; return how many.

    ``counts``: the number of distinct words to the left, or the raw count where n is the
    ``highest`` order or the n-gram begins with <s> (``raw_start``); the bit PRUNED marks a raw
    count of at most ``threshold``. ``contexts``: the record of the first n - 1 words, from
    ``states`` (record of the (n-1)-gram that ends at a position). ``histogram`` counts the
    counts 1 to 4; ``children`` the n-grams kept per context, ``lost`` the pruned counts.
    """
    j = 0
    k = begin
    lag = 0
    while k < end:
        if k + 48 < end:
            prefetch(states, np.int64(suffixes[k + 48]) - 1)
        q = k + 1
        left = 1
        while q < end and shared[q] >= n:
            if shared[q] == n:
                left += 1
            q += 1
        if reach[k] + 1 < n:
            k = q
            continue
        raw = q - k
        count = raw if highest or (raw_start and reach[k] + 1 == n) else left
        if count < 5:
            histogram[count] += 1
        value = np.uint32(count)
        if raw <= threshold:
            value |= PRUNED
        counts[j] = value
        context = states[np.int64(suffixes[k]) - 1]
        contexts[j] = context
        if context != NONE:
            prefetch(children, np.int64(context))
        j += 1
        if j - lag > 16:
            _count_child(counts[lag], contexts[lag], children, lost)
            lag += 1
        k = q
    while lag < j:
        _count_child(counts[lag], contexts[lag], children, lost)
        lag += 1
    return j


@inlined
def _count_child(value, context, children, lost):  # type: ignore[no-untyped-def]
    if context != NONE:
        if value & PRUNED:
            lost[context] += value & COUNT
        else:
            children[context] += 1


@kernel
def row_starts(children, size):  # type: ignore[no-untyped-def]
    """Turn the counts of each part [parts, :size] into its first rows; return the sum of all.

    Once every part has filled its rows, those of the last part are the ends of whole rows.
    """
    total = np.uint32(0)
    for context in range(size):
        for part in range(len(children)):
            count = children[part, context]
            children[part, context] = total
            total += count
    return total


@kernel
def wide_rows(ends, wide, records, lower_base, base, states, firsts, sizes, words):  # type: ignore[no-untyped-def]
    """Write state, first child, size and words of each row of more than ``wide`` children.

    Returns how many rows and words there are; with empty arrays it only counts.
    """
    rows = 0
    children = 0
    begin = np.int64(0)
    for context in range(len(ends)):
        size = np.int64(ends[context]) - begin
        if size > wide:
            if len(words) > 0:
                states[rows] = lower_base + context
                firsts[rows] = base + begin
                sizes[rows] = size
                for i in range(size):
                    words[children + i] = records[begin + i, 0]
            rows += 1
            children += size
        begin += size
    return rows, children


@kernel
def emit_records(  # type: ignore[no-untyped-def]
    suffixes, shared, reach, words, begin, end, n, highest, counts, contexts, seen,
    fill, lower, lower_base, lower_index, records, states,
):  # fmt: skip
    """Write (word, lower-order probability, count, link) of each n-gram kept to its context's row.

    ``words`` are the last words in their order, one for each group of suffixes; ``fill`` is the
    next free row of each context; ``lower`` the records of order n - 1 and
    ``lower_index`` their places in suffix order; ours come to stand in ``counts``, and in
    ``states`` the record of the n-gram that ends at each position (neither at the highest order).
    """
    j = 0
    parent = -1
    group = -1
    k = begin
    word = np.uint32(0)
    while k < end:
        common = shared[k]
        if common < n - 1:
            if common < 1:
                group += 1
                word = words[group]
            if reach[k] + 1 >= n - 1:
                parent += 1
                if parent + 12 < len(lower_index) and lower_index[parent + 12] != NONE:
                    prefetch(lower, np.int64(lower_index[parent + 12]) * 5 + 1)
        q = k + 1
        while q < end and shared[q] >= n:
            q += 1
        if reach[k] + 1 < n:
            k = q
            continue
        if j + 16 < seen and contexts[j + 16] != NONE:
            prefetch(fill, np.int64(contexts[j + 16]))
        if j + 8 < seen and contexts[j + 8] != NONE:
            prefetch(records, np.int64(fill[contexts[j + 8]]) * records.shape[1])
        row = NONE
        if not counts[j] & PRUNED:
            context = contexts[j]
            row = fill[context]
            fill[context] = row + 1
            below = lower_index[parent]
            records[row, 0] = word
            records[row, 1] = lower[below, 1]
            records[row, 2] = counts[j]
            records[row, 3] = lower_base + below
        if not highest:
            counts[j] = row
            for z in range(k, q):
                states[suffixes[z]] = row
        j += 1
        k = q


@kernel
def normalize(  # type: ignore[no-untyped-def]
    records, probabilities, ends, lost, first, last, discounts, lower, backoffs, base
):
    """Turn counts into probabilities for the contexts ``first`` to ``last``.

    p(w | h) = (c - D(c)) / sum c + gamma(h) p(w | h'), gamma(h) = (sum D + pruned) / sum c
    (Chen & Goodman 1999, eq. 16 and 17); writes p over the lower-order probability, and gamma
    and the first child into the context's own record. ``probabilities`` and ``backoffs`` are
    ``records`` and ``lower`` seen as float32.
    """
    end = np.int64(ends[first - 1]) if first > 0 else np.int64(0)
    for context in range(first, last):
        begin = end
        end = np.int64(ends[context])
        lower[context, 4] = base + begin
        gamma = 1.0
        if begin < end:
            pruned = np.int64(lost[context]) if len(lost) > 1 else np.int64(0)
            total = pruned
            ones = 0
            twos = 0
            for row in range(begin, end):
                count = np.int64(records[row, 2])
                total += count
                ones += count == 1
                twos += count == 2
            more = end - begin - ones - twos
            free = discounts[1] * ones + discounts[2] * twos + discounts[3] * more + pruned
            gamma = free / total
            for row in range(begin, end):
                count = np.int64(records[row, 2])
                rest = (count - discounts[count if count < 3 else 3]) / total
                probabilities[row, 1] = rest + gamma * probabilities[row, 1]
        backoffs[context, 2] = gamma


@kernel
def insert_wide(states, firsts, sizes, words, table, slots, entries):  # type: ignore[no-untyped-def]
    """Enter the children of wide contexts into the hash table of record ids.

    ``states`` [C], ``firsts``, ``sizes``: each context, its first child and how many it has;
    ``words``: the words of all those children, one context behind the other. Each entry is
    made some steps after its slot was asked for, so that the memory has time to answer: so many
    as ``slots`` int64 and ``entries`` uint32 have room for, a power of two.
    """
    mask = np.int64(len(table) - 1)
    ahead = len(slots)
    c = -1
    end = 0
    for i in range(len(words) + ahead):
        place = i & (ahead - 1)
        if i >= ahead:
            slot = slots[place]
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = entries[place]
        if i < len(words):
            if i == end:
                c += 1
                end += np.int64(sizes[c])
            slots[place] = wide_slot((np.uint64(states[c]) << _32) | np.uint64(words[i]), mask)
            entries[place] = np.int64(firsts[c]) + np.int64(sizes[c]) - (end - i)
            prefetch(table, slots[place])


@inlined
def wide_slot(key, mask):  # type: ignore[no-untyped-def]
    """Return the home slot of ``state << 32 | word`` in the table of wide contexts' children."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed ^ (mixed >> np.uint64(32))) & mask
