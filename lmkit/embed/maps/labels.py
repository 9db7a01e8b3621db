"""Where labels go so that they cover neither one another nor what they name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]

_DIRECTIONS = np.array(
    [
        *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)),
        *((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1)),
    ]
)
"""Sides of a point at which its label may stand, the one on its right first."""
_STEPS = (1.0, 2.0, 3.5, 5.5, 8.0, 11.0)
"""How far from its point, in gaps."""
_SWEEPS = 12
_COVERED_LABEL = 1.0
"""What it costs to touch another label, beside the share of it that is covered."""
_COVERED_POINT = 0.6
"""What it costs to cover a point."""
_OUTSIDE = 20.0


def place_labels(
    points: Boxes,
    sizes: Boxes,
    bounds: tuple[float, float, float, float],
    *,
    gap: float,
    obstacles: Boxes | None = None,
) -> Boxes:
    """Return the centres [N, 2] of the labels of ``points`` [N, 2].

    Each label tries places around its point, the near ones first, and takes the one where it
    covers least of other labels, points and obstacles; that is done again until nothing moves. So
    labels stay apart where there is room, and lie over one another as little as may be elsewhere.

    Args:
        points: what is named.
        sizes: [N, 2], width and height of the labels, in the same units.
        bounds: left, bottom, right, top of the place they should not leave.
        gap: the distance of a label from its point.
        obstacles: [M, 2], further points that should not be covered, as on a line.
    """
    number = len(points)
    if not number:
        return np.empty((0, 2))
    candidates, costs = _candidates(points, sizes, gap)  # [N, C, 2], [C]
    outside = _outside(candidates, sizes, bounds)
    covered = points if obstacles is None else np.concatenate([points, obstacles])
    fixed = np.empty(candidates.shape[:2])
    for i in range(number):
        inside = np.abs(covered[None] - candidates[i][:, None]) < sizes[i] / 2 + gap / 2
        fixed[i] = costs + _OUTSIDE * outside[i] + _COVERED_POINT * inside.all(axis=2).sum(axis=1)
    chosen = np.argmin(fixed, axis=1)
    centres: Boxes = candidates[np.arange(number), chosen]
    rivals = [_rivals(points, sizes, i, gap) for i in range(number)]
    preferred = chosen.copy()
    for _ in range(_SWEEPS):
        moved = False
        for i, near in enumerate(rivals):
            others = centres[near], sizes[near]
            if chosen[i] == preferred[i] and not _overlaps(centres[i : i + 1], sizes[i], *others):
                continue
            total = fixed[i] + _overlaps(candidates[i], sizes[i], *others)
            best = int(np.argmin(total))
            if total[best] < total[chosen[i]] - 1e-9:
                chosen[i], centres[i], moved = best, candidates[i, best], True
        if not moved:
            break
    return centres


def _candidates(points: Boxes, sizes: Boxes, gap: float) -> tuple[Boxes, Boxes]:
    """Return the places that labels may take [N, C, 2], and what each costs by itself [C]."""
    places: list[Boxes] = []
    costs: list[float] = []
    for step in _STEPS:
        for rank, direction in enumerate(_DIRECTIONS):
            diagonal = bool(direction.all())
            reach = gap * step * (0.7 if diagonal else 1.0)
            places.append(points + direction * (sizes / 2 + reach))
            costs.append(0.04 * (step - 1.0) + 0.004 * rank)
    return np.stack(places, axis=1), np.array(costs)


def _outside(
    candidates: Boxes, sizes: Boxes, bounds: tuple[float, float, float, float]
) -> NDArray[np.bool_]:
    """Tell which places [N, C] leave the bounds."""
    half = sizes[:, None] / 2
    low, high = np.array(bounds[:2]), np.array(bounds[2:])
    return np.asarray(((candidates - half < low) | (candidates + half > high)).any(axis=2))


def _rivals(points: Boxes, sizes: Boxes, own: int, gap: float) -> NDArray[np.int64]:
    """Return the numbers of the labels that could ever cover that of point ``own``."""
    reach = sizes + _STEPS[-1] * gap
    near = (np.abs(points - points[own]) < reach + reach[own]).all(axis=1)
    near[own] = False
    return np.flatnonzero(near)


def _overlaps(candidates: Boxes, size: Boxes, centres: Boxes, sizes: Boxes) -> Boxes:
    """Return how much a label at each of ``candidates`` [C, 2] would cover of others, as [C].

    In parts of the smaller of the two areas; any overlap at all counts something.
    """
    room = (size + sizes) / 2 - np.abs(candidates[:, None] - centres[None])
    common = np.clip(room, 0.0, np.minimum(size, sizes)).prod(axis=2)
    share = common / np.minimum(size.prod(), sizes.prod(axis=1))
    return np.asarray((share + _COVERED_LABEL * (share > 0)).sum(axis=1))


def follow(centre: Boxes, size: Boxes, point: Boxes, gap: float) -> Boxes | None:
    """Return where a line from ``point`` to its label should end, or None if that is near."""
    nearest = np.clip(point, centre - size / 2, centre + size / 2)
    return nearest if np.hypot(*(nearest - point)) > 2 * gap else None
