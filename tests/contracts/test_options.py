"""The frozen list of options: what a script may rely on changes only where a diff shows it."""

import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal

from programs import commands

FROZEN = Path(__file__).parents[1] / "golden" / "options.txt"


def spelled_type(kind: Any) -> str:
    """Return a type as people read it: ``int``, ``strict|replace``, ``str...``."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        return "|".join(spelled_type(part) for part in inside if part is not type(None))
    if origin is Literal:
        return "|".join(inside)
    if origin is list:
        return f"{spelled_type(inside[0])}..."
    if origin is tuple:
        return " ".join(map(spelled_type, inside))
    return str(kind.__name__)


def spelling(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    return "/".join([*param.opts, *param.secondary_opts])


def default(param: Any) -> str:
    if param.required:
        return "required"
    return "none" if param.default is None else repr(param.default)


def described() -> Iterator[str]:
    for words, command in sorted(commands().items()):
        yield f"lmkit {' '.join(words)}"
        types = typing.get_type_hints(command.callback)
        for param in command.params:
            fields = spelling(param), spelled_type(types[param.name]), default(param)
            yield "    " + "  ".join(fields)


def test_options_are_as_frozen(golden: Callable[[Path, str], None]) -> None:
    golden(FROZEN, "".join(f"{line}\n" for line in described()))
