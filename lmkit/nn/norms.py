"""Normalisation of hidden states."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

NormKind = Literal["rms", "layer"]


class Norm(nn.Module):
    """RMSNorm (Zhang & Sennrich 2019) or LayerNorm (Ba et al. 2016) over the last axis.

    ``rms``: x / sqrt(mean(x^2) + eps); ``layer``: (x - mean) / sqrt(variance + eps). Then times
    ``weight`` [C], plus ``bias`` [C], where they exist.
    """

    def __init__(
        self, num_features: int, kind: NormKind, *, weight: bool, bias: bool, eps: float = 1e-5
    ) -> None:
        super().__init__()
        self.kind = kind
        self.eps = eps
        self.shape = (num_features,)
        self.weight = nn.Parameter(torch.ones(num_features)) if weight else None
        self.bias = nn.Parameter(torch.zeros(num_features)) if weight and bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Return ``x`` [..., C] normalised."""
        if self.kind == "layer":
            return F.layer_norm(x, self.shape, self.weight, self.bias, self.eps)
        return F.rms_norm(x, self.shape, self.weight, self.eps)
