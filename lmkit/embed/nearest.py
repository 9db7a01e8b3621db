"""The words whose vectors point most nearly in a given direction: exact, in blocks.

A query is compared with all words at once by one matrix product in float32, which leaves rounding
errors of known size; the few words that can be among the best are then compared again in float64.
So the answer to a question is the same, bit for bit, whether it is asked alone or among thousands,
and equal words come in the order of the table. The cosine with a vector of zeros is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import Floats, Vectors

Doubles = NDArray[np.float64]
Rows = NDArray[np.int64]

BLOCK = 1 << 23
"""Cosines computed at a time: 32 MB of them."""
_ROWS = 1 << 13
"""Rows that are read at a time where they are widened or forgotten."""
_GROUP = 32
"""Scores of which only the best is looked at to find out what the best of all reach."""


def nearest(
    vectors: Vectors,
    queries: NDArray[np.floating],
    top: int,
    exclude: Sequence[Sequence[int]] | None = None,
    *,
    limit: int | None = None,
) -> tuple[Rows, Doubles]:
    """Return the words nearest to each query by cosine.

    Args:
        vectors: the table, of V words.
        queries: [Q, D], of any length; the answer to a query of zeros means nothing.
        top: how many words for each query, T = min(top, V).
        exclude: for each query the rows that may not be answered.
        limit: answer only with the first ``limit`` words.

    Returns:
        The rows [Q, T], best first, and their cosines [Q, T]; where fewer words are left the rows
        are -1 and the cosines -inf.
    """
    units = unit_rows(queries)
    size = min(top, num_answers(vectors, limit))
    rows = np.full((len(units), size), -1, dtype=np.int64)
    scores = np.full((len(units), size), -np.inf)
    slack = rounding(vectors.size)
    step = block_queries(vectors, limit)
    for begin in range(0, len(units) if size else 0, step):
        block = units[begin : begin + step]
        for i, cosines in enumerate(rough_cosines(vectors, block, limit), start=begin):
            if exclude is not None:
                hide(cosines, exclude[i])
            found = contenders(cosines, cosines, size, 2 * slack)
            exact = exact_cosines(vectors, found, units[i : i + 1])[0]
            best = ranked(exact, size)
            rows[i, : len(best)] = found[best]
            scores[i, : len(best)] = exact[best]
    return rows, scores


def unit_rows(rows: NDArray[np.floating]) -> Doubles:
    """Return ``rows`` [N, D] as float64, each of length 1; zeros stay zeros."""
    wide = rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    lengths[lengths == 0.0] = 1.0
    wide /= lengths[:, None]
    return wide


def num_answers(vectors: Vectors, limit: int | None) -> int:
    """Return how many words may be answers."""
    return len(vectors) if limit is None else min(limit, len(vectors))


def block_queries(vectors: Vectors, limit: int | None) -> int:
    """Return how many queries are compared with the table at a time."""
    return max(1, BLOCK // max(1, num_answers(vectors, limit)))


def rounding(size: int) -> float:
    """Return how far a rough cosine of vectors [size] may be from the exact one."""
    return (size + 8) * 2.0**-24


def rough_cosines(vectors: Vectors, units: Doubles, limit: int | None = None) -> Floats:
    """Return the cosines [Q, V'] of ``units`` [Q, D] with all words, in float32."""
    count = num_answers(vectors, limit)
    matrix, queries = vectors.matrix[:count], units.astype(np.float32)
    if matrix.dtype == np.float32 and vectors.forget is None:
        cosines = queries @ matrix.T
    else:
        cosines = np.empty((len(queries), count), dtype=np.float32)
        for begin in range(0, count, _ROWS):
            rows = matrix[begin : begin + _ROWS]
            wide = rows if rows.dtype == np.float32 else widened(rows)
            np.matmul(queries, wide.T, out=cosines[:, begin : begin + len(rows)])
            if vectors.forget is not None:
                vectors.forget(rows)
    norms = vectors.norms[:count]
    cosines /= np.where(norms > 0.0, norms, np.float32(np.inf))
    return cosines


def widened(rows: NDArray[Any]) -> Floats:
    """Return finite float16 ``rows`` as float32: what astype does, several times as fast.

    The bits are shifted to where float32 has them, and its larger bias is made up for.
    """
    bits = np.ascontiguousarray(rows).view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= np.int32(-0x70002000)  # the sign, and not what it was extended to
    floats = bits.view(np.float32)
    floats *= np.float32(2.0**112)
    return floats


def exact_cosines(vectors: Vectors, rows: Rows, units: Doubles) -> Doubles:
    """Return the cosines [Q, N] of ``units`` [Q, D] with the words in ``rows`` [N], in float64.

    Each number depends on its two vectors alone, not on what else is computed.
    """
    words = unit_rows(vectors.matrix[rows])
    return np.stack([(words * unit).sum(axis=1) for unit in units])


def hide(scores: Floats, rows: Sequence[int]) -> None:
    """Make sure that ``rows`` are not among the best of ``scores`` [V]; others are ignored."""
    inside = [row for row in rows if 0 <= row < len(scores)]
    scores[inside] = -np.inf


def contenders(lower: Floats, upper: Floats, top: int, slack: float = 0.0) -> Rows:
    """Return, ascending, the rows whose scores may be among the best ``top``.

    Args:
        lower: [V] what each score is at least, -inf where it does not count.
        upper: [V] what it is at most.
        top: how many are wanted, at least 1.
        slack: how much more may be missing.
    """
    reached = _reached(lower, top)
    if reached == -np.inf:
        return np.flatnonzero(upper > -np.inf)
    return np.flatnonzero(upper >= np.float32(reached) - np.float32(slack))


def _reached(scores: Floats, top: int) -> float:
    """Return a score that at least ``top`` of ``scores`` [V] reach, the highest or nearly so.

    The best of every 32 scores are found first: if ``top`` groups have a score that reaches it,
    so do ``top`` scores.
    """
    groups = len(scores) // _GROUP
    if groups >= top:
        grouped = scores[: groups * _GROUP].reshape(_GROUP, groups)
        scores = np.concatenate([grouped.max(axis=0), scores[groups * _GROUP :]])
    if top >= len(scores):
        return float(scores.min(initial=np.inf))
    return float(np.partition(scores, len(scores) - top)[len(scores) - top])


def ranked(scores: Doubles, top: int) -> Rows:
    """Return the places of the best ``top`` of ``scores`` [N], best first, then lowest place."""
    order = np.argsort(-scores, kind="stable")[:top]
    return order[scores[order] > -np.inf]
