"""Arrays on disk: safetensors files, written as a stream and mapped without a copy.

The layout is that of safetensors (8 bytes of header length, a JSON header, the raw tensors), so
any reader of that format opens the files. What differs from the package: tensors are appended
one after the other while they are computed, in as many chunks as suit the caller, and the header
goes into a block reserved at the front. Each tensor begins at a multiple of its item size; where
bytes must be skipped for that, a tensor named ``_pad<n>`` fills them (readers here hide it).
"""

from __future__ import annotations

import json
import math
import mmap
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lmkit.errors import ModelError

HEADER_BLOCK = 16384
"""Bytes reserved for the header, so that the first tensor begins on a page."""

DTYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
    "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
_NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
_PAD = "_pad"


class BinaryWriter(Protocol):
    """What a tensor file is written to; see ``lmkit.store.artifact.ModelFile``."""

    def write(self, data: Any, /) -> int:
        """Append bytes."""

    def overwrite_start(self, data: bytes, /) -> None:
        """Replace the zeros at the start of the file."""


class TensorFileWriter:
    """Writes tensors one after the other; use as a context manager or call :meth:`close`.

    Args:
        file: where the bytes go; must be empty.
        header_block: bytes kept free for the header, about 100 a tensor; a multiple of 4096.
    """

    def __init__(self, file: BinaryWriter, header_block: int = HEADER_BLOCK) -> None:
        self._file = file
        self._header_block = header_block
        self._entries: dict[str, dict[str, Any]] = {}
        self._offset = 0
        self._open: tuple[str, np.dtype[Any], tuple[int, ...], int] | None = None
        self._file.write(bytes(header_block))

    def __enter__(self) -> TensorFileWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Write a whole array as tensor ``name``."""
        self.start(name, array.dtype, array.shape[1:])
        self._write_bytes(array)
        self._finish(array.shape)

    def start(self, name: str, dtype: DTypeLike, row_shape: tuple[int, ...] = ()) -> None:
        """Begin tensor ``name`` of shape [rows, *row_shape], the number of rows yet unknown."""
        dtype = np.dtype(dtype)
        assert self._open is None, f"tensor {name} begun inside another"
        assert name not in self._entries, f"tensor {name} written twice"
        assert dtype in _NAMES, f"dtype {dtype} has no safetensors name"
        gap = -self._offset % dtype.itemsize
        if gap:
            pad = f"{_PAD}{self._offset}"
            self._entries[pad] = _entry("U8", (gap,), self._offset, self._offset + gap)
            self._file.write(bytes(gap))
            self._offset += gap
        self._open = (name, dtype, row_shape, self._offset)

    def write(self, chunk: NDArray[Any]) -> None:
        """Append rows [n, *row_shape] to the tensor begun by :meth:`start`."""
        assert self._open is not None, "write without start"
        name, dtype, row_shape, _ = self._open
        assert chunk.dtype == dtype, f"tensor {name} is {dtype}, not {chunk.dtype}"
        assert chunk.shape[1:] == row_shape, f"tensor {name} has rows {row_shape}"
        self._write_bytes(chunk)

    def end(self) -> int:
        """End the tensor begun by :meth:`start`; return how many rows it has."""
        assert self._open is not None, "end without start"
        _, dtype, row_shape, begin = self._open
        row_bytes = dtype.itemsize * math.prod(row_shape)
        rows = (self._offset - begin) // row_bytes if row_bytes else 0
        self._finish((rows, *row_shape))
        return rows

    def close(self) -> None:
        """Write the header; the file itself stays open."""
        assert self._open is None, "a tensor was not ended"
        header = json.dumps(self._entries, separators=(",", ":")).encode("ascii")
        room = self._header_block - 8
        assert len(header) <= room, f"the header needs {len(header)} bytes, {room} are reserved"
        self._file.overwrite_start(room.to_bytes(8, "little") + header.ljust(room))

    def _write_bytes(self, array: NDArray[Any]) -> None:
        if array.size:
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            self._file.write(data.data)
            self._offset += data.size

    def _finish(self, shape: tuple[int, ...]) -> None:
        assert self._open is not None
        name, dtype, _, begin = self._open
        self._entries[name] = _entry(_NAMES[dtype], shape, begin, self._offset)
        self._open = None


class Tensors(dict[str, NDArray[Any]]):
    """The tensors of one file by name, mapped into memory; the file itself never changes."""

    def span(self, first: str, last: str) -> NDArray[Any]:
        """Return the adjacent tensors ``first`` to ``last`` [n, C] as one array [sum n, C]."""
        head, tail = self[first], self[last]
        begin = head.__array_interface__["data"][0]
        end = tail.__array_interface__["data"][0] + tail.nbytes
        row_bytes = head.dtype.itemsize * math.prod(head.shape[1:])
        rows, rest = divmod(end - begin, row_bytes)
        if rest or rows < 0 or tail.dtype != head.dtype or tail.shape[1:] != head.shape[1:]:
            raise ModelError(f"tensors {first} to {last} do not form one array")
        offset = begin - self.base.__array_interface__["data"][0]
        data = self.base[offset : offset + rows * row_bytes].view(head.dtype)
        return data.reshape(rows, *head.shape[1:])

    def forget(self, array: NDArray[Any]) -> None:
        """Give back the memory that reading ``array`` took; the file is read again when needed.

        What was written to the array may be lost: for arrays that are only read.
        """
        begin = array.__array_interface__["data"][0] - self.base.__array_interface__["data"][0]
        start = begin - begin % mmap.PAGESIZE
        self.mapped.madvise(mmap.MADV_DONTNEED, start, begin + array.nbytes - start)

    base: NDArray[np.uint8]
    """All bytes of the file."""
    mapped: mmap.mmap
    """The file."""


def map_tensors(path: Path) -> Tensors:
    """Map the safetensors file at ``path``.

    The mapping is private: who writes to an array changes a copy of the page, never the file.
    So arrays in memory and mapped ones are of one type, and kernels are compiled for it once.

    Raises:
        ModelError: the file is truncated, damaged or not a safetensors file.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size < 8:
                raise _damaged(path, "it is too short")
            flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
            prot = mmap.PROT_READ | mmap.PROT_WRITE
            mapped = mmap.mmap(file.fileno(), size, flags=flags, prot=prot)
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error
    tensors = Tensors()
    tensors.base, tensors.mapped = np.frombuffer(mapped, dtype=np.uint8), mapped
    length = int.from_bytes(mapped[:8], "little")
    if length > size - 8:
        raise _damaged(path, "its header is cut off")
    try:
        header = json.loads(mapped[8 : 8 + length])
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        fields = {name: _parse_entry(entry) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _damaged(path, "its header is not readable") from None
    position = 0
    data = tensors.base[8 + length :]
    for name, (dtype, shape, begin, end) in sorted(fields.items(), key=lambda item: item[1][2:]):
        if begin != position or end - begin != dtype.itemsize * math.prod(shape):
            raise _damaged(path, f"tensor {name} does not lie where it should")
        position = end
        if end > data.size:
            raise _damaged(path, f"tensor {name} is cut off")
        if not name.startswith(_PAD):
            tensors[name] = data[begin:end].view(dtype).reshape(shape)
    if position != data.size:
        raise _damaged(path, "its length is wrong")
    return tensors


def _entry(dtype: str, shape: tuple[int, ...], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def _parse_entry(entry: dict[str, Any]) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not all(type(number) is int and number >= 0 for number in (begin, end, *shape)):
        raise ValueError("not a count")
    return np.dtype(DTYPES[entry["dtype"]]), shape, begin, end


def _damaged(path: Path, how: str) -> ModelError:
    return ModelError(f"{path} is damaged: {how}", "Make the model again or fetch a fresh copy.")
