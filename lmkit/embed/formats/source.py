"""The bytes of a vectors file: a look at the beginning, then all of it in large pieces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from lmkit.events import SILENT, Listener
from lmkit.text.sources import ByteSource

BLOCK_SIZE = 4 << 20
_NEWLINE = 10


class VectorSource:
    """Reads a file or standard input, decompressed; a context manager.

    Args:
        path: the file; ``"-"`` is standard input.
        listener: is told how many bytes were taken from the disk.

    Raises:
        TextError: the file cannot be read, or its compression is broken.
    """

    def __init__(self, path: str | Path, listener: Listener = SILENT) -> None:
        self._stream = ByteSource(path)
        self._listener = listener
        self._ahead = b""
        self._told = 0
        self.path = Path(path)
        self.name = self._stream.name
        self.size = self._stream.size
        """Bytes of an uncompressed regular file, else None."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._stream.close()

    def peek(self, count: int) -> bytes:
        """Return the next ``count`` bytes, or all there are, without taking them."""
        if len(self._ahead) < count:
            more = bytearray(count - len(self._ahead))
            filled = self._fill(memoryview(more))
            self._ahead += bytes(more[:filled])
        return self._ahead[:count]

    def skip(self, count: int) -> None:
        """Take ``count`` bytes that were peeked at."""
        assert count <= len(self._ahead)
        self._ahead = self._ahead[count:]

    def readinto(self, view: memoryview) -> int:
        """Fill ``view``; return less than its length only at the end of the file."""
        taken = min(len(view), len(self._ahead))
        view[:taken] = self._ahead[:taken]
        self._ahead = self._ahead[taken:]
        return taken + self._fill(view[taken:])

    def _fill(self, view: memoryview) -> int:
        filled = 0
        while filled < len(view):
            count = self._stream.readinto(view[filled:])
            if count == 0:
                break
            filled += count
        self._listener.advance(self._stream.consumed - self._told)
        self._told = self._stream.consumed
        return filled

    def read_lines(self, block_size: int = BLOCK_SIZE) -> Iterator[tuple[bytearray, int]]:
        """Yield (buffer, size): whole lines; the last one gets a newline if it has none."""
        carry = b""
        room = block_size if self.size is None else min(block_size, self.size + 1)
        while True:
            capacity = len(carry) + room
            buffer = bytearray(capacity + 1)
            buffer[: len(carry)] = carry
            view = memoryview(buffer)
            filled = len(carry) + self.readinto(view[len(carry) : capacity])
            view.release()
            if filled < capacity:
                if filled:
                    if buffer[filled - 1] != _NEWLINE:
                        buffer[filled] = _NEWLINE
                        filled += 1
                    yield buffer, filled
                return
            size = buffer.rfind(b"\n", 0, filled) + 1
            carry = bytes(memoryview(buffer)[size:filled])
            room = max(block_size, len(carry))  # doubles while a line is longer than the block
            if size:
                yield buffer, size
