"""Settings from files: ``--config FILE.toml`` and ``--print-config``.

A setting comes from the first of: the flag, the variable ``LMKIT_<COMMAND>_<OPTION>``, the file,
the default. The file names settings as the options are named (``min_count = 2`` or
``min-count = 2``), at its top level or in the table of the command (``[ngram.fit]``), which wins.
A relative path of a file that lies beside the settings means that one, so that the settings kept
with a model (config.toml) repeat the run from anywhere.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

PRINT_CONFIG = "lmkit.print_config"
"""Key of ``typer.Context.meta``: whether to print the settings instead of running."""

NOT_SETTINGS = frozenset(
    {"config", "print_config", "help", "quiet", "verbose", "progress", "json", "force"}
)
"""Parameters that say how to run once, not what to do; neither read from files nor printed."""


def load_settings(ctx: typer.Context, param: Any, path: Path | None) -> None:
    """Callback of ``--config``: make the settings in ``path`` the defaults of the command.

    Raises:
        typer.BadParameter: the file cannot be read, is not TOML, or has an unknown setting.
    """
    if path is None or ctx.resilient_parsing:
        return
    import tomllib

    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}", ctx, param) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} is not TOML: {error}", ctx, param) from None
    names = _setting_names(ctx)
    settings: dict[str, Any] = {}
    for table in _tables(ctx, content):
        for key, value in table.items():
            name = key.replace("-", "_")
            if name not in names:
                raise typer.BadParameter(_unknown(path, key, names), ctx, param)
            settings[name] = _beside(path, value) if _is_file(ctx, name, value) else value
    ctx.default_map = settings


def ask_to_print(ctx: typer.Context, value: bool) -> None:
    """Callback of ``--print-config``."""
    if value and not ctx.resilient_parsing:
        ctx.meta[PRINT_CONFIG] = True


def print_settings_if_asked(ctx: typer.Context) -> bool:
    """Print the settings of the command in TOML if ``--print-config`` was given; tell whether."""
    if not ctx.meta.get(PRINT_CONFIG):
        return False
    from lmkit.store.toml import dump_toml

    typer.echo(dump_toml(resolved_settings(ctx)), nl=False)
    return True


def resolved_settings(ctx: typer.Context) -> dict[str, Any]:
    """Return the settings of the running command by name, as TOML can hold them."""
    names = _setting_names(ctx)
    given = {name: value for name, value in ctx.params.items() if value not in (None, [], ())}
    return {name: _plain(value) for name, value in given.items() if name in names}


def _setting_names(ctx: typer.Context) -> list[str]:
    names = [param.name for param in ctx.command.params if param.name]
    return [name for name in names if name not in NOT_SETTINGS]


def _is_file(ctx: typer.Context, name: str, value: Any) -> bool:
    """Tell whether the setting ``name`` means a file to be read: --vocab, --unit FILE.model."""
    if not isinstance(value, str) or name == "out":
        return False
    if name == "unit":
        return value.endswith(".model")
    kind = typing.get_type_hints(ctx.command.callback)[name]
    return kind is Path or Path in typing.get_args(kind)


def _beside(path: Path, value: str) -> str:
    """Return where the file ``value`` lies beside the settings ``path``; itself if it does not."""
    near = path.parent / value
    return str(near) if near.is_file() else value


def _tables(ctx: typer.Context, content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of a file that concern the command, the most special one last."""
    root = ctx.find_root().command
    groups = set(getattr(root, "commands", ()))
    top = {key: value for key, value in content.items() if not _is_table_of(key, value, groups)}
    own: Any = content
    for part in ctx.command_path.split()[1:]:
        own = own.get(part, {}) if isinstance(own, Mapping) else {}
    return [top, own] if isinstance(own, Mapping) else [top]


def _is_table_of(key: str, value: Any, commands: set[str]) -> bool:
    return isinstance(value, Mapping) and key in commands


def _unknown(path: Path, key: str, names: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(key.replace("-", "_"), names, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"It may set: {', '.join(names)}."
    return f"{path} has the unknown setting {key!r}. {hint}"


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
