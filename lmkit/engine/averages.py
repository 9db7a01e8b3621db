"""Running averages of weights (Polyak & Juditsky 1992), in place of the weights for validation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from lmkit.nn.network import Network


class Averages:
    """An exponential average, or the mean of the weights of all later steps.

    Attributes:
        tensors: the averages by the names of the weights; empty until the first.
    """

    def __init__(self, network: Network, ema: float, uniform: bool) -> None:
        """Begin with no average.

        Args:
            network: whose weights are averaged.
            ema: how little the average forgets a step; 0: there is none.
            uniform: keep the plain mean over the second half of the steps.
        """
        self._network = network
        self._ema = ema
        self._uniform = uniform
        self.tensors: dict[str, Tensor] = {}

    def update(self, step: int, steps: int) -> None:
        """Take in the weights behind step number ``step`` of ``steps``, counted from 0."""
        if self._ema:  # a young average forgets faster
            share = 1.0 - min(self._ema, (1.0 + step) / (10.0 + step))
        elif self._uniform and step >= steps // 2:
            share = 1.0 / (step - steps // 2 + 1)
        else:
            return
        with torch.no_grad():
            for name, weight in self._network.named_parameters():
                if name in self.tensors:
                    self.tensors[name].lerp_(weight, share)
                else:
                    self.tensors[name] = weight.detach().clone()

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """Put the averages in place of the weights for a while."""
        raw = {}
        for name, weight in self._network.named_parameters():
            if name in self.tensors:
                raw[name], weight.data = weight.data, self.tensors[name]
        try:
            yield
        finally:
            for name, weight in self._network.named_parameters():
                if name in raw:
                    weight.data = raw[name]

    def settle(self) -> None:
        """Make the averages the weights for good."""
        with torch.no_grad():
            for name, weight in self._network.named_parameters():
                if name in self.tensors:
                    weight.copy_(self.tensors[name])
