"""What every output layer offers. Letters of shapes: N positions, C features, V vocabulary."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn


class OutputLayer(nn.Module, ABC):
    """Predicts tokens from hidden states.

    Attributes:
        num_tokens: V.
        never: ids that are never predicted: their probability is 0, in training too.
    """

    num_tokens: int
    never: tuple[int, ...]

    @abstractmethod
    def loss(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return the SUM over N positions of what training minimises, in nats (a scalar).

        Args:
            hidden: [N, C].
            targets: int64 [N], each in 0..V-1 and not one of :attr:`never`.
        """

    @abstractmethod
    def logprobs(self, hidden: Tensor) -> Tensor:
        """Return the log probabilities [N, V], float32, -inf for :attr:`never`."""

    def target_logprobs(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Return ln p(targets) [N], float32; -inf for a target that is never predicted."""
        return self.logprobs(hidden).gather(1, targets[:, None])[:, 0]
