"""Runs lmkit, or a program of a test, as a shell would: buffered, plain, 80 columns."""

import functools
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LMKIT = (sys.executable, "-m", "lmkit")
_UNSET = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "GITHUB_ACTIONS", "FORCE_COLOR")
_UNSET += ("PY_COLORS", "LMKIT_MODEL", "LMKIT_TRACEBACK")


def environment(home: Path | None = None, **variables: str) -> dict[str, str]:
    """Return the environment for a program; its lmkit home is ``home``, or else none."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
    settings = {"COLUMNS": "80", "NO_COLOR": "1", "LMKIT_HOME": str(home or "/nonexistent")}
    return {**kept, **settings, **variables}


def run(
    *arguments: str,
    home: Path | None = None,
    program: Sequence[str] = LMKIT,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    **variables: str,
) -> "subprocess.CompletedProcess[str]":
    """Run ``program`` with ``arguments`` and return what it wrote and how it ended."""
    ended = subprocess.run(
        [*program, *arguments],
        input=stdin if stdin is not None else b"",
        capture_output=True,
        env=environment(home, **variables),
        cwd=cwd,
        check=False,
        timeout=120,
    )
    out, err = ended.stdout.decode("utf-8"), ended.stderr.decode("utf-8")
    return subprocess.CompletedProcess(ended.args, ended.returncode, out, err)


def leaf_commands() -> list[tuple[str, ...]]:
    """Return every command of lmkit as the words one types, such as ``("models", "list")``."""
    return list(commands())


@functools.cache
def commands() -> dict[tuple[str, ...], Any]:
    """Return the command object of every command by the words one types."""
    from typer.main import get_command

    from lmkit.cli.app import app

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        children = getattr(command, "commands", None)
        if children is None:
            yield words, command
            return
        for name, child in children.items():
            if not child.hidden:
                yield from walk(child, (*words, name))

    return dict(walk(get_command(app), ()))
