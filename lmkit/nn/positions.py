"""Where a token stands: rotations, sinusoids, slopes.

Letters of shapes: B sequences, T tokens, H heads, D features of a head, C features.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

PositionKind = Literal["rope", "learned", "sinusoidal", "alibi", "none"]


def sinusoids(positions: Tensor, num_features: int) -> Tensor:
    """Return the encodings [T, C] of positions [T] (Vaswani et al. 2017, section 3.5).

    Feature 2i is sin(p / 10000^(2i/C)), feature 2i+1 the cosine.
    """
    even = torch.arange(0, num_features, 2, device=positions.device, dtype=torch.float64)
    angles = positions.double()[:, None] * torch.exp(even * (-math.log(10000.0) / num_features))
    encoded = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return encoded[:, :num_features]


def rotation(positions: Tensor, head_size: int, base: float) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines [T, D / 2] by which :func:`rotate` turns."""
    pairs = torch.arange(0, head_size, 2, device=positions.device, dtype=torch.float64)
    angles = positions.double()[:, None] * base ** (-pairs / head_size)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return heads [B, T, H, D] turned by their positions (RoFormer, Su et al. 2021).

    Feature i is paired with feature i + D / 2, as in Llama.
    """
    first, second = x.chunk(2, dim=-1)
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def alibi_slopes(num_heads: int) -> Tensor:
    """Return by how much attention falls per token of distance, for each head [H].

    Press et al. 2022: a geometric sequence that starts at 2^(-8/H); for H that is no power of two
    it is filled up from the sequence for twice the power below.
    """
    power = 1 << (num_heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    between = [2.0 ** (-8.0 * (i + 1) / (2 * power)) for i in range(0, 2 * power, 2)]
    return torch.tensor((slopes + between)[:num_heads], dtype=torch.float64)
