"""Optimizers against torch's own and against the numbers of the papers' formulas."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from shared_data import shared

from lmkit.engine.optim import AdamW, Muon, OptimizerConfig, Sgd, gradient_norm, orthogonalize
from lmkit.errors import ModelError


def golden() -> Any:
    return json.loads(shared("golden", "lm", "optim.json").read_text("utf-8"))


def test_newton_and_schulz() -> None:
    case = golden()["muon"]
    matrix = torch.tensor(case["G"], dtype=torch.float64)
    out = orthogonalize(matrix[None], dtype=torch.float64)[0]
    assert np.allclose(out, case["out"], atol=1e-9)


def test_adamw_in_three_steps() -> None:
    case = golden()["adamw"]
    weight = torch.tensor([[case["w0"]]], dtype=torch.float64, requires_grad=True)
    config = OptimizerConfig(
        learning_rate=case["lr"], betas=tuple(case["betas"]), eps=case["eps"],
        weight_decay=case["weight_decay"],
    )  # fmt: skip
    optimizer = AdamW([("weight", weight)], config)
    for step, (grad, wanted) in enumerate(zip(case["grads"], case["w"], strict=True)):
        weight.grad = torch.tensor([[grad]], dtype=torch.float64)
        optimizer.step(1.0, step)
        assert weight.item() == pytest.approx(wanted, abs=1e-9)


def test_the_norm_of_all_gradients() -> None:
    case = golden()["clip"]
    weights = [torch.zeros(len(grad), requires_grad=True) for grad in case["grads"]]
    for weight, grad in zip(weights, case["grads"], strict=True):
        weight.grad = torch.tensor(grad)
    assert float(gradient_norm(weights)) == pytest.approx(case["norm"])


def pair() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    one = torch.randn(6, 4, requires_grad=True)
    return one, one.detach().clone().requires_grad_()


@pytest.mark.parametrize("kind", ["adamw", "sgd"])
def test_torch_moves_the_same_way(kind: str) -> None:
    ours, theirs = pair()
    if kind == "adamw":
        config = OptimizerConfig(learning_rate=0.01, weight_decay=0.1, betas=(0.9, 0.99))
        optimizer: Any = AdamW([("w", ours)], config)
        reference: Any = torch.optim.AdamW([theirs], lr=0.01, weight_decay=0.1, betas=(0.9, 0.99))
    else:
        optimizer = Sgd([("w", ours)], OptimizerConfig(learning_rate=0.1, momentum=0.9))
        reference = torch.optim.SGD([theirs], lr=0.1, momentum=0.9)
    for step in range(5):
        grad = torch.randn(6, 4)
        ours.grad, theirs.grad = grad.clone(), grad.clone()
        optimizer.step(1.0, step)
        reference.step()
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_torch_has_the_same_muon() -> None:
    ours, theirs = pair()
    config = OptimizerConfig(matrix_rate=0.02, momentum=0.95, weight_decay=0.1)
    optimizer = Muon([("w", ours)], {}, config)
    reference = torch.optim.Muon([theirs], lr=0.02, weight_decay=0.1, momentum=0.95)
    for _ in range(5):
        grad = torch.randn(6, 4)
        ours.grad, theirs.grad = grad.clone(), grad.clone()
        optimizer.step(1.0, 300)  # from there on the momentum is constant
        reference.step()
    assert torch.allclose(ours, theirs, atol=5e-3)  # the iteration runs in bfloat16


def test_a_matrix_of_several_is_taken_apart() -> None:
    torch.manual_seed(1)
    grad = torch.randn(8, 4)
    joined = torch.zeros(8, 4, requires_grad=True)
    parts = [torch.zeros(4, 4, requires_grad=True) for _ in range(2)]
    joined.grad = grad
    parts[0].grad, parts[1].grad = grad[:4].clone(), grad[4:].clone()
    config = OptimizerConfig()
    Muon([("qk", joined)], {"qk": (4, 4)}, config).step(1.0, 0)
    Muon([("q", parts[0]), ("k", parts[1])], {}, config).step(1.0, 0)
    assert torch.equal(joined, torch.cat(parts))


def test_another_optimizer_is_not_restored() -> None:
    ours, _ = pair()
    named = [("w", ours)]
    adam, sgd = AdamW(named, OptimizerConfig()), Sgd(named, OptimizerConfig())
    with pytest.raises(ModelError, match="another optimizer"):
        adam.restore(sgd.tensors())
    wrong = {name: torch.zeros(2) for name in sgd.tensors()}
    with pytest.raises(ModelError, match="another shape"):
        sgd.restore(wrong)
