"""PPMI, Hellinger PCA and Eigenwords against their definitions in dense linear algebra."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from embed.count.texts import FIRST, dense, random_ids, sparse
from numpy.typing import NDArray

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.cooccurrence import cooccurrences
from lmkit.embed.count.eigenwords import correlation_matrix, eigenword_vectors
from lmkit.embed.count.hellinger import hellinger_vectors, root_matrix
from lmkit.embed.count.ppmi import ppmi_matrix, ppmi_vectors
from lmkit.embed.count.workers import Workers

NUM_WORDS = 30


def counts_of(symmetric: bool = True) -> SparseMatrix:
    ids = random_ids(1500, NUM_WORDS, seed=7)
    return cooccurrences(ids, NUM_WORDS, window=2, weighting="flat", symmetric=symmetric)


@pytest.mark.parametrize("shift", [1.0, 5.0])
@pytest.mark.parametrize("smoothing", [1.0, 0.75])
def test_ppmi_by_brute_force(shift: float, smoothing: float) -> None:
    counts = counts_of()
    full = dense(counts).astype(np.float64)
    with Workers(2) as workers:
        found = dense(ppmi_matrix(counts, shift=shift, smoothing=smoothing, workers=workers))
    total = full.sum()
    tempered = full.sum(axis=0) ** smoothing
    for word in range(NUM_WORDS):
        for context in range(NUM_WORDS):
            expected = 0.0
            if full[word, context]:
                joint, alone = full[word, context] / total, full[word].sum() / total
                pmi = np.log(joint / (alone * tempered[context] / tempered.sum()))
                expected = max(0.0, pmi - np.log(shift))
            assert found[word, context] == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert (found > 0).any() and ((found == 0) & (full > 0)).any()


def test_ppmi_vectors_give_back_the_matrix() -> None:
    counts = counts_of()
    with Workers(1) as workers:
        matrix = dense(ppmi_matrix(counts, workers=workers))
        vectors = ppmi_vectors(counts, NUM_WORDS, power=1.0, workers=workers)
        halves = ppmi_vectors(counts, NUM_WORDS, power=0.5, workers=workers)
    np.testing.assert_allclose(vectors @ vectors.T, matrix @ matrix.T, atol=2e-3)
    lengths, halved = np.linalg.norm(vectors, axis=0), np.linalg.norm(halves, axis=0)
    np.testing.assert_allclose(halved, np.sqrt(lengths), rtol=1e-3)


def hellinger_distance(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return sqrt(1 - sum sqrt(p q)), the definition by the Bhattacharyya coefficient."""
    return float(np.sqrt(max(0.0, 1 - np.sqrt(p * q).sum())))


def test_distances_of_rows_are_hellinger_distances() -> None:
    counts = counts_of()
    full = dense(counts).astype(np.float64)
    chances = full / full.sum(axis=1, keepdims=True)
    with Workers(1) as workers:
        roots = dense(root_matrix(counts, workers=workers)).astype(np.float64)
        vectors = hellinger_vectors(counts, NUM_WORDS, workers=workers).astype(np.float64)
    np.testing.assert_allclose(roots, np.sqrt(chances), rtol=1e-6)
    for a, b in combinations(range(NUM_WORDS), 2):
        distance = hellinger_distance(chances[a], chances[b])
        assert np.linalg.norm(roots[a] - roots[b]) / np.sqrt(2) == pytest.approx(distance, abs=1e-6)
        between = np.linalg.norm(vectors[a] - vectors[b]) / np.sqrt(2)
        assert between == pytest.approx(distance, abs=2e-3)  # all components keep all distances


def test_hellinger_vectors_are_principal_components() -> None:
    counts = counts_of()
    full = dense(counts).astype(np.float64)
    full[4] = 0  # a word without contexts is not part of the mean
    with Workers(1) as workers:
        vectors = hellinger_vectors(sparse(full), 5, workers=workers)
    roots = np.sqrt(full[np.arange(NUM_WORDS) != 4])
    roots /= np.linalg.norm(roots, axis=1, keepdims=True)
    centred = roots - roots.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred)
    scores = centred @ directions[:, ::-1][:, :5]
    mine = np.delete(vectors, 4, axis=0)
    assert not vectors[4].any()
    np.testing.assert_allclose(np.abs(mine), np.abs(scores), atol=2e-3)
    np.testing.assert_allclose(np.square(mine).sum(axis=0), values[::-1][:5], rtol=1e-3)


def pairs_of(ids: NDArray[np.uint32], window: int) -> list[tuple[int, int]]:
    """Return every pair of a word and a context; contexts to the right are numbered behind."""
    pairs = []
    for sentence in "".join(chr(i) for i in ids if i >= 2).split(chr(2)):
        words = [ord(c) - FIRST for c in sentence]
        for i, word in enumerate(words):
            for distance in range(1, window + 1):
                if i - distance >= 0:
                    pairs.append((word, words[i - distance]))
                if i + distance < len(words):
                    pairs.append((word, words[i + distance] + NUM_WORDS))
    return pairs


def test_eigenwords_are_canonical_correlations() -> None:
    """CCA of centred indicators, one observation a pair, by generalised eigenvectors (scipy)."""
    linalg = pytest.importorskip("scipy.linalg")
    ids = random_ids(1500, NUM_WORDS, seed=7)
    left = cooccurrences(ids, NUM_WORDS, window=2, weighting="flat", symmetric=False)
    size = 6
    with Workers(1) as workers:
        vectors = eigenword_vectors(left, size, count_power=1.0, workers=workers)
    pairs = pairs_of(ids, 2)
    words, contexts = np.zeros((len(pairs), NUM_WORDS)), np.zeros((len(pairs), 2 * NUM_WORDS))
    for observation, (word, context) in enumerate(pairs):
        words[observation, word] = contexts[observation, context] = 1
    weights = words.mean(axis=0)
    words -= words.mean(axis=0)
    contexts -= contexts.mean(axis=0)
    n = len(pairs)
    cross = words.T @ contexts / n
    between = cross @ np.linalg.pinv(contexts.T @ contexts / n) @ cross.T
    # centred indicators sum to 0, so one word is left out to make their covariance regular
    squares, directions = linalg.eigh(between[1:, 1:], (words.T @ words / n)[1:, 1:])
    variates = words[:, 1:] @ directions[:, ::-1][:, :size]
    rows = np.array([word for word, _ in pairs])
    mine = vectors[rows]
    np.testing.assert_allclose(mine.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(weights @ np.square(vectors), 1, rtol=1e-4)
    for k in range(size):
        correlation = np.corrcoef(mine[:, k], variates[:, k])[0, 1]
        assert abs(correlation) == pytest.approx(1, abs=1e-3)
    with Workers(1) as workers:
        scaled = eigenword_vectors(left, size, power=1.0, count_power=1.0, workers=workers)
    correlations = np.sqrt(weights @ np.square(scaled.astype(np.float64)))
    np.testing.assert_allclose(correlations, np.sqrt(squares[::-1][:size]), rtol=1e-4)


def test_the_matrix_of_eigenwords() -> None:
    left = counts_of(symmetric=False)
    full = dense(left).astype(np.float64)
    both = np.concatenate([full, full.T], axis=1)
    for power in (1.0, 0.5):
        with Workers(2) as workers:
            found, contexts, words = correlation_matrix(left, count_power=power, workers=workers)
        np.testing.assert_allclose(words, both.sum(axis=1))
        np.testing.assert_allclose(contexts, both.sum(axis=0))
        scales = np.sqrt(np.outer(both.sum(axis=1) ** power, both.sum(axis=0) ** power))
        np.testing.assert_allclose(dense(found), (both**power / scales).T, rtol=1e-5)


def test_fewer_contexts() -> None:
    counts = counts_of()
    full = dense(counts)
    with Workers(1) as workers:
        cut = sparse(np.where(np.arange(NUM_WORDS) < 10, full, 0))
        for function in (ppmi_vectors, hellinger_vectors):
            few = function(counts, 5, num_contexts=10, workers=workers)
            np.testing.assert_allclose(few, function(cut, 5, workers=workers), atol=2e-3)
        matrix, contexts, _ = correlation_matrix(counts, num_contexts=10, workers=workers)
        assert matrix.num_rows == len(contexts) == 20
