"""Word similarity: how well cosines agree with the judgement of people.

Spearman's rank correlation (equal values share the mean of their ranks) is what papers report;
Pearson's stands beside it. A pair with a word that the table lacks is skipped unless said
otherwise: so figures of two tables are comparable only where both know the same pairs, and the
number of pairs used is always reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import Floats, Vectors
from lmkit.measures.gold import Similarities
from lmkit.measures.lookup import Unknown, find_vector

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarityScores:
    """The agreement with a file of judged pairs."""

    source: str
    spearman: float | None
    """Rank correlation; None where fewer than two pairs or only equal values are there."""
    pearson: float | None
    """Linear correlation; None likewise."""
    pairs: int
    """Pairs of the file."""
    used: int
    """Pairs on which the correlations rest."""
    unknown: int
    """Pairs with a word that has no vector."""
    policy: Unknown
    """What became of those."""

    def record(self) -> dict[str, Any]:
        """Return everything by name, as JSON can hold it."""
        return {
            "file": self.source,
            "kind": "similarity",
            "spearman": self.spearman,
            "pearson": self.pearson,
            "pairs": self.pairs,
            "used": self.used,
            "oov_pairs": self.unknown,
            "oov": self.policy,
        }


def measure_similarity(
    vectors: Vectors, gold: Similarities, *, unknown: Unknown = "skip"
) -> SimilarityScores:
    """Correlate the cosines of ``vectors`` with the scores of ``gold``.

    Args:
        vectors: the table.
        gold: pairs and scores.
        unknown: pairs with a word that the table lacks are skipped, count as similarity 0
            (``"zero"``), or get a vector from the character n-grams of the word
            (``"subwords"``; skipped where that cannot be).
    """
    found: list[float | None] = []
    for first, second in gold.pairs:
        a, b = (find_vector(vectors, word, unknown) for word in (first, second))
        found.append(None if a is None or b is None else cosine(a, b))
    lacking = found.count(None)
    if unknown == "zero":
        found = [value or 0.0 for value in found]
    used = np.array([value is not None for value in found], dtype=bool)
    cosines = np.array([value for value in found if value is not None], dtype=np.float64)
    scores = gold.scores[used]
    return SimilarityScores(
        source=gold.source,
        spearman=spearman(cosines, scores),
        pearson=pearson(cosines, scores),
        pairs=len(gold.pairs),
        used=len(cosines),
        unknown=lacking,
        policy=unknown,
    )


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of two vectors [D]; 0 where one of them is 0."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    length = np.sqrt(x @ x) * np.sqrt(y @ y)
    return float(x @ y / length) if length > 0 else 0.0


def pearson(x: Values, y: Values) -> float | None:
    """Return Pearson's correlation of ``x`` [N] and ``y`` [N]; None where there is none."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    x, y = x - x.mean(), y - y.mean()
    length = np.sqrt(x @ x) * np.sqrt(y @ y)
    return float(np.clip(x @ y / length, -1.0, 1.0)) if length > 0 else None


def spearman(x: Values, y: Values) -> float | None:
    """Return Spearman's correlation: Pearson's of the ranks; None where there is none."""
    return pearson(average_ranks(x), average_ranks(y))


def average_ranks(values: Values) -> Values:
    """Return the ranks of ``values`` [N] from 1 on; equal values get the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means = last - (counts - 1) / 2
    ranks: Values = means[places.reshape(-1)]
    return ranks
