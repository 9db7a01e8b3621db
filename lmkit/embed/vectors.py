"""A table of word vectors, wherever it comes from: a model of lmkit or a file of another tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.subwords import Subwords
from lmkit.text.encoding import Normalizer

Floats = NDArray[np.float32]

LIMIT = 30_000
"""How many words, the most frequent, take part in measurements and comparisons if nobody says:
the usual threshold of word2vec's ``compute-accuracy``."""
MARKS = (b"<s>", b"</s>", b"<unk>", b"<UNK>", b"<pad>")
"""What stands among the words of a table and is none."""

_BLOCK = 1 << 14
"""Rows whose norms are computed at a time."""


class Words(Protocol):
    """Words and their numbers; :class:`lmkit.text.vocab.WordTable` is one of these."""

    def __len__(self) -> int:
        """Return the number of words."""

    def find(self, word: bytes) -> int:
        """Return the number of ``word``, or -1."""

    def word(self, index: int) -> bytes:
        """Return word ``index``."""

    def words(self) -> list[bytes]:
        """Return all words in order."""


class ListedWords:
    """Words kept in a list, as they come from a file; all different."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = list(words)
        self._numbers = {word: number for number, word in enumerate(self._words)}

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self._words)

    def find(self, word: bytes) -> int:
        """Return the number of ``word``, or -1."""
        return self._numbers.get(word, -1)

    def word(self, index: int) -> bytes:
        """Return word ``index``."""
        return self._words[index]

    def words(self) -> list[bytes]:
        """Return all words in order."""
        return self._words


class FirstWords:
    """The first ``limit`` of other words."""

    def __init__(self, words: Words, limit: int) -> None:
        self._words = words
        self._limit = limit

    def __len__(self) -> int:
        """Return the number of words."""
        return self._limit

    def find(self, word: bytes) -> int:
        """Return the number of ``word``, or -1."""
        index = self._words.find(word)
        return index if index < self._limit else -1

    def word(self, index: int) -> bytes:
        """Return word ``index``."""
        return self._words.word(index)

    def words(self) -> list[bytes]:
        """Return all words in order."""
        return self._words.words()[: self._limit]


@dataclass(slots=True, repr=False)
class Vectors:
    """Word vectors: row i of ``matrix`` is the vector of word i; frequent words come first."""

    words: Words
    matrix: Floats
    """[V, D]."""
    norms: Floats
    """[V] Euclidean lengths of the rows."""
    counts: NDArray[np.int64] | None = None
    """[V] how often each word was seen in training, when known."""
    normalizer: Normalizer = field(default_factory=Normalizer)
    """What is done to a word before it is looked up."""
    subwords: Subwords | None = None
    """Gives vectors to words that are not in the table."""
    forget: Callable[[Floats], None] | None = None
    """Gives back the memory of rows that were read from a mapped matrix, if it is only read."""

    @classmethod
    def of(
        cls,
        words: Words | list[str],
        matrix: Floats,
        *,
        counts: NDArray[np.int64] | None = None,
        normalizer: Normalizer | None = None,
        subwords: Subwords | None = None,
    ) -> Vectors:
        """Make a table from words and their rows; norms are computed here, in blocks."""
        if isinstance(words, list):
            words = ListedWords(word.encode() for word in words)
        return cls(words, matrix, row_norms(matrix), counts, normalizer or Normalizer(), subwords)

    def __len__(self) -> int:
        """Return the number of words, V."""
        return len(self.words)

    @property
    def size(self) -> int:
        """Return the number of dimensions, D."""
        return int(self.matrix.shape[1])

    def __contains__(self, word: str) -> bool:
        """Tell whether the table has ``word``, after normalisation."""
        return self.index(word) >= 0

    def __getitem__(self, word: str) -> Floats:
        """Return the vector [D] of ``word``, from its subwords where the table lacks it.

        Raises:
            KeyError: it has none.
        """
        vector = self.vector(word)
        if vector is None:
            raise KeyError(word)
        return vector

    def __repr__(self) -> str:
        return f"<Vectors: {len(self):,} words, {self.size} numbers each>"

    def index(self, word: str) -> int:
        """Return the row of ``word`` after normalisation, or -1 if the table lacks it."""
        return self.words.find(self.normalizer(word).encode("utf-8", "surrogateescape"))

    def word(self, index: int) -> str:
        """Return word ``index``."""
        return self.words.word(index).decode("utf-8", "replace")

    def vector(self, word: str) -> Floats | None:
        """Return the vector [D] of ``word``, from its subwords where the table lacks it."""
        index = self.index(word)
        if index >= 0:
            row: Floats = self.matrix[index]
            return row
        if self.subwords is None:
            return None
        return self.subwords.vector(self.normalizer(word))


def row_norms(matrix: Floats) -> Floats:
    """Return the Euclidean length of each row of ``matrix`` [V, D], as [V]."""
    norms = np.empty(len(matrix), dtype=np.float32)
    for begin in range(0, len(matrix), _BLOCK):
        rows = matrix[begin : begin + _BLOCK].astype(np.float32, copy=False)
        norms[begin : begin + _BLOCK] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return norms
