"""Next-token prediction: the negative log likelihood of each token given those before it.

Letters of shapes: B rows of a batch, T tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lmkit.nn.network import Network, State
from lmkit.nn.objective import Batch, Loss, Objective


class CausalObjective(Objective):
    """The negative log likelihood of the token behind each position, for a causal network.

    A batch has ``ids`` int64 [B, T] and ``targets`` int64 [B, T], the token behind each, or -1
    where none is to be predicted. It may have ``fresh`` bool [B]: this row does not go on where
    that of the batch before ended, but begins anew.

    Args:
        network: a causal network.
        carry: read each row on from where the row of the batch before ended; gradients do not
            reach back there (truncated backpropagation through time). This is for networks whose
            state does not grow and for which the number of tokens read does not matter.
    """

    def __init__(self, network: Network, carry: bool = False) -> None:
        super().__init__()
        assert network.causal, "this network sees the tokens that it should predict"
        self.network = network
        self.carry = carry
        self.carried: State | None = None

    def forward(self, batch: Batch) -> Loss:
        """Return the loss of a batch, and keep the state behind it."""
        ids, targets = batch["ids"], batch["targets"].flatten()
        state = self._before(len(ids), batch.get("fresh")) if self.carry else None
        hidden, after = self.network(ids, state)
        if self.carry:
            assert after is not None, "a network that was given a state returns one"
            self.carried = after.detach()
        hidden = hidden.flatten(0, 1)
        predicted = targets >= 0
        if not predicted.all():
            hidden, targets = hidden[predicted], targets[predicted]
        return Loss(self.network.output.loss(hidden, targets), predicted.sum())

    def _before(self, rows: int, fresh: Tensor | None) -> State:
        """Return the state in which each of the rows begins."""
        start = self.network.start(rows)
        carried = self.carried
        if carried is None or any(len(tensor) != rows for tensor in carried.tensors.values()):
            return start
        if fresh is None or not fresh.any():
            return carried
        if fresh.all():
            return start
        tensors = {}
        for name, tensor in carried.tensors.items():
            mask = fresh.view(-1, *[1] * (tensor.dim() - 1))
            tensors[name] = torch.where(mask, start.tensors[name].to(tensor.dtype), tensor)
        return State(tensors, carried.length)
