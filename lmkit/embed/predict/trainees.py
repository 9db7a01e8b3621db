"""What is trained: the matrices of an architecture and loss, and the kernel that trains them."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.config import Loss, PredictConfig
from lmkit.embed.predict.huffman import PAD, huffman_paths
from lmkit.embed.predict.matrices import uniform_rows, zeros
from lmkit.embed.predict.sampling import keep_probabilities, noise_words
from lmkit.embed.subword.ngrams import mean_of_rows, word_ngrams
from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Floats, Vectors
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import WordTable

Report = NDArray[np.float64]
"""Where a kernel adds up the losses it looked at, their number and the words it kept."""


class Trainee(ABC):
    """Matrices and how a stretch of text changes them.

    Attributes:
        inputs: [R + 1, width] the rows of the words (and n-grams), then zeros.
        outputs: [V + 1, width] the rows of what is predicted, then zeros.
    """

    inputs: Floats
    outputs: Floats

    def __init__(self, config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> None:
        self.config = config
        self.words = words
        self.counts = counts
        self.keep = keep_probabilities(counts, config.subsample, config.subsample_formula)
        rows = self.num_rows()
        self.inputs = zeros(rows + 1, config.size)
        self.outputs = zeros(len(counts) + 1, config.size)
        uniform_rows(self.inputs, slice(0, rows), config.size, self.bound(), config.seed)

    def num_rows(self) -> int:
        """Return how many input rows there are."""
        return len(self.counts)

    def buckets(self) -> NDArray[np.int32] | None:
        """Return the bucket of each row behind those of the words, where there are some."""
        return None

    def bound(self) -> float:
        """Return the bound of the random numbers with which rows begin."""
        return 0.5 / self.config.size

    def hopeless(self) -> float:
        """Return the mean loss beyond which a training has diverged, though it be finite."""
        return sys.float_info.max

    @property
    def matrices(self) -> tuple[Floats, ...]:
        """Return what training changes."""
        return self.inputs, self.outputs

    @abstractmethod
    def kernel(self) -> Callable[..., None]:
        """Return the compiled kernel, which is loaded here."""

    @abstractmethod
    def settings(self) -> tuple[Any, ...]:
        """Return the arguments of the kernel between ``keep`` and the learning rate."""

    def train(
        self, ids: NDArray[np.uint32], begin: int, end: int, rate: float, seed: int, report: Report
    ) -> None:
        """Train on ``ids[begin:end]``; runs without the GIL."""
        self.kernel()(
            ids, np.int64(begin), np.int64(end), self.inputs, self.outputs, self.keep,
            *self.settings(), np.float32(rate), np.int64(seed), report,
        )  # fmt: skip

    def vectors(self, normalizer: Normalizer) -> Vectors:
        """Return the vectors of the words."""
        matrix = self.inputs[: len(self.words), : self.config.size]
        return Vectors.of(self.words, matrix, counts=self.counts, normalizer=normalizer)

    def extra(self) -> dict[str, NDArray[Any]]:
        """Return what else training needs to go on."""
        return {"outputs": self.outputs[:-1, : self.config.size]}

    def take_over(
        self, arrays: Mapping[str, NDArray[Any]], known: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> None:
        """Make what an older model predicts with that of the words it knows.

        Args:
            arrays: the arrays of the older model, as :meth:`extra` returned them.
            known: words that are in the older model.
            rows: the row of each there.
        """
        self.outputs[known, : self.config.size] = arrays["outputs"][rows]


class NegativeSampling(Trainee):
    """Skip-gram or CBOW that tells words from noise."""

    def __init__(self, config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> None:
        super().__init__(config, words, counts)
        self.noise = noise_words(counts, config.power, config.seed)

    def kernel(self) -> Callable[..., None]:
        """Return the kernel."""
        from lmkit.embed.predict import kernels

        is_cbow = self.config.arch == "cbow"
        chosen: Callable[..., None] = (
            kernels.cbow_negative if is_cbow else kernels.skipgram_negative
        )
        return chosen

    def settings(self) -> tuple[Any, ...]:
        """Return the noise, the window, the number of negatives and of those that are shared."""
        from lmkit.embed.simd.kernels import OUTPUTS

        draws = self.config.draws
        shared = -(-draws // OUTPUTS) * OUTPUTS
        return self.noise, np.int64(self.config.window), np.int64(draws), np.int64(shared)


class HierarchicalSoftmax(Trainee):
    """Skip-gram or CBOW that finds a word by its turns in a Huffman tree."""

    def __init__(self, config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> None:
        from lmkit.embed.simd.kernels import NODES

        super().__init__(config, words, counts)
        self.paths = huffman_paths(counts, NODES)

    def kernel(self) -> Callable[..., None]:
        """Return the kernel."""
        from lmkit.embed.predict.hierarchical import kernels

        is_cbow = self.config.arch == "cbow"
        chosen: Callable[..., None] = (
            kernels.cbow_hierarchical if is_cbow else kernels.skipgram_hierarchical
        )
        return chosen

    def hopeless(self) -> float:
        """Return ten times the loss of guessing each turn.

        Scores beyond a bound change nothing, so numbers stay finite when a training diverges.
        """
        lengths = np.add.reduceat(self.paths.codes != PAD, self.paths.starts[:-1], dtype=np.int64)
        return 10 * math.log(2) * float(np.average(lengths, weights=self.counts))

    def settings(self) -> tuple[Any, ...]:
        """Return the paths and the window."""
        paths = self.paths
        return paths.starts, paths.nodes, paths.codes, np.int64(self.config.window)


class SubwordSampling(NegativeSampling):
    """Negative sampling whose inputs are words and their character n-grams."""

    def __init__(self, config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> None:
        assert config.subword is not None
        self.ngrams = word_ngrams(words, *config.subword, config.buckets)
        self.rows = self.ngrams.rows + np.int32(len(counts))
        super().__init__(config, words, counts)

    def num_rows(self) -> int:
        """Return how many words and n-grams there are."""
        return len(self.counts) + len(self.ngrams.buckets)

    def buckets(self) -> NDArray[np.int32] | None:
        """Return the buckets that some word falls into."""
        return self.ngrams.buckets

    def bound(self) -> float:
        """Return the bound that fastText begins with."""
        return 1.0 / self.config.size

    def kernel(self) -> Callable[..., None]:
        """Return the kernel."""
        from lmkit.embed.subword.training import kernels

        is_cbow = self.config.arch == "cbow"
        chosen: Callable[..., None] = kernels.cbow_subword if is_cbow else kernels.skipgram_subword
        return chosen

    def settings(self) -> tuple[Any, ...]:
        """Return the noise, the n-grams of each word, the window and the number of negatives."""
        noise, window, negative, _ = super().settings()
        return noise, self.ngrams.starts, self.rows, window, negative

    def vectors(self, normalizer: Normalizer) -> Vectors:
        """Return the means of the rows of each word."""
        assert self.config.subword is not None
        num_words, size = len(self.words), self.config.size
        own, ngram_rows = self.inputs[:num_words, :size], self.inputs[num_words:-1, :size]
        subwords = Subwords(
            *self.config.subword, self.config.buckets, ngram_rows, self.ngrams.buckets
        )
        matrix = mean_of_rows(own, ngram_rows, self.ngrams)
        return Vectors.of(
            self.words, matrix, counts=self.counts, normalizer=normalizer, subwords=subwords
        )

    def extra(self) -> dict[str, NDArray[Any]]:
        """Return what else training needs to go on."""
        own = self.inputs[: len(self.words), : self.config.size]
        return {**super().extra(), "inputs": own}


def make_trainee(config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> Trainee:
    """Return what ``config`` asks for, with its first random numbers."""
    if config.subword is not None:
        return SubwordSampling(config, words, counts)
    from lmkit.embed.predict.reference import trainees as reference

    kinds: dict[Loss, type[Trainee]] = {
        "negative": NegativeSampling,
        "hierarchical": HierarchicalSoftmax,
        "softmax": reference.FullSoftmax,
        "nce": reference.NoiseContrastive,
        "rank": reference.WindowRanking,
    }
    return kinds[config.loss](config, words, counts)
