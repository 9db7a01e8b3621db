"""How the words of a measure are found in a table of vectors, whatever their case.

Analogy questions are folded as word2vec's ``compute-accuracy`` does it: question and table are
upper-cased, and of words that then are the same the first one, the most frequent, stands for all.
Single words of the other measures are taken as they are written where the table has them so.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import Floats, Vectors

Unknown = Literal["skip", "zero", "subwords"]
"""What becomes of words that the table lacks: left out, counted against the vectors, or given a
vector from their character n-grams (and left out where there is none)."""


def fold(word: bytes) -> bytes:
    """Return ``word`` in upper case; only ASCII words become ASCII words."""
    upper = word.upper()
    if word.isascii():
        return upper
    text = word.decode("utf-8", "surrogateescape").upper().encode("utf-8", "surrogateescape")
    return upper if text.isascii() else text


class FoldedWords:
    """The first V words of a table, looked up without regard to case.

    Attributes:
        first: [V] for each row the first row whose word is the same in upper case.
    """

    def __init__(self, vectors: Vectors, limit: int) -> None:
        self._normalizer = vectors.normalizer
        self._rows: dict[bytes, int] = {}
        words = vectors.words
        listed = words.words() if limit == len(words) else map(words.word, range(limit))
        rows = self._rows
        firsts = [rows.setdefault(fold(word), row) for row, word in enumerate(listed)]
        self.first: NDArray[np.int64] = np.array(firsts, dtype=np.int64)

    def find(self, word: str) -> int:
        """Return the first row whose word is ``word`` but for case, or -1."""
        return self._rows.get(fold(self._normalizer(word).encode("utf-8", "surrogateescape")), -1)


def find_word(vectors: Vectors, word: str) -> int:
    """Return the row of ``word``, or else of its most frequent spelling in another case, or -1.

    Tried are all lower case, all upper case, and a capital at the beginning of the word or of
    each of its parts.
    """
    row = vectors.index(word)
    if row >= 0:
        return row
    spellings = {word.lower(), word.upper(), word.capitalize(), word.title()}
    return min((row for row in map(vectors.index, spellings) if row >= 0), default=-1)


def find_vector(vectors: Vectors, word: str, unknown: Unknown) -> Floats | None:
    """Return the vector [D] of ``word``, or None where it counts as unknown."""
    row = find_word(vectors, word)
    if row < 0:
        return vectors.vector(word) if unknown == "subwords" else None
    found: Floats = vectors.matrix[row]
    return found
