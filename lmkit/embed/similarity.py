"""How alike words are: cosines of two words or two sets, and the word that fits least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lmkit.embed.analogy import UnknownWords, operands
from lmkit.embed.expression import Term
from lmkit.embed.nearest import Doubles, unit_rows
from lmkit.embed.vectors import Vectors


def similarity(vectors: Vectors, left: Sequence[str], right: Sequence[str]) -> float:
    """Return the cosine of two words, or of the means of the vectors of several.

    A cosine with a vector of zeros is 0.

    Raises:
        UnknownWords: there are words without a vector.
    """
    if missing := [word for word in (*left, *right) if vectors.vector(word) is None]:
        raise UnknownWords(list(dict.fromkeys(missing)))
    first, second = (unit_rows(_mean(vectors, side)[None])[0] for side in (left, right))
    return float((first * second).sum())


def odd_one_out(vectors: Vectors, words: Sequence[str]) -> list[tuple[str, float]]:
    """Return ``words``, that which fits least first, each with its cosine to the mean of all.

    Vectors are scaled to length 1 before the mean is taken. Of words that fit equally badly the
    earlier comes first.

    Raises:
        UnknownWords: there are words without a vector.
    """
    units = operands(vectors, [Term(word) for word in words]).units
    mean = unit_rows(units.sum(axis=0)[None])[0]
    cosines = (units * mean).sum(axis=1)
    order = np.argsort(cosines, kind="stable").tolist()
    return [(words[place], float(cosines[place])) for place in order]


def _mean(vectors: Vectors, words: Sequence[str]) -> Doubles:
    found = [vectors.vector(word) for word in words]
    rows = np.array([row for row in found if row is not None], dtype=np.float64)
    mean: Doubles = rows.mean(axis=0)
    return mean
