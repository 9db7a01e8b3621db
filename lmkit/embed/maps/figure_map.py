"""The self-organising map as a figure: shaded by its relief, with the words in their cells."""

from __future__ import annotations

from typing import Any

from lmkit.embed.maps import style
from lmkit.embed.maps.canvas import printed
from lmkit.embed.maps.extra import extra_module
from lmkit.embed.maps.picture import WordMap

CELL = 0.72
"""Width of a cell, inches."""
HEIGHT = 0.5
LETTERS = 8.0
LINE = 1.25
"""Height of a line of words, in letters."""


def draw_map(figure: Any, picture: WordMap) -> None:
    """Draw ``picture`` on an empty figure.

    Light cells resemble their neighbours, dark ones are frontiers. Words stand in the cell of the
    unit that is nearest to them, the nearest one on top; letters are as large as fits.
    """
    rows, columns, _ = picture.grid.units.shape
    most = max(map(len, picture.cells.values()))
    height = max(HEIGHT, min(most, 6) * LINE * 7.0 / 72 + 0.08)
    figure.set_size_inches(CELL * columns + 1.0, height * rows + 0.6)
    axes = figure.add_subplot()
    image = axes.imshow(
        picture.grid.relief(), cmap="Greys", aspect=height / CELL, interpolation="nearest"
    )
    low, high = image.get_clim()
    image.set_clim(low, low + 2.2 * (high - low) if high > low else low + 1)
    axes.set(xticks=[], yticks=[])
    for column in range(1, columns):
        axes.axvline(column - 0.5, color="white", linewidth=0.8)
    for row in range(1, rows):
        axes.axhline(row - 0.5, color="white", linewidth=0.8)
    for (row, column), numbers in picture.cells.items():
        words = [printed(picture.words[number]) for number in numbers]
        _write_cell(axes, row, column, words, height)
    bar = figure.colorbar(image, ax=axes, shrink=0.5, aspect=18, pad=0.02)
    bar.set_label("mean distance to the neighbours")
    bar.ax.set_ylim(low, high if high > low else low + 1)
    bar.outline.set_visible(False)
    bar.locator = extra_module("matplotlib.ticker").MaxNLocator(5)
    bar.update_ticks()


def _write_cell(axes: Any, row: int, column: int, words: list[str], height: float) -> None:
    """Write the words of a cell below one another."""
    letters = min(LETTERS, height * 72 * 0.94 / (LINE * len(words)))
    for line, word in enumerate(words):
        middle = (line - (len(words) - 1) / 2) * LINE * letters / (72 * height)
        text = axes.text(column, row + middle, word, ha="center", va="center", color=style.INK)
        text.set(parse_math=False, size=letters)
        box = text.get_window_extent()
        room = 0.94 * CELL * axes.figure.dpi
        if box.width > room:
            text.set_size(letters * room / box.width)
