"""lmkit embed phrases: words that belong together, joined."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    Config,
    Errors,
    Files,
    Force,
    LineBuffered,
    OutFile,
    PrintConfig,
    Progress,
    Quiet,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import answers_at_once, choose_sources, open_output
from lmkit.errors import UserError

if TYPE_CHECKING:
    from lmkit.embed.phrases.config import PhrasesConfig

MinCount = Annotated[
    int | None,
    typer.Option(
        "--min-count",
        metavar="K",
        min=1,
        help="A pair must be seen K times at least; word2vec's score takes K off its count.",
        show_default="5",
        rich_help_panel=panels.TRAINING,
    ),
]
Threshold = Annotated[
    list[float] | None,
    typer.Option(
        "--threshold",
        metavar="T",
        help="Join pairs that score above T; may be given once for each pass.",
        show_default="100, for npmi 0.5",
        rich_help_panel=panels.TRAINING,
    ),
]
Score = Annotated[
    Literal["word2vec", "npmi"] | None,
    typer.Option(
        "--score",
        help="That of word2phrase, or normalized pointwise mutual information, -1 to 1.",
        show_default="word2vec",
        rich_help_panel=panels.TRAINING,
    ),
]
Passes = Annotated[
    int | None,
    typer.Option(
        "--passes",
        metavar="N",
        min=1,
        help="How often to join; each pass makes longer phrases of the last one's. With one T "
        "for all, word2vec's is doubled for each pass before the last.",
        show_default="1, or as many as thresholds",
        rich_help_panel=panels.TRAINING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="TEXT",
        help="What joins the words of a phrase.",
        show_default="_",
        rich_help_panel=panels.TRAINING,
    ),
]
MaxPairs = Annotated[
    int | None,
    typer.Option(
        "--max-pairs",
        metavar="N",
        min=1,
        help="Different pairs to keep in memory; beyond, the rarest are forgotten.",
        show_default="40000000",
        rich_help_panel=panels.RUN,
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save",
        metavar="TABLE",
        help="Keep the phrases in a file (.tsv, .tsv.gz), for --table.",
        show_default=False,
        rich_help_panel=panels.MODEL,
    ),
]
Table = Annotated[
    Path | None,
    typer.Option(
        "--table",
        metavar="TABLE",
        help="Learn nothing: join the phrases of this file.",
        show_default=False,
        rich_help_panel=panels.MODEL,
    ),
]


def phrases_command(
    files: Files = None,
    out: OutFile = None,
    min_count: MinCount = None,
    threshold: Threshold = None,
    score: Score = None,
    passes: Passes = None,
    delimiter: Delimiter = None,
    max_pairs: MaxPairs = None,
    save: Save = None,
    table: Table = None,
    errors: Errors = "strict",
    threads: Threads = None,
    line_buffered: LineBuffered = False,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Join words that stand side by side far more often than chance has it (new_york).

    One line in, one line out: nothing changes but the space inside a phrase. The text is read
    once to count for each pass and once to join; standard input is copied to disk for that. With
    --table nothing is learnt, and each line is answered as it comes.
    """
    from contextlib import ExitStack

    from lmkit.embed.phrases.table import PhraseTable
    from lmkit.tasks.phrases_embed import join_phrases, learn_phrases
    from lmkit.tasks.spool import spooled
    from lmkit.tasks.threads import num_threads

    settings = _settings(
        min_count, tuple(threshold or ()), score, passes, delimiter, max_pairs, save, table
    )
    _check_places(out, save)
    sources = choose_sources(files)
    streaming = table is not None and answers_at_once(sources, line_buffered)
    at_work = num_threads(threads)
    with ExitStack() as stack:
        listener = stack.enter_context(listening(quiet, progress, streams_results=True))
        writer = stack.enter_context(open_output(out, line_buffered=streaming, force=force))
        kept = None if save is None else stack.enter_context(open_output(save, force=force))
        sources = stack.enter_context(spooled(sources, needed=table is None))
        if table is not None:
            phrases = PhraseTable.read(str(table))
        else:
            phrases = learn_phrases(
                sources, settings, errors=errors, threads=at_work, listener=listener
            )
        for text in join_phrases(
            sources, phrases, streaming=streaming, errors=errors, threads=at_work, listener=listener
        ):
            writer.write_bytes(text)
        if kept is not None:
            phrases.write(kept)


def _check_places(out: Path | None, save: Path | None) -> None:
    """Refuse a table that would be written into the text."""
    if save is None:
        return
    text_to_stdout = out is None or str(out) == "-"
    if str(save) == "-":
        if text_to_stdout:
            raise UserError(
                "--save - would mix the table with the text on standard output",
                "Name a file, or -o FILE for the text",
            )
    elif out is not None and not text_to_stdout and out.resolve() == save.resolve():
        raise UserError(f"-o and --save are both {save}", "Name two files")


def _settings(
    min_count: int | None,
    thresholds: tuple[float, ...],
    score: Literal["word2vec", "npmi"] | None,
    passes: int | None,
    delimiter: str | None,
    max_pairs: int | None,
    save: Path | None,
    table: Path | None,
) -> PhrasesConfig:
    from lmkit.embed.phrases.config import PhrasesConfig, pass_thresholds

    learning = {
        "--min-count": min_count,
        "--threshold": thresholds or None,
        "--score": score,
        "--passes": passes,
        "--delimiter": delimiter,
        "--max-pairs": max_pairs,
        "--save": save,
    }
    given = [name for name, value in learning.items() if value is not None]
    if table is not None and given:
        raise UserError(
            f"{' and '.join(given)} means nothing with --table",
            "The table says what the phrases are; leave out --table to learn anew",
        )
    scored = score or "word2vec"
    return PhrasesConfig(
        score=scored,
        min_count=5 if min_count is None else min_count,
        thresholds=pass_thresholds(scored, thresholds, passes),
        delimiter="_" if delimiter is None else delimiter,
        max_pairs=40_000_000 if max_pairs is None else max_pairs,
    )


def register(app: typer.Typer) -> None:
    """Add the command ``phrases`` to ``app``, the group ``lmkit embed``."""
    examples = [
        "lmkit embed phrases news.txt --passes 2 --save news.tsv -o joined.txt",
        "echo 'the new york times' | lmkit embed phrases --table news.tsv",
    ]
    command(app, "phrases", examples=examples)(phrases_command)
