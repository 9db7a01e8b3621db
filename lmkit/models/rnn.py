"""Simple recurrent networks: of Elman (1990) and of Jordan (1986).

    Elman:   h_t = tanh(W x_t + U h_{t-1} + b)
    Jordan:  h_t = tanh(W x_t + U y_{t-1} + b),    y_t = the distribution predicted behind token t

Letters of shapes: B sequences, T tokens, D inputs, C features of a hidden state, V vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from lmkit.errors import UserError
from lmkit.nn.linear import linear
from lmkit.nn.recurrent import RecurrentConfig, RecurrentNetwork

Kind = Literal["elman", "jordan"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RnnConfig(RecurrentConfig):
    """Settings of a simple recurrent network."""

    kind: Kind = "elman"
    """What goes from one token to the next: elman, the hidden state; jordan, the prediction.
    Jordan's makes all V probabilities at every token, one token after another, and is slow."""

    def __post_init__(self) -> None:
        """Check the settings."""
        RecurrentConfig.__post_init__(self)
        if self.kind not in get_args(Kind):
            raise UserError(f"unknown kind {self.kind!r}", f"Known: {', '.join(get_args(Kind))}")
        if self.kind == "jordan" and self.num_layers > 1:
            raise UserError("kind jordan has one layer", "Leave out num_layers")


class Rnn(RecurrentNetwork):
    """A simple recurrent network.

    The memory ``hidden`` of Jordan's kind is U y_{t-1}, which is zero before the first token; the
    fed-back prediction is made without dropout.
    """

    def __init__(self, config: RnnConfig) -> None:
        super().__init__(config)
        self.body = (
            _Jordan(config.embedding_size, config.hidden_size, config.num_tokens)
            if config.kind == "jordan"
            else nn.RNN(
                config.embedding_size,
                config.hidden_size,
                config.num_layers,
                batch_first=True,
                dropout=config.between,
            )
        )

    def read(self, x: Tensor, memory: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Return the hidden states [B, T, C] and the memory behind the embeddings [B, T, D]."""
        if not isinstance(self.body, _Jordan):
            return super().read(x, memory)
        body, steps = self.body, []
        feedback = memory[0][0]
        for given in linear(x, body.inputs.weight, body.inputs.bias).unbind(1):
            steps.append(torch.tanh(given + feedback))
            predicted = self.output.logprobs(steps[-1]).exp()
            feedback = linear(predicted.to(given.dtype), body.feedback.weight)
        return torch.stack(steps, dim=1), (feedback[None],)


class _Jordan(nn.Module):
    """W [C, D] and b [C], and U [C, V]."""

    def __init__(self, num_inputs: int, hidden_size: int, num_tokens: int) -> None:
        super().__init__()
        self.inputs = nn.Linear(num_inputs, hidden_size)
        self.feedback = nn.Linear(num_tokens, hidden_size, bias=False)
