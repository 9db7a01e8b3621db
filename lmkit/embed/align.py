"""Turns one space of word vectors into another, and finds translations there.

Two tables learnt apart have no axes in common, even from the same text. Given pairs of words that
should coincide, the rotation (or reflection) that brings them together best is known in closed
form, the orthogonal Procrustes problem (Schönemann 1966): for source rows X and target rows Y of
the pairs, X^T Y = U S V^T, and W = U V^T minimises |X W - Y|. Being orthogonal it leaves all
cosines inside the source as they are (Xing et al. 2015); rows at length 1 make it maximise the
mean cosine of the pairs, and moving the means of both sides to 0 before is an option (Artetxe et
al. 2016).

In such spaces some words are near to everything (hubs). CSLS corrects for it (Conneau et al. 2018):

    CSLS(x, y) = 2 cos(x, y) - r(x) - r(y)

where r is the mean cosine of a vector to its 10 nearest neighbours on the other side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.nearest import unit_rows
from lmkit.embed.vectors import Floats
from lmkit.errors import UserError

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]
Retrieval = Literal["cosine", "csls"]

NEIGHBORS = 10
"""Neighbours over which r is a mean; the K of Conneau et al."""
_BLOCK = 1 << 22
"""Cosines computed at a time: 16 MB of them."""
_GROUPS = 32
"""Cosines of which the best is found first, when the best of many are wanted."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A map from the space of the source into that of the target, both of D dimensions."""

    rotation: Doubles
    """[D, D], orthogonal."""
    source_mean: Doubles
    """[D] what is taken from a source vector before it is turned; 0 without centring."""
    target_mean: Doubles
    """[D] what is added afterwards; 0 without centring."""
    normalize: bool
    """Whether the means are those of rows at length 1."""

    def __call__(self, rows: NDArray[np.floating]) -> Floats:
        """Return source ``rows`` [N, D] in the target's space; without centring lengths stay."""
        wide = rows.astype(np.float64)
        lengths = np.ones((len(wide), 1))
        if self.normalize:
            lengths = np.linalg.norm(wide, axis=1, keepdims=True)
            wide = unit_rows(wide)
        mapped = ((wide - self.source_mean) @ self.rotation + self.target_mean) * lengths
        return mapped.astype(np.float32)


def fit_alignment(
    source: NDArray[np.floating],
    target: NDArray[np.floating],
    *,
    normalize: bool = True,
    center: bool = False,
) -> Alignment:
    """Return the map that brings ``source`` [P, D] nearest to ``target`` [P, D], row by row.

    Args:
        source: a row for each pair, in the space to be turned.
        target: a row for each pair, in the space that stays.
        normalize: give all rows length 1 first, so that long vectors have no more say.
        center: move the mean of each side to 0 first, and the source to the target's mean after.

    Raises:
        UserError: there is no pair, or the two spaces differ in their number of dimensions.
    """
    if source.shape[1:] != target.shape[1:]:
        what = f"vectors of {source.shape[1]} and of {target.shape[1]} dimensions"
        raise UserError(f"cannot align {what}", "Fit both with the same --size")
    if not len(source):
        raise UserError("there is no pair to align by", "Give pairs whose words both sides know")
    x, y = source.astype(np.float64), target.astype(np.float64)
    if normalize:
        x, y = unit_rows(x), unit_rows(y)
    means = x.mean(axis=0) * center, y.mean(axis=0) * center
    rotation = procrustes(x - means[0], y - means[1])
    return Alignment(rotation, *means, normalize)


def procrustes(x: Doubles, y: Doubles) -> Doubles:
    """Return the orthogonal W [D, D] that minimises the Frobenius norm of ``x`` W - ``y``.

    Args:
        x: [P, D].
        y: [P, D].
    """
    u, _, vt = np.linalg.svd(x.T @ y)
    w: Doubles = u @ vt
    return w


def neighbor_means(queries: Floats, table: Floats, count: int = NEIGHBORS) -> Floats:
    """Return for each query the mean cosine to its ``count`` nearest rows of ``table``.

    Args:
        queries: [Q, D] of length 1.
        table: [V, D] of length 1, V >= 1.
        count: how many neighbours; all where V is smaller.
    """
    count = min(count, len(table))
    means = np.empty(len(queries), dtype=np.float32)
    step = max(1, _BLOCK // len(table))
    for begin in range(0, len(queries), step):
        cosines = queries[begin : begin + step] @ table.T
        means[begin : begin + step] = _highest(cosines, count).mean(axis=1)
    return means


def _highest(values: Floats, count: int) -> Floats:
    """Return the ``count`` highest of each row of ``values`` [Q, V], in no order: [Q, count]."""
    groups = values.shape[1] // _GROUPS
    if groups >= 2 * count:
        # The best of the row are among the groups whose own best are the best.
        whole = groups * _GROUPS
        grouped = values[:, :whole].reshape(len(values), _GROUPS, groups)
        best = np.argpartition(grouped.max(axis=1), groups - count, axis=1)[:, -count:]
        members = np.take_along_axis(grouped, best[:, None, :], axis=2)
        values = np.hstack([members.reshape(len(values), -1), values[:, whole:]])
    place = values.shape[1] - count
    highest: Floats = np.partition(values, place, axis=1)[:, place:]
    return highest


def retrieve(queries: Floats, table: Floats, top: int, handicaps: Floats | None = None) -> Rows:
    """Return the rows of ``table`` that are nearest to each query, best first: [Q, T].

    Args:
        queries: [Q, D] of length 1, such as mapped source vectors.
        table: [V, D] of length 1.
        top: how many to return, T = min(top, V).
        handicaps: [V] the r of each row of the table for CSLS; None compares by cosine. The r of
            a query changes nothing in the order.
    """
    size = min(top, len(table))
    found = np.empty((len(queries), size), dtype=np.int64)
    step = max(1, _BLOCK // max(1, len(table)))
    for begin in range(0, len(queries) if size else 0, step):
        scores = queries[begin : begin + step] @ table.T
        if handicaps is not None:
            scores *= 2
            scores -= handicaps
        best = np.argpartition(scores, len(table) - size, axis=1)[:, len(table) - size :]
        best.sort(axis=1)  # equal scores come in the order of the table
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        found[begin : begin + step] = np.take_along_axis(best, order, axis=1)
    return found
