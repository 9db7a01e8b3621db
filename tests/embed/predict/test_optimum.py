"""What negative sampling converges to: shifted pointwise mutual information."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lmkit.embed.predict.config import PredictConfig
from lmkit.embed.predict.trainees import make_trainee
from lmkit.embed.predict.trainer import train
from lmkit.text.vocab import WordTable

V, LENGTH, SENTENCES, NEGATIVE = 8, 20, 1000, 5


def markov_text() -> np.ndarray:
    """Return sentences [SENTENCES, LENGTH] in which every word follows every other."""
    rng = np.random.default_rng(3)
    chances = (0.9 * rng.dirichlet(np.full(V, 1.5), V) + 0.1 / V).cumsum(axis=1)
    words = [0]
    for uniform in rng.random(SENTENCES * LENGTH - 1):
        words.append(int(np.searchsorted(chances[words[-1], :-1], uniform)))
    ranks = np.argsort(np.argsort(-np.bincount(words, minlength=V), kind="stable"))
    return ranks[words].reshape(SENTENCES, LENGTH)


@pytest.mark.parametrize("power", [1.0, 0.75])
def test_scores_are_shifted_mutual_information(power: float, tmp_path: Path) -> None:
    """Levy & Goldberg 2014, equation 13, for noise by counts to a power.

    A word that is drawn as noise for itself is left out, as in word2vec, so the number of noise
    examples of a pair is in proportion to the pairs with other words, not to all.
    """
    words = markov_text()
    counts = np.bincount(words.reshape(-1), minlength=V)
    ids = np.pad(words + 3, ((0, 0), (0, 1)), constant_values=2).astype(np.uint32).reshape(-1)
    config = PredictConfig(
        size=V, window=1, negative=NEGATIVE, noise_power=power, epochs=60, learning_rate=0.08,
        subsample=0,
    )  # fmt: skip
    trainee = make_trainee(config, WordTable.of([b"%d" % word for word in range(V)]), counts)
    training = train(trainee, ids, threads=1, snapshot=tmp_path / "epoch")
    pairs = np.zeros((V, V))
    np.add.at(pairs, (words[:, :-1], words[:, 1:]), 1)
    pairs += pairs.T
    assert pairs.min() > 50, "the text is fully observed"
    of_word, noise = pairs.sum(axis=1, keepdims=True), counts**power / (counts**power).sum()
    scores = (trainee.inputs.astype(np.float64) @ trainee.outputs.astype(np.float64).T)[:V, :V]
    shifted_pmi = np.log(pairs / (of_word * noise)) - np.log(NEGATIVE)
    assert np.corrcoef(scores.reshape(-1), shifted_pmi.reshape(-1))[0, 1] > 0.98
    optimum = np.log(pairs / (NEGATIVE * (of_word - pairs) * noise))
    assert np.corrcoef(scores.reshape(-1), optimum.reshape(-1))[0, 1] > 0.995
    assert scores == pytest.approx(optimum, abs=0.15)
    positives = pairs * np.logaddexp(0, -optimum)
    negatives = NEGATIVE * (of_word - pairs) * noise * np.logaddexp(0, optimum)
    least = (positives + negatives).sum() / pairs.sum()
    assert training.losses[-1] == pytest.approx(least, rel=0.01)
