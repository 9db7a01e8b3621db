"""Noise-contrastive estimation: with more noise its gradient becomes that of the likelihood."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from embed.predict.reference.descents import doubles, encoded, nce_loss
from numpy.typing import NDArray
from torch.nn.functional import log_softmax

from lmkit.embed.predict.matrices import zeros
from lmkit.embed.predict.reference import kernels

V, SIZE = 50, 20
PAIR = (3, 17)
"""A sentence of two words, each the context of the other."""
Doubles = NDArray[np.float64]


def normalized_model() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return inputs, outputs and biases whose probabilities in both contexts add up to 1."""
    rng = np.random.default_rng(7)
    inputs, outputs = zeros(V + 1, SIZE), zeros(V + 1, SIZE)
    inputs[:V, :SIZE], outputs[:V, :SIZE] = rng.normal(0, 0.5, (2, V, SIZE))
    inputs[PAIR[1]] = inputs[PAIR[0]]
    biases = np.append(rng.normal(0, 1, V), 0).astype(np.float32)
    scores = outputs[:V] @ inputs[PAIR[0]] + biases[:V]
    biases[:V] -= np.log(np.exp(scores.astype(np.float64)).sum())
    return inputs, outputs, biases


def kernel_gradient(noise: Sequence[int]) -> Doubles:
    """Return the gradient of the loss of PAIR with ``noise``, evenly distributed, as one vector."""
    rate = 1e-3
    arrays = normalized_model()
    before = [array.astype(np.float64) for array in arrays]
    ids, number = encoded([PAIR]), len(noise)
    offsets = np.full(V, np.log(number / V), dtype=np.float32)
    kernels.skipgram_nce(
        ids, np.int64(0), np.int64(len(ids)), *arrays[:2], np.ones(V, dtype=np.float32), arrays[2],
        offsets, np.array(noise, dtype=np.int32), np.int64(1), np.int64(number), np.float32(rate),
        np.int64(1), np.zeros(8),
    )  # fmt: skip
    moved = [(b - a).ravel() / rate for a, b in zip(arrays, before, strict=True)]
    return np.concatenate(moved)


def likelihood_gradient() -> Doubles:
    inputs, outputs, biases = leaves = doubles(*normalized_model())
    for leaf in leaves:
        leaf.requires_grad_()
    loss = torch.zeros((), dtype=torch.float64)
    for word, near in (PAIR, PAIR[::-1]):
        loss = loss - log_softmax((outputs @ inputs[near] + biases)[:V], 0)[word]
    return np.concatenate([g.numpy().ravel() for g in torch.autograd.grad(loss, leaves)])


def cosine(x: Doubles, y: Doubles) -> float:
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def test_gradients_tend_to_those_of_the_likelihood() -> None:
    """Each word is drawn equally often, so that only the number of noise words matters."""
    wanted = likelihood_gradient()
    shuffled = np.random.default_rng(2).permutation(V)
    few = sum(kernel_gradient(shuffled[i : i + 5].tolist()) for i in range(0, V, 5)) / 10
    assert isinstance(few, np.ndarray)
    angles = [few, *(kernel_gradient(shuffled.tolist() * times) for times in (1, 20))]
    cosines = [cosine(each, wanted) for each in angles]
    assert cosines[0] < cosines[1] < cosines[2]
    assert cosines[1] > 0.99
    assert cosines[2] > 0.9999
    assert angles[2] == pytest.approx(wanted, abs=0.02)


def test_the_formula_is_that_of_binary_classification() -> None:
    """-ln P(true | w) of the pair's word and -ln P(noise | w) of the others, by Bayes' rule."""
    inputs, outputs, biases = doubles(*normalized_model())
    noise, number = [4, 9, 9], 3
    shares = torch.softmax(torch.arange(V, dtype=torch.float64) / 10, 0)
    model = torch.exp(outputs[:V] @ inputs[PAIR[1]] + biases[:V])
    of_noise = number * shares / (model + number * shares)
    wanted = -torch.log(1 - of_noise[PAIR[0]]) - torch.log(of_noise[noise]).sum()
    offsets = torch.log(number * shares)
    found = nce_loss(inputs, outputs[:V], biases[:V], offsets, [PAIR[1]], PAIR[0], noise)
    assert float(found) == pytest.approx(float(wanted), rel=1e-12)
