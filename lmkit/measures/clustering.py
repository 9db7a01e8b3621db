"""Two ways to cluster vectors of length 1 by their cosines, both deterministic.

Spherical k-means (Dhillon and Modha 2001) begins with k-means++ (Arthur and Vassilvitskii 2007)
and keeps the tightest of several starts. Agglomerative clustering joins the two clusters whose
members have the highest mean cosine (average linkage), found by chains of nearest neighbours,
which takes N^2 steps instead of N^3 (Murtagh 1983).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STARTS = 10
"""Starts of k-means, of which the tightest clustering is kept."""
_ROUNDS = 100

Labels = NDArray[np.int64]
Values = NDArray[np.float64]


def spherical_kmeans(vectors: Values, num_clusters: int, seed: int) -> Labels:
    """Return the cluster, from 0 on, of each of ``vectors`` [N, D], by k-means.

    Args:
        vectors: rows of length 1 (or 0).
        num_clusters: 1 .. N.
        seed: of the random starts.
    """
    random = np.random.default_rng(seed)
    best: tuple[float, Labels] | None = None
    for _ in range(STARTS):
        found = _kmeans_once(vectors, num_clusters, random)
        if best is None or found[0] > best[0] + 1e-12:
            best = found
    assert best is not None
    return best[1]


def _kmeans_once(
    vectors: Values, num_clusters: int, random: np.random.Generator
) -> tuple[float, Labels]:
    """Return the sum of cosines to the centres, and the clusters."""
    centres = vectors[_spread_out(vectors, num_clusters, random)]
    labels = np.full(len(vectors), -1, dtype=np.int64)
    for _ in range(_ROUNDS):
        cosines = vectors @ centres.T
        nearest = cosines.argmax(axis=1)
        closeness = cosines[np.arange(len(vectors)), nearest]
        for empty in np.setdiff1d(np.arange(num_clusters), nearest):
            # A centre without members moves to the member of another that is worst off.
            alone = np.bincount(nearest, minlength=num_clusters)[nearest] == 1
            farthest = int(np.where(alone, np.inf, closeness).argmin())
            nearest[farthest], closeness[farthest] = empty, 1.0
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = sums / np.where(lengths > 0, lengths, 1.0)
    return float((vectors * centres[labels]).sum()), labels


def _spread_out(vectors: Values, count: int, random: np.random.Generator) -> Labels:
    """Draw ``count`` different rows, each with a chance that grows with its distance to others."""
    chosen = [int(random.integers(len(vectors)))]
    distances = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        distances = np.minimum(distances, np.maximum(1.0 - vectors @ vectors[chosen[-1]], 0.0))
        distances[chosen] = 0.0
        weights = distances.copy()
        if not weights.any():  # only copies of the chosen rows are left
            weights = np.ones(len(vectors))
            weights[chosen] = 0.0
        chosen.append(int(random.choice(len(vectors), p=weights / weights.sum())))
    return np.array(chosen, dtype=np.int64)


def agglomerative(vectors: Values, num_clusters: int) -> Labels:
    """Return the cluster, from 0 on, of each of ``vectors`` [N, D], by average linkage.

    Args:
        vectors: rows of length 1 (or 0).
        num_clusters: 1 .. N.
    """
    joins = sorted(_joins(vectors))
    parents = list(range(len(vectors)))

    def root(item: int) -> int:
        while parents[item] != item:
            item = parents[item]
        return item

    for _, _, first, second in joins[: len(vectors) - num_clusters]:
        parents[root(first)] = root(second)
    roots = [root(item) for item in range(len(vectors))]
    return np.unique(roots, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _joins(vectors: Values) -> list[tuple[float, int, int, int]]:
    """Return the N - 1 joins as (mean distance, number, member of one, member of the other)."""
    size = len(vectors)
    distances = 1.0 - vectors @ vectors.T
    np.fill_diagonal(distances, np.inf)
    members = np.ones(size)
    chain: list[int] = []
    joins: list[tuple[float, int, int, int]] = []
    alive = np.ones(size, dtype=bool)
    while len(joins) < size - 1:
        if not chain:
            chain.append(int(alive.argmax()))
        last = chain[-1]
        nearest = int(distances[last].argmin())
        if len(chain) > 1 and distances[last, chain[-2]] <= distances[last, nearest]:
            nearest = chain[-2]
        if len(chain) < 2 or nearest != chain[-2]:
            chain.append(nearest)
            continue
        del chain[-2:]
        joins.append((float(distances[last, nearest]), len(joins), last, nearest))
        weights = members[last], members[nearest]
        row = (weights[0] * distances[last] + weights[1] * distances[nearest]) / sum(weights)
        distances[nearest] = distances[:, nearest] = row
        distances[nearest, nearest] = np.inf
        distances[last] = distances[:, last] = np.inf
        members[nearest] += members[last]
        alive[last] = False
    return joins
