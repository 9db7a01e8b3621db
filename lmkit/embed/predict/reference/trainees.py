"""What is trained with the losses that the fast ones are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.config import PredictConfig
from lmkit.embed.predict.matrices import uniform_rows, zeros
from lmkit.embed.predict.sampling import noise_words
from lmkit.embed.predict.trainees import Trainee
from lmkit.embed.vectors import Floats
from lmkit.text.vocab import WordTable

_SPREAD = 0.3
"""Standard deviation of what goes into a hidden unit of the ranking network at first."""


class FullSoftmax(Trainee):
    """Skip-gram whose every step looks at all words (Mikolov et al. 2013b, equation 2)."""

    def kernel(self) -> Callable[..., None]:
        """Return the kernel."""
        from lmkit.embed.predict.reference import kernels

        chosen: Callable[..., None] = kernels.skipgram_softmax
        return chosen

    def hopeless(self) -> float:
        """Return ten times the loss of guessing."""
        return 10 * math.log(len(self.counts))

    def settings(self) -> tuple[Any, ...]:
        """Return the window."""
        return (np.int64(self.config.window),)


class NoiseContrastive(Trainee):
    """Skip-gram that learns normalised probabilities by telling words from noise.

    Attributes:
        biases: [V + 1] of the words; they begin as the logarithms of their shares in the text, with
            which the probabilities of all words add up to 1 from the start.
        offsets: [V] ln(K p_n(w)), K the number of noise words.
    """

    def __init__(self, config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> None:
        super().__init__(config, words, counts)
        self.noise = noise_words(counts, config.power, config.seed)
        weights = counts.astype(np.float64) ** config.power
        self.offsets = np.log(config.draws * weights / weights.sum()).astype(np.float32)
        self.biases = np.zeros(len(counts) + 1, dtype=np.float32)
        self.biases[:-1] = np.log(counts / counts.sum())

    @property
    def matrices(self) -> tuple[Floats, ...]:
        """Return what training changes."""
        return self.inputs, self.outputs, self.biases

    def kernel(self) -> Callable[..., None]:
        """Return the kernel."""
        from lmkit.embed.predict.reference import kernels

        chosen: Callable[..., None] = kernels.skipgram_nce
        return chosen

    def hopeless(self) -> float:
        """Return ten times the loss of guessing at each word whether it is noise."""
        return 10 * math.log(2) * (self.config.draws + 1)

    def settings(self) -> tuple[Any, ...]:
        """Return the biases, the noise, the window and the number of noise words."""
        config = self.config
        sizes = np.int64(config.window), np.int64(config.draws)
        return self.biases, self.offsets, self.noise, *sizes

    def extra(self) -> dict[str, NDArray[Any]]:
        """Return what else training needs to go on."""
        return {**super().extra(), "biases": self.biases[:-1]}

    def take_over(
        self, arrays: Mapping[str, NDArray[Any]], known: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> None:
        """Make the outputs and biases of an older model those of the words it knows."""
        super().take_over(arrays, known, rows)
        self.biases[known] = arrays["biases"][rows]


class WindowRanking(Trainee):
    """A network that scores windows of text above the same with a random word in the centre.

    Attributes:
        outputs: [P * H, width] the weights of each of H hidden units at each of P places.
        head: [2, H] the biases of the hidden units and the weights of the score.
    """

    def __init__(self, config: PredictConfig, words: WordTable, counts: NDArray[np.int64]) -> None:
        super().__init__(config, words, counts)
        places = 2 * config.window + 1
        self.keep = np.ones(len(counts), dtype=np.float32)
        self.noise = noise_words(counts, config.power, config.seed)
        self.outputs = zeros(places * config.hidden, config.size)
        rows = slice(0, len(self.outputs))
        bound = 3 * _SPREAD / (self.bound() * math.sqrt(places * config.size))
        uniform_rows(self.outputs, rows, config.size, bound, config.seed + 1)
        self.head = np.zeros((2, config.hidden), dtype=np.float32)
        bound = 1.0 / math.sqrt(config.hidden)
        self.head[1] = np.random.default_rng(config.seed + 2).uniform(-bound, bound, config.hidden)

    def bound(self) -> float:
        """Return the bound of the random numbers with which rows begin.

        It is small against that of the weights, so that vectors learn faster than weights, as
        Collobert & Weston have it by a learning rate for each.
        """
        return 0.05

    @property
    def matrices(self) -> tuple[Floats, ...]:
        """Return what training changes."""
        return self.inputs, self.outputs, self.head

    def kernel(self) -> Callable[..., None]:
        """Return the kernel."""
        from lmkit.embed.predict.reference import kernels

        chosen: Callable[..., None] = kernels.collobert_ranking
        return chosen

    def hopeless(self) -> float:
        """Return ten times the loss of scores that are all alike.

        Hidden units stay between -1 and 1, so numbers stay finite when a training diverges.
        """
        return 10.0

    def settings(self) -> tuple[Any, ...]:
        """Return the top of the network, the noise and the window."""
        return self.head, self.noise, np.int64(self.config.window)

    def extra(self) -> dict[str, NDArray[Any]]:
        """Return what else training needs to go on."""
        return {"outputs": self.outputs[:, : self.config.size], "head": self.head}

    def take_over(
        self, arrays: Mapping[str, NDArray[Any]], known: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> None:
        """Make the network of an older model this one."""
        self.outputs[:, : self.config.size] = arrays["outputs"]
        self.head[:] = arrays["head"]
