"""Drawing words from the model's own distribution, without forming it.

Few draws go row by row in Python, many through the compiled kernels; see
``kernels.draw_words`` for the method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import BOS, EOS, Ids
from lmkit.ngram.layout import NONE
from lmkit.ngram.query.lookup import Records

FEW = 2_000
"""Draws up to which Python is quicker than loading the compiled kernels."""
PATIENCE = 1 << 20
"""Refusals in one draw after which the word stands: where the children of a context are all the
words there are, rounding may leave a gap in the sum of their probabilities."""
_MASK = (1 << 64) - 1


class Drawer:
    """Draws from one model; keeps running sums of what is drawn from most."""

    def __init__(self, records: Records, vocabulary_size: int, sentences: bool) -> None:
        self._records = records
        self._sentences = sentences
        self._done = 0
        unigrams = np.exp(records.inner[:vocabulary_size, 1].view(np.float32).astype(np.float64))
        unigrams[BOS] = 0.0
        if not sentences:
            unigrams[EOS] = 0.0
        self._unigrams = np.cumsum(unigrams)
        self._sums: dict[int, NDArray[np.float64]] = {}
        self._wide: tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]] | None = None

    def advance(self, states: NDArray[np.uint32], tokens: Ids) -> NDArray[np.uint32]:
        """Return the contexts [B] after each has read its token [B]."""
        records = self._records
        if self._done + len(states) <= FEW:
            pairs = zip(states.tolist(), tokens.tolist(), strict=True)
            after = [records.advance(state, word, self._sentences) for state, word in pairs]
            return np.array(after, dtype=np.uint32)
        from lmkit.ngram.query import kernels

        out = np.empty(len(states), dtype=np.uint32)
        kernels.advance_states(states, tokens, self._sentences, records.inner, records.top, out)
        return out

    def draw(self, states: NDArray[np.uint32], uniforms: NDArray[np.float64]) -> Ids:
        """Return one word a row, distributed as the model says, given numbers in [0, 1) [B]."""
        self._done += len(states)
        seeds = uniforms.view(np.uint64)
        if self._done <= FEW:
            rows = zip(states.tolist(), uniforms.tolist(), seeds.tolist(), strict=True)
            return np.array([self._draw_one(*row) for row in rows], dtype=np.uint32)
        from lmkit.ngram.query import kernels

        if self._wide is None:
            self._wide = self._running_sums(kernels.CUMULATED)
        out = np.empty(len(states), dtype=np.uint32)
        records = self._records
        kernels.draw_words(
            states, uniforms, seeds, records.inner, records.top, *self._wide, self._unigrams, out
        )
        return out

    def _draw_one(self, state: int, uniform: float, seed: int) -> int:
        """Draw one word: the twin of ``kernels.draw_words``."""
        records = self._records
        chain = []
        while state != NONE:
            chain.append(state)
            state = records.link(state)
        level = refused = 0
        while True:
            word = self._pick(chain[level] if level < len(chain) else NONE, uniform)
            seed, uniform = _next_uniform(seed)
            if word < 0:
                level += 1
                continue
            passed = next(
                (i for i in range(level - 1, -1, -1) if records.child(chain[i], word) >= 0), None
            )
            if passed is None or refused == PATIENCE:
                return word
            refused += 1
            level = passed + 1

    def _pick(self, state: int, uniform: float) -> int:
        if state == NONE:
            target = uniform * self._unigrams[-1]
            return int(np.searchsorted(self._unigrams, target, side="right"))
        begin, end = self._records.row(state)
        sums = self._sums.get(state)
        if sums is None:
            sums = np.cumsum(np.exp(self._records.logprobs(begin, end).astype(np.float64)))
            self._sums[state] = sums
        place = int(np.searchsorted(sums, uniform, side="right"))
        return (
            int(self._records.words(begin + place, begin + place + 1)[0])
            if place < len(sums)
            else -1
        )

    def _running_sums(
        self, cumulated: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]]:
        """Return the contexts with many children, where their sums begin, and the sums."""
        records = self._records
        sizes = np.diff(records.inner[:, 4])
        states = np.flatnonzero(sizes > cumulated)
        begins = np.zeros(len(states) + 1, dtype=np.int64)
        np.cumsum(sizes[states], out=begins[1:])
        sums = np.empty(int(begins[-1]), dtype=np.float64)
        for state, begin, end in zip(states.tolist(), begins[:-1], begins[1:], strict=True):
            row = records.logprobs(*records.row(state)).astype(np.float64)
            np.cumsum(np.exp(row), out=sums[begin:end])
        return states.astype(np.uint32), begins, sums


def _next_uniform(seed: int) -> tuple[int, float]:
    """Return the next state of SplitMix64 and a number in [0, 1)."""
    seed = seed + 0x9E3779B97F4A7C15 & _MASK
    value = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    value ^= value >> 31
    return seed, (value >> 11) * (1.0 / 9007199254740992.0)
