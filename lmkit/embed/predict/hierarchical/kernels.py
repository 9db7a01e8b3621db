"""Training of skip-gram and CBOW with hierarchical softmax over a Huffman tree.

A word is predicted as the turns of its path from the root; see ``lmkit.embed.predict.huffman`` for
``starts``, ``nodes`` and ``codes``, and ``lmkit.embed.predict.kernels`` for all else.
"""

from __future__ import annotations

import numpy as np

from lmkit.embed.predict.kernels import (
    KEPT,
    LONGEST,
    LOOK,
    LOSS,
    TERMS,
    address,
    aligned,
    draw_reach,
    fill_sentence,
    first_states,
    logistic_loss,
    next_random,
    prefetch_rows,
    stay,
)
from lmkit.embed.simd.kernels import (
    NODES,
    add_difference,
    logistic_gradients,
    mean_rows,
    score4,
    update4,
)
from lmkit.jit import inner, kernel

BOUND = np.float32(6.0)
"""Score beyond which word2vec leaves a node of the tree alone; without it rare words lose."""


@inner
def train_path(
    rows, count, first, last, nodes, codes, columns, columns_at, outputs_at, row_size, scores,
    scores_at, positives, positives_at, totals, totals_at, rate, chunks, report, look,
):  # fmt: skip
    """Train ``count`` input rows on the turns of a path, nodes first to last, 4 at a time."""
    for node in range(first, last, NODES):
        for j in range(NODES):
            columns[j] = outputs_at + np.int64(nodes[node + j]) * row_size
            positive = np.float32(codes[node + j] == 0)
            total = np.float32(codes[node + j] != 2)
            for row in range(count):
                positives[row * NODES + j] = positive
                totals[row * NODES + j] = total
        score4(rows, count, columns_at, scores_at, chunks)
        if look:
            report[LOSS] += logistic_loss(scores, positives, totals, count * NODES)
        logistic_gradients(scores_at, positives_at, totals_at, count * NODES, rate, BOUND)
        update4(rows, count, columns_at, scores_at, chunks)
    if look:
        report[TERMS] += count


@kernel
def skipgram_hierarchical(
    ids, begin, end, inputs, outputs, keep, starts, nodes, codes, window, rate, seed, report
):
    """Train skip-gram with hierarchical softmax (Mikolov et al. 2013b, equation 3)."""
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    inputs_at, outputs_at = address(inputs), address(outputs)
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = np.empty(2 * window, dtype=np.int64)
    columns = np.empty(NODES, dtype=np.int64)
    stride = np.int64((2 * window * NODES + 31) // 16 * 16)
    scores = np.zeros(stride, dtype=np.float32)
    positives = np.zeros(stride, dtype=np.float32)
    totals = np.zeros(stride, dtype=np.float32)
    rows_at, columns_at = address(rows), address(columns)
    scores_at, positives_at, totals_at = address(scores), address(positives), address(totals)
    state, states = first_states(seed)
    looks = np.int64(0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        for centre in range(length):
            state = next_random(state)
            reach = draw_reach(state, window)
            count = np.int64(0)
            for near in range(max(0, centre - reach), min(length, centre + reach + 1)):
                if near != centre:
                    rows[count] = inputs_at + sentence[near] * row_size
                    count += 1
            far = centre + window + 2
            prefetch_rows(sentence, far, far + 1, length, inputs_at, row_size, chunks)
            if centre + 1 < length:
                following = sentence[centre + 1]
                upto = starts[following + 1]
                prefetch_rows(nodes, starts[following], upto, upto, outputs_at, row_size, chunks)
            word = sentence[centre]
            train_path(
                rows_at, count, starts[word], starts[word + 1], nodes, codes, columns, columns_at,
                outputs_at, row_size, scores, scores_at, positives, positives_at, totals,
                totals_at, rate, chunks, report, looks & LOOK == 0,
            )  # fmt: skip
            looks += 1


@kernel
def cbow_hierarchical(
    ids, begin, end, inputs, outputs, keep, starts, nodes, codes, window, rate, seed, report
):
    """Train CBOW with hierarchical softmax."""
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    inputs_at, outputs_at = address(inputs), address(outputs)
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = np.empty(2 * window, dtype=np.int64)
    columns = np.empty(NODES, dtype=np.int64)
    stride = np.int64(32)
    scores = np.zeros(stride, dtype=np.float32)
    positives = np.zeros(stride, dtype=np.float32)
    totals = np.zeros(stride, dtype=np.float32)
    rows_at, columns_at = address(rows), address(columns)
    scores_at, positives_at, totals_at = address(scores), address(positives), address(totals)
    hidden = np.zeros(2 * inputs.shape[1] + 32, dtype=np.float32)
    mean_at = aligned(address(hidden))
    was_at = mean_at + row_size
    mean_row = np.array([mean_at], dtype=np.int64)
    mean_row_at = address(mean_row)
    state, states = first_states(seed)
    looks = np.int64(0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        for centre in range(length):
            state = next_random(state)
            reach = draw_reach(state, window)
            count = np.int64(0)
            for near in range(max(0, centre - reach), min(length, centre + reach + 1)):
                if near != centre:
                    rows[count] = inputs_at + sentence[near] * row_size
                    count += 1
            far = centre + window + 2
            prefetch_rows(sentence, far, far + 1, length, inputs_at, row_size, chunks)
            if centre + 1 < length:
                following = sentence[centre + 1]
                upto = starts[following + 1]
                prefetch_rows(nodes, starts[following], upto, upto, outputs_at, row_size, chunks)
            word = sentence[centre]
            mean_rows(rows_at, count, mean_at, was_at, np.float32(1.0) / np.float32(count), chunks)
            train_path(
                mean_row_at, np.int64(1), starts[word], starts[word + 1], nodes, codes, columns,
                columns_at, outputs_at, row_size, scores, scores_at, positives, positives_at,
                totals, totals_at, rate, chunks, report, looks & LOOK == 0,
            )  # fmt: skip
            looks += 1
            add_difference(rows_at, count, mean_at, was_at, np.float32(1.0), chunks)
    stay(hidden)
    stay(mean_row)
