"""The reference losses as formulas in torch, whose gradients in float64 are descended step by step.

Each walks through sentences with the random numbers of the kernel it is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from embed.predict.twin import Draws, around
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import hardtanh, log_softmax, logsigmoid

GROUP = 6
"""Different words of a window in one step."""


def doubles(*arrays: NDArray[np.float32]) -> list[Tensor]:
    return [torch.tensor(array, dtype=torch.float64) for array in arrays]


def descend(loss: Callable[..., Tensor], parameters: Sequence[Tensor], rate: float) -> float:
    """Take one step; return the loss before it."""
    leaves = [parameter.clone().requires_grad_() for parameter in parameters]
    value = loss(*leaves)
    for parameter, gradient in zip(parameters, torch.autograd.grad(value, leaves), strict=True):
        parameter -= rate * gradient
    return float(value.detach())


def groups(sentence: Sequence[int], centre: int, reach: int) -> Iterator[list[int]]:
    """Yield the words of a window, up to 6 different ones at a time."""
    group: list[int] = []
    for place in around(centre, reach, len(sentence)):
        if sentence[place] not in group and len(set(group)) == GROUP:
            yield group
            group = []
        group.append(sentence[place])
    yield group


def softmax_loss(inputs: Tensor, outputs: Tensor, words: list[int], centre: int) -> Tensor:
    return -log_softmax(inputs[words] @ outputs.T, 1)[:, centre].sum()


def nce_loss(
    inputs: Tensor, outputs: Tensor, biases: Tensor, offsets: Tensor, words: list[int],
    centre: int, noise: list[int],
) -> Tensor:  # fmt: skip
    """Mnih & Teh 2012, the sampled equation 10, summed over the words of a window."""
    margins = inputs[words] @ outputs.T + biases - offsets
    return -(logsigmoid(margins[:, centre]).sum() + logsigmoid(-margins[:, noise]).sum())


def ranking_loss(
    inputs: Tensor, weights: Tensor, head: Tensor, window: dict[int, int], centre: int, other: int
) -> Tensor:
    """Return max(0, 1 - f(s) + f(s with another centre)); ``window`` has words by place."""

    def score(words: dict[int, int]) -> Tensor:
        sums = head[0] + sum(weights[place] @ inputs[word] for place, word in words.items())
        return head[1] @ hardtanh(sums)

    return torch.relu(1 - score(window) + score({**window, centre: other}))


def train_softmax(
    parameters: Sequence[Tensor], sentences: Sequence[Sequence[int]], window: int, rate: float,
    seed: int,
) -> list[float]:  # fmt: skip
    """Return the loss of each step."""
    draws, losses = Draws(seed), []
    for sentence in sentences:
        for centre, word in enumerate(sentence):
            for group in groups(sentence, centre, draws.reach(window)):
                losses.append(
                    descend(
                        lambda x, y, g=group, w=word: softmax_loss(x, y, g, w), parameters, rate
                    )
                )
    return losses


def train_nce(
    parameters: Sequence[Tensor], offsets: Tensor, noise: Sequence[int], negative: int,
    sentences: Sequence[Sequence[int]], window: int, rate: float, seed: int,
) -> list[tuple[float, int]]:  # fmt: skip
    """Return the loss and number of words of each step that a kernel would look at."""
    draws, losses, looks = Draws(seed), [], 0
    drawn = draws.noise(noise, negative)
    for sentence in sentences:
        for centre, word in enumerate(sentence):
            reach, others = draws.reach(window), next(drawn)
            for group in groups(sentence, centre, reach):

                def loss(
                    x: Tensor, y: Tensor, b: Tensor, g: list[int] = group, w: int = word,
                    o: list[int] = others,
                ) -> Tensor:  # fmt: skip
                    return nce_loss(x, y, b, offsets, g, w, o)

                value = descend(loss, parameters, rate)
                if looks % 64 == 0:
                    losses.append((value, len(group)))
            looks += 1
    return losses


def train_ranking(
    parameters: Sequence[Tensor], noise: Sequence[int], sentences: Sequence[Sequence[int]],
    window: int, rate: float, seed: int,
) -> list[float]:  # fmt: skip
    """Return the loss of each window."""
    drawn, losses = (Draws(seed).state >> 20) % len(noise), []
    for sentence in sentences:
        for centre, word in enumerate(sentence):
            drawn = (drawn + 1) % len(noise)
            while noise[drawn] == word:
                drawn = (drawn + 1) % len(noise)
            near = {centre: word} | {p: sentence[p] for p in around(centre, window, len(sentence))}
            words = {place - centre + window: other for place, other in near.items()}

            def loss(
                x: Tensor, w: Tensor, h: Tensor, s: dict[int, int] = words,
                other: int = noise[drawn],
            ) -> Tensor:  # fmt: skip
                return ranking_loss(x, w, h, s, window, other)

            losses.append(descend(loss, parameters, rate))
    return losses


def encoded(sentences: Sequence[Sequence[int]]) -> NDArray[np.uint32]:
    """Return sentences of word numbers as kernels read them."""
    return np.array([i for words in sentences for i in (*(w + 3 for w in words), 2)], np.uint32)


def times(words: Sequence[int], num_words: int) -> NDArray[np.int64]:
    """Return how often each word occurs."""
    counter = Counter(words)
    return np.array([counter[word] for word in range(num_words)], dtype=np.int64)
