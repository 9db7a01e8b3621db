"""How often the translation of a word is found among its nearest neighbours: precision at k.

A word may have several translations, any of which is right, and counts once (Conneau et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.align import neighbor_means, retrieve
from lmkit.embed.vectors import Floats

RANKS = (1, 5, 10)
"""Each k of precision at k."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TranslationScores:
    """Precision at 1, 5 and 10, by plain cosine and by CSLS."""

    words: int
    """Source words that were translated."""
    unknown: int
    """Source words left out: they, or all their translations, have no vector."""
    cosine: dict[int, float] | None
    """k to the share of words with a translation among the k nearest; None without words."""
    csls: dict[int, float] | None

    def record(self) -> dict[str, Any]:
        """Return everything by name, as JSON can hold it."""
        record: dict[str, Any] = {"words": self.words, "unknown": self.unknown}
        for name, precisions in (("cosine", self.cosine), ("csls", self.csls)):
            for rank in RANKS:
                value = None if precisions is None else precisions[rank]
                record[f"{name}_precision_at_{rank}"] = value
        return record


def measure_translation(
    source: Floats, target: Floats, pairs: Sequence[tuple[int, int]], unknown: int = 0
) -> TranslationScores:
    """Translate the source words of ``pairs``.

    Args:
        source: [V, D] source vectors of length 1, in the target's space; all of them, for CSLS
            looks at the neighbours of each target word.
        target: [V', D] target vectors of length 1, among which translations are sought.
        pairs: rows of source and target words that are translations.
        unknown: how many source words were left out.
    """
    translations: dict[int, set[int]] = {}
    for word, translation in pairs:
        translations.setdefault(word, set()).add(translation)
    if not translations:
        return TranslationScores(words=0, unknown=unknown, cosine=None, csls=None)
    queries = source[list(translations)]
    handicaps = neighbor_means(target, source)
    return TranslationScores(
        words=len(translations),
        unknown=unknown,
        cosine=_precisions(retrieve(queries, target, max(RANKS)), translations),
        csls=_precisions(retrieve(queries, target, max(RANKS), handicaps), translations),
    )


def _precisions(found: NDArray[np.int64], translations: dict[int, set[int]]) -> dict[int, float]:
    hits = dict.fromkeys(RANKS, 0)
    for rows, right in zip(found.tolist(), translations.values(), strict=True):
        place = next((place for place, row in enumerate(rows) if row in right), len(rows))
        for rank in RANKS:
            hits[rank] += place < min(rank, len(rows))
    return {rank: count / len(translations) for rank, count in hits.items()}
