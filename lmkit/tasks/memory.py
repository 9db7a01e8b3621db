"""Memory that is freed goes back to the system, in work on large arrays."""

from __future__ import annotations

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of the GNU C library's ``mallopt`` parameters."""


def return_freed_memory() -> None:
    """Have the GNU C library map arrays of 4 MiB and more one by one, and unmap them when freed.

    By itself it raises that limit to 32 MiB as soon as one such array is freed; smaller ones then
    come from a heap that keeps what is freed, a tenth of the peak of a large fit. Elsewhere this
    does nothing.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 4 << 20)
        mallopt(_TRIM_THRESHOLD, 16 << 20)


def trim_memory() -> None:
    """Give back what is free inside the heap of the GNU C library; elsewhere nothing."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
