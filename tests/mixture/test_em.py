"""Expectation maximisation of mixture weights."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.errors import UserError
from lmkit.mixture.em import fit_weights


@settings(max_examples=30)
@given(st.integers(2, 4), st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_likelihood_never_falls_and_ends_at_its_maximum(parts: int, size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logprobs = np.log(rng.random((parts, size))) - 30 * rng.random(size)
    weights, history = fit_weights(logprobs)
    assert weights.sum() == pytest.approx(1.0) and (weights >= 0).all()
    slack = 1e-12 * abs(history[-1])
    assert all(later >= earlier - slack for earlier, later in pairwise(history))
    mixed = weights @ np.exp(logprobs)
    assert history[-1] == pytest.approx(float(np.log(mixed).sum()), rel=1e-12)
    # At the maximum no direction gains: sum over tokens of p_m / p is at most the number of them.
    gradient = (np.exp(logprobs) / mixed).mean(axis=1)
    assert gradient.max() <= 1.01
    assert history[-1] >= logprobs.sum(axis=1).max() - 1e-3 * size


def test_known_weights_are_found_again() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.dirichlet(np.ones(20), size=2)
    tokens = rng.choice(20, size=200_000, p=0.25 * first + 0.75 * second)
    weights, _ = fit_weights(np.log(np.stack([first[tokens], second[tokens]])))
    assert weights == pytest.approx([0.25, 0.75], abs=0.01)


def test_probabilities_too_small_for_floating_point_still_count() -> None:
    logprobs = np.array([[-2000.0, -1000.0, -2000.0], [-2001.0, -1001.0, -2001.0]])
    weights, history = fit_weights(logprobs)
    assert weights[0] > 0.99 and history[-1] == pytest.approx(-5000.0, abs=0.1)


def test_a_part_may_find_a_token_impossible_but_not_all() -> None:
    weights, _ = fit_weights(np.array([[-np.inf, -1.0], [-1.0, -1.0]]))
    assert weights[1] > 0.99
    with pytest.raises(UserError, match="1 tokens of the tuning text are impossible"):
        fit_weights(np.array([[-np.inf, -1.0], [-np.inf, -1.0]]))


def test_nothing_to_tune_on_is_an_error() -> None:
    with pytest.raises(UserError, match="empty"):
        fit_weights(np.empty((2, 0)))


def test_it_stops_after_so_many_iterations() -> None:
    logprobs = np.log(np.random.default_rng(2).random((2, 50)))
    assert len(fit_weights(logprobs, tolerance=-1.0, max_iterations=7)[1]) == 8
