"""Pictures of word vectors in characters, for a terminal or a text file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.maps.canvas import Canvas, fitted, width
from lmkit.embed.maps.picture import Picture, Scatter, WordMap

POINT = "•"
PATH = "·"
HEADS = "→↗↑↖←↙↓↘"
"""Arrow heads by eighths of a turn, from the right on and counterclockwise."""
EMPTY = "·"
ASPECT = 2.0
"""How many times as high as wide a character is."""
STEEP = 0.75
"""The share of frontiers of a map that are not drawn: only the highest quarter is."""


def draw(picture: Picture, columns: int, rows: int) -> Iterator[str]:
    """Yield the lines of ``picture``, at most ``columns`` wide; a map may need more than ``rows``.

    Below it stand the facts that the picture does not show, and the words that had no room.
    """
    lines = (
        _map(picture, columns) if isinstance(picture, WordMap) else _points(picture, columns, rows)
    )
    yield from lines
    yield from picture.facts()


def _points(picture: Scatter, columns: int, rows: int) -> Iterator[str]:
    """Draw words beside their points, with arrows between those that belong together."""
    canvas = Canvas(columns, rows)
    # Room at the right edge for the labels of the last points.
    margin = min(columns // 4, max(map(width, picture.words)) + 1)
    places = _scaled(picture, columns - margin, rows)
    for row, column in places:
        canvas.write(row, column, POINT)
    hidden = [
        number
        for number in np.argsort(-places[:, 1], kind="stable").tolist()
        if not _label(canvas, picture.words[number], *places[number].tolist())
    ]
    for arrow in picture.arrows:
        _arrow(canvas, places[arrow.start].tolist(), places[arrow.end].tolist())
    yield from canvas.lines()
    if hidden:
        yield "no room for: " + " ".join(picture.words[number] for number in sorted(hidden))


def _scaled(picture: Scatter, columns: int, rows: int) -> NDArray[np.int64]:
    """Return row and column [N, 2] of each point; they fill the sheet in both directions."""
    low, high = picture.points.min(axis=0), picture.points.max(axis=0)
    span = high - low
    room = np.array([columns - 1.0, rows - 1.0])
    scale = np.divide(room, span, out=np.zeros(2), where=span > 0)
    middle = (low + high) / 2
    across, up = ((picture.points - middle) * scale + room / 2).round().astype(np.int64).T
    return np.stack([rows - 1 - up, across], axis=1)


def _label(canvas: Canvas, word: str, row: int, column: int) -> bool:
    """Write ``word`` at the right or left of its point, else above or below; False: no room."""
    size = width(word)
    tries = [(row, column + 1), (row, column - size)]
    for other in (row - 1, row + 1):
        tries += [(other, column + shift) for shift in (0, 1 - size, -size // 2)]
    for line, begin in tries:
        # A blank on both sides keeps words apart; beside its own point none is needed.
        left = begin - (line != row or begin < column)
        right = begin + size + (line != row or begin > column)
        left, right = max(left, 0), min(right, canvas.columns)
        if begin >= left and begin + size <= right and canvas.is_free(line, left, right - left):
            canvas.write(line, begin, word)
            return True
    return False


def _arrow(canvas: Canvas, start: list[int], end: list[int]) -> None:
    """Draw a dotted line with a head from one point to another, behind what is written."""
    down, right = end[0] - start[0], end[1] - start[1]
    steps = max(abs(down), abs(right))
    cells = [
        (start[0] + round(down * step / steps), start[1] + round(right * step / steps))
        for step in range(1, steps)
    ]
    free = [cell for cell in cells if canvas.is_free(*cell, 1)]
    for cell in free:
        canvas.write(*cell, PATH)
    if free:
        eighth = round(np.arctan2(-down * ASPECT, right) / (np.pi / 4)) % 8
        canvas.write(*free[-1], HEADS[eighth])


def _map(picture: WordMap, columns: int) -> Iterator[str]:
    """Draw the cells of a map with their words, and the frontiers that are steepest."""
    rows, across, _ = picture.grid.units.shape
    room = max(3, (columns - across) // across)
    heights = [
        max([1, *(len(numbers) for (line, _), numbers in picture.cells.items() if line == row)])
        for row in range(rows)
    ]
    walls, floors = picture.grid.frontiers()
    both = np.concatenate([walls.ravel(), floors.ravel()])
    steep = float(np.quantile(both, STEEP)) if both.size else 0.0
    for row in range(rows):
        for line in range(heights[row]):
            text = ""
            for column in range(across):
                numbers = picture.cells.get((row, column), [])
                word = picture.words[numbers[line]] if line < len(numbers) else ""
                empty = EMPTY if not numbers and line == 0 else ""
                cell = fitted(word, room) or empty
                wall = column + 1 < across and walls[row, column] > steep
                text += cell + " " * (room - width(cell)) + ("│" if wall else " ")
            yield text.rstrip()
        if row + 1 < rows:
            yield _floor(floors[row] > steep, room)


def _floor(high: NDArray[np.bool_], room: int) -> str:
    """Return the line between two rows of cells."""
    return " ".join(("─" if cell else " ") * room for cell in high.tolist()).rstrip()
