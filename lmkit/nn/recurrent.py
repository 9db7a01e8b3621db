"""Recurrent networks: what they have in common, and the layers that torch does not have.

Letters of shapes: B sequences, T tokens, L layers, D inputs, C features of a hidden state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from lmkit.errors import UserError
from lmkit.nn.linear import linear
from lmkit.nn.network import Network, State
from lmkit.nn.outputs.full import FullSoftmax

EMBEDDING_RANGE = 0.5
"""Embeddings are drawn between minus this and this; with 0.1 short runs end worse."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecurrentConfig:
    """Settings that all recurrent networks have."""

    num_tokens: int
    """V."""
    embedding_size: int = 200
    """D of the first layer."""
    hidden_size: int = 200
    """C."""
    num_layers: int = 1
    """L."""
    dropout: float = 0.0
    """Part of the inputs and outputs of each layer that a training step leaves out; what goes
    from one token to the next stays whole (Zaremba et al. 2014)."""
    never: tuple[int, ...] = (1,)
    """Ids that are never predicted."""

    def __post_init__(self) -> None:
        """Check the settings."""
        for name in ("num_tokens", "embedding_size", "hidden_size", "num_layers"):
            if getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}", "It must be 1 or more")
        if not 0.0 <= self.dropout < 1.0:
            raise UserError(f"dropout is {self.dropout:g}", "It must be 0 or more and below 1")
        if not all(0 <= token < self.num_tokens for token in self.never):
            raise UserError(f"never names an id that is not below num_tokens {self.num_tokens}")

    @property
    def between(self) -> float:
        """The dropout between layers, for torch's layers, which want none where there is one."""
        return self.dropout if self.num_layers > 1 else 0.0


class RecurrentNetwork(Network):
    """Embeds tokens and reads them one after another.

    Attributes:
        memory: names of what goes from one token to the next; each is [B, L, C] in a state.
        body: the layers.
    """

    memory: ClassVar[tuple[str, ...]] = ("hidden",)
    context_size: int | None = None
    body: nn.Module

    def __init__(self, config: RecurrentConfig, *, tied: bool = False) -> None:
        super().__init__()
        self.num_tokens = config.num_tokens
        self.hidden_size = config.hidden_size
        self.num_layers = config.num_layers
        self.embedding = nn.Embedding(config.num_tokens, config.embedding_size)
        nn.init.uniform_(self.embedding.weight, -EMBEDDING_RANGE, EMBEDDING_RANGE)
        self.dropout = nn.Dropout(config.dropout)
        self.output = FullSoftmax(
            config.hidden_size,
            config.num_tokens,
            never=config.never,
            weight=cast("nn.Parameter", self.embedding.weight) if tied else None,
        )

    def start(self, batch: int) -> State:
        """Return the state of zeros."""
        size = (batch, self.num_layers, self.hidden_size)
        return State({name: self.embedding.weight.new_zeros(size) for name in self.memory})

    def forward(self, ids: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Return the hidden states [B, T, C] behind each of ``ids`` int64 [B, T], and the state.

        There is always a state, since it costs nothing.
        """
        before = self.start(len(ids)) if state is None else state
        memory = [before.tensors[name].transpose(0, 1).contiguous() for name in self.memory]
        hidden, after = self.read(self.dropout(self.embedding(ids)), tuple(memory))
        # Under autocast the memory may come back in 16 bits; checkpoints want the weights' kind.
        kind = self.embedding.weight.dtype
        named = zip(self.memory, after, strict=True)
        tensors = {name: tensor.transpose(0, 1).to(kind) for name, tensor in named}
        return self.dropout(hidden), State(tensors, before.length + ids.shape[1])

    def read(self, x: Tensor, memory: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the hidden states [B, T, C] and the memory behind the embeddings ``x`` [B, T, D].

        The memory is one [L, B, C] for each name of :attr:`memory`.
        """
        hidden, after = self.body(x, memory[0])
        return hidden, (after,)


class ChoGru(nn.Module):
    """Gated recurrent units whose reset gate acts before the product (Cho et al. 2014, eq. 5 to 8).

        r = sigmoid(W_r x + U_r h + b_r)    z = sigmoid(W_z x + U_z h + b_z)
        n = tanh(W x + U (r * h) + b)       h' = z * h + (1 - z) * n

    torch's own layer computes r * (U h) instead. The paper has no b.

    Attributes:
        inputs: for each layer W [3 C, D] of r, z and n one below the other, and b [3 C].
        gates: for each layer U of r and z [2 C, C].
        candidates: for each layer U of n [C, C].
    """

    def __init__(
        self, num_inputs: int, hidden_size: int, num_layers: int = 1, dropout: float = 0.0
    ) -> None:
        super().__init__()
        sizes = [num_inputs] + [hidden_size] * (num_layers - 1)
        self.inputs = nn.ModuleList(nn.Linear(size, 3 * hidden_size) for size in sizes)
        self.gates = nn.ModuleList(
            nn.Linear(hidden_size, 2 * hidden_size, bias=False) for _ in sizes
        )
        self.candidates = nn.ModuleList(
            nn.Linear(hidden_size, hidden_size, bias=False) for _ in sizes
        )
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(hidden_size**-0.5), hidden_size**-0.5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Read [B, T, D] from the state [L, B, C]; return [B, T, C] and the new state."""
        last = []
        for number, start in enumerate(hidden):
            x = self._layer(number, x if number == 0 else self.dropout(x), start)
            last.append(x[:, -1])
        return x, torch.stack(last)

    def _layer(self, number: int, x: Tensor, h: Tensor) -> Tensor:
        inputs = cast("nn.Linear", self.inputs[number])
        gates = cast("nn.Linear", self.gates[number]).weight
        candidates = cast("nn.Linear", self.candidates[number]).weight
        size = h.shape[-1]
        steps = []
        for given in linear(x, inputs.weight, inputs.bias).unbind(1):
            of_gates, of_candidate = given.split([2 * size, size], dim=-1)
            reset, update = torch.sigmoid(of_gates + linear(h, gates)).chunk(2, dim=-1)
            candidate = torch.tanh(of_candidate + linear(reset * h, candidates))
            h = torch.lerp(candidate, h.to(candidate.dtype), update)
            steps.append(h)
        return torch.stack(steps, dim=1)
