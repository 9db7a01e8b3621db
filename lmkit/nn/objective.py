"""The contract between training objectives and the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from torch import Tensor, nn

from lmkit.nn.network import Network, State

Batch = dict[str, Tensor]
"""Tensors by name, each with the rows of the batch as its first axis."""


@dataclass(slots=True)
class Loss:
    """One sum and one count: the engine divides them once over the whole step."""

    sum: Tensor
    """A scalar with a gradient: the sum of the loss over all predicted tokens, in nats."""
    count: Tensor
    """A scalar: how many tokens were predicted."""
    figures: dict[str, Tensor] = field(default_factory=dict)
    """Other sums worth showing, by name, without gradients."""


class Objective(nn.Module, ABC):
    """What a network is trained for; the engine calls it, wrapped for several processes or not.

    Attributes:
        network: the network.
        carried: what a network that remembers takes from one batch to the next; None: nothing.
            It is a part of checkpoints.
    """

    network: Network
    carried: State | None

    @abstractmethod
    def forward(self, batch: Batch) -> Loss:
        """Return the loss of a batch."""
