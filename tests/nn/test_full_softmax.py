"""The fused loss against plain autograd, and the probabilities against their definition."""

import math

import pytest
import torch
import torch.nn.functional as F

from lmkit.nn.linear import choose_route, linear, route, set_route
from lmkit.nn.outputs import full
from lmkit.nn.outputs.full import FullSoftmax


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(full, "CHUNK_CELLS", 64)


def plain(layer: FullSoftmax, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    logits = F.linear(hidden, layer.weight, layer.bias)
    if layer.softcap is not None:
        logits = layer.softcap * torch.tanh(logits / layer.softcap)
    mask = torch.zeros(layer.num_tokens, dtype=torch.bool)
    mask[list(layer.never)] = True
    return F.cross_entropy(logits.masked_fill(mask, -math.inf), targets, reduction="sum")


@pytest.mark.parametrize("softcap", [None, 3.0])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_fused_loss_is_that_of_autograd(
    small_chunks: None, softcap: float | None, bias: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(1)
    layer = FullSoftmax(6, 20, never=(1, 2), bias=bias, softcap=softcap).to(dtype)
    hidden = torch.randn(11, 6, dtype=dtype, requires_grad=True)
    targets = torch.randint(3, 20, (11,))
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    inputs = [hidden, *layer.parameters()]
    fused = layer.loss(hidden, targets)
    wanted = plain(layer, hidden, targets)
    assert fused.item() == pytest.approx(wanted.item(), rel=tolerance)
    got = torch.autograd.grad(fused * 0.5, inputs)
    for ours, theirs in zip(got, torch.autograd.grad(wanted * 0.5, inputs), strict=True):
        assert torch.allclose(ours, theirs, atol=tolerance)


def test_probabilities_sum_to_one_and_some_tokens_never_come(small_chunks: None) -> None:
    torch.manual_seed(1)
    layer = FullSoftmax(6, 20, never=(1, 2))
    hidden = torch.randn(9, 6)
    logprobs = layer.logprobs(hidden)
    assert torch.all(logprobs[:, [1, 2]] == -math.inf)
    assert torch.allclose(logprobs.exp().sum(1), torch.ones(9), atol=1e-6)
    targets = torch.randint(3, 20, (9,))
    chosen = layer.target_logprobs(hidden, targets)
    assert torch.allclose(chosen, logprobs.gather(1, targets[:, None])[:, 0], atol=1e-6)
    assert layer.loss(hidden, targets).item() == pytest.approx(-chosen.sum().item(), rel=1e-6)


def test_a_layer_of_zeros_knows_nothing() -> None:
    layer = FullSoftmax(6, 20, never=(1, 2), zero_init=True)
    loss = layer.loss(torch.randn(7, 6), torch.full((7,), 5))
    assert loss.item() == pytest.approx(7 * math.log(18), rel=1e-6)


def test_a_tied_weight_gets_both_gradients() -> None:
    torch.manual_seed(1)
    weight = torch.nn.Parameter(torch.randn(20, 6, dtype=torch.float64))
    layer = FullSoftmax(6, 20, bias=False, weight=weight)
    targets = torch.randint(3, 20, (4,))
    (fused,) = torch.autograd.grad(layer.loss(weight[targets - 1], targets), [weight])
    (wanted,) = torch.autograd.grad(plain(layer, weight[targets - 1], targets), [weight])
    assert torch.allclose(fused, wanted, atol=1e-12)


def test_every_route_gives_the_same_product() -> None:
    torch.manual_seed(1)
    before = route()
    x, weight = torch.randn(5, 7, 16, requires_grad=True), torch.randn(12, 16, requires_grad=True)
    bias, grad = torch.randn(12, requires_grad=True), torch.randn(5, 7, 12)
    results = []
    try:
        for name in ("plain", "onednn"):
            set_route(name)
            out = linear(x, weight, bias)
            results.append([out, *torch.autograd.grad(out, [x, weight, bias], grad)])
    finally:
        set_route(before)
    for ours, theirs in zip(*results, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


def test_the_route_is_measured() -> None:
    before = route()
    try:
        chosen = choose_route(5.0)
        assert route() == chosen.name
        assert chosen.gflops > 0
    finally:
        set_route(before)
