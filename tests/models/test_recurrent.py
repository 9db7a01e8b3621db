"""Recurrent networks: the equations, and what reading in parts must not change."""

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from shared_data import shared

from lmkit.errors import UserError
from lmkit.models.gru import Gru, GruConfig
from lmkit.models.lstm import Lstm, LstmConfig
from lmkit.models.rnn import Rnn, RnnConfig
from lmkit.nn.recurrent import RecurrentNetwork

SHAPE: dict[str, Any] = {"num_tokens": 9, "embedding_size": 3, "hidden_size": 4}
NETWORKS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "elman": (Rnn, RnnConfig, {"num_layers": 2}),
    "jordan": (Rnn, RnnConfig, {"kind": "jordan"}),
    "gru": (Gru, GruConfig, {"num_layers": 2}),
    "cho": (Gru, GruConfig, {"num_layers": 2, "variant": "cho"}),
    "lstm": (Lstm, LstmConfig, {}),
    "tied": (Lstm, LstmConfig, {"tied": True, "embedding_size": 4}),
}
every_network = pytest.mark.parametrize("name", NETWORKS)


def make(name: str, **settings: Any) -> RecurrentNetwork:
    torch.manual_seed(1)
    kind, config, own = NETWORKS[name]
    network: RecurrentNetwork = kind(config(**{**SHAPE, **own, **settings}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.uniform_(-0.7, 0.7)
    return network.double()


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-x))


def arrays(module: torch.nn.Module) -> dict[str, NDArray[np.float64]]:
    return {name: tensor.detach().numpy() for name, tensor in module.state_dict().items()}


def test_golden_lstm() -> None:
    golden = json.loads(shared("golden", "lm", "lstm.json").read_bytes())
    x = torch.tensor(golden["x"], dtype=torch.float64)
    hidden_size = len(golden["h"][0])
    config = LstmConfig(
        num_tokens=len(x), embedding_size=3, hidden_size=hidden_size, num_layers=1, never=()
    )
    network = Lstm(config).double()
    weights = {"weight_ih_l0": "W_ih", "weight_hh_l0": "W_hh", "bias_ih_l0": "b_ih"}
    weights["bias_hh_l0"] = "b_hh"
    network.body.load_state_dict({
        ours: torch.tensor(golden[theirs], dtype=torch.float64)
        for ours, theirs in weights.items()
    })  # fmt: skip
    network.embedding.weight = torch.nn.Parameter(x)
    state = network.start(1)
    for t in range(len(x)):
        hidden, state = network(torch.tensor([[t]]), state)
        assert np.abs(hidden[0, 0].detach().numpy() - golden["h"][t]).max() < 1e-9
        assert np.abs(state.tensors["cell"][0, 0].detach().numpy() - golden["c"][t]).max() < 1e-9


def test_torch_gru_resets_the_product() -> None:
    network = make("gru", num_layers=1)
    ids = torch.randint(2, 9, (1, 6))
    hidden, _ = network(ids)
    w = arrays(network.body)
    h = np.zeros(4)
    for t, token in enumerate(ids[0].tolist()):
        x = network.embedding.weight[token].detach().numpy()
        a = w["weight_ih_l0"] @ x + w["bias_ih_l0"]
        b = w["weight_hh_l0"] @ h + w["bias_hh_l0"]
        reset, update = sigmoid(a[:4] + b[:4]), sigmoid(a[4:8] + b[4:8])
        h = (1.0 - update) * np.tanh(a[8:] + reset * b[8:]) + update * h
        assert np.abs(hidden[0, t].detach().numpy() - h).max() < 1e-12


def test_elman_feeds_back_the_hidden_state() -> None:
    network = make("elman", num_layers=1)
    ids = torch.randint(2, 9, (1, 6))
    hidden, _ = network(ids)
    w = arrays(network.body)
    h = np.zeros(4)
    for t, token in enumerate(ids[0].tolist()):
        x = network.embedding.weight[token].detach().numpy()
        biases = w["bias_ih_l0"] + w["bias_hh_l0"]
        h = np.tanh(w["weight_ih_l0"] @ x + w["weight_hh_l0"] @ h + biases)
        assert np.abs(hidden[0, t].detach().numpy() - h).max() < 1e-12


def test_jordan_feeds_back_the_prediction() -> None:
    network = make("jordan")
    ids = torch.randint(2, 9, (1, 6))
    hidden, _ = network(ids)
    w, output = arrays(network.body), arrays(network.output)
    y = np.zeros(9)
    for t, token in enumerate(ids[0].tolist()):
        x = network.embedding.weight[token].detach().numpy()
        h = np.tanh(w["inputs.weight"] @ x + w["inputs.bias"] + w["feedback.weight"] @ y)
        y = np.exp(output["weight"] @ h + output["bias"])
        y[1] = 0.0
        y /= y.sum()
        assert np.abs(hidden[0, t].detach().numpy() - h).max() < 1e-12


@every_network
def test_reading_in_parts_is_reading_at_once(name: str) -> None:
    network = make(name)
    ids = torch.randint(2, 9, (3, 7))
    whole, after = network(ids)
    for bounds in ([0, 3, 7], list(range(8))):
        state, parts = network.start(3), []
        for begin, end in pairwise(bounds):
            hidden, state = network(ids[:, begin:end], state)
            parts.append(hidden)
        assert torch.allclose(torch.cat(parts, dim=1), whole, rtol=0, atol=1e-12)
        assert state.length == after.length == 7
        for key, tensor in state.tensors.items():
            assert tensor.shape == (3, network.num_layers, 4)
            assert torch.allclose(tensor, after.tensors[key], rtol=0, atol=1e-12)


@every_network
def test_reordered_states_go_on_as_their_rows(name: str) -> None:
    network = make(name)
    ids, after = torch.randint(2, 9, (3, 5)), torch.randint(2, 9, (3, 2))
    _, state = network(ids)
    turned = torch.tensor([2, 0, 0])
    hidden, _ = network(after, state.reorder(turned))
    whole, _ = network(torch.cat([ids[turned], after], dim=1))
    assert torch.allclose(hidden, whole[:, 5:], rtol=0, atol=1e-12)


@every_network
def test_later_tokens_do_not_matter(name: str) -> None:
    network = make(name)
    ids = torch.randint(3, 9, (2, 8))
    hidden, _ = network(ids)
    ids[:, 5] = 2
    other, _ = network(ids)
    assert torch.equal(hidden[:, :5], other[:, :5])
    assert not torch.isclose(hidden[:, 5:], other[:, 5:], rtol=0, atol=1e-12).all(2).any()


@every_network
def test_probabilities_sum_to_one(name: str) -> None:
    network = make(name)
    hidden, _ = network(torch.randint(2, 9, (2, 5)))
    logprobs = network.output.logprobs(hidden.flatten(0, 1))
    assert torch.allclose(logprobs.exp().sum(1), torch.ones(10).double(), atol=1e-12)
    assert torch.all(logprobs[:, 1] == -math.inf)


@every_network
def test_every_weight_learns(name: str) -> None:
    network = make(name)
    hidden, _ = network(torch.arange(9)[None])
    network.output.loss(hidden.flatten(0, 1), torch.full((9,), 5)).backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.any(), key


@every_network
def test_dropout_leaves_out_in_training_only(name: str) -> None:
    network = make(name, dropout=0.5)
    ids = torch.randint(2, 9, (2, 5))
    assert not torch.equal(network(ids)[0], network(ids)[0])
    network.eval()
    assert torch.equal(network(ids)[0], network(ids)[0])


@every_network
def test_the_memory_is_of_the_kind_of_the_weights(name: str) -> None:
    network = make(name).float()
    ids = torch.randint(2, 9, (2, 5))
    with torch.autocast("cpu", torch.bfloat16):
        _, state = network(ids)
        low, _ = network(ids, state)
    high, _ = network(ids, state)
    assert {tensor.dtype for tensor in state.tensors.values()} == {torch.float32}
    assert torch.allclose(low.float(), high, atol=0.05)


def test_lstms_begin_by_remembering() -> None:
    torch.manual_seed(1)
    network = Lstm(LstmConfig(**SHAPE, init_range=0.05))
    first = arrays(network.body)["bias_ih_l0"]
    assert first.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    assert not arrays(network.body)["bias_hh_l1"].any()
    for parameter in network.parameters():
        if parameter.dim() > 1:
            assert 0.03 < parameter.abs().max() <= 0.05


def test_tied_weights_are_one() -> None:
    network = make("tied")
    assert network.output.weight is network.embedding.weight
    plain = make("lstm", embedding_size=4)
    assert plain.num_parameters() - network.num_parameters() == 9 * 4


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("elman", {"kind": "hopfield"}),
        ("jordan", {"num_layers": 2}),
        ("gru", {"variant": "minimal"}),
        ("gru", {"num_layers": 0}),
        ("cho", {"hidden_size": 0}),
        ("lstm", {"tied": True}),
        ("lstm", {"dropout": 1.0}),
        ("lstm", {"dropout": -0.1}),
        ("lstm", {"init_range": 0.0}),
        ("lstm", {"never": (-1,)}),
    ],
)
def test_settings_that_make_no_sense(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        make(name, **wrong)
