"""Neighbours, similarities and odd ones out: the work behind the queries of ``lmkit embed``.

What is asked is a line; its words stand between spaces, or, if it has TABs, between these, and then
may have spaces. A blank line, one with an unknown word and one with too few words get an answer
that says nothing, so that there are as many answers as lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lmkit.embed.analogy import UnknownWords
from lmkit.embed.expression import Term, split_words
from lmkit.embed.similarity import odd_one_out, similarity
from lmkit.embed.vectors import Vectors
from lmkit.tasks.analogy import Question


@dataclass(frozen=True, slots=True)
class Compared:
    """Two words or sets of words, compared."""

    text: str
    """What was asked, as people wrote it."""
    similarity: float | None
    """The cosine; None if something is unknown or wrong."""
    unknown: list[str] = field(default_factory=list)
    """Words that have no vector."""
    problem: str = ""
    """What is wrong otherwise."""


@dataclass(frozen=True, slots=True)
class OddOne:
    """Words, and which of them fits least."""

    text: str
    """What was asked, as people wrote it."""
    words: list[tuple[str, float]]
    """All words with their cosines to the mean, the odd one first; none if something is wrong."""
    unknown: list[str] = field(default_factory=list)
    """Words that have no vector."""
    problem: str = ""
    """What is wrong otherwise."""


def neighbor_questions(vectors: Vectors, lines: Iterable[str]) -> Iterator[Question]:
    """Yield for each line the question for what is near its word, or near the mean of its words.

    A line that the table has as one word is one, spaces and all.
    """
    for line in lines:
        yield Question(line, [Term(word) for word in words_of(vectors, line)])


def similarities(vectors: Vectors, lines: Iterable[str]) -> Iterator[Compared]:
    """Yield how alike the two words of each line are.

    On a line with TABs the first two columns are compared, which may have several words each.
    """
    for line in lines:
        sides = split_words(line)
        if len(sides) < 2 or (len(sides) > 2 and "\t" not in line):
            problem = f"{_counted(sides)} where two should be" if sides else ""
            yield Compared(line, None, problem=problem)
            continue
        left, right = (words_of(vectors, side) for side in sides[:2])
        try:
            yield Compared(line, similarity(vectors, left, right))
        except UnknownWords as error:
            yield Compared(line, None, error.words)


def odd_ones(vectors: Vectors, lines: Iterable[str]) -> Iterator[OddOne]:
    """Yield which word of each line fits least."""
    for line in lines:
        words = split_words(line)
        if len(words) < 3:
            problem = f"{_counted(words)} where three or more should be" if words else ""
            yield OddOne(line, [], problem=problem)
            continue
        try:
            yield OddOne(line, odd_one_out(vectors, words))
        except UnknownWords as error:
            yield OddOne(line, [], error.words)


def words_of(vectors: Vectors, text: str) -> list[str]:
    """Return the words in ``text``: itself, if the table has it as one word."""
    whole = text.strip(" \t\r\n\0")
    return [whole] if " " in whole and vectors.index(whole) >= 0 else split_words(text)


def _counted(words: list[str]) -> str:
    return f"{len(words)} word{'' if len(words) == 1 else 's'}"
