"""Optimizers: AdamW, Muon, SGD and averaged SGD.

They are torch's own fused operations without ``torch.optim.Optimizer``, whose constructor imports
the compiler (a second of start-up), and with a state of plain named tensors, so that checkpoints
hold no pickle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lmkit.errors import ModelError
from lmkit.nn.network import Network

OptimizerKind = Literal["muon", "adamw", "sgd", "asgd"]

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic iteration of Jordan (2024)."""
_OUTER = ("embed", "places", "output")
"""What the names of matrices begin with that are no hidden ones: tables of vectors."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizerConfig:
    """Which optimizer, and its numbers."""

    kind: OptimizerKind = "adamw"
    """adamw (Loshchilov & Hutter 2019), muon (Jordan 2024) for hidden matrices with adamw for all
    else, sgd, or asgd: sgd whose weights are averaged (Polyak & Juditsky 1992)."""
    learning_rate: float = 1e-3
    """Highest rate."""
    matrix_rate: float = 0.02
    """muon: highest rate of the hidden matrices."""
    weight_decay: float = 0.0
    """Part of the weights, times the rate, that is taken away; not from vectors."""
    betas: tuple[float, float] = (0.9, 0.95)
    """adamw: how slowly the moments forget."""
    eps: float = 1e-8
    """adamw: added to the root of the second moment."""
    momentum: float = 0.95
    """muon (reached after 300 steps from 0.85) and sgd."""


class Optimizer(ABC):
    """Moves weights against their gradients."""

    @abstractmethod
    def step(self, factor: float, step: int) -> None:
        """Move all weights once.

        Args:
            factor: of the highest rates.
            step: from 0.
        """

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Return all that it remembers, by name; the tensors themselves."""

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what :meth:`tensors` returned once.

        Raises:
            ModelError: they are those of another optimizer or network.
        """
        own = self.tensors()
        if own.keys() != tensors.keys():
            raise ModelError("the checkpoint is of another optimizer", "Begin a new run")
        for name, tensor in own.items():
            if tensor.shape != tensors[name].shape:
                raise ModelError(f"the checkpoint has another shape of {name}", "Begin a new run")
            tensor.copy_(tensors[name])


Named = Sequence[tuple[str, Tensor]]


class AdamW(Optimizer):
    """Adam with decoupled weight decay, by the fused operation."""

    def __init__(self, named: Named, config: OptimizerConfig) -> None:
        self._config = config
        self._groups = []
        for decayed in (True, False):
            chosen = [(n, p) for n, p in named if (p.ndim > 1) == decayed]
            if chosen:
                self._groups.append(_AdamGroup(chosen, config.weight_decay if decayed else 0.0))

    def step(self, factor: float, step: int) -> None:
        """Move all weights that have a gradient."""
        for group in self._groups:
            group.step(self._config, factor)

    def tensors(self) -> dict[str, Tensor]:
        """Return both moments and the count of steps of each weight."""
        return {name: t for group in self._groups for name, t in group.tensors().items()}


class _AdamGroup:
    """Weights with one weight decay."""

    def __init__(self, named: Named, decay: float) -> None:
        self.names = [name for name, _ in named]
        self.weights = [weight for _, weight in named]
        self.decay = decay
        self.first = [torch.zeros_like(weight) for weight in self.weights]
        self.second = [torch.zeros_like(weight) for weight in self.weights]
        self.steps = [torch.zeros((), device=weight.device) for weight in self.weights]

    def step(self, config: OptimizerConfig, factor: float) -> None:
        live = [i for i, weight in enumerate(self.weights) if weight.grad is not None]
        if not live:
            return
        weights, first, second, steps = (
            [each[i] for i in live] for each in (self.weights, self.first, self.second, self.steps)
        )
        torch._foreach_add_(steps, 1.0)
        torch._fused_adamw_(
            weights, [w.grad for w in weights if w.grad is not None], first, second, [], steps,
            lr=config.learning_rate * factor, beta1=config.betas[0], beta2=config.betas[1],
            weight_decay=self.decay, eps=config.eps, amsgrad=False, maximize=False,
        )  # fmt: skip

    def tensors(self) -> dict[str, Tensor]:
        found = {}
        kinds = (("first", self.first), ("second", self.second), ("steps", self.steps))
        for kind, tensors in kinds:
            found.update({f"{name}.{kind}": t for name, t in zip(self.names, tensors, strict=True)})
        return found


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows of a matrix, which are orthogonalized together."""

    weight: Tensor
    begin: int
    end: int


class Muon(Optimizer):
    """Momentum whose update of each hidden matrix is made orthogonal (Jordan 2024).

    Blocks of one shape go through Newton and Schulz's iteration together. A matrix that is several
    in one (queries, keys and values) is taken apart for it.
    """

    def __init__(
        self, named: Named, blocks: Mapping[str, Sequence[int]], config: OptimizerConfig
    ) -> None:
        self._config = config
        self._names = [name for name, _ in named]
        self._weights = [weight for _, weight in named]
        self._momenta = [torch.zeros_like(weight) for weight in self._weights]
        self._groups: dict[tuple[int, int], list[tuple[int, _Block]]] = {}
        for number, (name, weight) in enumerate(named):
            begin = 0
            for size in blocks.get(name, (len(weight),)):
                block = _Block(weight, begin, begin + size)
                shape = tuple(sorted((size, weight.shape[1])))
                self._groups.setdefault((shape[0], shape[1]), []).append((number, block))
                begin += size

    @torch.no_grad()
    def step(self, factor: float, step: int) -> None:
        """Move all matrices."""
        config = self._config
        momentum = min(config.momentum, 0.85 + (config.momentum - 0.85) * step / 300)
        updates = []
        for weight, kept in zip(self._weights, self._momenta, strict=True):
            grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
            kept.lerp_(grad, 1.0 - momentum)
            updates.append(grad.lerp(kept, momentum))
        rate = config.matrix_rate * factor
        for group in self._groups.values():
            parts = [_wide(updates[number][block.begin : block.end]) for number, block in group]
            for (_, block), update in zip(group, orthogonalize(torch.stack(parts)), strict=True):
                rows, columns = block.end - block.begin, block.weight.shape[1]
                turned = update.T if rows > columns else update
                target = block.weight[block.begin : block.end]
                target.mul_(1.0 - rate * config.weight_decay)
                scale = max(1.0, rows / columns) ** 0.5
                target.add_(turned.to(target.dtype), alpha=-rate * scale)

    def tensors(self) -> dict[str, Tensor]:
        """Return the momentum of each matrix."""
        pairs = zip(self._names, self._momenta, strict=True)
        return {f"{name}.momentum": momentum for name, momentum in pairs}


def _wide(matrix: Tensor) -> Tensor:
    """Return ``matrix`` or its transpose, whichever has no more rows than columns."""
    return matrix.T if matrix.shape[0] > matrix.shape[1] else matrix


def orthogonalize(matrices: Tensor, steps: int = 5, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """Return about U V^T of each matrix U S V^T of a batch [N, R, C], R <= C.

    Newton and Schulz's iteration X <- a X + (b A + c A^2) X with A = X X^T, from X / |X|; it
    leaves singular values between about 0.7 and 1.2.
    """
    a, b, c = NEWTON_SCHULZ
    x: Tensor = matrices.to(dtype)
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x


class Sgd(Optimizer):
    """Stochastic gradient descent with momentum."""

    def __init__(self, named: Named, config: OptimizerConfig) -> None:
        self._config = config
        self._named = named
        self._momenta = {name: torch.zeros_like(weight) for name, weight in named}

    @torch.no_grad()
    def step(self, factor: float, step: int) -> None:
        """Move all weights that have a gradient."""
        rate = self._config.learning_rate * factor
        for name, weight in self._named:
            if weight.grad is None:
                continue
            decay = self._config.weight_decay if weight.ndim > 1 else 0.0
            kept = self._momenta[name].mul_(self._config.momentum).add_(weight.grad)
            weight.mul_(1.0 - rate * decay).add_(kept, alpha=-rate)

    def tensors(self) -> dict[str, Tensor]:
        """Return the momentum of each weight."""
        return {f"{name}.momentum": momentum for name, momentum in self._momenta.items()}


class Joined(Optimizer):
    """Several optimizers, each of some of the weights."""

    def __init__(self, parts: Sequence[Optimizer]) -> None:
        self._parts = parts

    def step(self, factor: float, step: int) -> None:
        """Move the weights of each part."""
        for part in self._parts:
            part.step(factor, step)

    def tensors(self) -> dict[str, Tensor]:
        """Return what all parts remember."""
        return {name: t for part in self._parts for name, t in part.tensors().items()}


def make_optimizer(network: Network, config: OptimizerConfig) -> Optimizer:
    """Return the optimizer of all weights of ``network``."""
    named = [(name, weight) for name, weight in network.named_parameters() if weight.requires_grad]
    if config.kind == "adamw":
        return AdamW(named, config)
    if config.kind in ("sgd", "asgd"):
        return Sgd(named, config)
    inner = [(n, w) for n, w in named if w.ndim == 2 and not n.startswith(_OUTER)]
    chosen = {name for name, _ in inner}
    outer = [(name, weight) for name, weight in named if name not in chosen]
    return Joined([Muon(inner, network.matrix_blocks(), config), AdamW(outer, config)])


def gradient_norm(weights: Sequence[Tensor]) -> Tensor:
    """Return the Euclidean norm of all gradients together, a scalar."""
    grads = [weight.grad for weight in weights if weight.grad is not None]
    norms = torch._foreach_norm(grads)
    total: Tensor = torch.linalg.vector_norm(torch.stack([norm.float() for norm in norms]))
    return total
