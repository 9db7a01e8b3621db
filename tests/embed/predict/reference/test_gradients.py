"""What a kernel does to 50 words is gradient descent: each step the gradient that autograd has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from embed.predict.reference import descents
from embed.predict.reference.descents import doubles, encoded
from numpy.typing import NDArray

from lmkit.embed.predict.kernels import KEPT, LOSS, TERMS
from lmkit.embed.predict.matrices import zeros
from lmkit.embed.predict.reference import kernels

V = 50
WINDOW, SEED = 5, 11

each_size = pytest.mark.parametrize("size", [7, 32, 50])
each_rate = pytest.mark.parametrize("rate", [0.01, 0.2])


def random_rows(rows: int, size: int, seed: int, *, free: int = 1) -> NDArray[np.float32]:
    """Return random rows, then ``free`` rows of zeros."""
    matrix = zeros(rows + free, size)
    matrix[:rows, :size] = np.random.default_rng(seed).normal(0, 0.4, (rows, size))
    return matrix


def some_sentences(*, few: bool = False) -> list[list[int]]:
    """Return sentences of 1 to 14 words, in which words occur again (``few``: all the time)."""
    rng = np.random.default_rng(3)
    words = 4 if few else V
    return [rng.integers(0, words, length).tolist() for length in (2, 1, 14, 9, 3, 14)]


def call(kernel: Any, sentences: list[list[int]], *arrays: Any, rate: float) -> NDArray[np.float64]:
    """Train on ``sentences``; return the report."""
    ids, report = encoded(sentences), np.zeros(8)
    inputs, outputs, *rest = arrays
    keep = np.ones(V, dtype=np.float32)
    kernel(
        ids, np.int64(0), np.int64(len(ids)), inputs, outputs, keep, *rest, np.float32(rate),
        np.int64(SEED), report,
    )  # fmt: skip
    return report


def assert_moved_alike(
    before: NDArray[np.float32], after: NDArray[np.float32], expected: torch.Tensor, rate: float
) -> None:
    """Compare what was descended, in units of the rate; each change is rounded."""
    moved = (after.astype(np.float64) - before) / rate
    wanted = (expected.numpy() - before.astype(np.float64)) / rate
    assert np.abs(wanted).max() > 0.1
    assert moved == pytest.approx(wanted, rel=1e-4, abs=2e-6 / rate + 4e-5)


@each_size
@each_rate
@pytest.mark.parametrize("few", [False, True])
def test_softmax(size: int, rate: float, few: bool) -> None:
    inputs, outputs = random_rows(V, size, 1), random_rows(V, size, 2)
    before = inputs.copy(), outputs.copy()
    sentences = some_sentences(few=few)
    report = call(kernels.skipgram_softmax, sentences, inputs, outputs, np.int64(WINDOW), rate=rate)
    expected = doubles(before[0], before[1][:V])
    losses = descents.train_softmax(
        expected, [s for s in sentences if len(s) > 1], WINDOW, float(np.float32(rate)), SEED
    )
    assert_moved_alike(before[0], inputs, expected[0], rate)
    assert_moved_alike(before[1][:V], outputs[:V], expected[1], rate)
    assert not inputs[V].any() and not outputs[V].any()
    assert not inputs[:, size:].any() and not outputs[:, size:].any()
    assert report[LOSS] == pytest.approx(sum(losses), rel=1e-5)
    assert report[KEPT] == sum(map(len, sentences))


@each_size
@each_rate
@pytest.mark.parametrize("few", [False, True])
def test_nce(size: int, rate: float, few: bool) -> None:
    inputs, outputs = random_rows(V, size, 1), random_rows(V, size, 2)
    rng = np.random.default_rng(4)
    biases = rng.normal(-3, 0.5, V + 1).astype(np.float32)
    offsets = rng.normal(-1, 0.5, V).astype(np.float32)
    before = inputs.copy(), outputs.copy(), biases.copy()
    negative = 9  # some are drawn twice, and some are the centre
    noise = rng.integers(0, 4 if few else V, 40 * negative).astype(np.int32)
    sentences = some_sentences(few=few)
    report = call(
        kernels.skipgram_nce, sentences, inputs, outputs, biases, offsets, noise, np.int64(WINDOW),
        np.int64(negative), rate=rate,
    )  # fmt: skip
    expected = doubles(before[0], before[1][:V], before[2][:V])
    looked = descents.train_nce(
        expected, doubles(offsets)[0], noise.tolist(), negative,
        [s for s in sentences if len(s) > 1], WINDOW, float(np.float32(rate)), SEED,
    )  # fmt: skip
    assert_moved_alike(before[0], inputs, expected[0], rate)
    assert_moved_alike(before[1][:V], outputs[:V], expected[1], rate)
    assert_moved_alike(before[2][:V], biases[:V], expected[2], rate)
    assert not inputs[V].any() and not outputs[V].any() and biases[V] == before[2][V]
    assert report[LOSS] == pytest.approx(sum(loss for loss, _ in looked), rel=1e-5)
    assert report[TERMS] == sum(number for _, number in looked)


@each_size
@each_rate
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("hidden", [5, 12])
def test_ranking(size: int, rate: float, few: bool, hidden: int) -> None:
    inputs, places = random_rows(V, size, 1), 2 * WINDOW + 1
    weights = random_rows(places * hidden, size, 2, free=0)
    rng = np.random.default_rng(4)
    head = (rng.normal(0, 1, (2, hidden)) * [[0.3], [3.0]]).astype(np.float32)
    before = inputs.copy(), weights.copy(), head.copy()
    noise = rng.integers(0, 4 if few else V, 90).astype(np.int32)
    sentences = some_sentences(few=few)
    report = call(
        kernels.collobert_ranking, sentences, inputs, weights, head, noise, np.int64(WINDOW),
        rate=rate,
    )  # fmt: skip
    expected = doubles(before[0], before[1].reshape(places, hidden, -1), before[2])
    losses = descents.train_ranking(
        expected, noise.tolist(), [s for s in sentences if len(s) > 1], WINDOW,
        float(np.float32(rate)), SEED,
    )  # fmt: skip
    assert any(loss == 0 for loss in losses) and any(loss > 0 for loss in losses)
    assert_moved_alike(before[0], inputs, expected[0], rate)
    assert_moved_alike(before[1], weights, expected[1].reshape(places * hidden, -1), rate)
    assert_moved_alike(before[2], head, expected[2], rate)
    assert not inputs[V].any()
    assert report[LOSS] == pytest.approx(sum(losses), rel=1e-5)
    assert report[TERMS] == len(losses)
