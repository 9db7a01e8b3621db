"""Principal components: the plane in which points spread most (Pearson 1901, Hotelling 1933)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PrincipalAxes:
    """The directions of greatest variance of a set of points, best first."""

    mean: Points
    """[D], the centre of the points."""
    axes: Points
    """[K, D], orthonormal rows; an axis without variance is a row of zeros."""
    shares: Points
    """[K], the part of the whole variance that lies along each axis."""

    def project(self, rows: NDArray[np.floating]) -> Points:
        """Return the coordinates [N, K] of ``rows`` [N, D] along the axes."""
        return np.asarray((np.asarray(rows, dtype=np.float64) - self.mean) @ self.axes.T)


def principal_axes(rows: NDArray[np.floating], count: int = 2) -> PrincipalAxes:
    """Return the first ``count`` principal axes of ``rows`` [N, D].

    An axis could as well point the other way: here the component of greatest magnitude is
    positive, so that the same points always give the same picture.

    Raises:
        ValueError: there are no rows, or one holds NaN or infinity.
    """
    points = np.asarray(rows, dtype=np.float64)
    if points.ndim != 2 or not len(points):
        raise ValueError("principal axes need at least one row")
    if not np.isfinite(points).all():
        raise ValueError("principal axes need finite numbers")
    mean = points.mean(axis=0)
    _, spread, directions = np.linalg.svd(points - mean, full_matrices=False)
    variances = spread**2
    whole = variances.sum()
    found = min(count, int((spread > spread[:1] * _ZERO).sum()))
    axes = np.zeros((count, points.shape[1]))
    shares = np.zeros(count)
    for number, axis in enumerate(directions[:found]):
        axes[number] = axis * np.sign(axis[np.argmax(np.abs(axis))])
        shares[number] = variances[number] / whole
    return PrincipalAxes(mean, axes, shares)


_ZERO = 1e-12
"""A spread this small beside the greatest one is rounding error."""
