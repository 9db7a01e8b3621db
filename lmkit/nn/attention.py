"""Attention of queries to keys: softmax, RBF kernel, linear.

Letters of shapes: B sequences, H heads, T queries, S keys, D features of a head.
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

AttentionKind = Literal["softmax", "rbf", "linear"]

SHORT = 256
"""Keys up to which, on a CPU, three plain operations are quicker than the fused one."""
LINEAR_CHUNK = 64
"""Tokens within which linear attention is computed pair by pair."""


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    kind: Literal["softmax", "rbf"] = "softmax",
    causal: bool = True,
    bias: Tensor | None = None,
) -> Tensor:
    """Return what queries [B, H, T, D] see of S values [B, H, S, D].

    Softmax (Vaswani et al. 2017): weights softmax(q k / sqrt(D)). RBF: weights
    softmax(-|q - k|^2 / (2 sqrt(D))), which is the same with keys of any length pulled back by
    |k|^2 / (2 sqrt(D)). With ``causal``, the T queries are the last of the S places and see none
    behind them.

    Args:
        queries: [B, H, T, D].
        keys: [B, H, S, D].
        values: [B, H, S, D].
        kind: which kernel.
        causal: hide what comes later.
        bias: added to the scores, [H, T, S] or broadcast to it.
    """
    length, size = queries.shape[-2], keys.shape[-2]
    scale = queries.shape[-1] ** -0.5
    masked = causal and length > 1
    if kind == "rbf":
        pull = (keys * keys).sum(-1)[..., None, :] * (-0.5 * scale)
        bias = pull if bias is None else pull + bias
    if bias is None and not _plain(queries, size):
        if masked and length != size:
            mask = causal_mask(length, size, queries.device)
            return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return F.scaled_dot_product_attention(queries, keys, values, is_causal=masked)
    scores = (queries * scale) @ keys.transpose(-1, -2)
    if bias is not None:
        scores = scores + bias
    if masked:
        scores = scores.masked_fill(~causal_mask(length, size, queries.device), float("-inf"))
    return torch.softmax(scores, dim=-1) @ values


def _plain(queries: Tensor, size: int) -> bool:
    return queries.device.type == "cpu" and size <= SHORT


def causal_mask(length: int, size: int, device: torch.device) -> Tensor:
    """Return which of S places each of the last T may see: bool [T, S]."""
    every = torch.ones(length, size, dtype=torch.bool, device=device)
    return every.tril(size - length)


def linear_attend(
    queries: Tensor, keys: Tensor, values: Tensor, memory: tuple[Tensor, Tensor]
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return causal linear attention and its memory (Katharopoulos et al. 2020, eq. 8 to 12).

    With f(x) = elu(x) + 1: out_t = f(q_t) S_t / (f(q_t) z_t), S_t = S_(t-1) + f(k_t) v_t^T,
    z_t = z_(t-1) + f(k_t). Chunks of tokens are done pair by pair, what lies before a chunk by
    its memory, so that time grows with T, not its square.

    Args:
        queries: [B, H, T, D].
        keys: [B, H, T, D].
        values: [B, H, T, D].
        memory: S [B, H, D, D] and z [B, H, D] of all that came before.
    """
    queries, keys = F.elu(queries) + 1.0, F.elu(keys) + 1.0
    total, weight = memory
    parts = []
    for begin in range(0, queries.shape[-2], LINEAR_CHUNK):
        q, k, v = (x[..., begin : begin + LINEAR_CHUNK, :] for x in (queries, keys, values))
        near = (q @ k.transpose(-1, -2)).tril()
        out = near @ v + q @ total
        norm = near.sum(-1) + (q @ weight[..., None])[..., 0]
        parts.append(out / norm[..., None])
        total = total + k.transpose(-1, -2) @ v
        weight = weight + k.sum(-2)
    return torch.cat(parts, dim=-2), (total, weight)
