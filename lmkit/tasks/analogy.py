"""Answers questions about sums of words, one or many: the work behind ``lmkit analogy``.

A question is one line, ``A B C`` for A - B + C or any sum of words; see
``lmkit.embed.expression``. A blank line, one with an unknown word and one that is no sum get an
answer without words, so that there are as many answers as lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lmkit.embed.analogy import (
    Method,
    Scoring,
    UnknownWords,
    check_method,
    operands,
    rank,
    scoring,
)
from lmkit.embed.expression import Term, parse
from lmkit.embed.vectors import Vectors
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.tasks.encoding import ARRIVING_SIZE, BLOCK_SIZE
from lmkit.text.lines import block_lines, read_blocks, total_size

_GROUP = 256
"""Questions answered at a time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnalogyConfig:
    """How questions are answered."""

    top: int = 10
    """Answers to each."""
    method: Method = "add"
    """How answers are scored; see ``lmkit.embed.analogy``."""
    limit: int | None = None
    """Answer only with this many words, those that come first."""
    include_inputs: bool = False
    """Let the words of a question be answers to it."""

    def __post_init__(self) -> None:
        """Check the settings."""
        check_method(self.method)
        if self.top < 1:
            raise UserError(f"--top {self.top} is below 1")
        if self.limit is not None and self.limit < 1:
            raise UserError(f"--limit {self.limit} is below 1")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    text: str
    """As people wrote it."""
    terms: Sequence[Term] = ()
    """The words and their weights; none of a blank line."""
    problem: str = ""
    """Why ``text`` is no question, if so."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and its answers."""

    text: str
    """The question as people wrote it."""
    answers: list[tuple[str, float]]
    """Words and their scores, best first; none if something is unknown or wrong."""
    unknown: list[str]
    """Words of the question that have no vector."""
    problem: str = ""
    """What is wrong with the question otherwise."""


def questions(lines: Iterable[str]) -> Iterator[Question]:
    """Yield the question that each of ``lines`` asks."""
    for line in lines:
        try:
            yield Question(line, parse(line))
        except UserError as error:
            yield Question(line, problem=error.what)


def answer(
    vectors: Vectors, asked: Iterable[Question], config: AnalogyConfig | None = None
) -> Iterator[Answered]:
    """Yield the answers to each question, in order."""
    config = config or AnalogyConfig()
    remaining = iter(asked)
    while group := list(islice(remaining, _GROUP)):
        yield from _answer_group(vectors, group, config)


def line_blocks(
    sources: Sequence[str | Path],
    *,
    streaming: bool,
    errors: Errors = "strict",
    listener: Listener = SILENT,
) -> Iterator[list[str]]:
    """Yield the lines of ``sources`` in order; streaming, those that are there at once.

    Raises:
        TextError: a source cannot be read, or is not text.
    """
    listener.phase("answering", total_size(sources), "B")
    size = ARRIVING_SIZE if streaming else BLOCK_SIZE
    blocks = read_blocks(
        sources, errors=errors, block_size=size, at_once=streaming, listener=listener
    )
    for block in blocks:
        yield block_lines(block)
    listener.finish()


def _answer_group(
    vectors: Vectors, group: list[Question], config: AnalogyConfig
) -> Iterator[Answered]:
    failed: dict[int, Answered] = {}
    scorings: list[Scoring] = []
    inputs: list[tuple[int, ...]] = []
    for place, question in enumerate(group):
        if question.problem or not question.terms:
            failed[place] = Answered(question.text, [], [], question.problem)
            continue
        try:
            found = operands(vectors, question.terms)
            scorings.append(scoring(found, config.method))
        except UnknownWords as error:
            failed[place] = Answered(question.text, [], error.words)
        except UserError as error:
            failed[place] = Answered(question.text, [], [], error.what)
        else:
            inputs.append(() if config.include_inputs else found.rows)
    ranked = iter(rank(vectors, scorings, config.top, inputs, limit=config.limit))
    for place, question in enumerate(group):
        if place in failed:
            yield failed[place]
            continue
        rows, scores = next(ranked)
        words = map(vectors.word, rows.tolist())
        yield Answered(question.text, list(zip(words, scores.tolist(), strict=True)), [])
