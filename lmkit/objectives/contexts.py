"""Next-token prediction from shuffled contexts of fixed size (Bengio et al. 2003)."""

from __future__ import annotations

from typing import Any, cast

import torch

from lmkit.nn.network import Network, State
from lmkit.nn.objective import Batch, Loss, Objective


class ContextObjective(Objective):
    """The negative log likelihood of the token behind each context.

    The network turns contexts ``ids`` int64 [N, n - 1] into features [N, F] by its method
    ``features``; the batch has ``targets`` int64 [N] too.
    """

    carried: State | None = None

    def __init__(self, network: Network) -> None:
        super().__init__()
        assert hasattr(network, "features"), "this network does not read contexts"
        self.network = network

    def forward(self, batch: Batch) -> Loss:
        """Return the loss of N contexts."""
        features = cast("Any", self.network).features(batch["ids"])
        targets = batch["targets"]
        count = torch.tensor(targets.numel(), device=targets.device)
        return Loss(self.network.output.loss(features, targets), count)
