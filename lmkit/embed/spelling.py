"""Words of a table that an unknown word may have been meant for.

First come the same letters in other dress (``NASA`` for nasa, ``new_york`` for new-york), looked up
one by one; then words one or two edits away (a character put in, left out, replaced, or two
neighbours exchanged: Damerau 1964), found by comparing all words at once, column by column. Within
each group frequent words come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import Words
from lmkit.text.vocab import WordTable

Bytes = NDArray[np.uint8]

MOST_WORDS = 1 << 19
"""Words compared, the most frequent ones; other dress is found among all."""
LONGEST = 40
"""Characters of a word beyond which only other dress is looked for."""
_JOINERS = ("_", "-", " ", "")


class Spellings:
    """Suggests words; the first suggestion lays the words out, later ones are quicker."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._laid_out: _Characters | None = None

    def suggest(self, word: str, most: int = 3) -> list[str]:
        """Return at most ``most`` words of the table that ``word`` may stand for, best first."""
        rows = self._in_other_dress(word)
        if len(rows) < most and 1 < len(word) <= LONGEST:
            itself = self._words.find(word.encode("utf-8", "surrogateescape"))
            rows += [row for row in self._near(word) if row not in (itself, *rows)]
        return [self._words.word(row).decode("utf-8", "replace") for row in rows[:most]]

    def _in_other_dress(self, word: str) -> list[int]:
        variants = {dress.encode("utf-8", "surrogateescape") for dress in dresses(word)}
        rows = {self._words.find(variant) for variant in variants}
        return sorted(rows - {-1, self._words.find(word.encode("utf-8", "surrogateescape"))})

    def _near(self, word: str) -> list[int]:
        """Return the rows of words one edit away, then two; of a short word only the former."""
        most = 1 if len(word) <= 3 else 2
        if self._laid_out is None:
            self._laid_out = _Characters.of(self._words)
        forms = {form for form in (word, word.lower(), word.capitalize()) if len(form) == len(word)}
        rows, distances = [], []
        for length in range(max(1, len(word) - most), len(word) + most + 1):
            of_length, characters = self._laid_out.of_length(length)
            far = np.min([distances_to(form, characters, most) for form in forms], axis=0)
            close = np.flatnonzero(far <= most)
            rows.append(of_length[close])
            distances.append(far[close])
        places = np.concatenate(rows)
        return [int(row) for row in places[np.lexsort((places, np.concatenate(distances)))]]


@dataclass(frozen=True, slots=True)
class _Characters:
    """The first words of a table, character by character."""

    text: NDArray[np.uint32]
    """Code points of the words, one word behind the other."""
    starts: NDArray[np.int64]
    """[N] where in ``text`` each word begins."""
    lengths: NDArray[np.int64]
    """[N] characters of each word."""

    @classmethod
    def of(cls, words: Words) -> _Characters:
        """Lay out the words."""
        count = min(len(words), MOST_WORDS)
        if isinstance(words, WordTable):
            bounds = words.offsets[: count + 1]
            data = words.arena[: bounds[-1]].tobytes()
        else:
            listed = words.words()[:count]
            data = b"".join(listed)
            bounds = np.cumsum([0, *map(len, listed)])
        try:
            text = data.decode()
        except UnicodeDecodeError:
            texts = [word.decode("utf-8", "replace") for word in words.words()[:count]]
            text = "".join(texts)
            places = np.cumsum([0, *map(len, texts)])
        else:  # a character begins at every byte but 10xxxxxx
            begins = np.frombuffer(data, np.int8) >= -64
            places = np.concatenate([[0], np.cumsum(begins)])[bounds]
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        return cls(codes, places[:-1], np.diff(places))

    def of_length(self, length: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """Return the rows [M] of the words of ``length`` characters, and these [M, length]."""
        rows = np.flatnonzero(self.lengths == length)
        return rows, self.text[self.starts[rows, None] + np.arange(length)]


def dresses(word: str) -> Iterator[str]:
    """Yield ``word`` in lower, upper and title case, with each way to join its parts."""
    spaced = word.replace("_", " ").replace("-", " ")
    for cased in (spaced, spaced.lower(), spaced.upper(), spaced.title(), spaced.capitalize()):
        for joiner in _JOINERS:
            yield cased.replace(" ", joiner)


def distances_to(word: str, characters: NDArray[np.uint32], most: int) -> Bytes:
    """Return the edit distances from ``word`` to many words of one length; above ``most``: more.

    This is optimal string alignment: no part of a word is edited twice.

    Args:
        word: of n characters.
        characters: [N, L] code points of the words.
        most: the largest distance that matters; cells further off the diagonal are left out.
    """
    count, length = characters.shape
    columns = np.ascontiguousarray(characters.T)
    letters = [ord(character) for character in word]
    far = np.full(count, most + 1, dtype=np.uint8)
    before: dict[int, Bytes] = {}
    last = {j: np.full(count, j, dtype=np.uint8) for j in range(min(length, most) + 1)}
    for i, letter in enumerate(letters, start=1):
        row: dict[int, Bytes] = {}
        for j in range(max(0, i - most), min(length, i + most) + 1):
            cell = np.minimum(last.get(j, far), row.get(j - 1, far)) + np.uint8(1)
            if j > 0:
                same = columns[j - 1] == letter
                cell = np.minimum(cell, last.get(j - 1, far) + ~same)
            if i > 1 and j > 1:
                swapped = (columns[j - 1] == letters[i - 2]) & (columns[j - 2] == letter)
                exchanged = before.get(j - 2, far) + np.uint8(1)
                cell = np.where(swapped, np.minimum(cell, exchanged), cell)
            row[j] = cell
        before, last = last, row
    return last.get(length, far)
