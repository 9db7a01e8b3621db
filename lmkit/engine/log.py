"""The log of a run: one JSON object a line, its steps and its validations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CLOCKS = ("seconds", "tokens_per_s")
"""Keys whose values differ between two runs that are the same otherwise."""


class Log:
    """Appends to ``log.jsonl``; after :meth:`cut` it goes on behind a step.

    Args:
        path: the file; None: nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: list[bytes] = []

    def write(self, **values: Any) -> None:
        """Note a line."""
        if self._path is not None:
            self._lines.append(json.dumps(values).encode() + b"\n")

    def flush(self) -> None:
        """Bring what was noted to the file."""
        if self._path is not None and self._lines:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.writelines(self._lines)
            self._lines.clear()

    def cut(self, step: int) -> None:
        """Forget everything behind ``step``."""
        self._lines.clear()
        if self._path is None or not self._path.exists():
            return
        kept = []
        for line in self._path.read_bytes().split(b"\n"):
            try:
                fits = json.loads(line)["step"] <= step
            except (ValueError, KeyError, TypeError):
                fits = False
            if fits:
                kept.append(line + b"\n")
        self._path.write_bytes(b"".join(kept))
