"""Makes pictures of word vectors: the work behind ``lmkit embed plot``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.maps.extra import extra_module
from lmkit.embed.maps.picture import (
    Arrow,
    Kind,
    Picture,
    neighbourhoods,
    parallelograms,
    scatter,
    word_map,
)
from lmkit.embed.maps.relations import Relation, parse_pair, parse_relations
from lmkit.embed.maps.som import MapConfig, num_steps
from lmkit.embed.vectors import MARKS, Vectors
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.tasks.unknown_words import UnknownWordNotes
from lmkit.text.lines import LineWriter, read_lines

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotConfig:
    """What picture to make."""

    kind: Kind = "pca"
    seed: int = 1
    """Of t-SNE and of the map."""
    grid: tuple[int, int] | None = None
    """Rows and columns of the map; None: about two cells for each word, at most 14 x 8."""


def top_words(vectors: Vectors, count: int) -> list[str]:
    """Return the ``count`` most frequent words, which are the first; marks do not count."""
    words: list[str] = []
    for index in range(len(vectors)):
        if len(words) == count:
            break
        if vectors.words.word(index) not in MARKS:
            words.append(vectors.word(index))
    return words


def plot_words(
    vectors: Vectors, words: Sequence[str], config: PlotConfig, listener: Listener = SILENT
) -> Picture:
    """Return the picture of ``words``; those that have no vector are named and left out.

    Vectors are scaled to length 1, so that distances are those that cosines see.

    Raises:
        UserError: fewer than two words have vectors, or scikit-learn is needed and missing.
    """
    known, rows = _known(vectors, words, listener)
    if len(known) < 2:
        raise UserError(f"{len(known)} words to draw; a picture needs two", "Name more words")
    if config.kind == "som":
        grid = config.grid or default_grid(len(known))
        settings = MapConfig(rows=grid[0], columns=grid[1], seed=config.seed)
        listener.phase("training the map", num_steps(settings, len(known)), "steps")
        return word_map(known, rows, settings, listener)
    if config.kind == "tsne":
        return neighbourhoods(known, rows, config.seed)
    return scatter(known, rows)


def plot_relations(
    vectors: Vectors, relations: Sequence[Relation], listener: Listener = SILENT
) -> Picture:
    """Return the picture of the pairs of ``relations`` as arrows.

    A pair with a word that has no vector is left out. Vectors are scaled to length 1.

    Raises:
        UserError: fewer than two pairs remain.
    """
    asked = [word for relation in relations for pair in relation.pairs for word in pair]
    known, rows = _known(vectors, asked, listener)
    numbers = {word: number for number, word in enumerate(known)}
    arrows: list[Arrow] = []
    names: list[str] = []
    for relation in relations:
        pairs = [pair for pair in relation.pairs if numbers.keys() >= set(pair)]
        arrows += [
            Arrow(start=numbers[first], end=numbers[second], relation=len(names))
            for first, second in pairs
        ]
        if pairs:
            names.append(relation.name or "{}:{}".format(*pairs[0]))
    if len(arrows) < 2:
        raise UserError(f"{len(arrows)} pairs to draw; a picture needs two", "Name more pairs")
    used = sorted({number for arrow in arrows for number in (arrow.start, arrow.end)})
    place = {number: new for new, number in enumerate(used)}
    kept = [
        Arrow(start=place[arrow.start], end=place[arrow.end], relation=arrow.relation)
        for arrow in arrows
    ]
    return parallelograms([known[number] for number in used], rows[used], kept, names)


def read_relations(texts: Sequence[str]) -> list[Relation]:
    """Return the relations that ``texts`` name, each a file or pairs like ``man:woman king:queen``.

    Raises:
        UserError: a text is neither, or a line of a file is no pair.
    """
    relations: list[Relation] = []
    for text in texts:
        if Path(text).is_file():
            relations += parse_relations(read_lines([text]), text)
        elif ":" in text:
            pairs = dict.fromkeys(parse_pair(item, "--pairs") for item in text.split())
            relations.append(Relation("", tuple(pairs)))
        else:
            raise UserError(
                f"no file {text!r}, and no pairs", "Write --pairs 'man:woman king:queen'"
            )
    return relations


def default_grid(number: int) -> tuple[int, int]:
    """Return rows and columns of a map of so many words: two cells a word, at most 14 x 8."""
    columns = int(np.clip(np.ceil(np.sqrt(1.4 * number)), 3, 8))
    return int(np.clip(np.ceil(2 * number / columns), 3, 14)), columns


def missing_words(vectors: Vectors, words: Sequence[str]) -> list[str]:
    """Return a line for each of ``words`` that has no vector, with near spellings."""
    notes = UnknownWordNotes(vectors, SILENT)
    return [notes.describe(word) for word in dict.fromkeys(words) if vectors.vector(word) is None]


def figure_writer(out: Path, *, force: bool = False) -> Callable[[Picture, Listener], None]:
    """Return what draws a picture as the figure ``out``; what stands in the way is told now.

    Raises:
        UserError: the suffix is of no format, the file exists, or matplotlib is not installed.
    """
    from lmkit.embed.maps.figure import figure_format, render

    kind = figure_format(out)
    extra_module("matplotlib")
    writer = LineWriter(out, force=force)

    def write(picture: Picture, listener: Listener = SILENT) -> None:
        listener.phase("drawing")
        data = render(picture, kind, listener)
        listener.finish()
        with writer:
            writer.write_bytes(data)

    return write


def _known(vectors: Vectors, words: Sequence[str], listener: Listener) -> tuple[list[str], Floats]:
    """Return the words that have vectors, each once, and these [N, D], scaled to length 1."""
    asked = {word: vectors.vector(word) for word in words}
    unknown = UnknownWordNotes(vectors, listener)
    unknown.tell(word for word, vector in asked.items() if vector is None)
    unknown.finish()
    found = {word: vector for word, vector in asked.items() if vector is not None}
    rows = [np.asarray(vector, dtype=np.float32) for vector in found.values()]
    matrix = np.stack(rows) if rows else np.empty((0, vectors.size), dtype=np.float32)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return [*found], np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
