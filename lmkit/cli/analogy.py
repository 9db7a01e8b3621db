"""lmkit analogy: which word is to C as A is to B, and other sums of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    Config,
    Errors,
    Json,
    LineBuffered,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Strict,
    Top,
    Verbose,
)
from lmkit.cli.word_queries import (
    Limit,
    Query,
    Run,
    Words,
    answer_arguments,
    answer_lines,
    answers_line,
    answers_record,
    answers_rows,
    prepare_for_one_question,
)

if TYPE_CHECKING:
    from lmkit.embed.vectors import Vectors
    from lmkit.tasks.analogy import Answered

Method = Annotated[
    Literal["add", "multiply", "direction"],
    typer.Option(
        "--method",
        help="How an answer x is scored: by its cosine with A - B + C (3CosAdd), by a quotient "
        "of cosines (3CosMul), or by the cosine of x - C with A - B (PairDirection).",
        rich_help_panel=panels.RUN,
    ),
]
IncludeInputs = Annotated[
    bool,
    typer.Option(
        "--include-inputs",
        help="Let words of the question be answers: mostly the best, which is why they are not.",
        rich_help_panel=panels.RUN,
    ),
]


def analogy_command(
    words: Words = None,
    model: Model = None,
    method: Method = "add",
    top: Top = 10,
    limit: Limit = None,
    include_inputs: IncludeInputs = False,
    strict: Strict = False,
    json: Json = False,
    errors: Errors = "strict",
    line_buffered: LineBuffered = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Find the word that is near A - B + C, as queen is near king - man + woman.

    Three words A B C ask for A - B + C; or write any sum, with weights if you like: russia +
    river, 0.5 * paris - 2 * france. MODEL may also be a file of word2vec, GloVe or fastText.

    Answers to arguments come one a row: word, TAB, score. Without arguments each line of standard
    input is a question and gets one line: word, TAB, score, TAB, word and so on. With --json an
    object a question: text, answers (word, score), unknown; problem if it is no sum of words.

    A blank line, an unknown word and what is no sum get an empty line, with --json no answers.
    """
    if words:
        prepare_for_one_question()
    from lmkit.embed.expression import parse_arguments
    from lmkit.tasks.analogy import AnalogyConfig, Question, answer, questions

    settings = AnalogyConfig(top=top, method=method, limit=limit, include_inputs=include_inputs)
    run = Run(
        model=model,
        json=json,
        strict=strict,
        errors=errors,
        line_buffered=line_buffered,
        quiet=quiet,
        progress=progress,
    )
    if words:
        asked = Question(" ".join(words), parse_arguments(words))

        def ask_arguments(vectors: Vectors, texts: Iterable[str]) -> Iterator[Answered]:
            return answer(vectors, [asked], settings)

        query = Query(ask=ask_arguments, show=answers_rows, record=answers_record)
        answer_arguments(query, [asked.text], run)
        return

    def ask_lines(vectors: Vectors, lines: Iterable[str]) -> Iterator[Answered]:
        return answer(vectors, questions(lines), settings)

    answer_lines(Query(ask=ask_lines, show=answers_line, record=answers_record), run)


def register(app: typer.Typer) -> None:
    """Add the command ``analogy`` to ``app``."""
    examples = [
        "lmkit analogy king man woman",
        "echo 'paris - france + italy' | lmkit analogy --top 3 --json",
    ]
    command(app, "analogy", examples=examples, panel=panels.VECTORS)(analogy_command)
