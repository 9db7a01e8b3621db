"""Clusters and their purity, on planted classes and against scipy."""

import numpy as np
import pytest

from lmkit.embed.vectors import Vectors
from lmkit.measures.categorization import Clustering, count_majorities, measure_categorization
from lmkit.measures.clustering import agglomerative, spherical_kmeans
from lmkit.measures.gold import Categories


def unit(rows: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def same_partition(left: np.ndarray, right: np.ndarray) -> bool:  # type: ignore[type-arg]
    pairs = set(zip(left.tolist(), right.tolist(), strict=True))
    return len(pairs) == len(set(left.tolist())) == len(set(right.tolist()))


def planted(noise: float) -> tuple[Vectors, Categories]:
    random = np.random.default_rng(7)
    centres = unit(random.standard_normal((5, 20)))
    classes = [f"class{i}" for i in range(5) for _ in range(12)]
    rows = np.repeat(centres, 12, axis=0) + noise * random.standard_normal((60, 20))
    rows *= random.uniform(0.1, 9, (60, 1))  # lengths mean nothing
    words = [f"word{i}" for i in range(60)]
    return Vectors.of(words, rows.astype(np.float32)), Categories("file", words, classes)


@pytest.mark.parametrize("clustering", ["kmeans", "agglomerative"])
def test_planted_classes_are_found(clustering: Clustering) -> None:
    vectors, gold = planted(0.05)
    scores = measure_categorization(vectors, gold, clustering=clustering)
    assert (scores.purity, scores.clusters, scores.used, scores.unknown) == (1.0, 5, 60, 0)


def test_majorities_by_hand() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    assert count_majorities(labels, ["x", "x", "y", "y", "z", "z"]) == 2 + 1 + 1


def test_kmeans_is_the_same_for_a_seed() -> None:
    vectors, gold = planted(1.0)
    rows = unit(vectors.matrix.astype(np.float64))
    first = spherical_kmeans(rows, 5, 3)
    assert np.array_equal(first, spherical_kmeans(rows, 5, 3))
    found = {measure_categorization(vectors, gold, seed=seed).purity for seed in (3, 3)}
    assert len(found) == 1


def test_kmeans_is_at_a_fixed_point() -> None:
    rows = unit(np.random.default_rng(2).standard_normal((80, 6)))
    labels = spherical_kmeans(rows, 7, 1)
    assert sorted(set(labels.tolist())) == list(range(7))
    centres = unit(np.array([rows[labels == k].sum(axis=0) for k in range(7)]))
    assert np.array_equal((rows @ centres.T).argmax(axis=1), labels)


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_as_many_clusters_as_words(size: int) -> None:
    rows = unit(np.random.default_rng(size).standard_normal((size, 4)))
    for labels in (spherical_kmeans(rows, size, 1), agglomerative(rows, size)):
        assert sorted(labels.tolist()) == list(range(size))
    assert not spherical_kmeans(rows, 1, 1).any() and not agglomerative(rows, 1).any()


def test_copies_and_zeros_do_no_harm() -> None:
    rows = np.zeros((6, 3))
    rows[:4, 0] = 1.0
    assert sorted(set(spherical_kmeans(rows, 4, 1).tolist())) == [0, 1, 2, 3]
    assert len(set(agglomerative(rows, 4).tolist())) == 4


@pytest.mark.parametrize("num_clusters", [2, 5, 20])
def test_average_linkage_is_that_of_scipy(num_clusters: int) -> None:
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    rows = unit(np.random.default_rng(4).standard_normal((90, 5)))
    tree = hierarchy.linkage(rows, "average", metric="cosine")
    expected = hierarchy.fcluster(tree, num_clusters, "maxclust")
    assert same_partition(agglomerative(rows, num_clusters), expected)


def test_unknown_words_are_skipped_or_misplaced() -> None:
    vectors = Vectors.of(["a", "b", "c"], np.eye(3, dtype=np.float32))
    gold = Categories("file", ["a", "B", "no"], ["x", "y", "z"])
    skipped = measure_categorization(vectors, gold)
    assert (skipped.purity, skipped.clusters, skipped.used, skipped.unknown) == (1.0, 2, 2, 1)
    zero = measure_categorization(vectors, gold, unknown="zero")
    assert (zero.purity, zero.used, zero.words) == (pytest.approx(2 / 3), 3, 3)
    nothing = measure_categorization(vectors, Categories("file", ["no"], ["z"]))
    assert (nothing.purity, nothing.clusters, nothing.record()["purity"]) == (None, 0, None)
