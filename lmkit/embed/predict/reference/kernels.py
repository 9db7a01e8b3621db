"""Training with the losses that sampling and trees stand in for, each step an exact gradient.

``skipgram_softmax`` and ``skipgram_nce`` walk through the text as ``lmkit.embed.predict.kernels``
does: the words of a window are the inputs, the centre is what they predict. The words of a window
are taken up to 6 different ones at a time; each such group is one step of gradient descent on the
sum of its losses.

``collobert_ranking`` scores windows by a network with one hidden layer (Collobert & Weston 2008).

Letters: V words, K noise words, P places of a window, H hidden units.
"""

from __future__ import annotations

import math

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
    NODES,
    OUTPUTS,
    add_difference,
    logistic_gradients,
    mean_rows,
    score4,
    score6,
    update4,
    update6,
)
from lmkit.jit import inlined, inner, kernel


@inner
def fill_group(sentence, near, last, centre, inputs_at, row_size, padding, columns, times):
    """Find up to 6 different words of a window from ``near`` on; return where the next begin.

    ``columns`` gets the addresses of their rows and ``times`` how often each occurs; where there
    are fewer, the row ``padding``, 0 times.
    """
    count = 0
    while near < last:
        if near != centre:
            at = inputs_at + sentence[near] * row_size
            column = count
            for earlier in range(count):
                if columns[earlier] == at:
                    column = earlier
            if column == OUTPUTS:
                break
            if column == count:
                columns[column] = at
                times[column] = 0.0
                count += 1
            times[column] += np.float32(1.0)
        near += 1
    for column in range(count, OUTPUTS):
        columns[column] = inputs_at + padding * row_size
        times[column] = 0.0
    return near


@inner
def softmax_gradients(scores, num_words, target, times, sums, rate, report):
    """Replace scores [V, 6] by ``rate`` times the gradient of ln softmax at ``target``.

    Each column counts ``times`` its gradient; ``sums`` [2, 6] is overwritten.
    """
    highest, totals = sums[0], sums[1]
    for j in range(OUTPUTS):
        highest[j], totals[j] = -np.inf, 0.0
    for i in range(0, num_words * OUTPUTS, OUTPUTS):
        for j in range(OUTPUTS):
            highest[j] = max(highest[j], scores[i + j])
    own = target * OUTPUTS
    for j in range(OUTPUTS):
        report[LOSS] += times[j] * np.float64(highest[j] - scores[own + j])
    for i in range(0, num_words * OUTPUTS, OUTPUTS):
        for j in range(OUTPUTS):
            weight = math.exp(scores[i + j] - highest[j])
            scores[i + j] = weight
            totals[j] += weight
    for j in range(OUTPUTS):
        report[LOSS] += times[j] * math.log(np.float64(totals[j]))
        report[TERMS] += times[j]
        totals[j] = rate * times[j] / totals[j]
    for i in range(0, num_words * OUTPUTS, OUTPUTS):
        for j in range(OUTPUTS):
            scores[i + j] *= -totals[j]
    for j in range(OUTPUTS):
        scores[own + j] += rate * times[j]


@kernel
def skipgram_softmax(ids, begin, end, inputs, outputs, keep, window, rate, seed, report):
    """Train skip-gram with the full softmax (Mikolov et al. 2013b, equation 2).

    The loss -ln p(centre | word of the window) costs two products with all of ``outputs``.
    """
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    padding = np.int64(inputs.shape[0] - 1)
    num_words = np.int64(outputs.shape[0] - 1)
    inputs_at, outputs_at = address(inputs), address(outputs)
    sentence = np.empty(LONGEST, dtype=np.int64)
    rows = outputs_at + np.arange(num_words) * row_size
    columns = np.empty(OUTPUTS, dtype=np.int64)
    times = np.empty(OUTPUTS, dtype=np.float32)
    sums = np.empty((2, OUTPUTS), dtype=np.float32)
    scores = np.zeros(num_words * OUTPUTS, dtype=np.float32)
    rows_at, columns_at, scores_at = address(rows), address(columns), address(scores)
    state, states = first_states(seed)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        for centre in range(length):
            state = next_random(state)
            reach = draw_reach(state, window)
            near, last = max(0, centre - reach), min(length, centre + reach + 1)
            while near < last:
                near = fill_group(
                    sentence, near, last, centre, inputs_at, row_size, padding, columns, times
                )
                if times[0] > 0.0:
                    score6(rows_at, num_words, columns_at, scores_at, chunks)
                    softmax_gradients(
                        scores, num_words, sentence[centre], times, sums, rate, report
                    )
                    update6(rows_at, num_words, columns_at, scores_at, chunks)
    stay(rows)
    stay(columns)
    stay(scores)


@inner
def fill_noise(centre, noise, place, negative, words, draws):
    """Write the centre and the noise words, each once, and how often each was drawn as noise."""
    words[0], draws[0] = centre, 0.0
    count = 1
    for k in range(place, place + negative):
        row = count
        for earlier in range(count):
            if words[earlier] == noise[k]:
                row = earlier
        if row == count:
            words[row], draws[row] = noise[k], 0.0
            count += 1
        draws[row] += np.float32(1.0)
    return count


@kernel
def skipgram_nce(
    ids, begin, end, inputs, outputs, keep, biases, offsets, noise, window, negative, rate, seed,
    report,
):  # fmt: skip
    """Train skip-gram with noise-contrastive estimation (Gutmann & Hyvärinen 2010).

    As in Mnih & Teh (2012, equations 8-10), p(w | h) = exp s(w, h) with s(w, h) = u_w . v_h + b_w
    is not normalised; with D = s - ln(K p_n(w)), the loss is -ln sigmoid D of the centre
    - sum of ln(1 - sigmoid D) over the noise words, which all of a window shares.

    Args:
        biases: [V + 1] float32; b.
        offsets: [V] float32; ln(K p_n(w)).
        noise: words drawn from p_n.
    """
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    padding = np.int64(inputs.shape[0] - 1)
    inputs_at, outputs_at = address(inputs), address(outputs)
    sentence = np.empty(LONGEST, dtype=np.int64)
    words = np.empty(negative + 1, dtype=np.int64)
    draws = np.empty(negative + 1, dtype=np.float32)
    rows = np.empty(negative + 1, dtype=np.int64)
    columns = np.empty(OUTPUTS, dtype=np.int64)
    times = np.empty(OUTPUTS, dtype=np.float32)
    size = (negative + 1) * OUTPUTS + 16
    scores = np.zeros(size, dtype=np.float32)
    positives = np.zeros(size, dtype=np.float32)
    totals = np.zeros(size, dtype=np.float32)
    rows_at, columns_at = address(rows), address(columns)
    scores_at, positives_at, totals_at = address(scores), address(positives), address(totals)
    state, states = first_states(seed)
    groups = np.uint64(noise.shape[0] // negative)
    place = np.int64((state >> np.uint64(20)) % groups) * negative
    last_place = np.int64(groups - np.uint64(1)) * negative
    looks = np.int64(0)
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        for centre in range(length):
            state = next_random(state)
            reach = draw_reach(state, window)
            count = fill_noise(sentence[centre], noise, place, negative, words, draws)
            for i in range(count):
                rows[i] = outputs_at + words[i] * row_size
            near, last = max(0, centre - reach), min(length, centre + reach + 1)
            while near < last:
                near = fill_group(
                    sentence, near, last, centre, inputs_at, row_size, padding, columns, times
                )
                if times[0] == 0.0:
                    break
                for j in range(OUTPUTS):
                    positives[j] = times[j]
                    for i in range(count):
                        totals[i * OUTPUTS + j] = times[j] * draws[i]
                    totals[j] += times[j]
                score6(rows_at, count, columns_at, scores_at, chunks)
                for i in range(count):
                    offset = biases[words[i]] - offsets[words[i]]
                    for j in range(OUTPUTS):
                        scores[i * OUTPUTS + j] += offset
                if looks & LOOK == 0:
                    report[LOSS] += logistic_loss(scores, positives, totals, count * OUTPUTS)
                    for j in range(OUTPUTS):
                        report[TERMS] += times[j]
                logistic_gradients(
                    scores_at, positives_at, totals_at, count * OUTPUTS, rate,
                    NO_BOUND,
                )  # fmt: skip
                update6(rows_at, count, columns_at, scores_at, chunks)
                for i in range(count):
                    for j in range(OUTPUTS):
                        biases[words[i]] += scores[i * OUTPUTS + j]
            looks += 1
            place = place + negative if place < last_place else np.int64(0)
    stay(rows)
    stay(columns)
    stay(scores)
    stay(positives)
    stay(totals)


@inlined
def hard_tanh(value):
    """Return ``value`` cut off at -1 and 1."""
    return min(max(value, np.float32(-1.0)), np.float32(1.0))


@inlined
def slope(value):
    """Return the derivative of :func:`hard_tanh`."""
    return np.float32(-1.0 < value < 1.0)


@inner
def rank_hidden_layer(true, false, head, rate, report):
    """Compare the two windows; return whether their margin is short of 1.

    If so, the output weights are trained, and ``true`` and ``false`` [H], the sums that went into
    the hidden units, become ``rate`` times the gradients with respect to them.
    """
    biases, weights = head[0], head[1]
    loss = 1.0
    for h in range(len(true)):
        true[h] += biases[h]
        false[h] += biases[h]
        loss += np.float64(weights[h]) * np.float64(hard_tanh(false[h]) - hard_tanh(true[h]))
    report[TERMS] += 1
    if loss <= 0.0:
        return False
    report[LOSS] += loss
    for h in range(len(true)):
        weight = rate * weights[h]
        weights[h] += rate * (hard_tanh(true[h]) - hard_tanh(false[h]))
        true[h] = weight * slope(true[h])
        false[h] = -weight * slope(false[h])
        biases[h] += true[h] + false[h]
    return True


@kernel
def collobert_ranking(
    ids, begin, end, inputs, outputs, keep, head, noise, window, rate, seed, report
):
    """Train a network that scores windows (Collobert & Weston 2008, section 5, equation 1).

    The score of a window s is f(s) = w . hardtanh(b + sum_p W_p x_p); the loss max(0, 1 - f(s) +
    f(s^r)), where s^r has the random word r in its centre. Words beyond the ends of a sentence are
    rows of zeros.

    Args:
        outputs: [P * H, 16 * chunks] float32; W, the units of a place in one block.
        head: [2, H] float32; b and w.
        noise: words to draw r from; r is never the centre.
    """
    chunks = np.int64(inputs.shape[1] // 16)
    row_size = np.int64(inputs.shape[1] * 4)
    inputs_at, outputs_at = address(inputs), address(outputs)
    hidden = np.int64(head.shape[1])
    places = np.int64(2 * window + 1)
    sentence = np.empty(LONGEST, dtype=np.int64)
    units = outputs_at + np.arange(places * hidden) * row_size
    rows = np.empty(places + 1, dtype=np.int64)
    columns = np.empty(NODES, dtype=np.int64)
    copies = np.zeros((2 * places + 3) * inputs.shape[1] + 32, dtype=np.float32)
    now_at = aligned(address(copies))
    zeros_at = now_at + (places + 1) * row_size
    were_at = zeros_at + row_size
    true = np.empty(hidden, dtype=np.float32)
    false = np.empty(hidden, dtype=np.float32)
    scores = np.zeros(hidden * NODES, dtype=np.float32)
    rows_at, columns_at, scores_at = address(rows), address(columns), address(scores)
    units_at = address(units)
    one = np.float32(1.0)
    state, states = first_states(seed)
    drawn = np.int64((state >> np.uint64(20)) % np.uint64(noise.shape[0]))
    while begin < end:
        begin, length = fill_sentence(ids, begin, end, keep, sentence, states)
        report[KEPT] += length
        if length < 2:
            continue
        for centre in range(length):
            first, last = max(0, window - centre), min(places, length - centre + window)
            drawn = (drawn + 1) % noise.shape[0]
            while noise[drawn] == sentence[centre]:
                drawn = (drawn + 1) % noise.shape[0]
            for p in range(first, last):
                rows[p] = inputs_at + sentence[centre + p - window] * row_size
            rows[places] = inputs_at + np.int64(noise[drawn]) * row_size
            true[:] = 0.0
            false[:] = 0.0
            for i in range(first, last + 1):
                p = i if i < last else places
                row, offset = rows_at + 8 * p, p * row_size
                mean_rows(row, np.int64(1), now_at + offset, were_at + offset, one, chunks)
            for p in range(first, last):
                columns[:] = zeros_at
                columns[0] = now_at + p * row_size
                columns[1] = now_at + places * row_size if p == window else zeros_at
                block = units_at + 8 * p * hidden
                score4(block, hidden, columns_at, scores_at, chunks)
                for h in range(hidden):
                    true[h] += scores[h * NODES]
                    false[h] += scores[h * NODES + (p == window)]
            if not rank_hidden_layer(true, false, head, rate, report):
                continue
            for p in range(first, last):
                columns[:] = zeros_at
                columns[0] = now_at + p * row_size
                columns[1] = now_at + places * row_size if p == window else zeros_at
                for h in range(hidden):
                    scores[h * NODES] = true[h] if p == window else true[h] + false[h]
                    scores[h * NODES + 1] = false[h] if p == window else np.float32(0.0)
                    scores[h * NODES + 2] = 0.0
                    scores[h * NODES + 3] = 0.0
                block = units_at + 8 * p * hidden
                update4(block, hidden, columns_at, scores_at, chunks)
            for i in range(first, last + 1):
                p = i if i < last else places
                row, offset = rows_at + 8 * p, p * row_size
                add_difference(row, np.int64(1), now_at + offset, were_at + offset, one, chunks)
    stay(units)
    stay(rows)
    stay(columns)
    stay(copies)
    stay(scores)
