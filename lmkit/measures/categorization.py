"""Concept categorisation: do clusters of word vectors match classes that people made?

The words are clustered into as many clusters as there are classes (Almuhareb and Poesio 2005,
Baroni et al. 2014), and the measure is purity: the share of the words that belong to the most
frequent class of their cluster. Words that the table lacks are skipped and counted, unless said
otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import Vectors
from lmkit.measures.clustering import agglomerative, spherical_kmeans
from lmkit.measures.gold import Categories
from lmkit.measures.lookup import Unknown, find_vector

Clustering = Literal["kmeans", "agglomerative"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CategoryScores:
    """How well clusters match a file of classes."""

    source: str
    purity: float | None
    """Share of the words that are of the majority class of their cluster; None without words."""
    clusters: int
    """Clusters, as many as classes of which a word has a vector."""
    words: int
    """Words of the file."""
    used: int
    """Words among which ``purity`` is a share."""
    unknown: int
    """Words that have no vector."""
    policy: Unknown
    """What became of those."""
    clustering: Clustering

    def record(self) -> dict[str, Any]:
        """Return everything by name, as JSON can hold it."""
        return {
            "file": self.source,
            "kind": "categories",
            "purity": self.purity,
            "clustering": self.clustering,
            "clusters": self.clusters,
            "words": self.words,
            "used": self.used,
            "oov_words": self.unknown,
            "oov": self.policy,
        }


def measure_categorization(
    vectors: Vectors,
    gold: Categories,
    *,
    clustering: Clustering = "kmeans",
    unknown: Unknown = "skip",
    seed: int = 1,
) -> CategoryScores:
    """Cluster the words of ``gold`` and compare with their classes.

    Args:
        vectors: the table.
        gold: words and classes; a word may have several.
        clustering: spherical k-means, or agglomerative with average linkage.
        unknown: words that the table lacks are skipped, count as misplaced (``"zero"``), or get
            a vector from their character n-grams (``"subwords"``; skipped where that cannot be).
        seed: of the starts of k-means.
    """
    found = [find_vector(vectors, word, unknown) for word in gold.words]
    rows = [vector for vector in found if vector is not None]
    classes = [name for name, row in zip(gold.classes, found, strict=True) if row is not None]
    lacking = len(found) - len(rows)
    used = len(found) if unknown == "zero" else len(rows)
    num_clusters = len(set(classes))
    right = 0
    if rows:
        matrix = np.array(rows, dtype=np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix /= np.where(lengths > 0, lengths, 1.0)
        if clustering == "kmeans":
            labels = spherical_kmeans(matrix, num_clusters, seed)
        else:
            labels = agglomerative(matrix, num_clusters)
        right = count_majorities(labels, classes)
    return CategoryScores(
        source=gold.source,
        purity=right / used if used else None,
        clusters=num_clusters,
        words=len(found),
        used=used,
        unknown=lacking,
        policy=unknown,
        clustering=clustering,
    )


def count_majorities(labels: NDArray[np.int64], classes: list[str]) -> int:
    """Return how many items are of the most frequent class of their cluster.

    Args:
        labels: [N] the cluster of each item.
        classes: [N] its class.
    """
    _, numbers = np.unique(np.array(classes, dtype=object), return_inverse=True)
    table = np.zeros((labels.max() + 1, numbers.max() + 1), dtype=np.int64)
    np.add.at(table, (labels, numbers.reshape(-1)), 1)
    return int(table.max(axis=1).sum())
