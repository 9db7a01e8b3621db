"""Discounts of modified Kneser-Ney smoothing from counts of counts.

Chen & Goodman 1999, "An empirical study of smoothing techniques for language modeling", eq. 17:
Y = n1 / (n1 + 2 n2), D1 = 1 - 2Y n2/n1, D2 = 2 - 3Y n3/n2, D3+ = 3 - 4Y n4/n3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Discounts:
    """The discounts of one order."""

    values: tuple[float, float, float]
    """D1, D2, D3+."""
    estimated: bool
    """False where the counts of counts gave no estimate and the fallback stands instead."""
    reason: str = ""
    """Why there was no estimate."""

    def array(self) -> NDArray[np.float64]:
        """Return [0, D1, D2, D3+], to be indexed by min(count, 3)."""
        return np.array((0.0, *self.values))


def estimate_discounts(
    counts_of_counts: NDArray[np.int64], fallback: tuple[float, float, float]
) -> Discounts:
    """Return the discounts for n1..n4 = ``counts_of_counts[1:5]``, or why ``fallback`` stands."""
    n = [int(x) for x in counts_of_counts[:5]]
    for count in (1, 2, 3):
        if n[count] == 0:
            return Discounts(fallback, False, f"no n-gram has an adjusted count of {count}")
    y = n[1] / (n[1] + 2 * n[2])
    values = tuple(i - (i + 1) * y * n[i + 1] / n[i] for i in (1, 2, 3))
    for count, value in enumerate(values, start=1):
        if not 0 <= value <= count:
            return Discounts(fallback, False, f"D{count} would be {value:.3g}")
    return Discounts((values[0], values[1], values[2]), True)
