"""Random continuations of contexts, drawn token by token from a language model.

Ancestral sampling by default: every sample is drawn from exactly the distribution that the model
gives. Temperature, top-k and top-p (the nucleus of Holtzman et al. 2020) change that distribution,
in this order. Each sample has a stream of random numbers of its own, so that it depends neither on
how many others are drawn nor on how they are grouped.

Letters of shapes: B sequences advanced together, V tokens of the vocabulary, K kept ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.language_model import EOS, Ids, LanguageModel, Logprobs

DEFAULT_MAX_TOKENS = {"sentence": 1000, "document": 100}
"""Tokens at most in a sample when nothing is said: documents have no end of their own."""

_UNIFORMS_AT_A_TIME = 32
_NUCLEUS = 256  # tokens among which a nucleus is looked for first
_MAX_ROWS = 1024
_MAX_CELLS = 1 << 23  # of the [B, V] distributions held at a time: 64 MiB


@dataclass(frozen=True, kw_only=True, slots=True)
class SamplingConfig:
    """How tokens are drawn."""

    temperature: float = 1.0
    """Divides the log probabilities; below 1 likely tokens gain, 0 takes the likeliest token."""
    top_k: int = 0
    """Draw from this many likeliest tokens only; 0: all."""
    top_p: float = 1.0
    """Draw from the fewest likeliest tokens whose probabilities add up to this; 1: all."""
    max_tokens: int = 0
    """Stop after this many tokens; 0: 1,000 in sentence mode, 100 in document mode."""
    seed: int = 1
    """Same seed, same samples."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0.0 <= self.temperature < float("inf"):
            raise UserError(f"--temperature {self.temperature} is not a number from 0 up")
        if self.top_k < 0:
            raise UserError(f"--top-k {self.top_k} is below 0")
        if not 0.0 < self.top_p <= 1.0:
            raise UserError(f"--top-p {self.top_p} is not above 0 and at most 1")
        if self.max_tokens < 0:
            raise UserError(f"--max-tokens {self.max_tokens} is below 0")
        if self.seed < 0:
            raise UserError(f"--seed {self.seed} is below 0")

    @property
    def exact(self) -> bool:
        """Whether tokens are drawn from the model's own distribution, unchanged."""
        return self.temperature == 1.0 and self.top_k == 0 and self.top_p == 1.0


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to draw."""

    context: Ids
    """Tokens that precede the sample."""
    stream: tuple[int, ...]
    """Numbers that, with the seed, choose the stream of random numbers."""


def max_rows(model: LanguageModel, config: SamplingConfig) -> int:
    """Return how many samples of ``model`` are best drawn together."""
    if config.exact and type(model).draw is not LanguageModel.draw:
        return _MAX_ROWS
    return max(1, min(_MAX_ROWS, _MAX_CELLS // model.tokenizer.num_tokens))


def draw_samples(
    model: LanguageModel, requests: Sequence[Request], config: SamplingConfig
) -> list[Ids]:
    """Draw one sample for each of ``requests``, all together (see :func:`max_rows`).

    Returns:
        The drawn tokens of each, without its context. In sentence mode a sample ends with id 2
        unless it was cut at ``max_tokens``.
    """
    limit = config.max_tokens or DEFAULT_MAX_TOKENS[model.mode]
    choose = _chooser(model, config)
    contexts = [_after_break(request.context) for request in requests]
    sizes = np.array([len(context) for context in contexts], dtype=np.int64)
    forced = np.zeros((len(requests), int(sizes.max(initial=0))), dtype=np.uint32)
    for row, context in zip(forced, contexts, strict=True):
        row[: len(context)] = context
    # Prompts count too, or runs with other prompts and the same seed would end in the same words.
    streams = [
        (*r.stream, crc32(context.tobytes())) for r, context in zip(requests, contexts, strict=True)
    ]
    uniforms = _Uniforms(config.seed, streams)
    drawn = np.zeros((len(requests), min(limit, 64)), dtype=np.uint32)
    counts = np.zeros(len(requests), dtype=np.int64)
    live = np.arange(len(requests))
    state = model.start(len(requests))
    step = 0
    while len(live):
        reading = sizes[live] > step
        if reading.all():
            tokens = forced[live, step]
        else:
            tokens = choose(state, uniforms.at(live, counts[live]))
            if step < forced.shape[1]:
                tokens = np.where(reading, forced[live, step], tokens)
            writing = live[~reading]
            if counts[writing].max() >= drawn.shape[1]:
                drawn = np.pad(drawn, ((0, 0), (0, drawn.shape[1])))
            drawn[writing, counts[writing]] = tokens[~reading]
            counts[writing] += 1
        ended = ~reading & ((tokens == EOS) | (counts[live] >= limit))
        if ended.any():
            kept = np.flatnonzero(~ended)
            live, tokens = live[kept], tokens[kept]
            state = model.reorder(state, kept)
        if len(live):
            state = model.advance(state, tokens)
        step += 1
    return [row[:count] for row, count in zip(drawn, counts.tolist(), strict=True)]


class _Uniforms:
    """A stream of uniform random numbers for each sample, drawn some at a time."""

    def __init__(self, seed: int, streams: Sequence[tuple[int, ...]]) -> None:
        self._generators = [
            np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *stream])))
            for stream in streams
        ]
        self._drawn = np.empty((len(streams), _UNIFORMS_AT_A_TIME))
        self._filled = np.zeros(len(streams), dtype=np.int64)

    def at(self, rows: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return number ``positions[i]`` of stream ``rows[i]``; positions never step back."""
        for row in rows[positions >= self._filled[rows]].tolist():
            self._generators[row].random(out=self._drawn[row])
            self._filled[row] += _UNIFORMS_AT_A_TIME
        uniforms: NDArray[np.float64] = self._drawn[rows, positions % _UNIFORMS_AT_A_TIME]
        return uniforms


def _chooser(
    model: LanguageModel, config: SamplingConfig
) -> Callable[[object, NDArray[np.float64]], Ids]:
    if config.exact:
        return model.draw
    if config.temperature == 0.0:
        return lambda state, uniforms: model.next_from(state).argmax(axis=1).astype(np.uint32)
    return lambda state, uniforms: choose_filtered(model.next_from(state), uniforms, config)


def choose_filtered(
    logprobs: Logprobs, uniforms: NDArray[np.float64], config: SamplingConfig
) -> Ids:
    """Draw a token a row from what temperature, top-k and top-p leave of a distribution.

    Args:
        logprobs: natural log probabilities [B, V].
        uniforms: a number in [0, 1) for each row [B].
        config: temperature above 0, top_k and top_p. Of tokens that are equally likely at the
            border those with lower ids are kept.
    """
    num_tokens = logprobs.shape[1]
    top_k = config.top_k if config.top_k < num_tokens else 0
    if top_k == 0 and config.top_p == 1.0:
        return _inverse(_weights(logprobs, config.temperature), uniforms).astype(np.uint32)
    order = _largest(logprobs, top_k or min(_NUCLEUS, num_tokens))  # [B, K]
    best = np.take_along_axis(logprobs, order[:, :1], axis=1)
    kept = _weights(np.take_along_axis(logprobs, order, axis=1), config.temperature)
    if top_k:
        total = kept.sum(axis=1, keepdims=True)
    elif config.temperature == 1.0:
        total = np.exp(-best)  # the probabilities sum to 1
    else:
        total = _weights(logprobs, config.temperature).sum(axis=1, keepdims=True)
    mass = config.top_p * total  # [B, 1]
    cumulative = kept.cumsum(axis=1)
    if config.top_p < 1.0:
        kept[:, 1:][cumulative[:, :-1] >= mass] = 0.0
    places = _inverse(kept, uniforms)[:, None]
    chosen = np.take_along_axis(order, places, axis=1)[:, 0]
    if not top_k and order.shape[1] < num_tokens:
        wide = np.flatnonzero(cumulative[:, -1] < mass[:, 0])
        if len(wide):
            weights = _weights(logprobs[wide], config.temperature)
            chosen[wide] = _inverse(_nucleus(weights, mass[wide]), uniforms[wide])
    return chosen.astype(np.uint32)


def _weights(logprobs: Logprobs, temperature: float) -> NDArray[np.float64]:
    """Return the probabilities at ``temperature``, but for a factor per row."""
    with np.errstate(over="ignore"):
        weights: NDArray[np.float64] = np.exp(
            (logprobs - logprobs.max(axis=1, keepdims=True)) / temperature
        )
    return weights


def _nucleus(weights: NDArray[np.float64], mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``weights`` [B, V] with zeros for all but the fewest largest of sum ``mass``."""
    falling = -np.sort(-weights, axis=1)
    sizes = np.count_nonzero(falling.cumsum(axis=1)[:, :-1] < mass, axis=1) + 1
    border = np.take_along_axis(falling, sizes[:, None] - 1, axis=1)
    above, equal = weights > border, weights == border
    wanted = sizes - np.count_nonzero(above, axis=1)  # of the equal ones, the first
    first = equal & (equal.cumsum(axis=1) <= wanted[:, None])
    return np.where(above | first, weights, 0.0)


def _largest(values: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the places of the ``size`` largest of each row, falling; equal ones by place.

    The size-th largest of the maxima of groups of columns is a lower bound of the size-th
    largest of all, and few are above it.
    """
    num_rows, num_columns = values.shape
    width = max(1, num_columns // (4 * size))
    num_groups = num_columns // width
    groups = values[:, : num_groups * width].reshape(num_rows, width, num_groups)
    bounds = np.partition(groups.max(axis=1), num_groups - size, axis=1)[:, num_groups - size]
    rows = []
    for row, bound in zip(values, bounds, strict=True):
        places = np.flatnonzero(row >= bound)
        rows.append(places[np.argsort(-row[places], kind="stable")[:size]])
    return np.stack(rows)


def _inverse(weights: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the place of each row where its uniform number falls, by weight [B]."""
    cumulative = weights.cumsum(axis=1)
    below_end = np.nextafter(cumulative[:, -1], 0.0)
    targets = np.minimum(uniforms * cumulative[:, -1], below_end)
    places: NDArray[np.int64] = np.count_nonzero(cumulative <= targets[:, None], axis=1)
    return places


def _after_break(context: Ids) -> Ids:
    """Return the part of ``context`` that the next token depends on."""
    breaks = np.flatnonzero(context == EOS)
    return context[breaks[-1] + 1 :] if len(breaks) else context
