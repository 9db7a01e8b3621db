"""lmkit embed plot: pictures of word vectors, in the terminal or as figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Force,
    Json,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Strict,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import STDIN, choose_sources, is_terminal, json_line, open_output
from lmkit.errors import NegativeResult

if TYPE_CHECKING:
    from lmkit.embed.maps.picture import Picture
    from lmkit.events import Listener

COLUMNS, ROWS = 80, 24
"""The size of a picture that goes to a pipe or file."""
TOP = 50

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WORD",
        help="Words to draw; - takes them from standard input, one a line. With none, the most "
        "frequent ones.",
        show_default=False,
    ),
]
FigureFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Draw a figure, .svg, .png or .pdf, instead of characters; needs lmkit\\[plot].",
        show_default=False,
        rich_help_panel=panels.RUN,
    ),
]
Kind = Annotated[
    Literal["pca", "tsne", "parallelogram", "som"] | None,
    typer.Option(
        "--kind",
        help="The plane of the principal components; t-SNE (needs lmkit\\[plot]); pairs as arrows "
        "in that plane; the self-organising map of Ritter and Kohonen.",
        show_default="pca; parallelogram with --pairs",
        rich_help_panel=panels.MODEL,
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        "--top",
        "-n",
        metavar="N",
        min=2,
        help="Draw the N most frequent words, when none are named.",
        show_default=str(TOP),
        rich_help_panel=panels.DATA,
    ),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option(
        "--pairs",
        metavar="PAIRS",
        help="Pairs of one relation, 'man:woman king:queen', or a file of them, a pair a line and "
        "': NAME' above each relation; give one --pairs for each.",
        show_default=False,
        rich_help_panel=panels.DATA,
    ),
]
Grid = Annotated[
    str | None,
    typer.Option(
        "--grid",
        metavar="ROWSxCOLUMNS",
        help="Cells of the self-organising map.",
        show_default="by the number of words",
        rich_help_panel=panels.MODEL,
    ),
]


def plot_command(
    words: Words = None,
    model: Model = None,
    out: FigureFile = None,
    kind: Kind = None,
    pairs: Pairs = None,
    top: Top = None,
    grid: Grid = None,
    strict: Strict = False,
    json: Json = False,
    seed: Seed = DEFAULT_SEED,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Draw words by their vectors, in the terminal or as a figure.

    Without -o the picture consists of characters. With --json an object a word instead: word, x,
    y; arrows (to, relation, cosine) with --pairs; row, column, distance on a map. Vectors are
    scaled to length 1 first. Words that have no vector are named and left out.
    """
    from lmkit.tasks.open_vectors import open_vectors
    from lmkit.tasks.plot_embed import figure_writer, missing_words, read_relations

    chosen = kind or ("parallelogram" if pairs else "pca")
    _check(chosen, words, pairs, top, grid)
    cells = _parse_grid(grid)
    write_figure = figure_writer(out, force=force) if out is not None else None
    with listening(quiet, progress) as listener:
        relations = read_relations(pairs or [])
        asked = _asked(words) or [word for one in relations for pair in one.pairs for word in pair]
        vectors = open_vectors(model, listener=listener)
        if strict and (missing := missing_words(vectors, asked)):
            raise NegativeResult("; ".join(missing))
        picture: Picture
        if chosen == "parallelogram":
            from lmkit.tasks.plot_embed import plot_relations

            picture = plot_relations(vectors, relations, listener)
        else:
            from lmkit.tasks.plot_embed import PlotConfig, plot_words, top_words

            settings = PlotConfig(kind=chosen, seed=seed, grid=cells)
            asked = asked or top_words(vectors, top or TOP)
            picture = plot_words(vectors, asked, settings, listener)
        listener.finish()
        if write_figure is not None:
            write_figure(picture, listener)
        _show(picture, json, out, listener)


def _show(picture: Picture, json: bool, out: Path | None, listener: Listener) -> None:
    """Write the coordinates or the picture to standard output; tell its facts otherwise."""
    with open_output() as output:
        if json:
            output.write_lines(map(json_line, picture.records()))
        elif out is None:
            from lmkit.embed.maps.terminal import draw

            output.write_lines(draw(picture, *_room()))
            return
    for fact in picture.facts():
        listener.note(fact)
    if out is not None:
        listener.note(f"wrote {out}")


def _room() -> tuple[int, int]:
    """Return columns and rows for a picture in characters."""
    if not is_terminal():
        return COLUMNS, ROWS
    import shutil

    columns, rows = shutil.get_terminal_size((COLUMNS, ROWS))
    return max(columns, 20), max(rows - 5, 8)


def _asked(words: list[str] | None) -> list[str]:
    """Return the words to draw; ``-`` stands for those on standard input."""
    from lmkit.text.lines import read_lines

    asked: list[str] = []
    for word in words or []:
        if word == STDIN:
            asked += [line for line in read_lines(choose_sources(STDIN)) if line]
        else:
            asked.append(word)
    return asked


def _check(
    kind: str,
    words: list[str] | None,
    pairs: list[str] | None,
    top: int | None,
    grid: str | None,
) -> None:
    """Refuse options that mean nothing here."""
    if kind == "parallelogram":
        if not pairs:
            raise typer.BadParameter("a parallelogram needs pairs", param_hint="--pairs")
        if words:
            raise typer.BadParameter("a parallelogram takes --pairs, no words", param_hint="WORD")
    elif pairs:
        raise typer.BadParameter(f"means nothing for --kind {kind}", param_hint="--pairs")
    if top is not None and (words or pairs):
        raise typer.BadParameter("means nothing when words are named", param_hint="--top")
    if grid is not None and kind != "som":
        raise typer.BadParameter(f"means nothing for --kind {kind}", param_hint="--grid")


def _parse_grid(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,2})x([1-9]\d{0,2})", text.strip().lower())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a size such as 10x15", param_hint="--grid")
    return int(match[1]), int(match[2])


def register(app: typer.Typer) -> None:
    """Add the command ``plot`` to ``app``, whose name is ``lmkit embed``."""
    examples = [
        "lmkit embed plot --top 40",
        "lmkit embed plot --pairs 'man:woman king:queen' -o relations.svg",
    ]
    command(app, "plot", examples=examples)(plot_command)
