"""The full softmax over the vocabulary, its loss fused with the product that makes the logits.

Logits [N, V] are made a chunk of rows at a time and turned into their gradient where they lie, so
that they never leave the cache and memory stays small; the backward pass only scales. The loss
equals ``cross_entropy(linear(hidden))``, gradients included.

Letters of shapes: N positions, C features, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

from lmkit.nn.linear import linear
from lmkit.nn.outputs.layer import OutputLayer

CHUNK_CELLS = 1 << 20
"""Logits held at a time: 4 MiB in float32, what a core's share of the cache holds."""


class FullSoftmax(OutputLayer):
    """p = softmax(W h + b), with logits capped softly if wanted.

    Attributes:
        weight: [V, C]; the embedding matrix itself where tied.
        bias: [V] or None.
        softcap: c in ``c tanh(logit / c)`` (Gemma 2, 2024); None: no cap.
    """

    def __init__(
        self,
        num_features: int,
        num_tokens: int,
        *,
        never: tuple[int, ...] = (1,),
        bias: bool = True,
        weight: nn.Parameter | None = None,
        softcap: float | None = None,
        zero_init: bool = False,
    ) -> None:
        super().__init__()
        self.num_tokens = num_tokens
        self.never = never
        self.softcap = softcap
        if weight is None:
            size = 0.0 if zero_init else num_features**-0.5
            weight = nn.Parameter(torch.empty(num_tokens, num_features).uniform_(-size, size))
        assert weight.shape == (num_tokens, num_features), "a tied weight of another shape"
        self.weight = weight
        self.bias = nn.Parameter(torch.zeros(num_tokens)) if bias else None

    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return the sum of -ln p(targets), a scalar."""
        needs = torch.is_grad_enabled() and (hidden.requires_grad or self.weight.requires_grad)
        if not needs:
            return -self.target_logprobs(hidden, targets).sum()
        arguments = hidden, self.weight, self.bias, targets, self.never, self.softcap
        return cast("Tensor", cast("Any", _FusedCrossEntropy).apply(*arguments))

    def logprobs(self, hidden: Tensor) -> Tensor:
        """Return the log probabilities [N, V]."""
        return torch.log_softmax(self._logits(hidden), dim=-1)

    def target_logprobs(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return ln p(targets) [N], never forming all [N, V]."""
        parts = []
        for rows in _chunks(len(hidden), self.num_tokens):
            logits = self._logits(hidden[rows])
            chosen = logits.gather(1, targets[rows, None])[:, 0]
            parts.append(chosen - torch.logsumexp(logits, dim=-1))
        return torch.cat(parts) if parts else hidden.new_zeros(0)

    def _logits(self, hidden: Tensor) -> Tensor:
        """Return the logits [N, V], float32 at least."""
        logits = linear(hidden, self.weight, self.bias)
        logits = logits if logits.dtype == torch.float64 else logits.float()
        if self.softcap is not None:
            logits = self.softcap * torch.tanh(logits / self.softcap)
        if self.never:
            logits[:, list(self.never)] = float("-inf")
        return logits


def _chunks(num_rows: int, num_tokens: int) -> Iterator[slice]:
    size = max(1, CHUNK_CELLS // num_tokens)
    for begin in range(0, num_rows, size):
        yield slice(begin, begin + size)


class _FusedCrossEntropy(torch.autograd.Function):
    """The summed loss; all gradients are made on the way forwards."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        never: tuple[int, ...],
        softcap: float | None,
    ) -> Tensor:
        of_hidden = torch.empty_like(hidden)
        of_weight = torch.zeros_like(weight)
        of_bias = None if bias is None else torch.zeros_like(bias)
        kind = torch.promote_types(weight.dtype, torch.float32)
        loss = torch.zeros((), dtype=torch.float64, device=hidden.device)
        autocast = torch.is_autocast_enabled(hidden.device.type)
        low = torch.get_autocast_dtype(hidden.device.type) if autocast else weight.dtype
        cast_weight = weight.to(low)
        with torch.autocast(hidden.device.type, enabled=False):
            for rows in _chunks(len(hidden), len(weight)):
                inputs = hidden[rows].to(low)
                logits = linear(inputs, cast_weight).to(kind)
                if bias is not None:
                    logits += bias
                chosen, grad = _turn_into_gradient(logits, targets[rows], never, softcap)
                loss -= chosen
                grad = grad.to(low)
                of_hidden[rows] = linear(grad, cast_weight.t()).to(hidden.dtype)
                of_weight += linear(grad.t(), inputs.t())
                if of_bias is not None:
                    of_bias += grad.sum(0)
        ctx.save_for_backward(of_hidden, of_weight, of_bias)
        return loss.to(kind)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        of_hidden, of_weight, of_bias = ctx.saved_tensors
        scaled = None if of_bias is None else of_bias * grad
        return of_hidden * grad.to(of_hidden.dtype), of_weight * grad, scaled, None, None, None


def _turn_into_gradient(
    logits: Tensor, targets: Tensor, never: tuple[int, ...], softcap: float | None
) -> tuple[Tensor, Tensor]:
    """Return the summed log probability of the targets, and ``logits`` turned into d loss / d z."""
    slope = None
    if softcap is not None:
        logits.div_(softcap).tanh_()
        slope = 1.0 - logits.square()
        logits.mul_(softcap)
    if never:
        logits[:, list(never)] = float("-inf")
    rows = torch.arange(len(targets), device=targets.device)
    chosen = logits[rows, targets]
    peak = logits.max(dim=1, keepdim=True).values
    logits.sub_(peak).exp_()
    total = logits.sum(dim=1, keepdim=True)
    logprob = (chosen - peak[:, 0] - total[:, 0].log()).double().sum()
    logits.div_(total)
    logits[rows, targets] -= 1.0
    if slope is not None:
        logits.mul_(slope)
    return logprob, logits
