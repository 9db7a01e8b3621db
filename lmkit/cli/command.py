"""How a command is declared: its place in the help, its examples, its settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand

from lmkit.cli import panels
from lmkit.cli.config import print_settings_if_asked

F = TypeVar("F", bound=Callable[..., Any])


class Command(TyperCommand):
    """A command that can print its settings instead of running (``--print-config``)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.sort(key=_panel_order)
        for param in self.params:
            param.show_envvar = False  # type: ignore[attr-defined]  # the help of lmkit says it

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option --help, in the last panel."""
        option: Any = super().get_help_option(ctx)
        if option is not None:
            option.rich_help_panel = panels.RUN
        return option

    def invoke(self, ctx: Any) -> Any:
        """Run the command, unless its settings were asked for."""
        if not print_settings_if_asked(ctx):
            return super().invoke(ctx)
        return None


def command(
    app: typer.Typer, name: str, *, examples: Sequence[str], panel: str | None = None
) -> Callable[[F], F]:
    """Register a function as command ``name`` of ``app``; its docstring is the help text.

    Args:
        app: the group to which it belongs.
        name: what people type.
        examples: two command lines that run as they stand.
        panel: the panel of the group's help in which it is listed.
    """

    def register(function: F) -> F:
        text, below = _paragraphs(function), epilog(examples)
        declare = app.command(name, cls=Command, help=text, epilog=below, rich_help_panel=panel)
        return declare(function)

    return register


def _paragraphs(function: Callable[..., Any]) -> str:
    """Return the docstring with every paragraph on a line, for the help to wrap by itself."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _panel_order(param: Any) -> int:
    return panels.place(getattr(param, "rich_help_panel", None), panels.OPTIONS)


def group(name: str, help: str, panel: str | None = None) -> typer.Typer:
    """Return a group of commands, to be added to the app by ``lmkit.cli.app``."""
    return typer.Typer(
        name=name,
        help=help,
        no_args_is_help=True,
        rich_help_panel=panel,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def epilog(examples: Sequence[str]) -> str:
    """Return the lines below the help: ``Examples:`` and a line for each."""
    lines = ["Examples:", *(f"$ {example}" for example in examples)]
    return "\n".join(line.replace("[", r"\[") for line in lines)
