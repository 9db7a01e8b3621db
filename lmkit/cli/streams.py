"""Where a command reads and writes: files or standard input, standard output, stderr for people."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmkit.text.writer import LineWriter

STDIN = "-"


def choose_sources(files: Sequence[str] | str | None) -> list[str]:
    """Return the texts to read: ``files``, or standard input when none is named.

    People who type see on stderr that they are being waited for.
    """
    sources = [files] if isinstance(files, str) else list(files or ())
    if not sources:
        sources = [STDIN]
        if sys.stdin is not None and sys.stdin.isatty():
            print("reading standard input; Ctrl-D ends", file=sys.stderr)
    return sources


def default_name(kind: str, sources: Sequence[str]) -> str:
    """Return the name of a model of ``kind`` that is fitted to ``sources`` and given none."""
    stem = "stdin" if sources[0] == STDIN else Path(sources[0]).name.split(".")[0]
    return f"{kind}-{stem}"


def answers_at_once(sources: Sequence[str], line_buffered: bool) -> bool:
    """Tell whether each result is to be passed on before the next line is read.

    So it is with --line-buffered, and when standard input is read and is no regular file: then
    another program may wait for the answer to one line before it sends the next.
    """
    if line_buffered:
        return True
    if STDIN not in sources or sys.stdin is None:
        return False
    try:
        return not stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def open_output(
    out: Path | None = None, *, line_buffered: bool = False, force: bool = False
) -> LineWriter:
    """Return the writer of results, for a ``with``: standard output or the file ``out``."""
    from lmkit.text.writer import LineWriter

    return LineWriter(out, line_buffered, force=force)


def json_line(result: dict[str, Any]) -> str:
    """Return ``result`` as one line of JSON: ASCII, shortest floats, null for what is no number."""
    import json

    return json.dumps(_finite(result), ensure_ascii=True, allow_nan=False)


def is_terminal() -> bool:
    """Tell whether standard output is a terminal, so that columns may be padded for people."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of text as lines: TAB-separated; for a terminal padded and under a header."""
    if not is_terminal():
        return ["\t".join(row).rstrip("\t") for row in rows]
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    padded = [zip(row, widths, strict=True) for row in table]
    return ["  ".join(f"{cell:{width}}" for cell, width in row).rstrip() for row in padded]


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
