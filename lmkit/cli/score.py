"""lmkit score: the log probability of every line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    Config,
    Device,
    Errors,
    Files,
    Json,
    LineBuffered,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import answers_at_once, choose_sources, json_line, open_output

if TYPE_CHECKING:
    from lmkit.language_model import LanguageModel
    from lmkit.tasks.score import ScoredLines

Column = Annotated[
    int | None,
    typer.Option(
        "--column",
        metavar="N",
        min=0,
        help="Which TAB-separated column is the text; 0: the whole line.",
        show_default="1",
        rich_help_panel=panels.DATA,
    ),
]
PerToken = Annotated[
    bool,
    typer.Option(
        "--per-token",
        help="A row for each token: logprob, token, 1 if it is an OOV, number of the line.",
        rich_help_panel=panels.RUN,
    ),
]


def score_command(
    files: Files = None,
    model: Model = None,
    column: Column = None,
    per_token: PerToken = False,
    json: Json = False,
    errors: Errors = "strict",
    threads: Threads = None,
    device: Device = "auto",
    line_buffered: LineBuffered = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Give every line its log probability.

    One line in, one line out: natural logarithm, TAB, the line with all its columns. The end of
    the sentence counts, and a blank line is the empty sentence; a model of documents takes each
    line for the beginning of one. With --json an object a line: logprob, tokens, oov, text;
    columns too where there are several, and per_token where it is asked for.
    """
    from lmkit.tasks.families import open_language_model
    from lmkit.tasks.score import ScoreConfig, score
    from lmkit.tasks.threads import num_threads

    sources = choose_sources(files)
    settings = ScoreConfig(
        column=column,
        streaming=answers_at_once(sources, line_buffered),
        threads=num_threads(threads),
        errors=errors,
    )
    with (
        listening(quiet, progress, streams_results=True) as listener,
        open_output(line_buffered=settings.streaming) as out,
    ):
        scorer = open_language_model(model, listener)
        number = 1
        for lines in score(scorer, sources, settings, listener):
            if json:
                out.write_lines(map(json_line, _objects(lines, scorer, per_token)))
            elif per_token:
                out.write_lines(_token_rows(lines, scorer, number))
            else:
                pairs = zip(lines.logprobs.tolist(), lines.lines, strict=True)
                out.write_lines(f"{logprob!r}\t{line}" for logprob, line in pairs)
            number += len(lines.lines)


def _objects(lines: ScoredLines, model: LanguageModel, per_token: bool) -> Iterator[dict[str, Any]]:
    details = lines.token_scores(model) if per_token else iter(())
    for line in lines:
        scored: dict[str, Any] = {
            "logprob": line.logprob,
            "tokens": line.tokens,
            "oov": line.oov,
            "text": line.text,
        }
        if line.line != line.text:
            scored["columns"] = line.line.split("\t")
        if per_token:
            scored["per_token"] = [
                {"token": token.token, "logprob": token.logprob, "oov": token.oov}
                for token in next(details)
            ]
        yield scored


def _token_rows(lines: ScoredLines, model: LanguageModel, number: int) -> Iterator[str]:
    for place, tokens in enumerate(lines.token_scores(model), start=number):
        for token in tokens:
            yield f"{token.logprob!r}\t{token.token}\t{int(token.oov)}\t{place}"


def register(app: typer.Typer, prefix: str = "lmkit", panel: str | None = None) -> None:
    """Add the command ``score`` to ``app``, whose own name is ``prefix``."""
    examples = [
        f"{prefix} score corpus.txt | sort -g | head",
        f"echo 'the king is here' | {prefix} score --per-token",
    ]
    command(app, "score", examples=examples, panel=panel)(score_command)
