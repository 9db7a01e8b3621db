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

from lmkit.jit import kernel, prefetch

ALONE = 255
NONE = np.uint32(0xFFFFFFFF)
PRUNED = np.uint32(0x80000000)
COUNT = np.uint32(0x7FFFFFFF)
_BOS = np.uint32(1)
_EOS = np.uint32(2)
_LOW_32 = np.uint64(0xFFFFFFFF)
_BIG = 4096
_AHEAD = 32


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
def chunk_bounds(shared, target, bounds):  # type: ignore[no-untyped-def]
    """Cut the suffixes at starts of words' groups into chunks; return how many.

    A chunk has at most ``target`` suffixes or holds a single group.
    """
    chunks = 0
    bounds[0] = 0
    begin = 0
    border = 0
    for k in range(1, len(shared) + 1):
        if k == len(shared) or shared[k] != ALONE:
            if k - begin > target and border > begin:
                chunks += 1
                bounds[chunks] = border
                begin = border
            border = k
    chunks += 1
    bounds[chunks] = len(shared)
    return chunks


@kernel
def sort_chunk(suffixes, shared, stream, begin, end, order, word_bits):  # type: ignore[no-untyped-def]
    """Sort the groups of a chunk, which share their last word, by the words before it.

    Ranges of small groups go through all rounds while they are in the cache; a big group is
    sorted by one word and what it falls into waits on a stack.
    """
    longest = end - begin
    keys = np.empty(longest, np.uint64)
    spare = np.empty(longest, np.uint64)
    stack = np.empty((longest // _BIG + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = begin, end, 2
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low, high, n = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        ready = low
        k = low
        while k < high:
            q = k + 1
            while q < high and shared[q] == ALONE:
                q += 1
            if q - k > _BIG:
                _finish_range(suffixes, shared, stream, ready, k, n, order, word_bits, keys, spare)
                _sort_group(suffixes, shared, stream, k, q, n, high, word_bits, keys, spare)
                if n < order:
                    stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = k, q, n + 1
                    waiting += 1
                ready = q
            elif q - ready > _BIG:
                _finish_range(suffixes, shared, stream, ready, k, n, order, word_bits, keys, spare)
                ready = k
            k = q
        _finish_range(suffixes, shared, stream, ready, high, n, order, word_bits, keys, spare)


@kernel
def _finish_range(suffixes, shared, stream, low, high, n, order, word_bits, keys, spare):  # type: ignore[no-untyped-def]
    """Sort the groups of a range, which share n - 1 words, by all words before."""
    for m in range(n, order + 1):
        work = 0
        k = low
        while k < high:
            q = k + 1
            while q < high and shared[q] == ALONE:
                q += 1
            if q - k > 1:
                work += 1
                _sort_group(suffixes, shared, stream, k, q, m, high, word_bits, keys, spare)
            k = q
        if work == 0:
            return


@kernel
def _sort_group(suffixes, shared, stream, low, high, n, limit, word_bits, keys, spare):  # type: ignore[no-untyped-def]
    """Sort one group by the n-th word back and mark where that word changes."""
    size = high - low
    back = n - 1
    for i in range(size):
        if low + i + 16 < limit:
            prefetch(stream, np.int64(suffixes[low + i + 16]) - back)
        place = suffixes[low + i]
        word = stream[np.int64(place) - back]
        keys[i] = (np.uint64(word) << np.uint64(32)) | np.uint64(place)
    if size > 48:
        keys = _sort_by_digits(keys, spare, size, word_bits)
    else:
        for i in range(1, size):
            key = keys[i]
            j = i - 1
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                j -= 1
            keys[j + 1] = key
    suffixes[low] = np.uint32(keys[0] & _LOW_32)
    before = keys[0] >> np.uint64(32)
    for i in range(1, size):
        key = keys[i]
        suffixes[low + i] = np.uint32(key & _LOW_32)
        word = key >> np.uint64(32)
        if word != before:
            shared[low + i] = back
            before = word


@kernel
def _sort_by_digits(keys, spare, size, word_bits):  # type: ignore[no-untyped-def]
    """Radix sort by the word, the least digit first; return the array that holds the result."""
    passes = 3 if size < 2048 else 2
    digit_bits = (word_bits + passes - 1) // passes
    digits = 1 << digit_bits
    mask = np.uint64(digits - 1)
    places = np.empty(digits, np.int64)
    source = keys
    target = spare
    for turn in range(passes):
        shift = np.uint64(32 + turn * digit_bits)
        places[:] = 0
        for i in range(size):
            places[np.int64((source[i] >> shift) & mask)] += 1
        total = 0
        for digit in range(digits):
            count = places[digit]
            places[digit] = total
            total += count
        for i in range(size):
            key = source[i]
            digit = np.int64((key >> shift) & mask)
            target[places[digit]] = key
            places[digit] += 1
        source, target = target, source
    return source


@kernel
def reach_of(stream, order, less, reach):  # type: ignore[no-untyped-def]
    """Write min(order, tokens since the last barrier) - ``less`` of every position."""
    distance = 0
    for i in range(len(stream)):
        if stream[i] == _BOS:
            distance = 0
            reach[i] = 0
        else:
            if distance < order:
                distance += 1
            reach[i] = distance - less


@kernel
def gather(source, indices, begin, end, out):  # type: ignore[no-untyped-def]
    """Write ``source[indices]`` to ``out`` for the places ``begin`` to ``end``."""
    for k in range(begin, end):
        if k + 32 < end:
            prefetch(source, np.int64(indices[k + 32]))
        out[k] = source[indices[k]]


@kernel
def count_unigrams(suffixes, shared, stream, counts):  # type: ignore[no-untyped-def]
    """Count the distinct words that stand before each word."""
    k = 0
    size = len(suffixes)
    while k < size:
        q = k + 1
        left = 1
        while q < size and shared[q] >= 1:
            if shared[q] == 1:
                left += 1
            q += 1
        counts[stream[suffixes[k]]] = left
        k = q


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


@kernel
def _count_child(value, context, children, lost):  # type: ignore[no-untyped-def]
    if context != NONE:
        if value & PRUNED:
            lost[context] += value & COUNT
        else:
            children[context] += 1


@kernel
def row_starts(children, starts):  # type: ignore[no-untyped-def]
    """Turn the counts of each part [parts, contexts] into its first rows; write all rows' starts."""
    total = np.uint32(0)
    for context in range(len(starts) - 1):
        starts[context] = total
        for part in range(len(children)):
            count = children[part, context]
            children[part, context] = total
            total += count
    starts[len(starts) - 1] = total


@kernel
def wide_rows(starts, wide, states, firsts, sizes, lower_base, base):  # type: ignore[no-untyped-def]
    """Write state, first child and size of each row of more than ``wide`` children; return how many.

    With empty arrays it only counts.
    """
    rows = 0
    for context in range(len(starts) - 1):
        size = starts[context + 1] - starts[context]
        if size > wide:
            if rows < len(states):
                states[rows] = lower_base + context
                firsts[rows] = base + starts[context]
                sizes[rows] = size
            rows += 1
    return rows


@kernel
def row_words(records, firsts, sizes, base, words):  # type: ignore[no-untyped-def]
    """Write the words of the rows given, one row behind the other."""
    i = 0
    for row in range(len(firsts)):
        first = np.int64(firsts[row]) - base
        for place in range(first, first + sizes[row]):
            words[i] = records[place, 0]
            i += 1


@kernel
def emit_records(  # type: ignore[no-untyped-def]
    suffixes, shared, reach, words, begin, end, n, highest, counts, contexts, seen,
    fill, lower, lower_base, lower_index, records, index, states,
):  # fmt: skip
    """Write (word, lower-order probability, count, link) of each n-gram kept to its context's row.

    ``words`` are the last words in their order, one for each group of suffixes; ``fill`` is the
    next free row of each context; ``lower`` the records of order n - 1 and
    ``lower_index`` their places in suffix order; ``index`` gets the places of ours, ``states``
    the record of the n-gram that ends at each position (both unused at the highest order).
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
            index[j] = row
            for z in range(k, q):
                states[suffixes[z]] = row
        j += 1
        k = q


@kernel
def normalize(records, starts, lost, first, last, discounts, lower, base):  # type: ignore[no-untyped-def]
    """Turn counts into probabilities for the contexts ``first`` to ``last``.

    p(w | h) = (c - D(c)) / sum c + gamma(h) p(w | h'), gamma(h) = (sum D + pruned) / sum c
    (Chen & Goodman 1999, eq. 16 and 17); writes p over the lower-order probability, and gamma
    and the first child into the context's own record.
    """
    probabilities = records.view(np.float32)
    backoffs = lower.view(np.float32)
    for context in range(first, last):
        begin = np.int64(starts[context])
        end = np.int64(starts[context + 1])
        lower[context, 4] = base + begin
        if begin == end:
            backoffs[context, 2] = np.float32(1.0)
            continue
        pruned = np.int64(lost[context]) if len(lost) > 1 else np.int64(0)
        total = pruned
        ones = 0
        twos = 0
        more = 0
        for row in range(begin, end):
            count = np.int64(records[row, 2])
            total += count
            if count == 1:
                ones += 1
            elif count == 2:
                twos += 1
            else:
                more += 1
        free = discounts[1] * ones + discounts[2] * twos + discounts[3] * more + pruned
        gamma = free / total
        backoffs[context, 2] = np.float32(gamma)
        for row in range(begin, end):
            count = np.int64(records[row, 2])
            rest = (count - discounts[min(count, 3)]) / total
            probabilities[row, 1] = np.float32(rest + gamma * probabilities[row, 1])


@kernel
def insert_wide(states, firsts, sizes, words, table):  # type: ignore[no-untyped-def]
    """Enter the children of wide contexts into the hash table of record ids.

    ``states`` [C], ``firsts``, ``sizes``: each context, its first child and how many it has;
    ``words``: the words of all those children, one context behind the other.
    """
    mask = np.int64(len(table) - 1)
    slots = np.empty(_AHEAD, np.int64)
    entries = np.empty(_AHEAD, np.uint32)
    i = 0
    for c in range(len(states)):
        state = np.uint64(states[c]) << np.uint64(32)
        for r in range(sizes[c]):
            place = i & (_AHEAD - 1)
            if i >= _AHEAD:
                slot = slots[place]
                while table[slot] != 0:
                    slot = (slot + 1) & mask
                table[slot] = entries[place]
            slots[place] = wide_slot(state | np.uint64(words[i]), mask)
            entries[place] = firsts[c] + r
            prefetch(table, slots[place])
            i += 1
    for late in range(max(0, i - _AHEAD), i):
        place = late & (_AHEAD - 1)
        slot = slots[place]
        while table[slot] != 0:
            slot = (slot + 1) & mask
        table[slot] = entries[place]


@kernel
def wide_slot(key, mask):  # type: ignore[no-untyped-def]
    """Return the home slot of ``state << 32 | word`` in the table of wide contexts' children."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed ^ (mixed >> np.uint64(32))) & mask
