"""Compiled kernels that turn the bytes of a block into word ids.

The word table is open addressing over ``table`` uint64 [size, 2], size a power of two:
``table[s, 0]`` holds the first 8 bytes of the word (little-endian, padded with zeros),
``table[s, 1]`` holds ``tag << 32 | id + 1`` (0: the slot is free), where the tag is the upper
half of the word's hash. Words of up to 8 bytes are told apart by the slot alone, longer ones by
comparing the rest of their bytes in ``arena``, where word i lies at
``offsets[i] .. offsets[i + 1]``.  ``arena`` and every text are followed by >= 8 bytes of zeros.

Words are separated by space, TAB, LF, CR and NUL, as in KenLM's training.
"""

from __future__ import annotations

import numpy as np

from lmkit.jit import inlined, kernel, load64, trailing_zeros

POSITION, OUT, LINE_TOKENS, SENTENCE_TOKENS, NUM_WORDS, ARENA_USED, LINES = range(7)
"""Places of the numbers in the ``state`` array of :func:`encode_words`."""
DONE, GROW_WORDS, GROW_ARENA = range(3)
"""What :func:`encode_words` returns: all read, or the table or the arena must grow first."""

_PRIME_1 = np.uint64(0x9E3779B97F4A7C15)
_PRIME_2 = np.uint64(0xFF51AFD7ED558CCD)
_BELOW_33 = np.uint64(0x2121212121212121)
_HIGH_BITS = np.uint64(0x8080808080808080)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)


@inlined
def word_end(data, start):  # type: ignore[no-untyped-def]
    """Return the first index >= ``start`` of a separator."""
    i = start
    while True:
        chunk = load64(data, i)
        below = (chunk - _BELOW_33) & ~chunk & _HIGH_BITS
        if below == 0:
            i += 8
            continue
        i += trailing_zeros(below) >> 3
        c = data[i]
        if c == 32 or c == 10 or c == 9 or c == 13 or c == 0:
            return i
        i += 1


@inlined
def first_bytes(data, start, size):  # type: ignore[no-untyped-def]
    """Return the first 8 bytes of the word at ``start``, those behind its end as zeros."""
    chunk = load64(data, start)
    if size < 8:
        chunk &= (np.uint64(1) << np.uint64(8 * size)) - np.uint64(1)
    return chunk


@inlined
def hash_word(data, start, size):  # type: ignore[no-untyped-def]
    """Return the 64-bit hash of a word."""
    value = np.uint64(size) * _PRIME_1
    i = 0
    while i < size:
        value = (value ^ first_bytes(data, start + i, size - i)) * _PRIME_2
        value ^= value >> _32
        i += 8
    return value


@inlined
def find_word(data, start, size, value, table, arena, offsets):  # type: ignore[no-untyped-def]
    """Return the slot of a word: the one that holds it, or the free one where it belongs."""
    mask = np.int64(table.shape[0] - 1)
    slot = np.int64(value) & mask
    head = first_bytes(data, start, size)
    tag = value >> _32
    while True:
        entry = table[slot, 1]
        if entry == 0:
            return slot
        if table[slot, 0] == head and (entry >> _32) == tag:
            word = np.int64(entry & _LOW_32) - 1
            begin = offsets[word]
            if offsets[word + 1] - begin == size:
                i = 8
                while i < size:
                    ours = first_bytes(data, start + i, size - i)
                    if ours != first_bytes(arena, begin + i, size - i):
                        break
                    i += 8
                if i >= size:
                    return slot
        slot = (slot + 1) & mask


@kernel
def encode_words(  # type: ignore[no-untyped-def]
    data, size, sentences, grow, base, table, arena, offsets, counts, first, ids, line_sizes, state
):
    """Encode the lines of ``data[:size]`` from ``state`` on; see the module for the table.

    In sentence mode each sentence is closed by id 2; the words ``<s>`` and ``</s>`` end a
    sentence. In document mode only those words write an id 2, a break. With ``grow`` unknown
    words are added, ``counts`` and ``first`` (position of the first occurrence, ``base`` plus
    the place in this block) are kept; without, they get id 0.
    """
    i = state[POSITION]
    out = state[OUT]
    line_tokens = state[LINE_TOKENS]
    sentence_tokens = state[SENTENCE_TOKENS]
    lines = state[LINES]
    capacity = table.shape[0] // 2
    status = DONE
    while i < size:
        c = data[i]
        if c == 10:
            if sentences and (sentence_tokens > 0 or line_tokens == 0):
                ids[out] = 2
                out += 1
                line_tokens += 1
                sentence_tokens = 0
            line_sizes[lines] = line_tokens
            lines += 1
            line_tokens = 0
            i += 1
            continue
        if c == 32 or c == 9 or c == 13 or c == 0:
            i += 1
            continue
        end = word_end(data, i)
        length = end - i
        value = hash_word(data, i, length)
        slot = find_word(data, i, length, value, table, arena, offsets)
        entry = table[slot, 1]
        if entry == 0:
            word = np.int64(0)
            if grow:
                word = state[NUM_WORDS]
                begin = state[ARENA_USED]
                if word >= capacity or word + 1 >= len(counts):
                    status = GROW_WORDS
                    break
                if begin + length + 8 > len(arena):
                    status = GROW_ARENA
                    break
                for k in range(length):
                    arena[begin + k] = data[i + k]
                offsets[word] = begin
                offsets[word + 1] = begin + length
                table[slot, 0] = first_bytes(data, i, length)
                table[slot, 1] = ((value >> _32) << _32) | np.uint64(word + 1)
                counts[word] = 1
                first[word] = base + i
                state[NUM_WORDS] = word + 1
                state[ARENA_USED] = begin + length
        else:
            word = np.int64(entry & _LOW_32) - 1
            if grow:
                counts[word] += 1
        if word == 1 or word == 2:
            if sentence_tokens > 0 or not sentences:
                ids[out] = 2
                out += 1
                line_tokens += 1
                sentence_tokens = 0
        else:
            ids[out] = word
            out += 1
            line_tokens += 1
            sentence_tokens += 1
        i = end
    state[POSITION] = i
    state[OUT] = out
    state[LINE_TOKENS] = line_tokens
    state[SENTENCE_TOKENS] = sentence_tokens
    state[LINES] = lines
    return status


@kernel
def enter_words(table, arena, offsets, repeated):  # type: ignore[no-untyped-def]
    """Enter the words of ``arena``, whatever bytes they hold, into an empty table.

    Word i gets id i; ``repeated[i]`` is set where the same word stands before it, which keeps the
    smaller id.
    """
    for word in range(len(offsets) - 1):
        begin = offsets[word]
        size = offsets[word + 1] - begin
        value = hash_word(arena, begin, size)
        slot = find_word(arena, begin, size, value, table, arena, offsets)
        if table[slot, 1] != 0:
            repeated[word] = True
        else:
            table[slot, 0] = first_bytes(arena, begin, size)
            table[slot, 1] = ((value >> _32) << _32) | np.uint64(word + 1)
