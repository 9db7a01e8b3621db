"""Networks of long short-term memory (Hochreiter & Schmidhuber 1997, with the forget gate of Gers
et al. 2000), as language models: Zaremba et al. 2014, "Recurrent Neural Network Regularization".

Letters of shapes: B sequences, T tokens, L layers, D inputs, C features of a hidden state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from lmkit.errors import UserError
from lmkit.nn.recurrent import RecurrentConfig, RecurrentNetwork


@dataclass(frozen=True, kw_only=True, slots=True)
class LstmConfig(RecurrentConfig):
    """Settings of a network of long short-term memory."""

    num_layers: int = 2
    """L."""
    tied: bool = False
    """Predict with the embeddings as weights (Press & Wolf 2017; Inan et al. 2017)."""
    forget_bias: float = 1.0
    """Of the forget gates before training (Jozefowicz et al. 2015); all other biases are 0."""
    init_range: float = 0.1
    """Weights are drawn between minus this and this."""

    def __post_init__(self) -> None:
        """Check the settings."""
        RecurrentConfig.__post_init__(self)
        if self.tied and self.embedding_size != self.hidden_size:
            raise UserError(
                f"tied weights with embedding_size {self.embedding_size} and hidden_size "
                f"{self.hidden_size}",
                "Make them equal",
            )
        if not 0.0 < self.init_range < float("inf"):
            raise UserError(f"init_range is {self.init_range:g}", "It must be above 0")


class Lstm(RecurrentNetwork):
    """A network of long short-term memory; gates in the order input, forget, cell, output."""

    memory: ClassVar[tuple[str, ...]] = ("hidden", "cell")

    def __init__(self, config: LstmConfig) -> None:
        super().__init__(config, tied=config.tied)
        self.body = nn.LSTM(
            config.embedding_size,
            config.hidden_size,
            config.num_layers,
            batch_first=True,
            dropout=config.between,
        )
        size = config.hidden_size
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    parameter.uniform_(-config.init_range, config.init_range)
            for name, bias in self.body.named_parameters():
                if name.startswith("bias"):
                    bias.zero_()
                if name.startswith("bias_ih"):
                    # torch adds two biases; one of them is enough.
                    bias[size : 2 * size] = config.forget_bias

    def read(self, x: Tensor, memory: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the hidden states [B, T, C] and both memories behind the embeddings [B, T, D]."""
        hidden, after = self.body(x, memory)
        return hidden, after
