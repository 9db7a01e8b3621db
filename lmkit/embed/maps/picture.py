"""What a picture of word vectors shows, before it is drawn: words and where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.maps.pca import Points, principal_axes
from lmkit.embed.maps.relations import OffsetCosines, offset_cosines
from lmkit.embed.maps.som import MapConfig, SelfOrganisingMap, train_map
from lmkit.embed.maps.tsne import tsne
from lmkit.events import SILENT, Listener

Kind = Literal["pca", "tsne", "parallelogram", "som"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """A pair of words in a relation."""

    start: int
    """The number of its first word."""
    end: int
    """The number of its second word."""
    relation: int
    """The number of its relation."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """Words as points of a plane."""

    words: Sequence[str]
    points: Points
    """[N, 2]."""
    shares: Points | None = None
    """[2], the part of the variance along each axis; None where axes mean nothing."""
    arrows: Sequence[Arrow] = ()
    relations: Sequence[str] = ()
    """The names of the relations."""
    cosines: OffsetCosines | None = None
    """How parallel the arrows are, in all dimensions and not only in the plane."""

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield word, x and y of each word, and the arrows that begin there where there are any."""
        for number, (word, point) in enumerate(zip(self.words, self.points, strict=True)):
            record: dict[str, Any] = {"word": word, "x": float(point[0]), "y": float(point[1])}
            if self.cosines is not None:
                record["arrows"] = [
                    {
                        "to": self.words[arrow.end],
                        "relation": self.relations[arrow.relation],
                        "cosine": float(cosine),
                    }
                    for arrow, cosine in zip(self.arrows, self.cosines.pairs, strict=True)
                    if arrow.start == number
                ]
            yield record

    def facts(self) -> list[str]:
        """Return in words what the picture does not show by itself, a line for each fact."""
        lines = []
        if self.shares is not None:
            across, up = self.shares
            lines.append(f"variance: {across:.1%} across, {up:.1%} up")
        if self.cosines is not None:
            for number, name in enumerate(self.relations):
                pairs = sum(arrow.relation == number for arrow in self.arrows)
                cosine = self.cosines.relations[number]
                within = "" if np.isnan(cosine) else f", mean cosine of the offsets {cosine:.3f}"
                lines.append(f"{name}: {pairs} pair{'s' if pairs > 1 else ''}{within}")
            if not np.isnan(self.cosines.across):
                lines.append(f"mean cosine across relations {self.cosines.across:.3f}")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordMap:
    """Words in the cells of a self-organising map."""

    words: Sequence[str]
    grid: SelfOrganisingMap
    places: NDArray[np.int64]
    """[N, 2], row and column of each word."""
    distances: NDArray[np.float32]
    """[N], of each word to the unit of its cell."""
    topographic_error: float
    cells: dict[tuple[int, int], list[int]] = field(init=False)
    """The numbers of the words in each cell that has any, nearest to the unit first."""

    def __post_init__(self) -> None:
        """Sort the words into cells."""
        cells: dict[tuple[int, int], list[int]] = {}
        for number in np.argsort(self.distances, kind="stable").tolist():
            row, column = self.places[number].tolist()
            cells.setdefault((row, column), []).append(number)
        object.__setattr__(self, "cells", cells)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield word, row, column and distance of each word."""
        for word, place, distance in zip(self.words, self.places, self.distances, strict=True):
            row, column = place.tolist()
            yield {"word": word, "row": row, "column": column, "distance": float(distance)}

    def facts(self) -> list[str]:
        """Return the errors of the map in words."""
        rows, columns, _ = self.grid.units.shape
        return [
            f"map of {rows} x {columns} cells: quantisation error "
            f"{self.distances.mean(dtype=np.float64):.3f}, topographic error "
            f"{self.topographic_error:.3f}"
        ]


Picture = Scatter | WordMap


def scatter(words: Sequence[str], rows: NDArray[np.floating]) -> Scatter:
    """Return the words, whose vectors are ``rows`` [N, D], in the plane of most variance."""
    plane = principal_axes(rows)
    return Scatter(words=words, points=plane.project(rows), shares=plane.shares)


def neighbourhoods(words: Sequence[str], rows: NDArray[np.floating], seed: int) -> Scatter:
    """Return the words, whose vectors are ``rows`` [N, D], arranged by t-SNE.

    Raises:
        UserError: scikit-learn is not installed.
    """
    return Scatter(words=words, points=tsne(rows, seed=seed))


def parallelograms(
    words: Sequence[str],
    rows: NDArray[np.floating],
    arrows: Sequence[Arrow],
    relations: Sequence[str],
) -> Scatter:
    """Return the words of pairs in the plane of most variance, with an arrow for each pair.

    Pairs whose offsets are equal in all dimensions are the sides of a parallelogram there too,
    since a projection is linear.
    """
    plane = principal_axes(rows)
    starts = [arrow.start for arrow in arrows]
    ends = [arrow.end for arrow in arrows]
    groups = np.array([arrow.relation for arrow in arrows])
    return Scatter(
        words=words,
        points=plane.project(rows),
        shares=plane.shares,
        arrows=arrows,
        relations=relations,
        cosines=offset_cosines(rows[starts], rows[ends], groups),
    )


def word_map(
    words: Sequence[str],
    rows: NDArray[np.floating],
    config: MapConfig,
    listener: Listener = SILENT,
) -> WordMap:
    """Return the words, whose vectors are ``rows`` [N, D], on a self-organising map."""
    grid = train_map(rows, config, listener.advance)
    numbers, distances = grid.winners(rows)
    return WordMap(
        words=words,
        grid=grid,
        places=np.stack(np.divmod(numbers[:, 0], config.columns), axis=1),
        distances=distances[:, 0],
        topographic_error=grid.topographic_error(rows),
    )
