"""A fast checksum of file contents: it finds damage, it does not resist an adversary.

The sum of all little-endian 64-bit words, modulo 2^64, mixed with the length. It runs at memory
speed, so gigabytes of weights are summed while they are written, and since addition commutes the
header of a file may be filled in last.
"""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_MASK = (1 << 64) - 1
_MIX = 0x9E3779B97F4A7C15
_WORD = 8


class Sum64:
    """Incremental checksum; feed it with :meth:`update`, read it with :meth:`digest`."""

    def __init__(self) -> None:
        self._sum = 0
        self._carry = b""
        self.length = 0

    def update(self, data: NDArray[np.uint8] | bytes | memoryview) -> None:
        """Add the next bytes of the file."""
        octets = np.frombuffer(data, dtype=np.uint8)
        self.length += octets.size
        if self._carry:
            missing = min(_WORD - len(self._carry), octets.size)
            self._carry += octets[:missing].tobytes()
            octets = octets[missing:]
            if len(self._carry) < _WORD:
                return
            self._sum += int.from_bytes(self._carry, "little")
            self._carry = b""
        whole = octets.size // _WORD * _WORD
        self._sum = (self._sum + sum_words(octets[:whole])) & _MASK
        self._carry = octets[whole:].tobytes()

    def replace_zeros(self, data: bytes) -> None:
        """Account for ``data`` written over zeros that begin at a multiple of 8 bytes."""
        padded = data + bytes(-len(data) % _WORD)
        self._sum += sum_words(np.frombuffer(padded, dtype=np.uint8))

    def digest(self) -> str:
        """Return the checksum of all bytes so far, such as ``sum64:0123456789abcdef``."""
        total = self._sum + int.from_bytes(self._carry, "little") + self.length * _MIX
        return f"sum64:{total & _MASK:016x}"


def sum_words(octets: NDArray[np.uint8]) -> int:
    """Return the sum modulo 2^64 of the little-endian words of ``octets`` [8 n]."""
    return int(np.add.reduce(octets.view("<u8"), dtype=np.uint64))


def checksum_file(path: Path) -> str:
    """Return the checksum of the file at ``path``."""
    total = Sum64()
    with path.open("rb") as file:
        if path.stat().st_size:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                octets = np.frombuffer(mapped, dtype=np.uint8)
                total.update(octets)
                del octets
    return total.digest()
