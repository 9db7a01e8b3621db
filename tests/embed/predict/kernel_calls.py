"""Calls of the training kernels, with the types that the trainers give them too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from embed.predict import twin
from numpy.typing import NDArray

from lmkit.embed.predict.hierarchical.kernels import cbow_hierarchical, skipgram_hierarchical
from lmkit.embed.predict.huffman import huffman_paths
from lmkit.embed.predict.kernels import cbow_negative, skipgram_negative
from lmkit.embed.predict.matrices import zeros

NEGATIVE = ("skipgram_negative", "cbow_negative")
HIERARCHICAL = ("skipgram_hierarchical", "cbow_hierarchical")
KERNELS = (*NEGATIVE, *HIERARCHICAL)
_COMPILED = (skipgram_negative, cbow_negative, skipgram_hierarchical, cbow_hierarchical)
COMPILED: dict[str, Any] = dict(zip(KERNELS, _COMPILED, strict=True))


def encoded(sentences: Sequence[Sequence[int]]) -> NDArray[np.uint32]:
    """Return sentences of word numbers (-3 for an unknown word) as kernels read them."""
    ids = [index for words in sentences for index in [*(word + 3 for word in words), 2]]
    return np.array(ids, dtype=np.uint32)


class Run:
    """Matrices for V words and the settings of a kernel."""

    def __init__(
        self, kernel: str, num_words: int, size: int, *, window: int = 2, negative: int = 5,
        shared: int = 6, seed: int = 1, spread: float = 0.3,
    ) -> None:  # fmt: skip
        rng = np.random.default_rng(seed)
        self.kernel, self.num_words, self.size = kernel, num_words, size
        self.window, self.negative, self.shared = window, negative, shared
        self.inputs, self.outputs = zeros(num_words + 1, size), zeros(num_words + 1, size)
        for matrix in (self.inputs, self.outputs):
            matrix[:num_words, :size] = rng.normal(0, spread, (num_words, size))
        self.keep = np.ones(num_words, dtype=np.float32)
        self.noise = rng.integers(0, num_words, 10 * shared + 3).astype(np.int32)
        counts = np.sort(rng.integers(1, 9, num_words))[::-1]
        self.paths = huffman_paths(counts.astype(np.int64), twin.NODES)
        self.report = np.zeros(8)

    def settings(self) -> tuple[Any, ...]:
        if self.kernel in NEGATIVE:
            return self.noise, *map(np.int64, (self.window, self.negative, self.shared))
        paths = self.paths
        return paths.starts, paths.nodes, paths.codes, np.int64(self.window)

    def train(self, ids: NDArray[np.uint32], rate: float, seed: int, begin: int = 0) -> None:
        COMPILED[self.kernel](
            ids, np.int64(begin), np.int64(len(ids)), self.inputs, self.outputs, self.keep,
            *self.settings(), np.float32(rate), np.int64(seed), self.report,
        )  # fmt: skip

    def twin(self) -> twin.State:
        return twin.State(self.inputs.astype(np.float64), self.outputs.astype(np.float64))

    def train_twin(
        self, state: twin.State, ids: NDArray[np.uint32], rate: float, seed: int
    ) -> None:
        extra = (self.noise,) if self.kernel in NEGATIVE else (self.paths,)
        numbers = (
            (self.window, self.negative, self.shared) if self.kernel in NEGATIVE else (self.window,)
        )
        getattr(twin, self.kernel)(
            state, ids.tolist(), self.keep.tolist(), *extra, *numbers, float(np.float32(rate)), seed
        )
