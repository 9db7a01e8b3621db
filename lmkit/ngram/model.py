"""The n-gram model as a language model: maps its records, scores, predicts and draws.

The model is a forward trie with suffix links (see ``query/kernels.py``): the words seen behind a
context are one sorted row, so that next-word distributions and samples are row scans.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import ModelError
from lmkit.language_model import BOS, EOS, Ids, LanguageModel, Logprobs, Mode
from lmkit.ngram.layout import NONE
from lmkit.ngram.query import lookup
from lmkit.ngram.query.draw import Drawer
from lmkit.ngram.query.lookup import Records
from lmkit.store.artifact import Artifact
from lmkit.text.restore import StoredTokenizer, restore_tokenizer
from lmkit.text.vocab import WordTokenizer

SMALL = 100_000
"""Tokens up to which NumPy is quicker than loading the compiled kernels."""
FEW_ROWS = 500
"""The same in next-word distributions."""

State = NDArray[np.uint32]


class NgramModel(LanguageModel):
    """An n-gram model with back-off weights, from a model directory or an ARPA file."""

    family: str = "ngram"

    def __init__(
        self,
        records: Records,
        tokenizer: StoredTokenizer,
        mode: Mode,
        order: int,
        counts: list[int],
        config: dict[str, Any],
    ) -> None:
        self.records = records
        self.tokenizer = tokenizer
        self.mode = mode
        self.order = order
        self.counts = counts
        self.config = config
        self._sentences = mode == "sentence"
        self._tokens_scored = 0
        self._rows_made = 0
        self._drawer: Drawer | None = None
        self._unverified: Artifact | None = None
        self._lock = Lock()

    @classmethod
    def open(cls, artifact: Artifact, open_model: Callable[[Path], LanguageModel]) -> Self:
        """Map the model of an opened directory; nothing is copied."""
        del open_model
        config, arrays = artifact.config, artifact.arrays
        order = int(config["order"])
        inner = arrays.span("order1", "sentinel")
        if order > 1:
            top = artifact.array(f"order{order}")
            wide = artifact.array("wide")
        else:
            top = np.empty((0, 3), dtype=np.uint32)
            wide = np.zeros(2, dtype=np.uint32)
        counts = [int(count) for count in config["counts"]]
        if len(inner) - 1 + len(top) != sum(counts):
            raise ModelError(f"{artifact.path} is damaged: it holds another number of n-grams")
        tokenizer = restore_tokenizer(artifact.tokenizer["spec"], arrays, artifact.path)
        if tokenizer.num_tokens != counts[0]:
            raise ModelError(f"{artifact.path} is damaged: its vocabulary is of another size")
        model = cls(Records(inner, top, wide), tokenizer, config["mode"], order, counts, config)
        model._unverified = artifact
        if isinstance(tokenizer, WordTokenizer):
            tokenizer.before_kernels = model.verify
        return model

    @property
    def start_context(self) -> int:
        """The state before the first token: <s>, or the empty context in document mode."""
        return BOS if self._sentences else NONE

    def verify(self) -> None:
        """Make sure that a large model is whole: damage could lead the kernels astray.

        Raises:
            ModelError: it is damaged.
        """
        with self._lock:
            if self._unverified is not None:
                self._unverified.verify_large()
                self._unverified = None

    def logprobs(self, ids: Ids) -> Logprobs:
        """Return the log probabilities of a sequence; see :class:`LanguageModel`."""
        return self.batch_logprobs(ids)

    def batch_logprobs(self, ids: Ids, threads: int = 1, *, context: Ids | None = None) -> Logprobs:
        """Return the log probabilities of a stream; by NumPy while little has been scored."""
        skip, at_start = 0, True
        if context is not None and len(context):
            at_start = len(context) <= self.order
            context = context[-self.order :]
            skip = len(context)
            ids = np.concatenate([context, ids])
        if len(ids) == skip:
            return np.empty(0, dtype=np.float64)
        loaded = "lmkit.ngram.query.kernels" in sys.modules
        self._tokens_scored += len(ids)
        if not loaded and self._tokens_scored <= SMALL:
            try:
                return lookup.score_stream(
                    ids, skip, self._sentences, self.order, self.records, at_start
                )
            except IndexError:  # a damaged model, or a bug
                self.verify()
                raise
        return self._score_compiled(ids, skip, threads, at_start)

    def _score_compiled(self, ids: Ids, skip: int, threads: int, at_start: bool) -> Logprobs:
        from lmkit.ngram.query import kernels

        self.verify()
        out = np.empty(len(ids), dtype=np.float64)
        records = self.records
        cuts = [skip + (len(ids) - skip) * k // threads for k in range(threads + 1)]

        def run(part: int) -> None:
            begin, end = cuts[part], cuts[part + 1]
            early = max(0, begin - self.order)
            first = self.start_context if at_start and early == 0 else NONE
            kernels.score_stream(
                ids[early:end], begin - early, self._sentences, self.order,
                records.inner, records.inner.view(np.float32), records.top,
                records.top.view(np.float32), records.wide, np.uint32(first), out[early:end],
                np.empty((7, kernels.LANES), np.int64), np.empty(kernels.LANES, np.uint32),
                np.empty(kernels.LANES, np.float64),
            )  # fmt: skip

        if threads == 1:
            run(0)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(run, range(threads)))
        return out[skip:]

    def next_logprobs(self, context: Ids) -> Logprobs:
        """Return ln p(w | start, context) for every w [V]."""
        state = self.start_context
        for word in context[-self.order :] if len(context) > self.order else context:
            state = self.records.advance(state, int(word), self._sentences)
        return lookup.next_logprobs(state, self.records, self.tokenizer.num_tokens, self._sentences)

    def start(self, batch: int) -> State:
        """Return the contexts [B] of sequences that have read nothing."""
        return np.full(batch, self.start_context, dtype=np.uint32)

    def next_from(self, state: State) -> Logprobs:
        """Return the next-token log probabilities [B, V]."""
        size, records = self.tokenizer.num_tokens, self.records
        loaded = "lmkit.ngram.query.kernels" in sys.modules
        self._rows_made += len(state)
        if not loaded and self._rows_made <= FEW_ROWS:
            made = [lookup.next_logprobs(int(s), records, size, self._sentences) for s in state]
            return np.stack(made) if made else np.empty((0, size))
        from lmkit.ngram.query import kernels

        self.verify()
        rows = np.empty((len(state), size), dtype=np.float64)
        arrays = records.inner, records.inner.view(np.float32)
        kernels.next_rows(state, *arrays, records.top, records.top.view(np.float32), rows)
        rows[:, BOS] = -np.inf
        if not self._sentences:
            rows[:, EOS] = -np.inf
        return rows

    def advance(self, state: State, tokens: Ids) -> State:
        """Return the contexts after each sequence has read its token."""
        return self._drawing().advance(state, tokens)

    def reorder(self, state: State, indices: NDArray[np.int64]) -> State:
        """Return the contexts of the rows ``indices``."""
        return state[indices]

    def draw(self, state: State, uniforms: NDArray[np.float64]) -> Ids:
        """Draw one word a row, exactly, without forming the distribution."""
        return self._drawing().draw(state, uniforms)

    def _drawing(self) -> Drawer:
        if self._drawer is None:
            self.verify()
            self._drawer = Drawer(self.records, self.tokenizer.num_tokens, self._sentences)
        return self._drawer
