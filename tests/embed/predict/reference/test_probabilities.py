"""What full softmax, NCE and the tree learn are probabilities, and the same ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from embed.predict.reference import training
from embed.predict.reference.descents import encoded
from numpy.typing import NDArray

from lmkit.corpora import catalogue
from lmkit.tasks.embed_text import encode_text
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import VocabularyConfig

V = 20


def bigram_text(num_words: int = V, lines: int = 2500, seed: int = 5) -> NDArray[np.uint32]:
    """Return text in which every word has its own distribution of followers; frequent first."""
    rng = np.random.default_rng(seed)
    followers = rng.dirichlet(np.full(num_words, 0.5), num_words)
    sentences = np.empty((lines, 30), dtype=np.int64)
    sentences[:, 0] = rng.integers(0, num_words, lines)
    for place in range(1, 30):
        bounds = followers[sentences[:, place - 1]].cumsum(axis=1)
        above = bounds > rng.random((lines, 1)) * bounds[:, -1:]
        sentences[:, place] = above.argmax(axis=1)
    rank = np.empty(num_words, dtype=np.int64)
    counts = np.bincount(sentences.ravel(), minlength=num_words)
    rank[np.argsort(-counts, kind="stable")] = np.arange(num_words)
    return encoded(rank[sentences].tolist())


SETTINGS = {"size": 24, "window": 1, "subsample": 0.0, "epochs": 8}


def test_softmax_reaches_the_entropy(tmp_path: Path) -> None:
    ids = bigram_text()
    counts = training.pair_counts(ids, V)
    least = training.entropy(counts)
    trainee = training.trainee_for(ids, V, loss="softmax", learning_rate=0.1, **SETTINGS)
    assert training.surprisal(counts, training.logarithms(trainee)) == pytest.approx(np.log(V))
    went = training.trained(trainee, ids, tmp_path)
    reached = training.surprisal(counts, training.logarithms(trainee))
    assert least <= reached < least + 0.01
    assert least < 0.85 * np.log(V)
    assert went.losses[-1] == pytest.approx(reached, abs=0.02)


@pytest.mark.parametrize("begun", ["as usual", "far from normalised"])
def test_nce_learns_normalised_probabilities(begun: str, tmp_path: Path) -> None:
    ids = bigram_text()
    counts = training.pair_counts(ids, V)
    shares = counts.sum(axis=1) / counts.sum()
    trainee = training.trainee_for(ids, V, loss="nce", learning_rate=0.1, **SETTINGS)
    if begun != "as usual":
        trainee.matrices[2][:] = 0
    start = np.logaddexp.reduce(training.unnormalized(trainee), axis=1)
    assert start == pytest.approx(0 if begun == "as usual" else np.log(V), abs=1e-5)
    training.trained(trainee, ids, tmp_path)
    sums = np.logaddexp.reduce(training.unnormalized(trainee), axis=1)
    assert abs(shares @ sums) < 0.02
    assert sums == pytest.approx(0, abs=0.1)
    least = training.entropy(counts)
    assert least <= training.surprisal(counts, training.logarithms(trainee)) < least + 0.02


def test_tree_and_noise_come_close_to_the_full_softmax(tmp_path: Path) -> None:
    """On text that was held out, all three far better than the frequencies of the words."""
    lines = Path(catalogue.path("kingdoms")).read_bytes().split(b"\n")[:6000]
    source = tmp_path / "lines.txt"
    source.write_bytes(b"\n".join(lines))
    limits = VocabularyConfig(max_size=400)
    ids = encode_text([str(source)], limits, Normalizer()).corpus.ids
    border = np.flatnonzero(ids == 2)[5000]
    learnt, held_out = ids[: border + 1], ids[border + 1 :]
    counts = training.pair_counts(held_out, 400)
    assert counts.sum() > 10_000
    settings = {"size": 32, "window": 1, "subsample": 0.0, "epochs": 5}
    found = {}
    for loss, rate in (("softmax", 0.1), ("nce", 0.1), ("hierarchical", 0.1)):
        trainee = training.trainee_for(learnt, 400, loss=loss, learning_rate=rate, **settings)
        training.trained(trainee, learnt, tmp_path)
        logarithms = training.logarithms(trainee)
        assert np.exp(logarithms).sum(axis=1) == pytest.approx(1)
        found[loss] = training.surprisal(counts, logarithms)
    seen = trainee.counts / trainee.counts.sum()
    by_frequency = training.surprisal(counts, np.broadcast_to(np.log(seen), counts.shape))
    assert found["softmax"] < by_frequency - 1
    assert found["nce"] == pytest.approx(found["softmax"], abs=0.06)
    assert found["hierarchical"] == pytest.approx(found["softmax"], abs=0.12)
