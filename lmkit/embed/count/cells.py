"""A sparse matrix, and the room in which one grows: memory, then the disk.

Files are temporary and without a name, so nothing of them stays, however the process ends.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError


@dataclass(frozen=True, slots=True)
class SparseMatrix:
    """A matrix of which most cells are 0, by rows (CSR); the columns of a row ascend."""

    offsets: NDArray[np.int64]
    """[rows + 1] row i is at offsets[i] to offsets[i + 1] of the other two."""
    columns: NDArray[np.int32]
    """[N]; may be mapped from disk."""
    values: NDArray[np.float32]
    """[N]; may be mapped from disk."""
    num_columns: int

    @property
    def num_rows(self) -> int:
        """Return the number of rows."""
        return len(self.offsets) - 1

    def __len__(self) -> int:
        """Return the number of cells, N."""
        return len(self.columns)


class Grower:
    """An array that is appended to: in memory up to a bound, beyond it in a temporary file."""

    def __init__(self, dtype: Any, limit: int) -> None:
        """Keep up to ``limit`` bytes in memory."""
        self.dtype = np.dtype(dtype)
        self.limit = limit
        self.size = 0
        self._memory = np.empty(0, dtype=self.dtype)
        self._file: IO[bytes] | None = None

    def append(self, block: NDArray[Any]) -> None:
        """Append ``block`` [n] of this array's type."""
        end = self.size + len(block)
        if self._file is None and end * self.dtype.itemsize > self.limit:
            self._file = tempfile.TemporaryFile(prefix="lmkit-cells-")  # noqa: SIM115
            self._write(self._memory[: self.size])
            self._memory = np.empty(0, dtype=self.dtype)
        if self._file is not None:
            self._write(block)
        else:
            if end > len(self._memory):  # large arrays grow where they are, without a copy
                self._memory.resize(max(end, len(self._memory) * 5 // 4, 1024), refcheck=False)
            self._memory[self.size : end] = block
        self.size = end

    def finish(self) -> NDArray[Any]:
        """Return the array, mapped from its file if it has one; nothing can be appended then."""
        if self._file is None:
            self._memory.resize(self.size, refcheck=False)
            return self._memory
        self._flush()
        if not self.size:
            return np.empty(0, dtype=self.dtype)
        mapped = np.memmap(self._file, self.dtype, "c", shape=(self.size,))
        self.close()
        return np.asarray(mapped)  # kernels are compiled for plain arrays that can be written

    def close(self) -> None:
        """Give up the file; what was mapped from it stays while it is in use."""
        if self._file is not None:
            self._file.close()

    def _write(self, block: NDArray[Any]) -> None:
        assert self._file is not None
        try:
            self._file.write(np.ascontiguousarray(block).view(np.uint8).data)
        except OSError as error:
            raise _no_room(error) from error

    def _flush(self) -> None:
        assert self._file is not None
        try:
            self._file.flush()
        except OSError as error:
            raise _no_room(error) from error


def _no_room(error: OSError) -> UserError:
    where = tempfile.gettempdir()
    return UserError(
        f"cannot write temporary files in {where}: {error.strerror}",
        "Set TMPDIR to a folder with more room, or raise --memory",
    )
