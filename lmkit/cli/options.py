"""The options that many commands share, declared once so that they are spelled the same.

Each is an ``Annotated`` type for the signature of a command, which adds only the default:
``def score(files: Files = None, model: Model = None, json: Json = False) -> None``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lmkit.cli import config as _config
from lmkit.cli import panels
from lmkit.cli.completion import complete_model
from lmkit.cli.shell import TRACEBACK
from lmkit.errors import UserError

DEFAULT_SEED = 1
"""The seed of every command unless --seed says otherwise."""


def _set_verbosity(ctx: typer.Context, value: int) -> int:
    if value >= 2:
        ctx.meta[TRACEBACK] = True
    return value


def _check_device(ctx: typer.Context, value: str) -> str:
    """Refuse what the families there are cannot compute on."""
    if value not in ("auto", "cpu") and not ctx.resilient_parsing:
        raise UserError("this command computes on the CPU only", "Leave out --device")
    return value


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Text files, also .gz, .bz2 and .xz; - or nothing is standard input.",
        show_default=False,
    ),
]
Errors = Annotated[
    Literal["strict", "replace"],
    typer.Option(
        "--errors",
        help="Bytes that are not UTF-8: stop there, or put U+FFFD in their place.",
        rich_help_panel=panels.DATA,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="Path or name of a model; else $LMKIT_MODEL, else the newest that fits.",
        autocompletion=complete_model,
        show_default=False,
        rich_help_panel=panels.MODEL,
    ),
]
ModelName = Annotated[
    str | None,
    typer.Argument(
        metavar="[MODEL]",
        help="Path or name of a model; else $LMKIT_MODEL, else the newest that fits.",
        autocompletion=complete_model,
        show_default=False,
    ),
]
Models = Annotated[
    list[str],
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="Path or name of a model; give one -m for each.",
        autocompletion=complete_model,
        show_default=False,
        rich_help_panel=panels.MODEL,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="OUT",
        help="Where the model goes: a name in the home of lmkit, or a path (with a slash, a "
        "leading dot or the suffix of a file).",
        show_default=False,
        rich_help_panel=panels.MODEL,
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write to FILE instead of standard output.",
        show_default=False,
        rich_help_panel=panels.RUN,
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace what exists at --out.", rich_help_panel=panels.RUN),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Seed of all random numbers: same seed, same result.",
        rich_help_panel=panels.RUN,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        help="Threads to use.",
        show_default="all cores",
        rich_help_panel=panels.RUN,
    ),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"],
    typer.Option(
        "--device",
        metavar="DEVICE",
        callback=_check_device,
        help="Where to compute: auto, cpu, cuda or mps; all models so far: the CPU.",
        rich_help_panel=panels.RUN,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Write JSON Lines instead of columns.", rich_help_panel=panels.RUN),
]
Top = Annotated[
    int,
    typer.Option(
        "--top", "-n", metavar="N", min=1, help="How many answers.", rich_help_panel=panels.RUN
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with code 1 if a word is unknown or a question is none.",
        rich_help_panel=panels.RUN,
    ),
]
LineBuffered = Annotated[
    bool,
    typer.Option(
        "--line-buffered",
        help="Pass on every line at once, even when a file is read.",
        rich_help_panel=panels.RUN,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No progress and no notes on stderr.", rich_help_panel=panels.RUN
    ),
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        callback=_set_verbosity,
        help="Given twice (-vv): show the traceback of an error too.",
        show_default=False,
        rich_help_panel=panels.RUN,
    ),
]
Progress = Annotated[
    Literal["auto", "rich", "plain", "json", "none"],
    typer.Option(
        "--progress",
        metavar="FORM",
        help="Progress on stderr: rich (bars), plain (a line every ten seconds), json, none, "
        "or auto.",
        rich_help_panel=panels.RUN,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE.toml",
        is_eager=True,
        callback=_config.load_settings,
        help="Take settings from a file; flags and LMKIT_* variables win over it.",
        show_default=False,
        rich_help_panel=panels.RUN,
    ),
]
PrintConfig = Annotated[
    bool,
    typer.Option(
        "--print-config",
        callback=_config.ask_to_print,
        help="Print the settings as TOML and stop.",
        rich_help_panel=panels.RUN,
    ),
]


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 2G, 500M or 1000000."""
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number, unit = text.strip().upper().removesuffix("B"), 0
    if number[-1:] in units:
        number, unit = number[:-1], units[number[-1]]
    try:
        size = float(number)
    except ValueError:
        size = -1.0
    if not 0 < size < float("inf"):
        raise typer.BadParameter(
            f"{text!r} is not a size such as 2G or 500M", param_hint="--memory"
        )
    return int(size * 2**unit)
