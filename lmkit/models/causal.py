"""Any causal network as a language model: scores, predicts and steps.

A network that can look back at K tokens only (``context_size``) reads long texts in windows that
begin every K // 2 tokens: the first predicts K tokens, each later one the K // 2 that are new to
it, so that every token is predicted once, with at least K - K // 2 tokens before it. Stepping does
the same: when the window is full, it begins anew with its last K - K // 2 tokens.

Letters of shapes: B sequences, T tokens, C features, V vocabulary, K context size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lmkit.language_model import BOS, EOS, Ids, LanguageModel, Logprobs, Mode
from lmkit.models.saving import open_network
from lmkit.nn.network import Network, State
from lmkit.store.artifact import Artifact
from lmkit.text.restore import StoredTokenizer

CHUNK = 1024
"""Tokens that a network without a limit reads at a time."""
BATCH_TOKENS = 8192
"""Tokens read together, padding counted."""


@dataclass(slots=True)
class Part:
    """Sequences of a state that have read equally many tokens since their start."""

    rows: NDArray[np.int64]
    """[B] which sequences of the whole state they are."""
    memory: State
    """What the network remembers."""
    hidden: Tensor
    """[B, C] behind the last token."""
    read: Ids
    """[B, length] the tokens since the start; empty where the network needs no window."""


@dataclass(frozen=True, slots=True)
class Row:
    """A stretch of tokens to be predicted."""

    inputs: Ids
    """[T] what is read."""
    targets: Ids
    """[T] what follows each."""
    skip: int
    """How many of the first predictions are not wanted."""
    place: int
    """Where the first wanted prediction goes."""


class CausalModel(LanguageModel):
    """A trained network and its tokenizer."""

    def __init__(self, network: Network, tokenizer: StoredTokenizer, mode: Mode) -> None:
        self.network = network.eval()
        self.tokenizer = tokenizer
        self.mode = mode
        self._lock = Lock()

    @classmethod
    def open(cls, artifact: Artifact, open_model: Callable[[Path], LanguageModel]) -> Self:
        """Read the network of an opened directory.

        Raises:
            ModelError: its arrays are not those of the network that its card describes.
        """
        del open_model
        artifact.verify_large()
        network, tokenizer = open_network(artifact)
        return cls(network, tokenizer, artifact.config["mode"])

    @property
    def window(self) -> int | None:
        """K; None where the network can be given any number of tokens."""
        return None if self.network.slides else self.network.context_size

    def logprobs(self, ids: Ids) -> Logprobs:
        """Return ln p(ids[t] | start, ids[:t]), shape [T]."""
        return self.batch_logprobs(ids)

    def batch_logprobs(self, ids: Ids, threads: int = 1, *, context: Ids | None = None) -> Logprobs:
        """Return the same for a long stream; torch has threads of its own."""
        skip = 0
        if context is not None and len(context):
            context = context[-self.window // 2 :] if self.window else context
            skip, ids = len(context), np.concatenate([context, ids])
        out = np.zeros(len(ids))
        with self._lock, torch.inference_mode():
            if self.window is None:
                self._read_on(ids, out)
            else:
                for group in _group(list(_windows(ids, self.window))):
                    self._predict(group, out)
        if self.mode == "document":
            out[ids == EOS] = 0.0
        kept: Logprobs = out[skip:]
        return kept

    def _predict(self, rows: Sequence[Row], out: Logprobs) -> None:
        """Write the log probabilities of rows that begin from nothing."""
        inputs, targets = _pad(rows, self.network.device)
        hidden, _ = self.network(inputs)
        self._write(rows, hidden, targets, out)

    def _read_on(self, ids: Ids, out: Logprobs) -> None:
        """The same for a network that reads any number of tokens, chunk by chunk."""
        for group in _group(list(_windows(ids, None))):
            memory: State | None = self.network.start(len(group))
            length = max(len(row.inputs) for row in group)
            for begin in range(0, length, CHUNK):
                part = [
                    Row(row.inputs[begin : begin + CHUNK], row.targets[begin : begin + CHUNK],
                        0, row.place + begin)
                    for row in group
                ]  # fmt: skip
                inputs, targets = _pad(part, self.network.device)
                hidden, memory = self.network(inputs, memory)
                self._write(part, hidden, targets, out)

    def _write(self, rows: Sequence[Row], hidden: Tensor, targets: Tensor, out: Logprobs) -> None:
        """Write what a hidden state [B, T, C] predicts of the targets [B, T] of ``rows``."""
        size = hidden.shape[1]
        wanted = np.zeros((len(rows), size), dtype=bool)
        for mask, row in zip(wanted, rows, strict=True):
            mask[row.skip : len(row.inputs)] = True
        if not wanted.any():
            return
        kept = torch.from_numpy(wanted).to(hidden.device)
        logprobs = self.network.output.target_logprobs(hidden[kept], targets[kept])
        values = logprobs.double().cpu().numpy()
        begin = 0
        for row in rows:
            count = max(0, len(row.inputs) - row.skip)
            out[row.place : row.place + count] = values[begin : begin + count]
            begin += count

    def next_logprobs(self, context: Ids) -> Logprobs:
        """Return ln p(w | start, context) for every w, shape [V]."""
        state = self.start(1)
        breaks = np.flatnonzero(context == EOS)
        for index in context[breaks[-1] + 1 :] if len(breaks) else context:
            state = self.advance(state, np.array([index], dtype=np.uint32))
        row: Logprobs = self.next_from(state)[0]
        return row

    def start(self, batch: int) -> list[Part]:
        """Return the state of ``batch`` sequences that have read <s>."""
        return [self._begin(np.arange(batch))]

    def _begin(self, rows: NDArray[np.int64]) -> Part:
        first = np.full((len(rows), 1), BOS, dtype=np.uint32)
        return self._read(rows, first, self.network.start(len(rows)), first)

    def _read(self, rows: NDArray[np.int64], tokens: Ids, memory: State, read: Ids) -> Part:
        """Read ``tokens`` [B, T]; ``read`` [B, length] are those since the start, with them."""
        ids = torch.from_numpy(tokens.astype(np.int64)).to(self.network.device)
        with torch.inference_mode():
            hidden, after = self.network(ids, memory)
        assert after is not None
        return Part(rows, after, hidden[:, -1], read if self.window else read[:, :0])

    def next_from(self, state: list[Part]) -> Logprobs:
        """Return the next-token log probabilities [B, V]."""
        rows = np.empty((sum(len(part.rows) for part in state), self.network.num_tokens))
        for part in state:
            with torch.inference_mode():
                rows[part.rows] = self.network.output.logprobs(part.hidden).cpu().numpy()
        return rows

    def advance(self, state: list[Part], tokens: Ids) -> list[Part]:
        """Return the state after each sequence has read its token of ``tokens`` [B]."""
        parts, ended = [], [np.empty(0, dtype=np.int64)]
        for part in state:
            ends = tokens[part.rows] == EOS
            if ends.any():
                ended.append(part.rows[ends])
                part = self._select(part, np.flatnonzero(~ends))
            if len(part.rows):
                parts.append(self._advance(part, tokens[part.rows, None]))
        fresh = np.concatenate(ended)
        return [*parts, self._begin(fresh)] if len(fresh) else parts

    def _advance(self, part: Part, tokens: Ids) -> Part:
        if self.window is None:
            return self._read(part.rows, tokens, part.memory, tokens)
        read = np.concatenate([part.read, tokens], axis=1)
        if read.shape[1] <= self.window:
            return self._read(part.rows, tokens, part.memory, read)
        kept = read[:, self.window // 2 :]
        return self._read(part.rows, kept, self.network.start(len(part.rows)), kept)

    def _select(self, part: Part, indices: NDArray[np.int64]) -> Part:
        where = torch.from_numpy(indices).to(self.network.device)
        with torch.inference_mode():
            memory, hidden = part.memory.reorder(where), part.hidden.index_select(0, where)
        return Part(part.rows[indices], memory, hidden, part.read[indices])

    def reorder(self, state: list[Part], indices: NDArray[np.int64]) -> list[Part]:
        """Return the state whose row i is row ``indices[i]`` of ``state``."""
        moved = []
        for part in state:
            places = np.full(sum(len(each.rows) for each in state), -1)
            places[part.rows] = np.arange(len(part.rows))
            rows = np.flatnonzero(places[indices] >= 0)
            if len(rows):
                chosen = self._select(part, places[indices[rows]])
                chosen.rows = rows
                moved.append(chosen)
        return moved


def _windows(ids: Ids, size: int | None) -> Iterator[Row]:
    """Yield the rows that together predict ``ids``: of each sentence or document its windows."""
    ends = np.flatnonzero(ids == EOS) + 1
    bounds = [0, *ends.tolist()]
    if bounds[-1] < len(ids):
        bounds.append(len(ids))
    for begin, end in pairwise(bounds):
        targets = ids[begin:end]
        inputs = np.concatenate([np.array([BOS], dtype=ids.dtype), targets[:-1]])
        if size is None or len(targets) <= size:
            yield Row(inputs, targets, 0, begin)
            continue
        stride = max(1, size // 2)
        yield Row(inputs[:size], targets[:size], 0, begin)
        for start in range(stride, len(targets) - size + stride, stride):
            part = slice(start, start + size)
            yield Row(inputs[part], targets[part], size - stride, begin + start + size - stride)


def _group(rows: list[Row]) -> Iterator[list[Row]]:
    """Yield rows of like length together."""
    rows.sort(key=lambda row: len(row.inputs))
    group: list[Row] = []
    for row in rows:
        if group and (len(group) + 1) * min(len(row.inputs), CHUNK) > BATCH_TOKENS:
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _pad(rows: Sequence[Row], device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the inputs and the targets [B, T] of rows, zeros behind the shorter ones."""
    padded = np.zeros((2, len(rows), max(len(row.inputs) for row in rows)), dtype=np.int64)
    for number, row in enumerate(rows):
        padded[0, number, : len(row.inputs)] = row.inputs
        padded[1, number, : len(row.targets)] = row.targets
    both = torch.from_numpy(padded).to(device)
    return cast("tuple[Tensor, Tensor]", both.unbind(0))


class NplmModel(CausalModel):
    """A neural probabilistic language model."""

    family: str = "nplm"


class RnnModel(CausalModel):
    """An Elman or Jordan network."""

    family: str = "rnn"


class GruModel(CausalModel):
    """A network of gated recurrent units."""

    family: str = "gru"


class LstmModel(CausalModel):
    """A long short-term memory."""

    family: str = "lstm"


class GptModel(CausalModel):
    """A GPT."""

    family: str = "gpt"
