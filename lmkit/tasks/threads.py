"""How many threads to use when nobody says; free of numba, unlike ``lmkit.jit``."""

from __future__ import annotations

import os


def num_threads(requested: int | None) -> int:
    """Return ``requested``, else the number of cores this process may run on."""
    if requested is not None:
        return max(1, requested)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
