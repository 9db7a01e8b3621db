"""lmkit quickstart: the whole tour on the corpora that come with lmkit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import DEFAULT_SEED, Json, Progress, Quiet, Seed, Threads, Verbose
from lmkit.cli.progress import listening
from lmkit.cli.streams import json_line, open_output

if TYPE_CHECKING:
    from lmkit.tasks.quickstart_step import Step

CLOSING = """Your turn:

$ lmkit ngram fit YOUR.txt -o mine && lmkit sample -m mine --count 5 'Once'
$ lmkit embed fit YOUR.txt -o near && lmkit embed neighbors -m near day
$ lmkit --help"""


def quickstart_command(
    seed: Seed = DEFAULT_SEED,
    json: Json = False,
    threads: Threads = None,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
) -> None:
    """Take the tour: language models and word vectors on the corpora of lmkit.

    Every step shows the command lines that do the same, and their results as a table. The models
    stay in the home of lmkit as quickstart-...; those of an earlier tour are replaced. The same
    seed gives the same output. With --json an object a step: step, commands, and results, a list
    of objects.
    """
    from lmkit.tasks.quickstart import quickstart
    from lmkit.tasks.quickstart_step import QuickstartConfig
    from lmkit.tasks.threads import num_threads

    settings = QuickstartConfig(seed=seed, threads=num_threads(threads))
    with (
        listening(quiet, progress, streams_results=True) as listener,
        open_output(line_buffered=True) as out,
    ):
        for number, step in enumerate(quickstart(settings, listener), start=1):
            if json:
                out.write(json_line(_object(step)))
            else:
                out.write_lines(_page(number, step))
        if not json:
            out.write_lines(CLOSING.split("\n"))


def _object(step: Step) -> dict[str, Any]:
    results = [dict(zip(step.columns, row, strict=True)) for row in step.rows]
    return {"step": step.name, "commands": list(step.commands), "results": results}


def _page(number: int, step: Step) -> Iterator[str]:
    """Yield the lines of a step.

    They are text to read, not records to cut: the table is aligned in a pipe too.
    """
    yield f"{number}. {step.title}"
    yield ""
    yield from (f"$ {line}" for line in step.commands)
    yield ""
    yield from _aligned(step)
    yield ""
    yield from step.lesson.split("\n")
    yield ""


def _aligned(step: Step) -> Iterator[str]:
    table = [step.columns, *(tuple(map(_shown, row)) for row in step.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    numeric = [not isinstance(cell, str) for cell in step.rows[0]]
    for row in table:
        cells = zip(row, widths, numeric, strict=True)
        yield "  ".join(f"{cell:{'>' if n else '<'}{w}}" for cell, w, n in cells).rstrip()


def _shown(cell: str | int | float) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}" if abs(cell) < 100 else f"{cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def register(app: typer.Typer) -> None:
    """Add the command ``quickstart`` to ``app``."""
    examples = ["lmkit quickstart", "lmkit quickstart --json | head -n 1"]
    command(app, "quickstart", examples=examples, panel=panels.START)(quickstart_command)
