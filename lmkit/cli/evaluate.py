"""lmkit eval: how well a model predicts a text."""

from __future__ import annotations

import typer

from lmkit.cli.command import command
from lmkit.cli.options import (
    Config,
    Device,
    Errors,
    Files,
    Json,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import choose_sources, json_line, open_output


def evaluate_command(
    files: Files = None,
    model: Model = None,
    json: Json = False,
    errors: Errors = "strict",
    threads: Threads = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Measure how well a model predicts a text: perplexity and its relatives.

    Every figure stands beside the counts it is made of, a name and a value a row: perplexity
    with and without words outside the vocabulary (OOVs), SRILM's ppl and ppl1, bits per byte.
    With --json the same in one object; what is not a number is null.
    """
    from lmkit.tasks.evaluate import evaluate
    from lmkit.tasks.families import open_language_model
    from lmkit.tasks.threads import num_threads

    sources = choose_sources(files)
    with listening(quiet, progress) as listener, open_output() as out:
        judged = open_language_model(model, listener)
        result = evaluate(
            judged, sources, threads=num_threads(threads), errors=errors, listener=listener
        )
        record = result.record()
        if json:
            out.write(json_line(record))
        else:
            out.write_lines(f"{name}\t{_shown(value)}" for name, value in record.items())
        if result.oov:
            listener.note(
                f"{result.oov} of {result.tokens - result.sentences} tokens (</s> not counted) "
                "are not in the vocabulary, so bits_per_byte is not a code length"
            )


def _shown(value: float | int | str | None) -> str:
    return "nan" if value is None else str(value)


def register(app: typer.Typer, prefix: str = "lmkit", panel: str | None = None) -> None:
    """Add the command ``eval`` to ``app``, whose own name is ``prefix``."""
    examples = [f"{prefix} eval test.txt", f"zcat test.txt.gz | {prefix} eval --json"]
    command(app, "eval", examples=examples, panel=panel)(evaluate_command)
