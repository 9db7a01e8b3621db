"""Words for sums of words: king - man + woman, and the published ways to score an answer x.

========= ============= ======================================== ============================
method    name          score of x for ``A - B + C``             source
========= ============= ======================================== ============================
add       3CosAdd       cos(x, a - b + c)                        Mikolov, Yih and Zweig 2013
multiply  3CosMul       cos'(x,a) cos'(x,c) / (cos'(x,b) + 1e-6) Levy and Goldberg 2014, (4)
direction PairDirection cos(x - c, a - b)                        Levy and Goldberg 2014, (2)
========= ============= ======================================== ============================

a, b, c and x are scaled to length 1; cos' = (cos + 1) / 2 lies in [0, 1]. Weights other than 1
scale the vectors of a sum and are exponents in a product. The words of a question are usually
excluded from its answers, for the best of all is mostly one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from lmkit.embed.expression import Term
from lmkit.embed.nearest import (
    Doubles,
    Rows,
    block_queries,
    contenders,
    exact_cosines,
    hide,
    ranked,
    rough_cosines,
    rounding,
    unit_rows,
)
from lmkit.embed.vectors import Floats, Vectors
from lmkit.errors import UserError

Method = Literal["add", "multiply", "direction"]

EPSILON = 1e-6
"""Added to the denominator of 3CosMul, as Levy and Goldberg do."""


class UnknownWords(UserError):
    """Words that have no vector.

    Args:
        words: which; the first of them first.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        listed = ", ".join(map(repr, words))
        super().__init__(f"no {'vectors of' if len(words) > 1 else 'vector of'} {listed}")


@dataclass(frozen=True, slots=True)
class Operands:
    """The vectors of the words of a question, N of them."""

    weights: Doubles
    """[N] what they are multiplied with before they are added."""
    units: Doubles
    """[N, D], scaled to length 1."""
    rows: tuple[int, ...]
    """[N] rows of the words in the table; -1 for a word that is not there."""


def operands(vectors: Vectors, terms: Sequence[Term]) -> Operands:
    """Look the words of a sum up; words that the table lacks are made of their subwords.

    Raises:
        UnknownWords: there are words without a vector.
    """
    found = [vectors.vector(term.word) for term in terms]
    if missing := [t.word for t, vector in zip(terms, found, strict=True) if vector is None]:
        raise UnknownWords(list(dict.fromkeys(missing)))
    units = unit_rows(np.stack([vector for vector in found if vector is not None]))
    rows = tuple(vectors.index(term.word) for term in terms)
    return Operands(np.array([term.weight for term in terms]), units, rows)


class Scoring(Protocol):
    """How answers to one question are scored, given their cosines with K directions."""

    units: Doubles
    """[K, D] the directions, of length 1."""

    def score(self, cosines: Doubles) -> Doubles:
        """Return the scores [N] of words with these ``cosines`` [K, N]."""

    def bounds(self, cosines: Floats, error: float) -> tuple[Floats, Floats]:
        """Return what the scores are at least and at most, if cosines are wrong by ``error``."""


def scoring(question: Operands, method: Method = "add") -> Scoring:
    """Return how ``method`` scores the answers to ``question``.

    Raises:
        UserError: there is no such method, the question is not of the form that it needs, or adds
            up to nothing.
    """
    check_method(method)
    return SCORINGS[method](question)


def rank(
    vectors: Vectors,
    scorings: Sequence[Scoring],
    top: int,
    exclude: Sequence[Sequence[int]] | None = None,
    *,
    limit: int | None = None,
) -> list[tuple[Rows, Doubles]]:
    """Return for each question the rows of its best answers and their scores, best first.

    Args:
        vectors: the table.
        scorings: the questions.
        top: how many answers, at least 1; there are fewer where fewer words are left.
        exclude: for each question the rows that may not be answered, such as those of its words.
        limit: answer only with the first ``limit`` words.
    """
    answers: list[tuple[Rows, Doubles]] = []
    for block in _blocks(scorings, block_queries(vectors, limit)):
        units = np.concatenate([scoring.units for scoring in block])
        cosines = rough_cosines(vectors, units, limit)
        begin = 0
        for scoring in block:
            own = cosines[begin : begin + len(scoring.units)]
            begin += len(scoring.units)
            hidden = () if exclude is None else exclude[len(answers)]
            answers.append(_best(vectors, scoring, own, top, hidden))
    return answers


def _blocks(scorings: Sequence[Scoring], most: int) -> list[list[Scoring]]:
    """Return ``scorings`` in blocks that have ``most`` directions together, or one of more."""
    blocks: list[list[Scoring]] = []
    size = most
    for scoring in scorings:
        if size + len(scoring.units) > most:
            blocks.append([])
            size = 0
        blocks[-1].append(scoring)
        size += len(scoring.units)
    return blocks


def _best(
    vectors: Vectors, scoring: Scoring, cosines: Floats, top: int, hidden: Sequence[int]
) -> tuple[Rows, Doubles]:
    lower, upper = scoring.bounds(cosines, rounding(vectors.size))
    hide(lower, hidden)
    hide(upper, hidden)
    found = contenders(lower, upper, top)
    scores = scoring.score(exact_cosines(vectors, found, scoring.units))
    best = ranked(scores, top)
    return found[best], scores[best]


class Sum:
    """3CosAdd: the cosine with the weighted sum."""

    def __init__(self, question: Operands) -> None:
        total = (question.weights[:, None] * question.units).sum(axis=0)
        if not np.sqrt((total * total).sum()) > 1e-9 * np.abs(question.weights).sum():
            raise UserError("the vectors add up to zero", "Ask with other words or weights")
        self.units = unit_rows(total[None])

    def score(self, cosines: Doubles) -> Doubles:
        """Return the cosines."""
        only: Doubles = cosines[0]
        return only

    def bounds(self, cosines: Floats, error: float) -> tuple[Floats, Floats]:
        """Return the cosines and what they are wrong by."""
        return cosines[0] - np.float32(error), cosines[0] + np.float32(error)


class Product:
    """3CosMul: shifted cosines with what is added over those with what is subtracted."""

    def __init__(self, question: Operands) -> None:
        _need_directions(question)
        self.units = question.units
        self._weights = question.weights

    def score(self, cosines: Doubles) -> Doubles:
        """Return the quotients."""
        shifted = np.clip((cosines + 1.0) / 2.0, 0.0, 1.0)
        scores: Doubles = self._added(shifted) / (self._subtracted(shifted) + EPSILON)
        return scores

    def bounds(self, cosines: Floats, error: float) -> tuple[Floats, Floats]:
        """Return the quotients with every cosine at its worst, and at its best."""
        low = np.clip((cosines.astype(np.float64) + (1.0 - error)) / 2.0, 0.0, 1.0)
        high = np.minimum(low + error, 1.0)
        lower = self._added(low) / (self._subtracted(high) + EPSILON)
        upper = self._added(high) / (self._subtracted(low) + EPSILON)
        return _outward(lower, upper)

    def _added(self, shifted: Doubles) -> Doubles:
        return _product(shifted, self._weights)

    def _subtracted(self, shifted: Doubles) -> Doubles:
        return _product(shifted, -self._weights)


class Direction:
    """PairDirection: x lies from C where A lies from B, at whatever distance."""

    def __init__(self, question: Operands) -> None:
        if sorted(question.weights.tolist()) != [-1.0, 1.0, 1.0]:
            raise UserError("the method direction needs three words, A - B + C", "Use add")
        _need_directions(question)
        minus = int(np.argmin(question.weights))
        first, last = (question.units[i] for i in range(3) if i != minus)
        offset = first - question.units[minus]
        if not np.sqrt((offset * offset).sum()) > 1e-9:
            raise UserError("A and B are the same, so there is no direction", "Use add")
        self.units = np.concatenate([unit_rows(offset[None]), last[None]])
        self._start = float((self.units[0] * last).sum())

    def score(self, cosines: Doubles) -> Doubles:
        """Return the cosines of x - c and a - b; 0 where x is c."""
        along = cosines[0] - self._start
        distance = np.sqrt(np.maximum(2.0 - 2.0 * cosines[1], 0.0))
        scores: Doubles = np.zeros_like(along)
        np.divide(along, distance, out=scores, where=distance > 1e-7)
        np.clip(scores, -1.0, 1.0, out=scores)
        return scores

    def bounds(self, cosines: Floats, error: float) -> tuple[Floats, Floats]:
        """Return the scores with both cosines at their worst, and at their best."""
        along = cosines[0].astype(np.float64) - self._start
        squared = 2.0 - 2.0 * cosines[1].astype(np.float64)
        near = np.sqrt(np.maximum(squared - 2.0 * error, 1e-14))
        far = np.sqrt(np.maximum(squared + 2.0 * error, 1e-14))
        low, high = along - error, along + error
        lower = np.where(low > 0.0, low / far, low / near)
        upper = np.where(high > 0.0, high / near, high / far)
        # Where x may be c the score may be 0.
        lower[squared <= 3.0 * error] = -1.0
        upper[squared <= 3.0 * error] = 1.0
        return _outward(np.clip(lower, -1.0, 1.0), np.clip(upper, -1.0, 1.0))


SCORINGS: dict[Method, type[Sum] | type[Product] | type[Direction]] = {
    "add": Sum,
    "multiply": Product,
    "direction": Direction,
}


def check_method(method: str) -> None:
    """Refuse a method that there is not."""
    if method not in SCORINGS:
        raise UserError(f"unknown --method {method}", f"Known: {', '.join(SCORINGS)}")


def _need_directions(question: Operands) -> None:
    if not question.units.any(axis=1).all():
        raise UserError("the vector of a word is zero", "Ask with other words")


def _product(shifted: Doubles, exponents: Doubles) -> Doubles:
    """Return the product [N] of the rows of ``shifted`` [K, N] whose exponents are above 0."""
    product = np.ones(shifted.shape[1])
    for row, exponent in zip(shifted, exponents.tolist(), strict=True):
        if exponent > 0.0:
            product *= row if exponent == 1.0 else row**exponent
    return product


def _outward(lower: Doubles, upper: Doubles) -> tuple[Floats, Floats]:
    """Return bounds as float32, rounded away from each other."""
    spread = np.float64(2.0**-23)
    below, above = lower - spread * np.abs(lower), upper + spread * np.abs(upper)
    return below.astype(np.float32), above.astype(np.float32)
