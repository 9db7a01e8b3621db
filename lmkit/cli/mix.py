"""lmkit ngram mix: a linear mixture of language models, weighted to suit a text."""

from __future__ import annotations

from typing import Annotated

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    Config,
    Device,
    Errors,
    Force,
    Json,
    Models,
    Out,
    PrintConfig,
    Progress,
    Quiet,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import json_line, open_output

Tune = Annotated[
    list[str],
    typer.Option(
        "--tune",
        metavar="FILE",
        help="A text like those the mixture is for; may be given several times.",
        show_default=False,
        rich_help_panel=panels.DATA,
    ),
]
Iterations = Annotated[
    int,
    typer.Option(
        "--iterations",
        metavar="N",
        min=1,
        help="Stop after N iterations at most.",
        rich_help_panel=panels.TRAINING,
    ),
]


def mix_command(
    model: Models,
    tune: Tune,
    out: Out = None,
    iterations: Iterations = 500,
    json: Json = False,
    errors: Errors = "strict",
    threads: Threads = None,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Mix language models of any family, in the proportions that suit a text best.

    The weights are found by expectation maximisation on the text of --tune. A row for each
    model: weight, perplexity of the text, name; the last row is the mixture, which is a model
    like any other and holds its parts. Words need not be the same in all models.
    """
    from lmkit.tasks.mix import MixConfig, mix
    from lmkit.tasks.threads import num_threads

    settings = MixConfig(max_iterations=iterations, threads=num_threads(threads), errors=errors)
    with listening(quiet, progress) as listener, open_output() as results:
        path, tuned = mix(model, tune, out, force=force, config=settings, listener=listener)
        if json:
            results.write(json_line({"out": str(path), "models": model, **tuned.record()}))
        else:
            rows = zip(tuned.weights, tuned.perplexities, model, strict=True)
            results.write_lines(f"{weight!r}\t{ppl!r}\t{name}" for weight, ppl, name in rows)
            results.write(f"1.0\t{tuned.perplexity!r}\t{path}")
        listener.note(f"wrote {path}")


def register(app: typer.Typer, panel: str | None = None) -> None:
    """Add the command ``mix`` to ``app``, the group ``lmkit ngram``."""
    examples = [
        "lmkit ngram mix -m news -m letters --tune valid.txt -o mixed",
        "lmkit ngram mix -m news -m letters --tune valid.txt -o mixed --force --json",
    ]
    command(app, "mix", examples=examples, panel=panel)(mix_command)
