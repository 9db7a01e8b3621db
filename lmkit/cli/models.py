"""lmkit models: what models there are, what they are made of, and an end to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmkit.cli import panels
from lmkit.cli.command import command, group
from lmkit.cli.completion import complete_model
from lmkit.cli.options import Json, ModelName, Quiet, Verbose
from lmkit.cli.progress import listening
from lmkit.cli.streams import columns, json_line, open_output

if TYPE_CHECKING:
    from lmkit.store.home import ListedModel

app = group("models", "List, inspect and remove the models on this machine.", panels.KEEPING)

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="MODEL", help="Names of models in the home.", autocompletion=complete_model
    ),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Compare the checksums of all files first, of models inside it too.",
        rich_help_panel=panels.RUN,
    ),
]


@command(app, "list", examples=["lmkit models list", "lmkit models list --json | head -n 1"])
def list_command(json: Json = False, verbose: Verbose = 0) -> None:
    """List the models in the home: name, family, bytes."""
    from lmkit.store.home import list_models

    models = list_models()
    with open_output() as out:
        if json:
            lines = [json_line(_facts(model)) for model in models]
        else:
            rows = [(m.name, m.family, str(m.size), m.problem) for m in models]
            lines = columns(("NAME", "FAMILY", "BYTES", ""), rows)
        for line in lines:
            out.write(line)


@command(app, "show", examples=["lmkit models show", "lmkit models show last-ngram --verify"])
def show_command(
    name: ModelName = None, json: Json = False, verify: Verify = False, verbose: Verbose = 0
) -> None:
    """Show the card of a model: what it is, what it was made from, which files it has."""
    from lmkit.store.card import read_card
    from lmkit.store.home import resolve_model

    path = resolve_model(name)[0]
    if verify:
        from lmkit.store.artifact import open_artifact

        open_artifact(path, verify="all")
    card = {"path": str(path), **read_card(path)}
    if verify:
        card["verified"] = True
    with open_output() as out:
        if json:
            out.write(json_line(card))
        else:
            out.write_lines(f"{key}\t{value}" for key, value in _leaves(card))


@command(app, "rm", examples=["lmkit models rm my-model", "lmkit models rm old-1 old-2"])
def remove_command(names: Names, quiet: Quiet = False, verbose: Verbose = 0) -> None:
    """Remove models from the home, for good."""
    from lmkit.store.home import remove_model

    with listening(quiet) as listener:
        for name in names:
            listener.note(f"removed {remove_model(name)}")


@command(app, "path", examples=["lmkit models path", 'ls "$(lmkit models path)"'])
def path_command(name: ModelName = None, verbose: Verbose = 0) -> None:
    """Print where a model lies."""
    from lmkit.store.home import resolve_model

    path = resolve_model(name)[0]
    with open_output() as out:
        out.write(str(path))


def _facts(model: ListedModel) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "name": model.name,
        "family": model.family,
        "size": model.size,
        "path": str(model.path),
    }
    return {**facts, "problem": model.problem} if model.problem else facts


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested tables with their dotted keys; lists of plain values whole."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{key}.{index}")
    else:
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield key, text.replace("\t", " ").replace("\n", " ")
