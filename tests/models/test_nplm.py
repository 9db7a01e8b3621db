"""The NPLM against numbers worked out elsewhere, and against its equation."""

import json
import math
from typing import Any

import pytest
import torch
from shared_data import shared
from torch import Tensor

from lmkit.errors import UserError
from lmkit.models.nplm import Nplm, NplmConfig


def small(**settings: Any) -> Nplm:
    torch.manual_seed(1)
    shape: dict[str, Any] = {"num_tokens": 9, "order": 4, "embedding_size": 3, "hidden_size": 5}
    return Nplm(NplmConfig(**{**shape, **settings})).double()


@pytest.fixture(scope="module")
def golden() -> Any:
    return json.loads(shared("golden", "lm", "nplm.json").read_bytes())


def golden_network(golden: Any, direct: bool) -> Nplm:
    network = small(
        num_tokens=golden["V"],
        order=golden["n"],
        embedding_size=golden["m"],
        hidden_size=golden["h"],
        direct=direct,
        never=(),
    )
    c, h, d, u, w, b = (torch.tensor(golden[k], dtype=torch.float64) for k in "CHdUWb")
    weights = {
        "embedding.weight": c,
        "hidden.weight": h,
        "hidden.bias": d,
        "output.weight": torch.cat([u, w], dim=1) if direct else u,
        "output.bias": b,
    }
    network.load_state_dict(weights)
    return network


def assert_close(ours: Tensor, theirs: Any) -> None:
    assert torch.allclose(ours, torch.tensor(theirs, dtype=torch.float64), rtol=0, atol=1e-9)


def test_golden_probabilities(golden: Any) -> None:
    network, plain = golden_network(golden, True), golden_network(golden, False)
    total = 0.0
    for example in golden["examples"]:
        context = torch.tensor([example["context_oldest_first"]])
        target = torch.tensor([example["target"]])
        features = network.features(context)
        y = torch.nn.functional.linear(features, network.output.weight, network.output.bias)
        assert_close(y[0], example["y"])
        assert_close(network.output.logprobs(features)[0], example["logp"])
        nll = network.output.loss(features, target).item()
        assert nll == pytest.approx(example["nll"], abs=1e-9)
        features = plain.features(context)
        y = torch.nn.functional.linear(features, plain.output.weight, plain.output.bias)
        assert_close(y[0], example["y_no_direct"])
        without = plain.output.loss(features, target).item()
        assert without == pytest.approx(example["nll_no_direct"], abs=1e-9)
        total += nll
    mean = total / len(golden["examples"])
    assert mean == pytest.approx(golden["mean_nll"], abs=1e-9)
    assert math.exp(mean) == pytest.approx(golden["perplexity"], abs=1e-9)


def test_golden_gradients(golden: Any) -> None:
    network = golden_network(golden, True)
    example, wanted = golden["examples"][0], golden["grad_example0"]
    context = example["context_oldest_first"]
    network.output.loss(
        network.features(torch.tensor([context])), torch.tensor([example["target"]])
    ).backward()
    of_output = network.output.weight.grad
    of_embedding = network.embedding.weight.grad
    assert of_output is not None and of_embedding is not None
    assert network.output.bias is not None and network.output.bias.grad is not None
    assert network.hidden.weight.grad is not None and network.hidden.bias.grad is not None
    assert_close(of_output[:, : golden["h"]], wanted["U"])
    assert_close(of_output[:, golden["h"] :], wanted["W"])
    assert_close(network.output.bias.grad, wanted["b"])
    assert_close(network.hidden.weight.grad, wanted["H"])
    assert_close(network.hidden.bias.grad, wanted["d"])
    assert_close(of_embedding[context[::-1]].flatten(), wanted["x"])
    others = [token for token in range(golden["V"]) if token not in context]
    assert not of_embedding[others].any()


@pytest.mark.parametrize("activation", ["tanh", "linear"])
@pytest.mark.parametrize("order", [2, 4])
def test_a_sequence_begins_behind_marks_of_a_start(activation: str, order: int) -> None:
    network = small(order=order, activation=activation, direct=True)
    ids = torch.tensor([[3, 4, 5, 6, 7], [8, 3, 3, 2, 4]])
    hidden, state = network(ids)
    assert state is None
    for row, tokens in enumerate(ids.tolist()):
        for t in range(5):
            context = ([1] * order + tokens[: t + 1])[-(order - 1) :]
            x = torch.cat([network.embedding.weight[token] for token in reversed(context)])
            h = network.hidden.weight @ x + network.hidden.bias
            h = torch.tanh(h) if activation == "tanh" else h
            assert torch.allclose(hidden[row, t], torch.cat([h, x]), atol=1e-12)


@pytest.mark.parametrize("order", [2, 3, 6])
def test_tokens_read_one_by_one_or_in_parts(order: int) -> None:
    network = small(order=order)
    ids = torch.randint(2, 9, (3, 7))
    whole, _ = network(ids)
    state = network.start(3)
    parts = []
    for piece in (ids[:, :1], ids[:, 1:2], ids[:, 2:6], ids[:, 6:]):
        hidden, state = network(piece, state)
        parts.append(hidden)
    assert torch.allclose(torch.cat(parts, dim=1), whole, atol=1e-12)
    assert state.length == 7


def test_reordered_states_go_on_as_their_rows() -> None:
    network = small()
    ids = torch.randint(2, 9, (3, 5))
    _, state = network(ids, network.start(3))
    turned = torch.tensor([2, 0, 0])
    after = torch.randint(2, 9, (3, 2))
    hidden, _ = network(after, state.reorder(turned))
    whole, _ = network(torch.cat([ids[turned], after], dim=1))
    assert torch.allclose(hidden, whole[:, 5:], atol=1e-12)


def test_later_tokens_and_those_beyond_the_order_do_not_matter() -> None:
    network = small()
    ids = torch.randint(3, 9, (2, 8))
    hidden, _ = network(ids)
    changed = ids.clone()
    changed[:, 3] = 2
    other, _ = network(changed)
    assert torch.equal(hidden[:, :3], other[:, :3])
    assert not torch.equal(hidden[:, 3:6], other[:, 3:6])
    assert torch.allclose(hidden[:, 6:], other[:, 6:], atol=1e-12)


def test_probabilities_sum_to_one() -> None:
    network = small(direct=True)
    hidden, _ = network(torch.randint(2, 9, (2, 5)))
    logprobs = network.output.logprobs(hidden.flatten(0, 1))
    assert torch.allclose(logprobs.exp().sum(1), torch.ones(10).double(), atol=1e-12)
    assert torch.all(logprobs[:, 1] == -math.inf)


def test_dropout_leaves_out_in_training_only() -> None:
    network = small(dropout=0.5)
    contexts = torch.randint(2, 9, (4, 3))
    assert not torch.equal(network.features(contexts), network.features(contexts))
    network.eval()
    assert torch.equal(network.features(contexts), network.features(contexts))


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": 1},
        {"num_tokens": 0, "never": ()},
        {"hidden_size": 0},
        {"embedding_size": -1},
        {"activation": "relu"},
        {"dropout": 1.0},
        {"dropout": math.nan},
        {"never": (9,)},
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        small(**wrong)
