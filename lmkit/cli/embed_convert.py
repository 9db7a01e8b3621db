"""lmkit embed convert: vectors files of other tools to models and back."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.completion import complete_model
from lmkit.cli.options import Force, Progress, Quiet, Verbose
from lmkit.cli.progress import listening

VectorsSource = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A model (path or name), or a vectors file of word2vec, GloVe or fastText, also "
        "compressed; - is standard input.",
        autocompletion=complete_model,
    ),
]
VectorsTarget = Annotated[
    str,
    typer.Argument(
        metavar="OUT",
        help="A file .txt, .vec or .bin, also with .gz behind it; - is standard output. Anything "
        "else is the model to be.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        help="Take only the first N words.",
        show_default="all",
        rich_help_panel=panels.DATA,
    ),
]
Format = Annotated[
    Literal["word2vec", "glove", "binary"] | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of a file: word2vec (text), glove (text without the first line) or binary "
        "(word2vec .bin).",
        show_default="by the suffix",
        rich_help_panel=panels.DATA,
    ),
]
Escape = Annotated[
    bool,
    typer.Option(
        "--escape",
        help="Write _ for each blank in words, which a file cannot hold.",
        rich_help_panel=panels.DATA,
    ),
]
Dtype = Annotated[
    Literal["float32", "float16"] | None,
    typer.Option(
        "--dtype",
        metavar="DTYPE",
        help="How a model keeps its numbers: float32, or float16 in half the space.",
        show_default="float32",
        rich_help_panel=panels.MODEL,
    ),
]


def convert_command(
    source: VectorsSource,
    target: VectorsTarget,
    limit: Limit = None,
    format: Format = None,
    escape: Escape = False,
    dtype: Dtype = None,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
) -> None:
    """Turn a vectors file into a model, or a model or file into a file, by the suffix.

    The content of IN tells its format. Text holds the fewest digits that are read back as the
    same numbers; .bin is that of word2vec.
    """
    from lmkit.store.home import mark_last
    from lmkit.tasks.convert_embed import ConvertEmbedConfig, convert_embed

    settings = ConvertEmbedConfig(limit=limit, kind=format, dtype=dtype, escape=escape, force=force)
    with listening(quiet, progress) as listener:
        path = convert_embed(source, target, settings, listener=listener)
        if path.is_dir():
            mark_last("embed", path, listener)
        if target != "-":
            listener.note(f"wrote {path}")


def register(app: typer.Typer) -> None:
    """Add the command ``convert`` to ``app``."""
    examples = [
        "lmkit embed convert glove.6B.100d.txt.gz glove",
        "lmkit embed convert glove ./glove.bin --limit 50000",
    ]
    command(app, "convert", examples=examples)(convert_command)
