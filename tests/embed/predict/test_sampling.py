"""Which words are left out and which are drawn: shares as the formulas have them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from embed.predict.kernel_calls import Run, encoded
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.embed.predict.config import Formula
from lmkit.embed.predict.kernels import KEPT
from lmkit.embed.predict.sampling import keep_probabilities, noise_words

COUNTS = np.array([60_000, 25_000, 10_000, 4_000, 900, 100], dtype=np.int64)


def formula(share: float, threshold: float, name: str) -> float:
    root = math.sqrt(threshold / share)
    return min(1.0, root + threshold / share if name == "word2vec" else root)


def kept_share(run: Run, words: list[int]) -> float:
    run.report[:] = 0
    run.train(encoded([words]), 0.0, 5)
    return float(run.report[KEPT]) / len(words)


@pytest.mark.parametrize("name", ["word2vec", "paper"])
@pytest.mark.parametrize("threshold", [0.1, 0.01, 1e-3])
def test_the_share_kept_is_that_of_the_formula(name: Formula, threshold: float) -> None:
    """Of each word by itself, and of the whole text."""
    run = Run("skipgram_negative", len(COUNTS), 1, window=1)
    run.keep = keep_probabilities(COUNTS, threshold, name)
    shares = [formula(share, threshold, name) for share in COUNTS / COUNTS.sum()]
    for word, share in enumerate(shares[:4]):
        times = min(400_000, int(60_000 / share))
        assert kept_share(run, [word] * times) == pytest.approx(share, rel=0.01)
    text = np.random.default_rng(6).permutation(np.repeat(np.arange(len(COUNTS)), COUNTS))
    expected = np.average(shares, weights=COUNTS)
    assert kept_share(run, text.tolist()) == pytest.approx(expected, rel=0.01)


def test_formulas_as_numbers() -> None:
    """A word that makes up a tenth of the text, at t = 0.001."""
    counts = np.array([900, 100])
    assert keep_probabilities(counts, 1e-3, "paper")[1] == pytest.approx(0.1)
    assert keep_probabilities(counts, 1e-3, "word2vec")[1] == pytest.approx(0.11)
    assert keep_probabilities(counts, 0, "paper").tolist() == [1, 1]
    assert keep_probabilities(counts, 1, "word2vec").tolist() == [1, 1]


@settings(max_examples=5)
@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=30), st.sampled_from([0.0, 0.75, 1.0]))
def test_noise_has_the_shares_asked_for(counts: list[int], power: float) -> None:
    words = noise_words(np.array(counts, dtype=np.int64), power, seed=3)
    shares = np.array(counts) ** power / (np.array(counts) ** power).sum()
    assert words.dtype == np.int32
    found = np.bincount(words, minlength=len(counts))
    assert found == pytest.approx(shares * len(words), abs=1)
    begin = words[: 1 << 16]
    drawn = np.bincount(begin, minlength=len(counts))
    common = shares > 0.05
    spread = np.sqrt(shares * (1 - shares) * len(begin))
    assert np.all(np.abs(drawn - shares * len(begin))[common] <= 5 * spread[common])


def test_noise_comes_in_random_order() -> None:
    """Chi-squared of single words and of neighbours, from three places."""
    words = noise_words(COUNTS, 0.75, seed=3)
    shares = COUNTS**0.75 / (COUNTS**0.75).sum()
    pairs = np.outer(shares, shares).reshape(-1)
    for begin in (0, 1_000_001, len(words) - 200_000):
        part = words[begin : begin + 200_000].astype(np.int64)
        assert _chi_squared(part, shares) < 25.7, "5 degrees, p = 1e-4"
        assert _chi_squared(part[::2] * len(COUNTS) + part[1::2], pairs) < 78.2, "35 degrees"


def _chi_squared(drawn: np.ndarray[tuple[int], np.dtype[np.int64]], shares: np.ndarray) -> float:
    expected = shares * len(drawn)
    found = np.bincount(drawn, minlength=len(shares))
    return float(((found - expected) ** 2 / expected).sum())


def test_seeds_of_noise() -> None:
    first, again, other = (noise_words(COUNTS, 0.75, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
