"""GPT: a stack of masked self-attention and feed-forward blocks that predicts the next token.

Radford et al. 2018 and 2019 after Vaswani et al. 2017; what later models changed is a setting
each, and the defaults are those changes that train fastest on small machines: rotary positions
(Su 2021), RMSNorm (Zhang & Sennrich 2019) before each block, normalised queries and keys (Henry
2020), ReLU^2 (So 2021), output projections that begin at zero, soft-capped logits (Gemma 2, 2024),
a learned share of the first layer's input in every layer. ``GptConfig.gpt2`` and ``.llama`` are the
published shapes.

Letters of shapes: B sequences, T tokens, C features, H heads, D features of a head, V vocabulary,
L layers, K context size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmkit.errors import UserError
from lmkit.nn.attention import AttentionKind, attend, linear_attend
from lmkit.nn.linear import linear
from lmkit.nn.network import Network, State
from lmkit.nn.norms import Norm, NormKind
from lmkit.nn.outputs.full import FullSoftmax
from lmkit.nn.positions import PositionKind, alibi_slopes, rotate, rotation, sinusoids

Activation = Literal["relu2", "gelu", "gelu_tanh", "swiglu"]


@dataclass(frozen=True, kw_only=True, slots=True)
class GptConfig:
    """The shape of a GPT."""

    num_tokens: int
    """V."""
    context_size: int = 256
    """K: tokens it can look back at."""
    num_layers: int = 4
    """L."""
    num_heads: int = 4
    """H of the queries."""
    num_kv_heads: int | None = None
    """Heads of keys and values, each shared by H / this many queries (Ainslie 2023); None: H."""
    num_features: int = 128
    """C."""
    hidden_size: int | None = None
    """Units of the feed-forward block; None: 4 C, for swiglu 8/3 C rounded up to 64s."""
    positions: PositionKind = "rope"
    """rope, learned, sinusoidal, alibi or none."""
    rope_base: float = 1000.0
    """The slowest rotation of rope turns once in about 2 pi times this many tokens."""
    norm: NormKind = "rms"
    """rms or layer."""
    norm_place: Literal["pre", "post"] = "pre"
    """Before each block (GPT-2), or behind its sum (GPT, 2018)."""
    norm_weight: bool = False
    """Whether norms learn a factor a feature."""
    norm_eps: float = 1e-5
    """Added under the root of norms."""
    activation: Activation = "relu2"
    """relu2, gelu, gelu_tanh or swiglu (Shazeer 2020)."""
    attention: AttentionKind = "softmax"
    """softmax, rbf or linear."""
    qk_norm: bool = True
    """Whether queries and keys are normalised (RMS)."""
    bias: bool = False
    """Whether products and norms add a learned number a feature."""
    tied: bool = False
    """Whether the embeddings are the output weights (Press & Wolf 2017)."""
    softcap: float | None = 15.0
    """Logits are capped softly at this; None: not."""
    embedding_norm: bool = True
    """Whether embeddings are normalised (RMS)."""
    residual_scalars: bool = True
    """Whether layers take a learned share of their input and of the first layer's input."""
    zero_init: bool = True
    """Whether the products that end a block, and the output, begin at zero; else at random."""
    dropout: float = 0.0
    """Part of the features that training drops behind embeddings and blocks."""
    never: tuple[int, ...] = (1,)
    """Tokens that are never predicted."""

    def __post_init__(self) -> None:
        """Check that the settings fit together."""
        sizes = ("num_tokens", "context_size", "num_layers", "num_heads", "num_features")
        for name in (*sizes, "num_kv_heads", "hidden_size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"{name} is {value}", "It must be 1 or more")
        if self.softcap is not None and not self.softcap > 0.0:
            raise UserError(f"softcap {self.softcap:g} is not above 0", "Leave it out for no cap")
        if self.num_features % self.num_heads:
            raise UserError(
                f"num_features {self.num_features} is not a multiple of num_heads {self.num_heads}"
            )
        if self.num_heads % self.kv_heads:
            raise UserError(
                f"num_heads {self.num_heads} is not a multiple of num_kv_heads {self.kv_heads}"
            )
        if self.positions == "rope" and self.head_size % 2:
            raise UserError(f"rope turns pairs of features: {self.head_size} a head is odd")
        if self.positions == "alibi" and self.attention == "linear":
            raise UserError("linear attention has no scores to which alibi could add")
        if not 0.0 <= self.dropout < 1.0:
            raise UserError(f"dropout {self.dropout} is not from 0 up and below 1")

    @property
    def head_size(self) -> int:
        """D."""
        return self.num_features // self.num_heads

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        return self.num_kv_heads or self.num_heads

    @property
    def feedforward_size(self) -> int:
        """Units of the feed-forward block."""
        if self.hidden_size is not None:
            return self.hidden_size
        if self.activation == "swiglu":
            return -(-8 * self.num_features // 3 // 64) * 64
        return 4 * self.num_features

    @classmethod
    def gpt2(cls, **settings: Any) -> Self:
        """Return the shape of GPT-2 (Radford et al. 2019), with ``settings`` of one's own."""
        shape: dict[str, Any] = {
            "positions": "learned", "norm": "layer", "norm_weight": True, "bias": True,
            "activation": "gelu_tanh", "qk_norm": False, "tied": True, "softcap": None,
            "embedding_norm": False, "residual_scalars": False, "zero_init": False,
        }  # fmt: skip
        return cls(**{**shape, **settings})

    @classmethod
    def llama(cls, **settings: Any) -> Self:
        """Return the shape of Llama (Touvron et al. 2023), with ``settings`` of one's own."""
        shape: dict[str, Any] = {
            "rope_base": 10000.0, "norm_weight": True, "activation": "swiglu", "qk_norm": False,
            "softcap": None, "embedding_norm": False, "residual_scalars": False,
            "zero_init": False,
        }  # fmt: skip
        return cls(**{**shape, **settings})


class Product(nn.Module):
    """y = W x + b."""

    def __init__(self, size_in: int, size_out: int, bias: bool, std: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size_out, size_in).normal_(0.0, std))
        self.bias = nn.Parameter(torch.zeros(size_out)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Return [..., size_out] of ``x`` [..., size_in]."""
        return linear(x, self.weight, self.bias)


@dataclass(slots=True)
class _Places:
    """What the blocks need to know about where the tokens stand."""

    rotation: tuple[Tensor, Tensor] | None
    """Cosines and sines [T, D / 2]."""
    bias: Tensor | None
    """[H, T, S] for alibi."""
    begin: int
    """Tokens read before."""


class Block(nn.Module):
    """Self-attention, then a feed-forward network, each added to what comes in."""

    def __init__(self, config: GptConfig, number: int) -> None:
        super().__init__()
        self.config = config
        self.number = number
        size, heads = config.num_features, config.kv_heads * config.head_size
        wide, bias = config.feedforward_size, config.bias
        published = not config.zero_init
        std = 0.02 if published else 0.5 * size**-0.5
        last = 0.02 * (2 * config.num_layers) ** -0.5 if published else 0.0
        self.attention_norm = _norm(config)
        self.qkv = Product(size, size + 2 * heads, bias, std)
        self.out = Product(size, size, bias, last)
        self.feedforward_norm = _norm(config)
        self.gate = Product(size, wide, bias, std) if config.activation == "swiglu" else None
        self.up = Product(size, wide, bias, std)
        self.down = Product(wide, size, bias, last)
        self.scalars = nn.Parameter(torch.tensor([1.0, 0.0])) if config.residual_scalars else None

    def forward(self, x: Tensor, first: Tensor, places: _Places, state: State | None) -> Tensor:
        """Return what [B, T, C] becomes; ``first`` is what the first layer was given."""
        if self.scalars is not None:
            x = self.scalars[0] * x + self.scalars[1] * first
        if self.config.norm_place == "post":
            x = self.attention_norm(x + self._drop(self._attend(x, places, state)))
            normed: Tensor = self.feedforward_norm(x + self._drop(self._feed(x)))
            return normed
        x = x + self._drop(self._attend(self.attention_norm(x), places, state))
        return x + self._drop(self._feed(self.feedforward_norm(x)))

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.config.dropout, self.training) if self.config.dropout else x

    def _attend(self, x: Tensor, places: _Places, state: State | None) -> Tensor:
        config = self.config
        batch, length, size = x.shape
        kv_size = config.kv_heads * config.head_size
        parts = self.qkv(x).split([size, kv_size, kv_size], dim=-1)
        q, k, v = (part.unflatten(-1, (-1, config.head_size)) for part in parts)
        if config.qk_norm:
            q, k = (F.rms_norm(each, (config.head_size,), eps=config.norm_eps) for each in (q, k))
        if places.rotation is not None:
            cos, sin = (each.to(q.dtype) for each in places.rotation)
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        q, k, v = (each.transpose(1, 2) for each in (q, k, v))
        if config.attention == "linear":
            seen = self._attend_linearly(q, k, v, state)
        else:
            if state is not None:
                k, v = self._remember(k, v, places.begin, state)
            bias = None if places.bias is None else places.bias.to(q.dtype)
            seen = attend(q, self._share(k), self._share(v), kind=config.attention, bias=bias)
        out: Tensor = self.out(seen.transpose(1, 2).reshape(batch, length, size))
        return out

    def _attend_linearly(self, q: Tensor, k: Tensor, v: Tensor, state: State | None) -> Tensor:
        k, v = self._share(k), self._share(v)
        names = f"sum{self.number}", f"weight{self.number}"
        if state is None:
            memory = (
                q.new_zeros(*q.shape[:2], q.shape[-1], q.shape[-1]),
                q.new_zeros(*q.shape[:2], q.shape[-1]),
            )
        else:
            memory = state.tensors[names[0]], state.tensors[names[1]]
        seen, memory = linear_attend(q, k, v, memory)
        if state is not None:
            state.tensors.update(zip(names, memory, strict=True))
        return seen

    def _remember(self, k: Tensor, v: Tensor, begin: int, state: State) -> tuple[Tensor, Tensor]:
        """Write keys and values behind those of before; return all of them."""
        end = begin + k.shape[2]
        kept = []
        for name, new in ((f"keys{self.number}", k), (f"values{self.number}", v)):
            buffer = state.tensors[name]
            buffer[:, :, begin:end] = new
            kept.append(buffer[:, :, :end])
        return kept[0], kept[1]

    def _share(self, x: Tensor) -> Tensor:
        """Return heads of keys or values [B, H, S, D], each as often as queries share it."""
        times = self.config.num_heads // self.config.kv_heads
        return x if times == 1 else x.repeat_interleave(times, dim=1)

    def _feed(self, x: Tensor) -> Tensor:
        up: Tensor = self.up(x)
        kind = self.config.activation
        if kind == "relu2":
            inner = F.relu(up).square()
        elif kind == "swiglu":
            assert self.gate is not None
            inner = F.silu(self.gate(x)) * up
        else:
            inner = F.gelu(up, approximate="tanh" if kind == "gelu_tanh" else "none")
        out: Tensor = self.down(inner)
        return out


def _norm(config: GptConfig) -> Norm:
    return Norm(
        config.num_features,
        config.norm,
        weight=config.norm_weight,
        bias=config.bias,
        eps=config.norm_eps,
    )


class Gpt(Network):
    """The network; see the module."""

    output: FullSoftmax

    def __init__(self, config: GptConfig) -> None:
        super().__init__()
        self.config = config
        self.num_tokens = config.num_tokens
        self.context_size = config.context_size
        size = config.num_features
        std = 0.02 if not config.zero_init else 1.0
        self.embed = nn.Parameter(torch.empty(config.num_tokens, size).normal_(0.0, std))
        learned = config.positions == "learned"
        self.places = (
            nn.Parameter(torch.empty(config.context_size, size).normal_(0.0, 0.02))
            if learned
            else None
        )
        self.layers = nn.ModuleList(Block(config, number) for number in range(config.num_layers))
        self.norm = _norm(config) if config.norm_place == "pre" else None
        self.output = FullSoftmax(
            size,
            config.num_tokens,
            never=config.never,
            bias=False,
            weight=self.embed if config.tied else None,
            softcap=config.softcap,
            zero_init=config.zero_init,
        )

    def matrix_blocks(self) -> dict[str, tuple[int, ...]]:
        """Return what ``qkv`` is made of: queries, keys, values."""
        config = self.config
        rows = config.kv_heads * config.head_size
        sizes = config.num_features, rows, rows
        return {f"layers.{number}.qkv.weight": sizes for number in range(config.num_layers)}

    def start(self, batch: int) -> State:
        """Return empty keys and values of K tokens, or the memory of linear attention."""
        config = self.config
        like = self.embed
        tensors = {}
        for number in range(config.num_layers):
            if config.attention == "linear":
                shape = batch, config.num_heads, config.head_size
                tensors[f"sum{number}"] = like.new_zeros(*shape, config.head_size)
                tensors[f"weight{number}"] = like.new_zeros(shape)
            else:
                room = batch, config.kv_heads, config.context_size, config.head_size
                tensors[f"keys{number}"] = like.new_zeros(room)
                tensors[f"values{number}"] = like.new_zeros(room)
        return State(tensors)

    def forward(self, ids: Tensor, state: State | None = None) -> tuple[Tensor, State | None]:
        """Read tokens [B, T].

        Keys and values are written into the buffers of ``state``, which the new state shares: to
        go on from one state in two ways, take a copy first (``State.reorder`` makes one).
        """
        config = self.config
        if state is not None:
            state = State(dict(state.tensors), state.length)
        begin = 0 if state is None else state.length
        end = begin + ids.shape[1]
        assert end <= config.context_size, "more tokens than the context holds"
        x = F.embedding(ids, self.embed)
        positions = torch.arange(begin, end, device=ids.device)
        if self.places is not None:
            x = x + self.places[begin:end]
        elif config.positions == "sinusoidal":
            x = x + sinusoids(positions, config.num_features).to(x.dtype)
        if config.embedding_norm:
            x = F.rms_norm(x, (config.num_features,), eps=config.norm_eps)
        if config.dropout:
            x = F.dropout(x, config.dropout, self.training)
        where = _Places(None, None, begin)
        if config.positions == "rope":
            where.rotation = rotation(positions, config.head_size, config.rope_base)
        elif config.positions == "alibi":
            distance = torch.arange(end, device=ids.device) - positions[:, None]
            slopes = alibi_slopes(config.num_heads).to(ids.device)
            where.bias = slopes[:, None, None] * distance
        first = x
        for layer in self.layers:
            x = layer(x, first, where, state)
        if self.norm is not None:
            x = self.norm(x)
        if state is not None:
            state = State(state.tensors, end)
        return x, state
