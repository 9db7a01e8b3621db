"""The neural probabilistic language model (Bengio et al. 2003, "A Neural Probabilistic Language
Model", JMLR 3, equation 1): a feed-forward network over the last n - 1 tokens.

    y = b + W x + U tanh(d + H x),    x = (C(w_{t-1}), C(w_{t-2}), ..., C(w_{t-n+1}))

Letters of shapes: B sequences, T tokens, N contexts, F features for the output, V vocabulary,
n order, m size of an embedding, h size of the hidden layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, cast, get_args

import torch
from torch import Tensor, nn

from lmkit.errors import UserError
from lmkit.language_model import BOS
from lmkit.nn.linear import linear
from lmkit.nn.network import Network, State
from lmkit.nn.outputs.full import FullSoftmax

Activation = Literal["tanh", "linear"]

EMBEDDING_RANGE = 0.5
"""Embeddings are drawn between minus this and this; with 0.1 short runs end worse."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NplmConfig:
    """Settings of an NPLM."""

    num_tokens: int
    """V."""
    order: int = 5
    """n: a token is predicted from the n - 1 before it."""
    embedding_size: int = 100
    """m."""
    hidden_size: int = 100
    """h."""
    direct: bool = False
    """Connect the embeddings with the output directly, too (W x of the paper)."""
    activation: Activation = "tanh"
    """Of the hidden layer; linear: none, as in log-bilinear models (Mnih & Hinton 2007)."""
    dropout: float = 0.0
    """Part of the embeddings and of the hidden units that a training step leaves out."""
    never: tuple[int, ...] = (1,)
    """Ids that are never predicted."""

    def __post_init__(self) -> None:
        """Check the settings."""
        least = {"num_tokens": 1, "order": 2, "embedding_size": 1, "hidden_size": 1}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise UserError(f"{name} is {getattr(self, name)}", f"It must be {bound} or more")
        if self.activation not in get_args(Activation):
            known = ", ".join(get_args(Activation))
            raise UserError(f"unknown activation {self.activation!r}", f"Known: {known}")
        if not 0.0 <= self.dropout < 1.0:
            raise UserError(f"dropout is {self.dropout:g}", "It must be 0 or more and below 1")
        if not all(0 <= token < self.num_tokens for token in self.never):
            raise UserError(f"never names an id that is not below num_tokens {self.num_tokens}")


class Nplm(Network):
    """Predicts from the last n - 1 tokens; before the first token there are only <s>.

    Attributes:
        embedding: C [V, m].
        hidden: H [h, (n - 1) m], blocks of columns newest token first, and d [h].
        output: U [V, h], with direct connections [U | W] [V, h + (n - 1) m], and b [V].
    """

    slides: ClassVar[bool] = True

    def __init__(self, config: NplmConfig) -> None:
        super().__init__()
        self.num_tokens = config.num_tokens
        self.context_size: int = config.order - 1
        self.direct = config.direct
        self.activation = config.activation
        num_inputs = self.context_size * config.embedding_size
        self.embedding = nn.Embedding(config.num_tokens, config.embedding_size)
        nn.init.uniform_(self.embedding.weight, -EMBEDDING_RANGE, EMBEDDING_RANGE)
        self.hidden = nn.Linear(num_inputs, config.hidden_size)
        self.dropout = nn.Dropout(config.dropout)
        num_features = config.hidden_size + (num_inputs if config.direct else 0)
        self.output = FullSoftmax(num_features, config.num_tokens, never=config.never)

    def start(self, batch: int) -> State:
        """Return the state behind n - 2 times <s>."""
        size = (batch, self.context_size - 1)
        return State({"last": torch.full(size, BOS, dtype=torch.int64, device=self.device)})

    def forward(self, ids: Tensor, state: State | None = None) -> tuple[Tensor, State | None]:
        """Return the features [B, T, F] behind each of ``ids`` int64 [B, T], and the state."""
        before = self.start(len(ids)) if state is None else state
        tokens = torch.cat([before.tensors["last"], ids], dim=1)
        features = self.features(tokens.unfold(1, self.context_size, 1))
        if state is None:
            return features, None
        last = tokens[:, tokens.shape[1] - self.context_size + 1 :]
        return features, State({"last": last}, state.length + ids.shape[1])

    def features(self, contexts: Tensor) -> Tensor:
        """Return what the output layer takes.

        Args:
            contexts: int64 [..., n - 1], the newest token last.

        Returns:
            tanh(d + H x) [..., h]; with direct connections [..., h + (n - 1) m], x behind it.
        """
        x = self.dropout(self.embedding(contexts.flip(-1)).flatten(-2))
        hidden = linear(x, self.hidden.weight, self.hidden.bias)
        if self.activation == "tanh":
            hidden = torch.tanh(hidden)
        hidden = cast("Tensor", self.dropout(hidden))
        return torch.cat([hidden, x.to(hidden.dtype)], dim=-1) if self.direct else hidden
