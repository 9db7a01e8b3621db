"""Attention, rotations and norms against the stored reference numbers and their own laws."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from shared_data import shared
from torch import Tensor

from lmkit.nn.attention import attend, linear_attend
from lmkit.nn.norms import Norm
from lmkit.nn.positions import rotate, rotation, sinusoids


def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shared("golden", "lm", "attention.json").read_text("utf-8"))
    return found


def tensor(numbers: Any) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def heads(length: int) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    q, k, v = torch.randn(3, 2, 2, length, 4, dtype=torch.float64)
    return q, k, v


@pytest.mark.parametrize("causal", [False, True])
def test_the_published_attention(causal: bool) -> None:
    stored = golden()
    q, k, v = (tensor(stored[name]) for name in "qkv")
    expected = tensor(stored["out_causal" if causal else "out_full"])
    assert torch.allclose(attend(q, k, v, causal=causal), expected, rtol=0, atol=1e-9)


def test_the_published_rotation() -> None:
    stored = golden()
    q = tensor(stored["q"]).transpose(1, 2)
    turned = rotate(q, *rotation(torch.arange(5), 4, 10000.0)).transpose(1, 2)
    expected = tensor(stored["rope"]["half_split"])
    assert torch.allclose(turned, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "kind"), [("rmsnorm", "rms"), ("layernorm", "layer")])
def test_the_published_norms(name: str, kind: Any) -> None:
    stored = golden()[name]
    norm = Norm(8, kind, weight=False, bias=False, eps=stored["eps"])
    assert torch.allclose(norm(tensor(stored["x"])), tensor(stored["y"]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("length", [7, 300])
@pytest.mark.parametrize("kind", ["softmax", "rbf"])
def test_attention_is_its_equation(kind: Any, length: int) -> None:
    q, k, v = heads(length)
    scores = q @ k.transpose(-1, -2) / 2.0
    if kind == "rbf":
        scores = -torch.cdist(q, k, compute_mode="donot_use_mm_for_euclid_dist").square() / 4.0
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    expected = torch.softmax(scores.masked_fill(hidden, float("-inf")), -1) @ v
    assert torch.allclose(attend(q, k, v, kind=kind), expected, rtol=0, atol=1e-9)


def test_without_a_mask_order_does_not_matter() -> None:
    q, k, v = heads(9)
    order = torch.randperm(9)
    whole = attend(q, k, v, causal=False)
    mixed = attend(*(x[..., order, :] for x in (q, k, v)), causal=False)
    assert torch.allclose(mixed, whole[..., order, :], rtol=0, atol=1e-12)


def test_linear_attention_is_its_recurrence() -> None:
    q, k, v = heads(150)
    memory = torch.zeros(2, 2, 4, 4).double(), torch.zeros(2, 2, 4).double()
    whole, _ = linear_attend(q, k, v, memory)
    for t in range(150):
        now, memory = linear_attend(*(x[..., t : t + 1, :] for x in (q, k, v)), memory)
        assert torch.allclose(now[..., 0, :], whole[..., t, :], rtol=0, atol=1e-9)


def test_a_shift_of_sinusoids_is_a_rotation() -> None:
    plain, shifted = sinusoids(torch.arange(6), 8), sinusoids(torch.arange(6) + 5, 8)
    angle = 5.0 * 10000.0 ** (-torch.arange(0, 8, 2).double() / 8)
    sin, cos = plain[:, ::2], plain[:, 1::2]
    assert torch.allclose(shifted[:, ::2], sin * angle.cos() + cos * angle.sin(), atol=1e-12)
    assert torch.allclose(shifted[:, 1::2], cos * angle.cos() - sin * angle.sin(), atol=1e-12)
