"""Files by which word vectors are measured, known by what stands in them.

============ =========================================== ====================================
kind         a line                                      what it is for
============ =========================================== ====================================
questions    four words; ``: name`` begins a section     analogies (Mikolov et al. 2013)
similarity   two words and a number                      agreement with the judgement of people
categories   a word and its class, in either order       how well clusters match classes
============ =========================================== ====================================

Columns are separated by TABs, or by spaces where a line has no TAB. Blank lines and lines that
begin with ``#`` are skipped; one line of column names may come first. In a file of categories
without column names the column with fewer different entries is the class, and a class without a
word (some published files have such lines) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import TextError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.text.lines import read_lines

Question = tuple[str, str, str, str]
"""a, b, c, d: a is to b as c is to d."""
_Row = tuple[int, list[str]]
"""The number of a line and its columns."""

_GAP = re.compile("[ \t]+")
_CLASS_NAMES = {"category", "class", "cluster", "concept", "label"}
_WORD_NAMES = {"word", "term", "noun"}
_KINDS = "Give four words a line (questions), two words and a number, or a word and its class"


@dataclass(frozen=True, slots=True)
class Section:
    """Analogy questions of one relation."""

    name: str
    """What follows the colon, such as ``capital-world``."""
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class Questions:
    """A file of analogy questions."""

    source: str
    sections: list[Section]


@dataclass(frozen=True, slots=True)
class Similarities:
    """A file of word pairs and what people say of their similarity: P pairs."""

    source: str
    pairs: list[tuple[str, str]]
    """[P]"""
    scores: NDArray[np.float64]
    """[P], in whatever unit; higher is more similar."""


@dataclass(frozen=True, slots=True)
class Categories:
    """A file of words and their classes: N words."""

    source: str
    words: list[str]
    """[N]"""
    classes: list[str]
    """[N] the class of each."""


Gold = Questions | Similarities | Categories


def read_gold(
    source: str | Path, *, errors: Errors = "strict", listener: Listener = SILENT
) -> Gold:
    """Read a file of one of the three kinds; ``-`` is standard input.

    Args:
        source: the file.
        errors: what to do with bytes that are not UTF-8: stop, or replace them.
        listener: is told of lines that were left out.

    Raises:
        TextError: it cannot be read, is empty, or a line does not fit; names FILE:LINE.
    """
    name, rows = str(source), list(_rows(source, errors))
    if not rows:
        raise TextError(f"{_place(source)}: nothing to measure by in it", _KINDS)
    number, first = rows[0]
    if first[0].startswith(":") or len(first) == 4:
        return Questions(name, list(_sections(source, rows)))
    if len(first) == 3:
        return _similarities(source, rows)
    if len(first) == 2:
        return _categories(source, rows, listener)
    what = f"{_place(source, number)}: {_counted(first)}: not a file to measure vectors by"
    raise TextError(what, _KINDS)


def read_pairs(source: str | Path, *, errors: Errors = "strict") -> list[tuple[str, str]]:
    """Read word pairs, such as a word and its translation, one pair a line.

    Raises:
        TextError: it cannot be read, has no pairs, or a line has not two columns.
    """
    rows = list(_rows(source, errors))
    if not rows:
        raise TextError(f"{_place(source)}: no pairs in it", "Give two words a line")
    return [(columns[0], columns[1]) for columns in _checked(source, rows, 2, "two words")]


def _rows(source: str | Path, errors: Errors) -> Iterator[_Row]:
    for number, line in enumerate(read_lines([source], errors=errors), start=1):
        line = line.strip(" ")
        if not line.strip("\t") or line.startswith("#"):
            continue
        if line.startswith(":"):
            yield number, [":" + line[1:].strip(" \t")]
        elif "\t" in line:
            yield number, [column.strip(" ") for column in line.split("\t")]
        else:
            yield number, _GAP.split(line)


def _checked(source: str | Path, rows: list[_Row], count: int, parts: str) -> Iterator[list[str]]:
    """Yield the columns of ``rows``, ``count`` each.

    Raises:
        TextError: a row has more or fewer, or an empty one.
    """
    for number, columns in rows:
        if len(columns) != count or not all(columns):
            what = f"{_place(source, number)}: {_counted(columns)} instead of {parts}"
            raise TextError(what, "Mend the line, or begin it with # to leave it out")
        yield columns


def _sections(source: str | Path, rows: list[_Row]) -> Iterator[Section]:
    section: Section | None = None
    for row in rows:
        if row[1][0].startswith(":"):
            if section is not None:
                yield section
            section = Section(row[1][0][1:], [])
            continue
        section = section or Section("questions", [])
        for a, b, c, d in _checked(source, [row], 4, "four words"):
            section.questions.append((a, b, c, d))
    if section is not None:
        yield section


def _similarities(source: str | Path, rows: list[_Row]) -> Similarities:
    if _number(rows[0][1][2]) is None and len(rows) > 1 and _number(rows[1][1][-1]) is not None:
        rows = rows[1:]  # the names of the columns
    pairs, scores = [], []
    checked = _checked(source, rows, 3, "two words and a number")
    for (number, _), (first, second, score) in zip(rows, checked, strict=True):
        value = _number(score)
        if value is None:
            what = f"{_place(source, number)}: {score!r} is not a number"
            raise TextError(what, "The third column says how similar the two words are")
        pairs.append((first, second))
        scores.append(value)
    return Similarities(str(source), pairs, np.array(scores, dtype=np.float64))


def _categories(source: str | Path, rows: list[_Row], listener: Listener) -> Categories:
    names = [name.lower() for name in rows[0][1]]
    class_first: bool | None = None
    if len(rows) > 1:
        if names[0] in _CLASS_NAMES and names[1] in _WORD_NAMES:
            class_first, rows = True, rows[1:]
        elif names[0] in _WORD_NAMES and names[1] in _CLASS_NAMES:
            class_first, rows = False, rows[1:]
    whole = [row for row in rows if len(row[1]) != 2 or all(row[1])]
    if len(whole) < len(rows):
        count = f"{len(rows) - len(whole)} of {len(rows)} lines"
        listener.note(f"{_place(source)}: {count} lack a word or a class and are left out")
    columns = list(_checked(source, whole, 2, "a word and its class"))
    left, right = [row[0] for row in columns], [row[1] for row in columns]
    if class_first is None:
        class_first = len(set(left)) < len(set(right))
    words, classes = (right, left) if class_first else (left, right)
    return Categories(str(source), words, classes)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _place(source: str | Path, number: int | None = None) -> str:
    name = "<stdin>" if str(source) == "-" else str(source)
    return name if number is None else f"{name}:{number}"


def _counted(columns: list[str]) -> str:
    if not all(columns):
        return "an empty column"
    return "1 column" if len(columns) == 1 else f"{len(columns)} columns"
