"""Training of skip-gram and CBOW with negative sampling, and what other kernels share with it.

Each kernel trains on ``ids[begin:end]`` at one learning rate. Ids are those of
``lmkit.text``: 2 ends a sentence, 0 is a word outside the vocabulary, word w is w + 3. The matrices
are [V + 1, 16 * chunks] float32 on 64-byte borders, row V is a row of zeros that stays so.

As in word2vec, each word of a sentence is kept with probability ``keep``, the window of each
centre shrinks by a random amount, and with skip-gram the words of the window are the inputs, the
centre is what they predict. Unlike there, one set of negative words serves a whole window (Ji et
al. 2016), so that a window is three small matrix products. The kernels run in several threads on
the same matrices without locks (Hogwild, Recht et al. 2011).

Letters: C centres, W inputs of a window, K negative words.
"""

from __future__ import annotations

import math

import numpy as np

from lmkit.embed.simd.kernels import (
    OUTPUTS,
    add_difference,
    logistic_gradients,
    mean_rows,
    prefetch_row,
    score6,
    score_pairs,
    update6,
    update_pairs,
)
from lmkit.jit import inlined, inner, kernel

EOS, FIRST_WORD = 2, 3
LONGEST = 1000
"""Kept words after which a sentence is cut, as in word2vec."""
LOSS, TERMS, KEPT = 0, 1, 2
"""Places in ``report``: the sum of the losses looked at, their number, words kept."""
NO_BOUND = np.float32(np.inf)
CENTRES = 4
"""Neighbouring centres of a batch of CBOW: with 6, vectors get worse than those of word2vec."""
LOOK = 63
"""The loss is looked at in one window of 64."""


@inlined
def next_random(state):
    """Step the linear congruential generator that word2vec uses too."""
    return state * np.uint64(25214903917) + np.uint64(11)


@inner
def first_states(seed):
    """Return the first state of the windows and, in an array, that of the sentences."""
    state = next_random(np.uint64(seed) * np.uint64(2654435761) + np.uint64(12345))
    return state, np.array([next_random(state ^ np.uint64(0x9E3779B97F4A7C15))], dtype=np.uint64)


@inlined
def draw_reach(state, window):
    """Return how many words on a side are looked at, from 1 to ``window``."""
    drawn = (state >> np.uint64(32)) * np.uint64(window) >> np.uint64(32)
    return np.int64(1) + np.int64(drawn)


@inner
def fill_sentence(ids, place, end, keep, sentence, states):
    """Write the kept words of the next sentence; return where it ends and how many there are."""
    length = np.int64(0)
    state = states[0]
    while place < end and length < LONGEST:
        index = ids[place]
        place += 1
        if index < FIRST_WORD:
            if index == EOS and length > 0:
                break
            continue
        word = np.int64(index) - FIRST_WORD
        state = next_random(state)
        uniform = np.float32(state >> np.uint64(40)) * np.float32(1.0 / 16777216.0)
        if uniform < keep[word]:
            sentence[length] = word
            length += 1
    states[0] = state
    return place, length


@inlined
def softplus(score):
    """Return ln(1 + exp(score)), which is -ln sigmoid(-score)."""
    return max(score, 0.0) + math.log1p(math.exp(-abs(score)))


@inner
def logistic_loss(scores, positives, totals, count):
    """Return the sum of -p ln sigmoid(s) - (t - p) ln sigmoid(-s)."""
    total = 0.0
    for i in range(count):
        if totals[i] > 0.0:
            score = np.float64(scores[i])
            total += positives[i] * softplus(-score) + (totals[i] - positives[i]) * softplus(score)
    return total


@inlined
def address(array):
    """Return where the data of ``array`` lies."""
    return np.int64(array.ctypes.data)


@inlined
def stay(array):
    """Keep ``array`` alive up to here: numba frees what is only used by its address before."""
    array[0] = 0


@inlined
def aligned(address_of_buffer):
    """Return the next address that is a multiple of 64."""
    return (address_of_buffer + 63) // 64 * 64


@inner
def add_centre(word, words, j):
    """Enter the word of centre ``j`` into ``words``; return its column or that of its equal."""
    for earlier in range(j):
        if words[earlier] == word:
            words[j] = -1
            return earlier
    words[j] = word
    return j


@inner
def add_noise(
    words, columns, outputs_at, row_size, padding, noise, place, shared, count, pairs, weight,
    positives, totals, stride,
):  # fmt: skip
    """Enter ``shared`` negative words into the columns behind those of the centres.

    Each is a negative example, of ``weight``, for every pair of a row but those with that word.
    A word that stands in an earlier column shares it; what that leaves empty is the padding row.
    """
    for k in range(shared):
        column = OUTPUTS + k
        words[column] = noise[place + k]
        for other in range(OUTPUTS + k):
            if words[other] == words[column]:
                words[column] = -1
                column = other
        entry = column // OUTPUTS * stride + column % OUTPUTS
        for row in range(count):
            totals[entry] += weight * (pairs[row] - positives[entry])
            entry += OUTPUTS
    for column in range(OUTPUTS + shared):
        columns[column] = outputs_at + (words[column] if words[column] >= 0 else padding) * row_size


@inner
def train_rows(
    rows_at, count, columns_at, blocks, scores, scores_at, positives, positives_at, totals,
    totals_at, stride, rate, chunks, report, look,
):  # fmt: skip
    """Take a step up the likelihood of all examples of ``count`` rows, 6 columns at a time."""
    size = count * OUTPUTS
    for block in range(blocks):
        score6(rows_at, count, columns_at + 48 * block, scores_at + 4 * stride * block, chunks)
    if look:
        for block in range(blocks):
            part = slice(block * stride, block * stride + size)
            report[LOSS] += logistic_loss(scores[part], positives[part], totals[part], size)
        for i in range(size):
            report[TERMS] += positives[i]
    for block in range(blocks):
        skip = 4 * stride * block
        logistic_gradients(
            scores_at + skip, positives_at + skip, totals_at + skip, size, rate, NO_BOUND
        )
    for block in range(blocks):
        update6(rows_at, count, columns_at + 48 * block, scores_at + 4 * stride * block, chunks)


@inlined
def prefetch_rows(words, begin, end, length, matrix_at, row_size, chunks):
    """Ask the processor to load the rows of ``words[begin:end]``, as far as there are some."""
    for i in range(begin, min(end, length)):
        prefetch_row(matrix_at + np.int64(words[i]) * row_size, chunks)


@kernel
def skipgram_negative(
    ids, begin, end, inputs, outputs, keep, noise, window, negative, shared, rate, seed, report
):
    """Train skip-gram with negative sampling (Mikolov et al. 2013b, equation 4).

    Up to 6 neighbouring centres are one batch: rows are the words around them, columns the centres
    and the ``shared`` negative words (a multiple of 6), which weigh as much as ``negative`` do.
    """
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    padding = np.int64(outputs.shape[0] - 1)
    inputs_at, outputs_at = address(inputs), address(outputs)
    weight = np.float32(negative / shared)
    blocks = np.int64(shared // OUTPUTS) + 1
    most_rows = np.int64(OUTPUTS + 2 * window)
    stride = (most_rows * OUTPUTS + 31) // 16 * 16
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = np.empty(most_rows, dtype=np.int64)
    columns = np.empty(blocks * OUTPUTS, dtype=np.int64)
    words = np.empty(blocks * OUTPUTS, dtype=np.int64)
    reach = np.empty(OUTPUTS, dtype=np.int64)
    pairs = np.empty(most_rows, dtype=np.float32)
    scores = np.zeros(blocks * stride, dtype=np.float32)
    positives = np.zeros(blocks * stride, dtype=np.float32)
    totals = np.zeros(blocks * stride, dtype=np.float32)
    rows_at, columns_at = address(rows), address(columns)
    scores_at, positives_at, totals_at = address(scores), address(positives), address(totals)
    state, states = first_states(seed)
    groups = np.int64(noise.shape[0]) // shared
    place = np.int64(state >> np.uint64(20)) % groups * shared
    looks = np.int64(0)
    one = np.float32(1.0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        batches = (length + OUTPUTS - 1) // OUTPUTS
        first = np.int64(0)
        for batch in range(batches):
            last = (batch + 1) * length // batches
            low, high = first, last
            for centre in range(first, last):
                state = next_random(state)
                near = draw_reach(state, window)
                reach[centre - first] = near
                low, high = min(low, centre - near), max(high, centre + near + 1)
            low, high = max(low, 0), min(high, length)
            count = high - low
            ahead = (place + shared) % (groups * shared)
            prefetch_rows(
                noise, ahead, ahead + shared, ahead + shared, outputs_at, row_size, chunks
            )
            prefetch_rows(sentence, last, last + OUTPUTS, length, outputs_at, row_size, chunks)
            prefetch_rows(sentence, high, high + OUTPUTS, length, inputs_at, row_size, chunks)
            for row in range(count):
                rows[row] = inputs_at + sentence[low + row] * row_size
                pairs[row] = 0.0
            words[:OUTPUTS] = -1
            for block in range(blocks):
                for entry in range(block * stride, block * stride + count * OUTPUTS):
                    positives[entry] = 0.0
                    totals[entry] = 0.0
            for centre in range(first, last):
                near = reach[centre - first]
                column = add_centre(sentence[centre], words, centre - first)
                for other in range(max(0, centre - near), min(length, centre + near + 1)):
                    if other != centre:
                        entry = (other - low) * OUTPUTS + column
                        positives[entry] += one
                        totals[entry] += one
                        pairs[other - low] += one
            add_noise(
                words, columns, outputs_at, row_size, padding, noise, place, shared, count, pairs,
                weight, positives, totals, stride,
            )  # fmt: skip
            train_rows(
                rows_at, count, columns_at, blocks, scores, scores_at, positives, positives_at,
                totals, totals_at, stride, rate, chunks, report, looks & LOOK == 0,
            )  # fmt: skip
            looks += 1
            place, first = ahead, last


@kernel
def cbow_negative(
    ids, begin, end, inputs, outputs, keep, noise, window, negative, shared, rate, seed, report
):
    """Train CBOW with negative sampling (Mikolov et al. 2013a, section 3.1).

    The rows of a batch are the means of the windows of up to 4 neighbouring centres; each goes with
    its centre, and all of them with the negative words.
    """
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    padding = np.int64(outputs.shape[0] - 1)
    inputs_at, outputs_at = address(inputs), address(outputs)
    weight = np.float32(negative / shared)
    blocks = np.int64(shared // OUTPUTS)
    stride = np.int64(32)
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = np.empty((CENTRES, 2 * window), dtype=np.int64)
    counts = np.empty(CENTRES, dtype=np.int64)
    columns = np.empty(shared + OUTPUTS, dtype=np.int64)
    words = np.full(shared + OUTPUTS, -1, dtype=np.int64)
    own = np.empty(CENTRES, dtype=np.int64)
    own_scores = np.zeros(16, dtype=np.float32)
    pairs = np.ones(16, dtype=np.float32)
    scores = np.zeros(blocks * stride, dtype=np.float32)
    positives = np.zeros((blocks + 1) * stride, dtype=np.float32)
    totals = np.zeros((blocks + 1) * stride, dtype=np.float32)
    noise_totals = totals[stride:]
    rows_at, columns_at = address(rows), address(columns) + 8 * OUTPUTS
    own_at, own_scores_at, pairs_at = address(own), address(own_scores), address(pairs)
    scores_at, positives_at = address(scores), address(positives)
    totals_at = address(noise_totals)
    hidden = np.zeros(2 * CENTRES * inputs.shape[1] + 32, dtype=np.float32)
    means_at = aligned(address(hidden))
    were_at = means_at + CENTRES * row_size
    means = means_at + row_size * np.arange(CENTRES)
    mean_rows_at = address(means)
    state, states = first_states(seed)
    groups = np.int64(noise.shape[0]) // shared
    place = np.int64(state >> np.uint64(20)) % groups * shared
    looks = np.int64(0)
    one = np.float32(1.0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        batches = (length + CENTRES - 1) // CENTRES
        first = np.int64(0)
        for batch in range(batches):
            last = (batch + 1) * length // batches
            count = last - first
            far = last + window
            ahead = (place + shared) % (groups * shared)
            prefetch_rows(
                noise, ahead, ahead + shared, ahead + shared, outputs_at, row_size, chunks
            )
            prefetch_rows(sentence, last, last + CENTRES, length, outputs_at, row_size, chunks)
            prefetch_rows(sentence, far, far + CENTRES, length, inputs_at, row_size, chunks)
            totals[:] = 0.0
            for j in range(count):
                centre = first + j
                state = next_random(state)
                near = draw_reach(state, window)
                n = np.int64(0)
                for row in range(max(0, centre - near), min(length, centre + near + 1)):
                    if row != centre:
                        rows[j, n] = inputs_at + sentence[row] * row_size
                        n += 1
                counts[j] = n
                skip = j * row_size
                mean_rows(
                    rows_at + 16 * window * j, n, means_at + skip, were_at + skip,
                    one / np.float32(n), chunks,
                )  # fmt: skip
                own[j] = outputs_at + sentence[centre] * row_size
            add_noise(
                words, columns, outputs_at, row_size, padding, noise, place, shared, count, pairs,
                weight, positives, totals, stride,
            )  # fmt: skip
            for k in range(shared):
                entry = k // OUTPUTS * stride + k % OUTPUTS
                for j in range(count):
                    if words[OUTPUTS + k] == sentence[first + j]:
                        noise_totals[entry + j * OUTPUTS] = 0.0
            score_pairs(mean_rows_at, own_at, count, own_scores_at, chunks)
            look = looks & LOOK == 0
            if look:
                report[LOSS] += logistic_loss(own_scores, pairs, pairs, count)
                report[TERMS] += count
            train_rows(
                mean_rows_at, count, columns_at, blocks, scores, scores_at, positives,
                positives_at, noise_totals, totals_at, stride, rate, chunks, report, look,
            )  # fmt: skip
            logistic_gradients(own_scores_at, pairs_at, pairs_at, count, rate, NO_BOUND)
            update_pairs(mean_rows_at, own_at, count, own_scores_at, chunks)
            looks += 1
            for j in range(count):
                skip = j * row_size
                add_difference(
                    rows_at + 16 * window * j, counts[j], means_at + skip, were_at + skip, one,
                    chunks,
                )  # fmt: skip
            place, first = ahead, last
    stay(hidden)
    stay(means)
