"""The program lmkit: all commands, in the order in which their ideas appeared."""

from __future__ import annotations

import typer

from lmkit import __version__
from lmkit.cli import (
    analogy,
    corpora,
    embed,
    evaluate,
    models,
    ngram,
    panels,
    pretrain,
    quickstart,
    sample,
    score,
    shell,
)
from lmkit.cli.command import epilog
from lmkit.cli.shell import Shell

app = typer.Typer(
    name="lmkit",
    cls=Shell,
    help="Language models from counted n-grams on: made, asked and compared in the shell.",
    epilog="\n\n".join(
        [
            epilog(["lmkit quickstart", "lmkit ngram fit --help"]),
            "An option can also be set by the variable LMKIT_COMMAND_OPTION, such as "
            "LMKIT_NGRAM_FIT_ORDER=3.",
            shell.EXIT_CODES + ".",
        ]
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "LMKIT"},
)

quickstart.register(app)
analogy.register(app)
score.register(app, panel=panels.ANY_MODEL)
sample.register(app, panel=panels.ANY_MODEL)
pretrain.register(app)
evaluate.register(app, panel=panels.ANY_MODEL)
for group in (ngram.app, embed.app, models.app, corpora.app):
    app.add_typer(group, rich_help_panel=group.rich_help_panel)


def _show_version(ctx: typer.Context, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    import sys
    from importlib.metadata import PackageNotFoundError, version

    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = "not installed"
    typer.echo(f"lmkit {__version__}, Python {sys.version.split()[0]}, torch {torch}")
    raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False,
        "--version",
        "-V",
        is_eager=True,
        callback=_show_version,
        help="Show the versions of lmkit, Python and torch.",
    ),
) -> None:
    pass


def main() -> None:
    """Run the program."""
    shell.main(app)
