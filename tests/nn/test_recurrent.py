"""The layers that torch does not have, against plain loops in NumPy."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lmkit.nn.recurrent import ChoGru

Numbers = NDArray[np.float64]


def sigmoid(x: Numbers) -> Numbers:
    return 1.0 / (1.0 + np.exp(-x))


def cho(x: Numbers, h: Numbers, w: Numbers, b: Numbers, u: Numbers, v: Numbers) -> Numbers:
    """One layer for one sequence [T, D]: the equations of the paper, unit by unit."""
    size = len(h)
    out = []
    for given in x:
        new = np.empty(size)
        reset = [sigmoid(w[j] @ given + b[j] + u[j] @ h) for j in range(size)]
        for j in range(size):
            k, m = size + j, 2 * size + j
            update = sigmoid(w[k] @ given + b[k] + u[k] @ h)
            candidate = np.tanh(w[m] @ given + b[m] + v[j] @ (np.array(reset) * h))
            new[j] = update * h[j] + (1.0 - update) * candidate
        h = new
        out.append(h)
    return np.array(out)


def test_cho_gru_is_that_of_the_paper() -> None:
    torch.manual_seed(1)
    layers = ChoGru(3, 4, 2).double()
    x, start = torch.randn(2, 6, 3).double(), torch.randn(2, 2, 4).double()
    with torch.no_grad():
        hidden, last = layers(x, start)
    for row in range(2):
        wanted = x[row].numpy()
        for number in range(2):
            weights = [
                layers.inputs[number].weight,
                layers.inputs[number].bias,
                layers.gates[number].weight,
                layers.candidates[number].weight,
            ]
            arrays = [weight.detach().numpy() for weight in weights]
            wanted = cho(wanted, start[number, row].numpy(), *arrays)
            assert np.abs(last[number, row].numpy() - wanted[-1]).max() < 1e-12
        assert np.abs(hidden[row].numpy() - wanted).max() < 1e-12


def test_gradients_of_cho_gru() -> None:
    torch.manual_seed(1)
    layers = ChoGru(3, 2, 2).double()
    x = torch.randn(2, 3, 3).double().requires_grad_()
    start = torch.randn(2, 2, 2).double().requires_grad_()
    assert torch.autograd.gradcheck(layers, (x, start))


@pytest.mark.parametrize("training", [False, True])
def test_dropout_between_layers(training: bool) -> None:
    torch.manual_seed(1)
    layers = ChoGru(3, 4, 2, dropout=0.5).train(training)
    x, start = torch.randn(2, 6, 3), torch.zeros(2, 2, 4)
    once, again = layers(x, start), layers(x, start)
    assert torch.equal(once[1][0], again[1][0])
    assert torch.equal(once[0], again[0]) == (not training)
