"""The product of activations and weights, by the quickest exact route of the machine.

On AMD processors torch's own float32 product (MKL) takes a slow path; oneDNN, which is inside
torch as well, is twice as fast and just as exact. Which one is better is measured, not guessed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor

RouteName = Literal["plain", "onednn"]

_TRIAL = (768, 128, 512)
"""Rows, inputs and outputs of the product that is timed: a block of a small Transformer."""

_route: RouteName = "plain"


@dataclass(frozen=True, slots=True)
class GemmRoute:
    """How products are computed, and how fast that is."""

    name: RouteName
    """``"plain"``: torch's default; ``"onednn"``: oneDNN's."""
    gflops: float
    """10^9 multiplications and additions a second, forwards."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``x @ weight.T + bias``: [..., C] and [D, C] give [..., D]."""
    if _route == "plain" or not _fits(x, weight):
        return F.linear(x, weight, bias)
    out = cast("Tensor", cast("Any", _OneDnnLinear).apply(x, weight))
    return out if bias is None else out + bias


def set_route(name: RouteName) -> None:
    """Compute all further products by this route."""
    global _route
    _route = name


def route() -> RouteName:
    """Return how products are computed."""
    return _route


def choose_route(milliseconds: float = 50.0) -> GemmRoute:
    """Time both routes for about ``milliseconds`` together, and take the quicker one."""
    rows, inputs, outputs = _TRIAL
    # Fixed numbers, not random ones: measuring must not move torch's stream of random numbers.
    x = torch.linspace(-1.0, 1.0, rows * inputs).reshape(rows, inputs)
    weight = torch.linspace(-1.0, 1.0, outputs * inputs).reshape(outputs, inputs)
    trials: dict[RouteName, Callable[[], Any]] = {"plain": lambda: F.linear(x, weight)}
    if torch.backends.mkldnn.is_available():
        trials["onednn"] = lambda: _product(x, weight)
    best = dict.fromkeys(trials, float("inf"))
    with torch.no_grad():
        for trial in trials.values():
            trial()
        end = time.perf_counter() + milliseconds / 1000.0
        while True:
            for name, trial in trials.items():
                begin = time.perf_counter()
                trial()
                best[name] = min(best[name], time.perf_counter() - begin)
            if time.perf_counter() > end:
                break
    quickest = min(best, key=lambda name: best[name])
    set_route(quickest)
    return GemmRoute(quickest, 2.0 * rows * inputs * outputs / best[quickest] / 1e9)


def _fits(x: Tensor, weight: Tensor) -> bool:
    """Tell whether oneDNN's product takes these: float32 on the CPU, not under autocast."""
    return (
        x.dtype == weight.dtype == torch.float32
        and x.device.type == "cpu"
        and not torch.is_autocast_enabled("cpu")
        and x.numel() > 0
    )


def _product(x: Tensor, weight: Tensor) -> Tensor:
    return cast("Tensor", torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], ""))


class _OneDnnLinear(torch.autograd.Function):
    """``x @ weight.T`` and its two gradients, each by oneDNN."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _product(x, weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_x = _product(grad, weight.t()) if ctx.needs_input_grad[0] else None
        of_weight = None
        if ctx.needs_input_grad[1]:
            rows = grad.reshape(-1, grad.shape[-1])
            of_weight = _product(rows.t(), x.reshape(-1, x.shape[-1]).t())
        return of_x, of_weight
