"""What the questions to word vectors have in common: asked as arguments or line by line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.progress import listening
from lmkit.cli.streams import answers_at_once, choose_sources, json_line, open_output
from lmkit.errors import NegativeResult, UserError

if TYPE_CHECKING:
    from lmkit.embed.vectors import Vectors
    from lmkit.events import Listener
    from lmkit.tasks.analogy import Answered
    from lmkit.text.writer import LineWriter

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WORD",
        help="What is asked; nothing: a question a line from standard input. Words that begin "
        "with a hyphen come after --.",
        show_default=False,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        help="Answer only with the N first (most frequent) words.",
        show_default="all",
        rich_help_panel=panels.RUN,
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """The options of a run."""

    model: str | None
    json: bool
    strict: bool
    errors: Literal["strict", "replace"]
    line_buffered: bool
    quiet: bool
    progress: Literal["auto", "rich", "plain", "json", "none"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """A kind of question: how it is answered and how answers are shown."""

    ask: Callable[[Vectors, Iterable[str]], Iterator[Any]]
    """Answers questions, in order; answers have ``unknown`` (words) and ``problem`` (or "")."""
    show: Callable[[Any], str]
    """Returns the answer to a question in text: a line, or rows if it was an argument."""
    record: Callable[[Any], dict[str, Any]]
    """Returns the answer as an object."""


@contextmanager
def _opened(
    run: Run, *, line_buffered: bool, once: bool = False
) -> Iterator[tuple[Vectors, Listener, LineWriter]]:
    """Yield the vectors to ask, who hears notes, and where answers go."""
    from lmkit.tasks.open_vectors import open_vectors

    with (
        listening(run.quiet, run.progress, streams_results=True) as listener,
        open_output(line_buffered=line_buffered) as out,
    ):
        yield open_vectors(run.model, once=once, listener=listener), listener, out


def prepare_for_one_question() -> None:
    """Keep numpy, if it is not loaded yet, from starting threads.

    A few questions are answered as fast as memory is read, and starting threads takes longer.
    """
    if "numpy" not in sys.modules:
        for library in ("OPENBLAS", "MKL", "OMP"):
            os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def answer_arguments(query: Query, texts: list[str], run: Run) -> None:
    """Answer ``texts``, which were given as arguments.

    Raises:
        UserError: a text is no question.
        NegativeResult: a word is unknown and the run is strict.
    """
    from lmkit.tasks.unknown_words import UnknownWordNotes

    with _opened(run, line_buffered=run.line_buffered, once=True) as (vectors, listener, out):
        notes = UnknownWordNotes(vectors, listener)
        for result in query.ask(vectors, texts):
            if result.problem:
                raise UserError(result.problem)
            if result.unknown and run.strict:
                raise NegativeResult(notes.describe(result.unknown[0]))
            notes.tell(result.unknown)
            out.write(json_line(query.record(result)) if run.json else query.show(result))
        notes.finish()


def answer_lines(query: Query, run: Run) -> None:
    """Answer each line of standard input by one line.

    Raises:
        NegativeResult: a word was unknown, or a line no question, and the run is strict.
    """
    from lmkit.tasks.analogy import line_blocks
    from lmkit.tasks.unknown_words import UnknownWordNotes

    sources = choose_sources(None)
    streaming = answers_at_once(sources, run.line_buffered)
    asked = failed = 0
    with _opened(run, line_buffered=streaming) as (vectors, listener, out):
        notes = UnknownWordNotes(vectors, listener)
        blocks = line_blocks(sources, streaming=streaming, errors=run.errors, listener=listener)
        for result in (result for lines in blocks for result in query.ask(vectors, lines)):
            asked += 1
            out.write(json_line(query.record(result)) if run.json else query.show(result))
            if result.unknown or result.problem:
                failed += 1
                notes.tell(result.unknown)
                if result.problem:
                    notes.tell_problem(asked, result.problem)
        notes.finish()
    if run.strict and failed:
        raise NegativeResult(f"{failed} of {asked} questions have no answer")


def answers_line(result: Answered) -> str:
    """Return words and scores as one line."""
    return "\t".join(f"{word}\t{score:.6f}" for word, score in result.answers)


def answers_rows(result: Answered, *before: str) -> str:
    """Return words and scores, a row for each, with the columns ``before`` in front."""
    rows = [(*before, word, f"{score:.6f}") for word, score in result.answers]
    return "\n".join(map("\t".join, rows))


def answers_record(result: Answered) -> dict[str, Any]:
    """Return words and scores as an object."""
    answers = [{"word": word, "score": score} for word, score in result.answers]
    return with_problem({"text": result.text, "answers": answers}, result)


def with_problem(record: dict[str, Any], result: Any) -> dict[str, Any]:
    """Return ``record`` with the unknown words, and with what else is wrong if anything is."""
    record["unknown"] = result.unknown
    return {**record, "problem": result.problem} if result.problem else record
