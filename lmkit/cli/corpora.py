"""lmkit corpora: the texts that come with lmkit, and a grammar that makes as much as one likes."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from lmkit.cli import panels
from lmkit.cli.command import command, group
from lmkit.cli.completion import complete_corpus
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Force,
    Json,
    OutFile,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import columns, json_line, open_output

app = group("corpora", "Texts that come with lmkit, and a grammar for more.", panels.KEEPING)

GENERATED = "kingdoms"
BATCH = 1000
"""Sentences written at once."""

Names = Annotated[
    list[str],
    typer.Argument(metavar="NAME", help="Names of corpora.", autocompletion=complete_corpus),
]
Sentences = Annotated[
    int,
    typer.Option(
        "--sentences",
        metavar="N",
        min=0,
        help="How many to make, one a line.",
        rich_help_panel=panels.DATA,
    ),
]


@command(app, "list", examples=["lmkit corpora list", "lmkit corpora list --json"])
def list_command(json: Json = False, verbose: Verbose = 0) -> None:
    """List the corpora: name, lines, what they are."""
    from lmkit.corpora.catalogue import CORPORA

    with open_output() as out:
        if json:
            for corpus in CORPORA.values():
                facts = {"name": corpus.name, "lines": corpus.num_lines, "seed": corpus.seed}
                out.write(json_line({**facts, "description": corpus.description}))
        else:
            rows = [(c.name, str(c.num_lines), c.description) for c in CORPORA.values()]
            out.write_lines(columns(("NAME", "LINES", "TEXT"), rows))


@command(
    app,
    "path",
    examples=[
        "lmkit corpora path prose.train",
        'wc -w "$(lmkit corpora path prose.train)" "$(lmkit corpora path prose.test)"',
    ],
)
def path_command(names: Names, verbose: Verbose = 0) -> None:
    """Print the path of each corpus, one a line; one that is generated is made the first time."""
    from lmkit.corpora.catalogue import path

    paths = [path(name) for name in names]
    with open_output() as out:
        out.write_lines(map(str, paths))


@command(
    app,
    "generate",
    examples=[
        "lmkit corpora generate --sentences 5",
        "lmkit corpora generate --sentences 1000 --seed 7 -o ./more.txt --force",
    ],
)
def generate_command(
    sentences: Sentences = 1000,
    out: OutFile = None,
    seed: Seed = DEFAULT_SEED,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Make English sentences rich in relations between words, from the grammar of kingdoms."""
    from lmkit.corpora.catalogue import generate

    made = generate(GENERATED, sentences, seed)
    with (
        open_output(out, force=force) as output,
        listening(quiet, progress, streams_results=out is None) as listener,
    ):
        listener.phase("generating", sentences, "sentences")
        while batch := list(islice(made, BATCH)):
            output.write_lines(batch)
            listener.advance(len(batch))
