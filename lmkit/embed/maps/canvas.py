"""A sheet of characters to draw on, for terminals; knows how wide characters of all scripts are."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

ELLIPSIS = "…"
_NO_WIDTH = ("Mn", "Me", "Cf")
"""Categories of characters that are drawn over the one before."""
_NO_PLACE = ("Cc", "Cs", "Zl", "Zp")
"""Categories of what cannot be drawn."""


def printed(text: str) -> str:
    """Return ``text`` with U+FFFD for what cannot be drawn."""
    return "".join(clusters(text))


def clusters(text: str) -> list[str]:
    """Return ``text`` cut where a terminal moves on: a character and the marks on it together.

    Control characters, which would move elsewhere, and what is no character become U+FFFD.
    """
    parts: list[str] = []
    for character in text:
        category = unicodedata.category(character)
        if category in _NO_WIDTH and parts:
            parts[-1] += character
        else:
            parts.append("\ufffd" if category in _NO_PLACE else character)
    return parts


def cluster_width(cluster: str) -> int:
    """Return how many columns a cluster takes: two for wide characters of East Asia, else one."""
    return 2 if unicodedata.east_asian_width(cluster[0]) in ("W", "F") else 1


def width(text: str) -> int:
    """Return how many columns of a terminal ``text`` takes."""
    return sum(map(cluster_width, clusters(text)))


def fitted(text: str, columns: int) -> str:
    """Return ``text``, or as much of it as fits into ``columns`` and an ellipsis."""
    parts = clusters(text)
    if sum(map(cluster_width, parts)) <= columns:
        return "".join(parts)
    kept, room = "", columns - 1
    for cluster in parts:
        room -= cluster_width(cluster)
        if room < 0:
            break
        kept += cluster
    return kept + ELLIPSIS if columns > 0 else ""


class Canvas:
    """A sheet of ``columns`` x ``rows`` characters, at first blank."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns = columns
        self.rows = rows
        self._cells = [[" "] * columns for _ in range(rows)]

    def is_free(self, row: int, column: int, columns: int) -> bool:
        """Tell whether so many columns of a row, from ``column`` on, lie on the sheet and blank."""
        if not 0 <= row < self.rows or column < 0 or column + columns > self.columns:
            return False
        return all(cell == " " for cell in self._cells[row][column : column + columns])

    def write(self, row: int, column: int, text: str) -> None:
        """Write ``text`` from a place on; what leaves the sheet is left out."""
        for cluster in clusters(text):
            step = cluster_width(cluster)
            if 0 <= row < self.rows and column >= 0 and column + step <= self.columns:
                self._cells[row][column] = cluster
                if step == 2:
                    self._cells[row][column + 1] = ""
            column += step

    def lines(self) -> Iterator[str]:
        """Yield the rows, without blanks at their ends."""
        for row in self._cells:
            yield "".join(row).rstrip()
