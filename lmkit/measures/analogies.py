"""Analogy questions: a is to b as c is to d (Mikolov et al. 2013).

The counts are those of word2vec's ``compute-accuracy``: words are compared in upper case, the
three words of a question are no answers to it, only the most frequent words may answer (30,000
unless said otherwise), and questions with a word outside those are skipped. The answer is the
word w that maximises, with all vectors at length 1 and x.y for the cosine of x and y,

    add       w.b - w.a + w.c                                  3CosAdd (Mikolov et al. 2013)
    multiply  (1 + w.b)(1 + w.c) / (1 + w.a + epsilon)         3CosMul (Levy and Goldberg 2014)

Of 19,544 questions only 905 words are different, so the cosines of those are computed, once, and
the questions only combine them: a block of the vocabulary at a time, small enough for the caches.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import LIMIT, Floats, Vectors
from lmkit.measures.gold import Questions
from lmkit.measures.lookup import FoldedWords

Method = Literal["add", "multiply"]

_BLOCK = 1 << 13
"""Words of the vocabulary whose cosines are kept at a time."""
_COSINES = 1 << 23
"""Cosines kept at a time; fewer words of the vocabulary where a section has many words."""
_TOGETHER = 64
"""Questions with the same a and b that are answered at a time."""
_EPSILON = np.float32(1e-6)

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """How many questions were answered, and how many rightly."""

    name: str
    correct: int
    questions: int
    """Those whose four words are in the vocabulary."""
    skipped: int
    """The others."""

    @property
    def accuracy(self) -> float | None:
        """Right answers per question that was asked; None if none was."""
        return self.correct / self.questions if self.questions else None

    def record(self) -> dict[str, Any]:
        """Return the counts and the accuracy by name."""
        return {
            "name": self.name,
            "accuracy": self.accuracy,
            "correct": self.correct,
            "questions": self.questions,
            "skipped": self.skipped,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class AnalogyScores:
    """The answers to a file of questions."""

    source: str
    method: Method
    vocabulary: int
    """How many words could answer."""
    sections: list[Tally]

    @property
    def total(self) -> Tally:
        """All sections together."""
        return _sum("total", self.sections)

    @property
    def semantic(self) -> Tally:
        """The sections whose names do not begin with ``gram``."""
        return _sum("semantic", [part for part in self.sections if not _is_syntactic(part.name)])

    @property
    def syntactic(self) -> Tally:
        """The sections whose names begin with ``gram``."""
        return _sum("syntactic", [part for part in self.sections if _is_syntactic(part.name)])

    def record(self) -> dict[str, Any]:
        """Return everything by name, as JSON can hold it."""
        counts = {key: value for key, value in self.total.record().items() if key != "name"}
        parts = {part.name: part.record() for part in (self.semantic, self.syntactic)}
        for part in parts.values():
            del part["name"]
        return {
            "file": self.source,
            "kind": "questions",
            "method": self.method,
            "vocabulary": self.vocabulary,
            **counts,
            **parts,
            "sections": [section.record() for section in self.sections],
        }


def measure_analogies(
    vectors: Vectors,
    questions: Questions,
    *,
    limit: int = LIMIT,
    method: Method = "add",
    threads: int = 1,
) -> AnalogyScores:
    """Answer ``questions`` by ``vectors``.

    Args:
        vectors: V words, frequent ones first.
        questions: what is asked.
        limit: only the first so many words are asked for and may answer; 0 for all.
        method: ``"add"`` or ``"multiply"``.
        threads: parts of the vocabulary that are searched at the same time.
    """
    num_words = min(limit, len(vectors)) if limit else len(vectors)
    words = FoldedWords(vectors, num_words)
    asked = []
    for section in questions.sections:
        found = np.array(
            [[words.find(word) for word in question] for question in section.questions],
            dtype=np.int64,
        ).reshape(-1, 4)
        asked.append(found[(found >= 0).all(axis=1)])
    answers = _answer(vectors, num_words, asked, method, threads)
    tallies = []
    for section, rows, best in zip(questions.sections, asked, answers, strict=True):
        right = (best >= 0) & (words.first[best] == rows[:, 3])
        tally = Tally(
            name=section.name,
            correct=int(right.sum()),
            questions=len(rows),
            skipped=len(section.questions) - len(rows),
        )
        tallies.append(tally)
    return AnalogyScores(
        source=questions.source, method=method, vocabulary=num_words, sections=tallies
    )


def _is_syntactic(name: str) -> bool:
    return name.startswith("gram")


def _sum(name: str, parts: list[Tally]) -> Tally:
    return Tally(
        name=name,
        correct=sum(part.correct for part in parts),
        questions=sum(part.questions for part in parts),
        skipped=sum(part.skipped for part in parts),
    )


def unit_vectors(vectors: Vectors, rows: slice | Rows) -> Floats:
    """Return the chosen rows at length 1; those of length 0 stay 0."""
    norms = vectors.norms[rows]
    scale = np.where(norms > 0, norms, np.float32(1)).astype(np.float32, copy=False)
    return vectors.matrix[rows] / scale[:, None]


def _answer(
    vectors: Vectors, num_words: int, asked: list[Rows], method: Method, threads: int
) -> list[Rows]:
    """Return the answers to the questions of each section, as rows; -1 where there is none."""
    sections = [_Asked(vectors, rows, method) for rows in asked]
    most = max((len(section.vectors) for section in sections), default=0)
    width = max(min(_BLOCK, _COSINES // max(most, 1)), 256)
    blocks = [slice(i, min(i + width, num_words)) for i in range(0, num_words, width)]
    share = -(-len(blocks) // max(threads, 1)) or 1
    parts = [blocks[i : i + share] for i in range(0, len(blocks), share)]

    def search(part: list[slice]) -> list[_Best]:
        best = [_Best(len(rows)) for rows in asked]
        for block in part:
            words = unit_vectors(vectors, block)
            for section, found in zip(sections, best, strict=True):
                section.search(words, block.start, found)
        return best

    if len(parts) > 1:
        with ThreadPoolExecutor(len(parts)) as pool:
            results = list(pool.map(search, parts))
    else:
        results = [search(part) for part in parts]
    merged = [_Best(len(rows)) for rows in asked]
    for result in results:
        for best, other in zip(merged, result, strict=True):
            best.update(slice(0, len(other.rows)), other.rows, other.scores)
    for best, rows in zip(merged, asked, strict=True):
        best.rows[(vectors.norms[rows[:, :3]] == 0).any(axis=1)] = -1
    return [best.rows for best in merged]


class _Best:
    """The best answers to Q questions so far; a score of 0 or less is no answer."""

    def __init__(self, size: int) -> None:
        self.rows = np.full(size, -1, dtype=np.int64)
        self.scores = np.zeros(size, dtype=np.float32)

    def update(self, which: slice, rows: Rows, scores: Floats) -> None:
        """Take answers that are better; of equal ones the first stays."""
        better = scores > self.scores[which]
        self.rows[which][better] = rows[better]
        self.scores[which][better] = scores[better]


class _Asked:
    """The Q questions of a section over U different words."""

    def __init__(self, vectors: Vectors, rows: Rows, method: Method) -> None:
        self._rows = rows
        self._method = method
        words, places = np.unique(rows[:, :3], return_inverse=True)
        self._places = places.reshape(-1, 3)
        self.vectors = unit_vectors(vectors, words)
        """[U, D]"""
        changes = np.flatnonzero((np.diff(self._places[:, :2], axis=0) != 0).any(axis=1)) + 1
        bounds = [0, *changes.tolist(), len(rows)]
        self._groups = [
            slice(i, min(i + _TOGETHER, end))
            for begin, end in pairwise(bounds)
            for i in range(begin, end, _TOGETHER)
        ]

    def search(self, words: Floats, begin: int, best: _Best) -> None:
        """Look for answers among ``words`` [W, D], the rows from ``begin`` on."""
        if not len(self._rows):
            return
        cosines = self.vectors @ words.T
        if self._method == "multiply":
            cosines += 1
            cosines *= np.float32(0.5)
        width = cosines.shape[1]
        inputs = self._rows[:, :3] - begin
        inside = (inputs >= 0) & (inputs < width)
        scores = np.empty((_TOGETHER, width), dtype=np.float32)
        for group in self._groups:
            a, b = self._places[group.start, :2]
            part = scores[: group.stop - group.start]
            np.take(cosines, self._places[group, 2], axis=0, out=part, mode="clip")
            if self._method == "add":
                part += cosines[b] - cosines[a]
            else:
                part *= cosines[b] / (cosines[a] + _EPSILON)
            lines, columns = np.nonzero(inside[group])
            part[lines, inputs[group][lines, columns]] = -np.inf
            found = part.argmax(axis=1)
            best.update(group, found + begin, part[np.arange(len(part)), found])
