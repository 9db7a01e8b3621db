"""Compiled kernels that look n-grams up; ``lookup.py`` is their NumPy twin.

Legend: ``records`` uint32 [I + 1, 5] are the records of orders 1 to N - 1 and a sentinel: word,
log probability, back-off, link, first child; ``top`` uint32 [T, 3] those of order N: word, log
probability, link; a record's number in ``records`` followed by ``top`` is its state. ``wide``
holds the children of contexts with more than WIDE children (see ``estimate``).

A context is the state of the longest n-gram that ends in it and has a record; NONE is the empty
context. A word is looked for among the children of the context, then of its link (the longest
proper suffix), and so on; every step costs the back-off of the context left behind.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, inner, kernel, prefetch
from lmkit.ngram import layout
from lmkit.ngram.estimate.kernels import wide_slot

NONE = np.uint32(layout.NONE)
WIDE = layout.WIDE
LANES = 16
PATIENCE = 1 << 20
"""Refusals after which a draw takes the word it has: then rounding left nothing else to draw."""
CUMULATED = 64
"""Contexts with more children than this have running sums for drawing."""
_BOS = np.uint32(1)
_EOS = np.uint32(2)
_READ_CONTEXT, _PROBE, _CHECK, _SCAN, _DONE = 0, 1, 2, 3, 4


@kernel
def score_stream(  # type: ignore[no-untyped-def]
    ids, skip, sentences, warm_up, records, logprobs, top, top_logprobs, wide, first_context, out,
    numbers, context, total,
):  # fmt: skip
    """Write ln p of ``ids[skip:]`` to ``out[skip:]``; ``ids[:skip]`` only give the context.

    LANES runs of the stream go side by side, so that each one's memory reads overlap the work
    of the others; a run begins ``warm_up`` tokens early to find its context. ``first_context``
    is the context before ``ids[0]``; ``logprobs`` and ``top_logprobs`` are ``records`` and
    ``top`` seen as float32; ``numbers`` int64 [7, LANES], ``context`` uint32 [LANES] and
    ``total`` float64 [LANES] are room to work in.
    """
    num_inner = len(records) - 1
    mask = np.int64(len(wide) - 1)
    size = len(ids) - skip
    position, begin, end = numbers[0], numbers[1], numbers[2]
    phase, first, children, slots = numbers[3], numbers[4], numbers[5], numbers[6]
    live = 0
    for lane in range(LANES):
        begin[lane] = skip + size * lane // LANES
        end[lane] = skip + size * (lane + 1) // LANES
        position[lane] = max(0, begin[lane] - warm_up)
        total[lane] = 0.0
        context[lane] = first_context if position[lane] == 0 else NONE
        phase[lane] = _READ_CONTEXT if begin[lane] < end[lane] else _DONE
        live += begin[lane] < end[lane]
    while live > 0:
        for lane in range(LANES):
            now = phase[lane]
            if now == _DONE:
                continue
            place = position[lane]
            word = ids[place]
            state = context[lane]
            found = np.int64(-1)
            if now == _READ_CONTEXT:
                if not sentences and word == _EOS:
                    total[lane] = 0.0
                    found = np.int64(NONE)
                elif state == NONE:
                    total[lane] += logprobs[word, 1]
                    found = np.int64(word)
                else:
                    low = np.int64(records[state, 4])
                    count = np.int64(records[np.int64(state) + 1, 4]) - low
                    if count == 0:
                        total[lane] += logprobs[state, 2]
                        state = records[state, 3]
                        context[lane] = state
                        _prefetch_context(records, word if state == NONE else state)
                        continue
                    first[lane] = low
                    children[lane] = count
                    if count > WIDE:
                        key = (np.uint64(state) << np.uint64(32)) | np.uint64(word)
                        slots[lane] = wide_slot(key, mask)
                        prefetch(wide, slots[lane])
                        phase[lane] = _PROBE
                    else:
                        if low >= num_inner:
                            prefetch(top, (low - num_inner) * 3)
                            prefetch(top, (low + count - num_inner) * 3 - 1)
                        else:
                            prefetch(records, low * 5)
                            prefetch(records, (low + count) * 5 - 1)
                        phase[lane] = _SCAN
                    continue
            else:
                low = first[lane]
                high = low + children[lane]
                if now == _CHECK:
                    entry = np.int64(wide[slots[lane]])
                    if entry < num_inner:
                        if records[entry, 0] == word:
                            found = entry
                    elif top[entry - num_inner, 0] == word:
                        found = entry
                    if found < 0:
                        slots[lane] = (slots[lane] + 1) & mask
                        now = _PROBE
                if now == _PROBE:
                    slot = slots[lane]
                    entry = np.int64(wide[slot])
                    while entry != 0 and not (low <= entry < high):
                        slot = (slot + 1) & mask
                        entry = np.int64(wide[slot])
                    if entry != 0:
                        slots[lane] = slot
                        if entry < num_inner:
                            prefetch(records, entry * 5)
                        else:
                            prefetch(top, (entry - num_inner) * 3)
                        phase[lane] = _CHECK
                        continue
                elif now == _SCAN and low >= num_inner:
                    for row in range(low - num_inner, high - num_inner):
                        if top[row, 0] == word:
                            found = row + num_inner
                elif now == _SCAN:
                    for row in range(low, high):
                        if records[row, 0] == word:
                            found = row
                phase[lane] = _READ_CONTEXT
                if found < 0:
                    total[lane] += logprobs[state, 2]
                    state = records[state, 3]
                    context[lane] = state
                    _prefetch_context(records, word if state == NONE else state)
                    continue
                if found >= num_inner:
                    total[lane] += top_logprobs[found - num_inner, 1]
                    found = np.int64(top[found - num_inner, 2])
                else:
                    total[lane] += logprobs[found, 1]
            if place >= begin[lane]:
                out[place] = total[lane]
            state = np.uint32(found)
            if sentences and word == _EOS:
                state = _BOS
            context[lane] = state
            total[lane] = 0.0
            position[lane] = place + 1
            if place + 1 >= end[lane]:
                phase[lane] = _DONE
                live -= 1
            elif state != NONE:
                _prefetch_context(records, state)


@inlined
def _prefetch_context(records, state):  # type: ignore[no-untyped-def]
    """Ask for what a context's step needs: back-off, link, first child and the one behind."""
    prefetch(records, np.int64(state) * 5 + 2)
    prefetch(records, np.int64(state) * 5 + 9)


@inner
def find_child(state, word, records, top):  # type: ignore[no-untyped-def]
    """Return the record of ``word`` behind ``state`` by binary search, or -1."""
    num_inner = len(records) - 1
    low = np.int64(records[state, 4])
    high = np.int64(records[np.int64(state) + 1, 4])
    stop = high
    while low < high:
        middle = (low + high) // 2
        there = records[middle, 0] if middle < num_inner else top[middle - num_inner, 0]
        if there < word:
            low = middle + 1
        else:
            high = middle
    if low < stop:
        there = records[low, 0] if low < num_inner else top[low - num_inner, 0]
        if there == word:
            return low
    return np.int64(-1)


@kernel
def advance_states(states, tokens, sentences, records, top, out):  # type: ignore[no-untyped-def]
    """Write the contexts after each of B sequences has read its token."""
    num_inner = len(records) - 1
    for b in range(len(states)):
        state, word = states[b], tokens[b]
        if word == _EOS:
            out[b] = _BOS if sentences else NONE
            continue
        found = np.int64(-1)
        while state != NONE:
            found = find_child(state, word, records, top)
            if found >= 0:
                break
            state = records[state, 3]
        if found < 0:
            out[b] = word
        elif found >= num_inner:
            out[b] = top[found - num_inner, 2]
        else:
            out[b] = np.uint32(found)


@kernel
def next_rows(states, records, logprobs, top, top_logprobs, rows):  # type: ignore[no-untyped-def]
    """Write ln p(w | context) for every word w to ``rows`` float64 [B, V], one row a context.

    From the unigrams on, each longer context adds its back-off and puts the words it has seen
    in their places.
    """
    num_inner = len(records) - 1
    chain = np.empty(256, np.uint32)
    for b in range(len(states)):
        row = rows[b]
        for word in range(len(row)):
            row[word] = logprobs[word, 1]
        depth = 0
        state = states[b]
        while state != NONE:
            chain[depth] = state
            depth += 1
            state = records[state, 3]
        for level in range(depth - 1, -1, -1):
            state = chain[level]
            backoff = np.float64(logprobs[state, 2])
            for word in range(len(row)):
                row[word] += backoff
            for child in range(records[state, 4], records[np.int64(state) + 1, 4]):
                if child < num_inner:
                    row[records[child, 0]] = logprobs[child, 1]
                else:
                    row[top[child - num_inner, 0]] = top_logprobs[child - num_inner, 1]


@kernel
def draw_words(  # type: ignore[no-untyped-def]
    states, uniforms, seeds, records, top, wide_states, wide_begins, cumulative, unigrams, out
):
    """Draw one word a row from the exact next-word distribution of its context.

    With one uniform number a word is drawn among the children of the context, whose
    probabilities are stored, or none of them; then from the distribution of its link, until the
    word is no child of the context, and so on down the links. ``cumulative`` holds the running
    sums of the children of each context in ``wide_states`` (sorted), from ``wide_begins`` on,
    and ``unigrams`` [V] those of order 1; ``seeds`` start the further random numbers.
    """
    chain = np.empty(256, np.uint32)
    for b in range(len(states)):
        depth = 0
        state = states[b]
        while state != NONE:
            chain[depth] = state
            depth += 1
            state = records[state, 3]
        seed = seeds[b]
        uniform = uniforms[b]
        level = 0
        refused = 0
        word = np.int64(-1)
        while word < 0:
            if level == depth:
                word = np.searchsorted(unigrams, uniform * unigrams[-1], side="right")
            else:
                word = _pick_child(
                    chain[level], uniform, records, top, wide_states, wide_begins, cumulative
                )
            seed, uniform = _next_uniform(seed)
            if word < 0:
                level += 1
                continue
            for passed in range(level - 1, -1, -1):
                if refused < PATIENCE and find_child(chain[passed], word, records, top) >= 0:
                    refused += 1
                    level = passed + 1
                    word = np.int64(-1)
                    break
        out[b] = word


@inner
def _pick_child(state, uniform, records, top, wide_states, wide_begins, cumulative):  # type: ignore[no-untyped-def]
    """Return the child of ``state`` at ``uniform`` in the sum of their probabilities, or -1."""
    num_inner = len(records) - 1
    low = np.int64(records[state, 4])
    high = np.int64(records[np.int64(state) + 1, 4])
    if high - low > CUMULATED:
        place = np.searchsorted(wide_states, state)
        begin = wide_begins[place]
        sums = cumulative[begin : begin + high - low]
        row = low + np.searchsorted(sums, uniform, side="right")
        if row >= high:
            return np.int64(-1)
        return np.int64(records[row, 0] if row < num_inner else top[row - num_inner, 0])
    probabilities = records.view(np.float32)
    top_probabilities = top.view(np.float32)
    total = 0.0
    for row in range(low, high):
        if row < num_inner:
            total += np.exp(np.float64(probabilities[row, 1]))
            if uniform < total:
                return np.int64(records[row, 0])
        else:
            total += np.exp(np.float64(top_probabilities[row - num_inner, 1]))
            if uniform < total:
                return np.int64(top[row - num_inner, 0])
    return np.int64(-1)


@inlined
def _next_uniform(seed):  # type: ignore[no-untyped-def]
    """Return the next state of SplitMix64 and a number in [0, 1)."""
    seed += np.uint64(0x9E3779B97F4A7C15)
    value = seed
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(31)
    return seed, np.float64(value >> np.uint64(11)) * (1.0 / 9007199254740992.0)
