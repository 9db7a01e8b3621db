"""Training of skip-gram and CBOW whose inputs are words and their character n-grams.

As in fastText (Bojanowski et al. 2017) the hidden layer is the mean of the input rows, the whole
gradient of the hidden layer (not a share of it) is added to each of them, and with skip-gram the
centre is the input and the words of its window are what it predicts. Unlike there, the rows of a
centre are added up once for its whole window, and the words of a window share their negative words:
``SHARED`` times as many as one word has, each of which counts for ``count / SHARED`` examples.

Arguments are those of ``lmkit.embed.predict.kernels``, and the n-grams of word i are the rows
``ngrams[starts[i]:starts[i + 1]]`` of ``inputs``; the word itself is row i. ``noise`` holds
``SHARED * negative`` words at least.
"""

from __future__ import annotations

import numpy as np

from lmkit.embed.predict.kernels import (
    KEPT,
    LONGEST,
    LOOK,
    LOSS,
    NO_BOUND,
    TERMS,
    address,
    aligned,
    draw_reach,
    fill_sentence,
    first_states,
    logistic_loss,
    next_random,
    stay,
)
from lmkit.embed.simd.kernels import (
    add_difference,
    logistic_gradients,
    make_scores,
    make_update,
    mean_rows,
    prefetch_row,
)
from lmkit.jit import inlined, inner, kernel

SHARED = 2
"""Negative words of a window of skip-gram, as a multiple of those of a pair."""
TARGETS = 8
"""Rows that are multiplied with the hidden layer at a time."""
_PREFETCHED = 2
"""Chunks of a row that are asked for beforehand; the processor then fetches the rest by itself."""

_score_targets = make_scores(TARGETS, 1)
_update_targets = make_update(1)


@inlined
def add_rows(word, rows, used, inputs_at, row_size, starts, ngrams):
    """Write the addresses of a word's rows to ``rows[used:]``; return where they end."""
    rows[used] = inputs_at + word * row_size
    used += 1
    for k in range(starts[word], starts[word + 1]):
        rows[used] = inputs_at + np.int64(ngrams[k]) * row_size
        used += 1
    return used


@inlined
def prefetch_rows(word, inputs_at, row_size, starts, ngrams):
    """Ask the processor to load the rows of a word."""
    prefetch_row(inputs_at + word * row_size, _PREFETCHED)
    for k in range(starts[word], starts[word + 1]):
        prefetch_row(inputs_at + np.int64(ngrams[k]) * row_size, _PREFETCHED)


@inner
def longest(starts):
    """Return the rows of the word that has most."""
    most = np.int64(0)
    for word in range(starts.shape[0] - 1):
        most = max(most, starts[word + 1] - starts[word])
    return most + 1


@inner
def train_hidden(
    hidden, words, count, negatives, weight, targets, scores, positives, totals, outputs_at,
    row_size, padding, rate, chunks, report, look,
):  # fmt: skip
    """Train a hidden layer to predict ``words[:count]`` and not the ``negatives`` behind them.

    A negative word counts for ``weight`` examples for each of the words that it is not.
    ``hidden`` is the address of the address of the row.
    """
    total = count + negatives
    for k in range(total):
        targets[k] = outputs_at + words[k] * row_size
        positives[k] = totals[k] = np.float32(1.0)
    for k in range(count, total):
        others, same = np.int64(0), k
        for positive in range(count):
            if words[positive] == words[k]:
                same = positive
            else:
                others += 1
        positives[k] = totals[k] = np.float32(0.0)
        totals[same] += np.float32(others) * weight
    padded = (total + TARGETS - 1) // TARGETS * TARGETS
    for k in range(total, padded):
        targets[k] = outputs_at + padding * row_size
    for k in range(0, padded, TARGETS):
        _score_targets(address(targets) + 8 * k, hidden, address(scores) + 4 * k, chunks)
    if look:
        report[LOSS] += logistic_loss(scores, positives, totals, total)
        report[TERMS] += count
    logistic_gradients(address(scores), address(positives), address(totals), total, rate, NO_BOUND)
    _update_targets(address(targets), total, hidden, address(scores), chunks)


@kernel
def skipgram_subword(
    ids, begin, end, inputs, outputs, keep, noise, starts, ngrams, window, negative, rate, seed,
    report,
):  # fmt: skip
    """Train skip-gram with negative sampling: the centre predicts each word of its window."""
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    padding = np.int64(outputs.shape[0] - 1)
    inputs_at, outputs_at = address(inputs), address(outputs)
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = np.empty(longest(starts), dtype=np.int64)
    shared = np.int64(SHARED * negative)
    weight = np.float32(1.0) / np.float32(SHARED)
    room = 2 * window + shared + 16
    words, targets = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    scores, totals = np.zeros(room, dtype=np.float32), np.zeros(room, dtype=np.float32)
    positives = np.zeros(room, dtype=np.float32)
    hidden = np.zeros(2 * inputs.shape[1] + 32, dtype=np.float32)
    mean_at = aligned(address(hidden))
    was_at = mean_at + row_size
    mean_row = np.array([mean_at], dtype=np.int64)
    state, states = first_states(seed)
    groups = np.uint64(noise.shape[0] // shared)
    place = np.int64((state >> np.uint64(20)) % groups) * shared
    last = np.int64(groups - np.uint64(1)) * shared
    windows = np.int64(0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        for centre in range(length):
            state = next_random(state)
            reach = draw_reach(state, window)
            count = np.int64(0)
            for other in range(max(0, centre - reach), min(length, centre + reach + 1)):
                if other != centre:
                    words[count] = sentence[other]
                    count += 1
            if count == 0:
                continue
            for k in range(shared):
                words[count + k] = np.int64(noise[place + k])
            place = place + shared if place < last else np.int64(0)
            for k in range(shared):
                prefetch_row(outputs_at + np.int64(noise[place + k]) * row_size, chunks)
            if centre + 1 < length:
                prefetch_rows(sentence[centre + 1], inputs_at, row_size, starts, ngrams)
            if centre + window + 1 < length:
                prefetch_row(outputs_at + sentence[centre + window + 1] * row_size, chunks)
            word, used = sentence[centre], np.int64(0)
            used = add_rows(word, rows, used, inputs_at, row_size, starts, ngrams)
            scale = np.float32(1.0) / np.float32(used)
            mean_rows(address(rows), used, mean_at, was_at, scale, chunks)
            train_hidden(
                address(mean_row), words, count, shared, weight, targets, scores, positives,
                totals, outputs_at, row_size, padding, rate, chunks, report, windows & LOOK == 0,
            )  # fmt: skip
            add_difference(address(rows), used, mean_at, was_at, np.float32(1.0), chunks)
            windows += 1
    stay(hidden)


@kernel
def cbow_subword(
    ids, begin, end, inputs, outputs, keep, noise, starts, ngrams, window, negative, rate, seed,
    report,
):  # fmt: skip
    """Train CBOW with negative sampling: the rows of all words of a window predict the centre."""
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    padding = np.int64(outputs.shape[0] - 1)
    inputs_at, outputs_at = address(inputs), address(outputs)
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = np.empty(2 * window * longest(starts), dtype=np.int64)
    one, weight = np.int64(1), np.float32(1.0)
    room = negative + 32
    words, targets = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    scores, totals = np.zeros(room, dtype=np.float32), np.zeros(room, dtype=np.float32)
    positives = np.zeros(room, dtype=np.float32)
    hidden = np.zeros(2 * inputs.shape[1] + 32, dtype=np.float32)
    mean_at = aligned(address(hidden))
    was_at = mean_at + row_size
    mean_row = np.array([mean_at], dtype=np.int64)
    state, states = first_states(seed)
    groups = np.uint64(noise.shape[0] // negative)
    place = np.int64((state >> np.uint64(20)) % groups) * negative
    last = np.int64(groups - np.uint64(1)) * negative
    windows = np.int64(0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        for centre in range(length):
            state = next_random(state)
            reach = draw_reach(state, window)
            used = np.int64(0)
            for other in range(max(0, centre - reach), min(length, centre + reach + 1)):
                if other != centre:
                    word = sentence[other]
                    used = add_rows(word, rows, used, inputs_at, row_size, starts, ngrams)
            if used == 0:
                continue
            words[0] = sentence[centre]
            for k in range(negative):
                words[1 + k] = np.int64(noise[place + k])
            place = place + negative if place < last else np.int64(0)
            for k in range(negative):
                prefetch_row(outputs_at + np.int64(noise[place + k]) * row_size, chunks)
            if centre + window + 1 < length:
                following = sentence[centre + window + 1]
                prefetch_rows(following, inputs_at, row_size, starts, ngrams)
            if centre + 1 < length:
                prefetch_row(outputs_at + sentence[centre + 1] * row_size, chunks)
            scale = np.float32(1.0) / np.float32(used)
            mean_rows(address(rows), used, mean_at, was_at, scale, chunks)
            train_hidden(
                address(mean_row), words, one, negative, weight, targets, scores, positives,
                totals, outputs_at, row_size, padding, rate, chunks, report, windows & LOOK == 0,
            )  # fmt: skip
            add_difference(address(rows), used, mean_at, was_at, np.float32(1.0), chunks)
            windows += 1
    stay(hidden)
