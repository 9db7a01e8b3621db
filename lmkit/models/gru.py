"""Networks of gated recurrent units (Cho et al. 2014, "Learning Phrase Representations using RNN
Encoder-Decoder for Statistical Machine Translation").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from torch import nn

from lmkit.errors import UserError
from lmkit.nn.recurrent import ChoGru, RecurrentConfig, RecurrentNetwork

Variant = Literal["torch", "cho"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GruConfig(RecurrentConfig):
    """Settings of a network of gated recurrent units."""

    variant: Variant = "torch"
    """Where the reset gate acts: cho, on the hidden state, as in the paper; torch, on its product
    with the weights, as in PyTorch."""

    def __post_init__(self) -> None:
        """Check the settings."""
        RecurrentConfig.__post_init__(self)
        if self.variant not in get_args(Variant):
            known = ", ".join(get_args(Variant))
            raise UserError(f"unknown variant {self.variant!r}", f"Known: {known}")


class Gru(RecurrentNetwork):
    """A network of gated recurrent units."""

    def __init__(self, config: GruConfig) -> None:
        super().__init__(config)
        sizes = config.embedding_size, config.hidden_size, config.num_layers
        self.body = (
            ChoGru(*sizes, dropout=config.between)
            if config.variant == "cho"
            else nn.GRU(*sizes, batch_first=True, dropout=config.between)
        )
