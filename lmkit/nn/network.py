"""What every neural network that reads tokens offers to training, scoring and sampling.

Letters of shapes: B sequences, T tokens, C features of a hidden state, V vocabulary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from lmkit.nn.outputs.layer import OutputLayer


@dataclass(slots=True)
class State:
    """What a network remembers of the tokens that B sequences have read.

    All sequences of a state have read the same number of tokens.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    """Each [B, ...]: keys and values, hidden states, the last tokens."""
    length: int = 0
    """Tokens read."""

    def reorder(self, indices: Tensor) -> State:
        """Return the state whose row i is row ``indices[i]``."""
        return State({name: t.index_select(0, indices) for name, t in self.tensors.items()},
                     self.length)  # fmt: skip

    def rows(self, begin: int, end: int) -> State:
        """Return the state of the sequences ``begin`` to ``end`` - 1."""
        return State({name: t[begin:end] for name, t in self.tensors.items()}, self.length)

    @staticmethod
    def join(states: Sequence[State]) -> State:
        """Return the state of the sequences of all ``states``, which have read equally much."""
        names = states[0].tensors
        tensors = {name: torch.cat([state.tensors[name] for state in states]) for name in names}
        return State(tensors, states[0].length)

    def detach(self) -> State:
        """Return the state cut off from the graph that made it."""
        return State({name: t.detach() for name, t in self.tensors.items()}, self.length)


class Network(nn.Module, ABC):
    """Turns tokens into hidden states, from which :attr:`output` predicts tokens."""

    causal: ClassVar[bool] = True
    """Whether the hidden state at t depends on tokens up to t only."""
    slides: ClassVar[bool] = False
    """Whether it forgets by itself what lies beyond :attr:`context_size`; if not, it must not be
    given more than that."""
    output: OutputLayer
    """Predicts the next token from a hidden state."""
    num_tokens: int
    """V."""
    context_size: int | None
    """How many tokens it can look back at, the newest counted; None: any number."""

    @abstractmethod
    def start(self, batch: int) -> State:
        """Return the state of ``batch`` sequences that have read nothing."""

    @abstractmethod
    def forward(self, ids: Tensor, state: State | None = None) -> tuple[Tensor, State | None]:
        """Read tokens and return the hidden state behind each.

        Args:
            ids: int64 [B, T].
            state: what was read before; None: nothing, and the tokens need not be remembered.

        Returns:
            Hidden states [B, T, C] (those that :attr:`output` takes), and the state after the
            tokens. Without a ``state``, networks that remember by copies of what they read
            return None instead of one.
        """

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return next(self.parameters()).device

    def matrix_blocks(self) -> dict[str, tuple[int, ...]]:
        """Return the names of matrices that are several, one below the other, and their rows."""
        return {}

    def num_parameters(self) -> int:
        """Return how many numbers are learned; tied ones count once."""
        return sum(p.numel() for p in self.parameters())
