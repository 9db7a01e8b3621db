"""Texts to learn from, trainings, and what the trained models say of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.config import PredictConfig
from lmkit.embed.predict.huffman import PAD, huffman_paths
from lmkit.embed.predict.trainees import Trainee, make_trainee
from lmkit.embed.predict.trainer import Training, train
from lmkit.text.vocab import WordTable

Doubles = NDArray[np.float64]


def trainee_for(ids: NDArray[np.uint32], num_words: int, **settings: Any) -> Trainee:
    """Return what ``settings`` say, for words that are numbered by falling counts."""
    counts = np.bincount(ids, minlength=num_words + 3)[3:].astype(np.int64)
    table = WordTable.of([b"%d" % word for word in range(num_words)])
    return make_trainee(PredictConfig(**settings), table, counts)


def trained(trainee: Trainee, ids: NDArray[np.uint32], folder: Path) -> Training:
    return train(trainee, ids, threads=1, snapshot=folder / "epoch")


def pair_counts(ids: NDArray[np.uint32], num_words: int) -> Doubles:
    """Return [near, word]: how often two words stand side by side, in either order."""
    left, right = ids[:-1].astype(np.int64) - 3, ids[1:].astype(np.int64) - 3
    both = (left >= 0) & (right >= 0)
    counts = np.zeros((num_words, num_words))
    np.add.at(counts, (left[both], right[both]), 1)
    return counts + counts.T


def logarithms(trainee: Trainee) -> Doubles:
    """Return ln p(word | near) [near, word] as a model has it, for NCE normalised."""
    num_words = len(trainee.counts)
    inputs = trainee.inputs[:num_words].astype(np.float64)
    if trainee.config.loss == "hierarchical":
        return path_logarithms(trainee, inputs)
    scores = unnormalized(trainee)
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def unnormalized(trainee: Trainee) -> Doubles:
    """Return the score of each word near each word."""
    num_words = len(trainee.counts)
    inputs, outputs = (m[:num_words].astype(np.float64) for m in trainee.matrices[:2])
    biases = trainee.matrices[2][:num_words] if trainee.config.loss == "nce" else 0.0
    return inputs @ outputs.T + biases


def path_logarithms(trainee: Trainee, inputs: Doubles) -> Doubles:
    """Return the sums of the logarithms of the turns on the way to each word."""
    paths = huffman_paths(trainee.counts)
    scores = inputs @ trainee.outputs.astype(np.float64).T
    result = np.empty((len(inputs), len(inputs)))
    for word in range(len(inputs)):
        way = slice(paths.starts[word], paths.starts[word + 1])
        nodes, codes = paths.nodes[way], paths.codes[way]
        assert not (codes == PAD).any()
        signs = np.where(codes == 0, 1.0, -1.0)
        result[:, word] = -np.logaddexp(0, -signs * scores[:, nodes]).sum(axis=1)
    return result


def surprisal(counts: Doubles, logarithms: Doubles) -> float:
    """Return the mean -ln p over pairs that occur ``counts`` times."""
    return float(-(counts * logarithms).sum() / counts.sum())


def entropy(counts: Doubles) -> float:
    """Return that of a word given its neighbour, which no model of these pairs falls below."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return surprisal(counts, np.log(np.where(shares > 0, shares, 1)))
