"""lmkit embed eval: how good word vectors are, by the tests of the literature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Errors,
    Json,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import choose_sources, columns, json_line, open_output
from lmkit.cli.word_queries import prepare_for_one_question

GoldFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Questions (four words a line), similarity (two words and a number) or categories "
        "(a word and its class); - or nothing is standard input.",
        show_default=False,
    ),
]
Limit = Annotated[
    int,
    typer.Option(
        "--limit",
        metavar="N",
        min=0,
        help="Ask and answer analogies with the N first (most frequent) words only, as word2vec's "
        "compute-accuracy does; 0: with all.",
        rich_help_panel=panels.RUN,
    ),
]
Method = Annotated[
    Literal["add", "multiply"],
    typer.Option(
        "--method",
        help="How analogies are answered: by a sum of cosines (3CosAdd) or a product (3CosMul).",
        rich_help_panel=panels.RUN,
    ),
]
Oov = Annotated[
    Literal["skip", "zero", "subwords"],
    typer.Option(
        "--oov",
        help="Pairs and categorised words that the vectors lack: leave them out, count them as "
        "similarity 0 or misplaced, or make vectors from their n-grams. Analogies: always out.",
        rich_help_panel=panels.RUN,
    ),
]
Clustering = Annotated[
    Literal["kmeans", "agglomerative"],
    typer.Option(
        "--clustering",
        help="How categories are found: spherical k-means, or average linkage.",
        rich_help_panel=panels.RUN,
    ),
]

HEADER = ("file", "part", "measure", "value", "used", "all", "correct")


def eval_command(
    files: GoldFiles = None,
    model: Model = None,
    limit: Limit = 30_000,
    method: Method = "add",
    oov: Oov = "skip",
    clustering: Clustering = "kmeans",
    json: Json = False,
    errors: Errors = "strict",
    seed: Seed = DEFAULT_SEED,
    threads: Threads = None,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Measure word vectors by analogies, word similarity and categories.

    What a file holds is seen from its lines. A row for each figure: file, part of it, measure,
    value (n/a where there is none), how many questions, pairs or words it rests on, how many the
    file has, and for analogies how many were answered rightly. Words that differ in case only are
    the same word where the vectors have not exactly the one that is asked for; in analogies,
    always, as in compute-accuracy. With --json an object a file.
    """
    prepare_for_one_question()  # parts of the vocabulary are searched in threads, products are not
    from lmkit.tasks.eval_embed import EvalConfig, eval_embed
    from lmkit.tasks.threads import num_threads

    sources = choose_sources(files)
    settings = EvalConfig(
        limit=limit,
        method=method,
        unknown=oov,
        clustering=clustering,
        seed=seed,
        threads=num_threads(threads),
        errors=errors,
    )
    with listening(quiet, progress) as listener, open_output() as out:
        records = (scores.record() for scores in eval_embed(model, sources, settings, listener))
        if json:
            for record in records:
                out.write(json_line(record))
                out.flush()
        else:
            out.write_lines(columns(HEADER, [row for record in records for row in _rows(record)]))


def _rows(record: dict[str, Any]) -> Iterator[list[str]]:
    file, kind = record["file"], record["kind"]
    if kind == "questions":
        named = {name: record[name] for name in ("semantic", "syntactic")}
        parts = [(part["name"], part) for part in record["sections"]]
        for name, part in [*parts, *named.items(), ("total", record)]:
            count = part["questions"]
            numbers = (count, count + part["skipped"], part["correct"])
            yield [file, name, "accuracy", _shown(part["accuracy"]), *map(str, numbers)]
    elif kind == "similarity":
        for name in ("spearman", "pearson"):
            used, pairs = str(record["used"]), str(record["pairs"])
            yield [file, "all", name, _shown(record[name]), used, pairs, ""]
    else:
        used, words = str(record["used"]), str(record["words"])
        yield [file, "all", "purity", _shown(record["purity"]), used, words, ""]


def _shown(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


def register(app: typer.Typer) -> None:
    """Add the command ``eval`` to ``app``, the group ``lmkit embed``."""
    examples = [
        "lmkit embed eval questions-words.txt wordsim353.tsv",
        "lmkit embed eval -m ./vectors.bin --json < questions-words.txt",
    ]
    command(app, "eval", examples=examples)(eval_command)
