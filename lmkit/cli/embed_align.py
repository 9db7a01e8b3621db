"""lmkit embed align and drift: two spaces of word vectors, brought together and compared."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.completion import complete_model
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Errors,
    Force,
    Json,
    Out,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import columns, json_line, open_output

FirstModel = Annotated[
    str,
    typer.Argument(
        metavar="A",
        help="Vectors: path or name of a model, or a file of vectors.",
        autocompletion=complete_model,
        show_default=False,
    ),
]
SecondModel = Annotated[
    str,
    typer.Argument(
        metavar="B",
        help="Vectors of another language, time or text, of the same size.",
        autocompletion=complete_model,
        show_default=False,
    ),
]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WORD",
        help="Words to be told about, in this order; else those that moved most.",
        show_default=False,
    ),
]
Pairs = Annotated[
    str,
    typer.Option(
        "--pairs",
        metavar="FILE",
        help="Words that should coincide, one of A and one of B a line.",
        show_default=False,
        rich_help_panel=panels.DATA,
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="FILE",
        help="Pairs to measure by.",
        show_default="some of --pairs, kept from the fit",
        rich_help_panel=panels.DATA,
    ),
]
HeldOut = Annotated[
    float,
    typer.Option(
        "--held-out",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Share of the words of --pairs that is kept for measuring, without --test.",
        rich_help_panel=panels.DATA,
    ),
]
Normalize = Annotated[
    bool,
    typer.Option(
        "--normalize/--no-normalize",
        help="Give the vectors of the pairs length 1 before the rotation is fitted.",
        rich_help_panel=panels.TRAINING,
    ),
]
Center = Annotated[
    bool,
    typer.Option(
        "--center",
        help="Move the mean of each side of the pairs to 0 before; the cosines inside A change.",
        rich_help_panel=panels.TRAINING,
    ),
]
Limit = Annotated[
    int,
    typer.Option(
        "--limit",
        metavar="N",
        min=0,
        help="Look at the N first (most frequent) words of each side; 0: at all.",
        rich_help_panel=panels.RUN,
    ),
]
Top = Annotated[
    int,
    typer.Option(
        "--top",
        "-n",
        metavar="N",
        min=1,
        help="How many words, if none are named.",
        rich_help_panel=panels.RUN,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="End with exit code 1 where a word is missing.",
        rich_help_panel=panels.RUN,
    ),
]

HEADER = ("word", "distance", "local", "before", "after")


def align_command(
    a: FirstModel,
    b: SecondModel,
    pairs: Pairs,
    test: Test = None,
    out: Out = None,
    held_out: HeldOut = 0.1,
    normalize: Normalize = True,
    center: Center = False,
    limit: Limit = 30_000,
    json: Json = False,
    errors: Errors = "strict",
    seed: Seed = DEFAULT_SEED,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Rotate the word vectors A into the space of B, so that words of both can be compared.

    The rotation is the one that brings the pairs together best (orthogonal Procrustes). It is
    measured by pairs that it was not fitted to: how often a translation is the nearest word of B,
    or among the nearest 5 or 10, by cosine and by CSLS, which sees through words that are near to
    everything. A name and a value a row. With -o the rotated vectors become a model, or a file
    by the suffix .txt, .vec or .bin.
    """
    from lmkit.tasks.align_embed import AlignConfig, align_embed

    settings = AlignConfig(
        normalize=normalize,
        center=center,
        held_out=held_out,
        limit=limit,
        seed=seed,
        errors=errors,
    )
    with listening(quiet, progress) as listener, open_output() as results:
        aligned = align_embed(
            a, b, pairs, test=test, out=out, force=force, config=settings, listener=listener
        )
        record = aligned.record()
        if json:
            results.write(json_line(record))
        else:
            results.write_lines(f"{name}\t{_shown(value)}" for name, value in record.items())
        if aligned.path is not None:
            listener.note(f"wrote {aligned.path}")


def drift_command(
    a: FirstModel,
    b: SecondModel,
    words: Words = None,
    top: Top = 10,
    limit: Limit = 30_000,
    strict: Strict = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Show which words moved between two models, such as those of two decades.

    A row for each word: the word, how far it moved (1 - cosine after all common words were
    turned onto each other), how much its similarities to its neighbours changed (1 - cosine; it
    sees changes of meaning better), and its five nearest words in A and in B. A word that one of
    the models lacks gets n/a, with --json null. Rare words move by chance: see --limit.
    """
    from lmkit.tasks.drift_embed import drift_embed

    with listening(quiet, progress) as listener, open_output() as out:
        moves = drift_embed(
            a, b, words or (), top=top, limit=limit, strict=strict, listener=listener
        )
        records: list[dict[str, Any]] = []
        for word, moved in moves:
            record: dict[str, Any] = dict.fromkeys(HEADER)
            if moved is not None:
                numbers = {"distance": moved.distance, "local": moved.local}
                record |= {**numbers, "before": moved.before, "after": moved.after}
            records.append(record | {"word": word})
        if json:
            out.write_lines(map(json_line, records))
        else:
            rows = [[_shown(record[name]) for name in HEADER] for record in records]
            out.write_lines(columns(HEADER, rows))


def _shown(value: Any) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, float):
        return f"{value:.4f}"
    return " ".join(value) if isinstance(value, list) else str(value)


def register(app: typer.Typer) -> None:
    """Add the commands ``align`` and ``drift`` to ``app``, the group ``lmkit embed``."""
    examples = [
        "lmkit embed align en.vec fr.vec --pairs dictionary.txt -o en-in-fr",
        "lmkit embed align news letters --pairs same.txt --test more.txt --json",
    ]
    command(app, "align", examples=examples)(align_command)
    examples = [
        "lmkit embed drift novels1850 novels1950 --top 20",
        "lmkit embed drift novels1850 novels1950 engine broadcast --json",
    ]
    command(app, "drift", examples=examples)(drift_command)
