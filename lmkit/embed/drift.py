"""How far words moved between two tables, such as those of two decades or two newspapers.

Two measures, which see different things (Hamilton et al. 2016, EMNLP):

    distance   1 - cos(W a, b), where W turns all words that both tables have onto each other
               (Hamilton et al. 2016, ACL). It sees all of the space, so also the slow drift of
               grammar.
    local      1 - cos(s, t), where s and t are the similarities of the word, before and after,
               to the words that are among its 25 nearest neighbours on either side. It needs no
               alignment and sees changes of meaning better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.align import fit_alignment
from lmkit.embed.nearest import nearest, unit_rows
from lmkit.embed.vectors import MARKS, ListedWords, Vectors
from lmkit.errors import UserError

NEIGHBORS = 25
"""Neighbours on either side for the local measure; the k of Hamilton et al."""

Doubles = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class WordDrift:
    """How far one word moved."""

    word: str
    distance: float
    """0 (not at all) .. 2, by the aligned vectors."""
    local: float
    """0 .. 2, by the similarities to its neighbours."""
    before: list[str]
    """Its nearest neighbours in the first table, among the words that both have."""
    after: list[str]
    """Those in the second."""


class Drift:
    """The C words that two tables have in common, and how far each moved.

    Marks such as ``</s>`` are no words, and a vector of length 0 lies nowhere: both are left out.

    Args:
        before: the first table.
        after: the second table, of the same number of dimensions.
        limit: only the first so many words of each table count; rare words move most, by chance.

    Raises:
        UserError: there are fewer than two words in common, or the dimensions differ.
    """

    def __init__(self, before: Vectors, after: Vectors, limit: int | None = None) -> None:
        sizes = [min(len(table), limit or len(table)) for table in (before, after)]
        pairs = []
        for row in range(sizes[0]):
            word = before.words.word(row)
            other = after.words.find(word)
            if not 0 <= other < sizes[1] or word in MARKS:
                continue
            if before.norms[row] > 0 and after.norms[other] > 0:
                pairs.append((row, other))
        if len(pairs) < 2:
            what = f"the two models have {len(pairs)} words in common"
            raise UserError(what, "Compare models of texts in the same language")
        rows = np.array(pairs, dtype=np.int64)
        self.before, self.after = _common(before, rows[:, 0]), _common(after, rows[:, 1])
        alignment = fit_alignment(self.before.matrix, self.after.matrix)
        moved = unit_rows(alignment(self.before.matrix))
        cosines = (moved * unit_rows(self.after.matrix)).sum(axis=1)
        self.distances: Doubles = np.maximum(1.0 - cosines, 0.0)
        """[C]"""

    def __len__(self) -> int:
        """Return the number of words in common, C."""
        return len(self.distances)

    def find(self, word: str) -> int:
        """Return the number of ``word`` among those in common, or -1."""
        return self.before.index(word)

    def farthest(self, top: int) -> list[int]:
        """Return the numbers of the ``top`` words with the largest distance, farthest first."""
        order: list[int] = np.argsort(-self.distances, kind="stable")[:top].tolist()
        return order

    def of(self, number: int, shown: int = 5) -> WordDrift:
        """Return how far word ``number`` moved, with ``shown`` neighbours on each side."""
        near = [self._neighbors(table, number) for table in (self.before, self.after)]
        either = np.union1d(near[0], near[1])
        s, t = (_similarities(table, number, either) for table in (self.before, self.after))
        length = np.sqrt(s @ s) * np.sqrt(t @ t)
        local = max(0.0, 1.0 - float(s @ t / length)) if length > 0 else 0.0
        return WordDrift(
            word=self.before.word(number),
            distance=float(self.distances[number]),
            local=local,
            before=[self.before.word(row) for row in near[0][:shown]],
            after=[self.after.word(row) for row in near[1][:shown]],
        )

    def _neighbors(self, table: Vectors, number: int) -> list[int]:
        rows, _ = nearest(table, table.matrix[number][None], NEIGHBORS, [[number]])
        return [row for row in rows[0].tolist() if row >= 0]


def _common(table: Vectors, rows: NDArray[np.int64]) -> Vectors:
    """Return the chosen rows of ``table``, which afterwards are numbered alike on both sides."""
    words = ListedWords(table.words.word(row) for row in rows.tolist())
    return Vectors.of(words, table.matrix[rows].astype(np.float32), normalizer=table.normalizer)


def _similarities(table: Vectors, number: int, others: NDArray[np.int64]) -> Doubles:
    """Return the cosines of word ``number`` with ``others`` [N], as [N]."""
    units = unit_rows(table.matrix[others])
    cosines: Doubles = units @ unit_rows(table.matrix[number][None])[0]
    return cosines
