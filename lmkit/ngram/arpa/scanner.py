"""Cuts the bytes of an ARPA file into pieces: the lines of sections, and the headers between them.

A header is a line that begins with a backslash, blanks aside (``\\data\\``, ``\\2-grams:``). What
is between two headers comes in blocks of whole lines, so that blocks can be parsed side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from lmkit.events import Listener
from lmkit.text.sources import ByteSource

BLOCK_SIZE = 2 << 20
PADDING = 128
"""Bytes behind the text of a block that kernels may read."""
_NEWLINE = 10


class Kind(Enum):
    """What a piece of the file is."""

    LINES = "lines"
    HEADER = "header"
    NUL = "NUL byte"


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """``data[begin:end]``, whole lines: many, or the one line of a header or with a NUL byte."""

    kind: Kind
    data: bytearray
    begin: int
    end: int

    def text(self) -> bytes:
        """Return a copy of the bytes."""
        return bytes(memoryview(self.data)[self.begin : self.end])


def scan(stream: ByteSource, listener: Listener, block_size: int = BLOCK_SIZE) -> Iterator[Piece]:
    """Yield the pieces of ``stream`` in order; a NUL byte ends them."""
    told = 0
    for data, size in _blocks(stream, block_size):
        end = size
        nul = data.find(0, 0, size)
        if nul >= 0:
            end = data.rfind(b"\n", 0, nul) + 1
        listener.advance(stream.consumed - told)
        told = stream.consumed
        yield from _cut(data, end)
        if nul >= 0:
            yield Piece(Kind.NUL, data, end, data.find(b"\n", nul) + 1)
            return


def _cut(data: bytearray, size: int) -> Iterator[Piece]:
    """Cut a block at its headers."""
    begin = 0
    place = data.find(b"\\", 0, size)
    while place >= 0:
        start = _line_start(data, place)
        if start is None:
            place = data.find(b"\\", place + 1, size)
            continue
        if start > begin:
            yield Piece(Kind.LINES, data, begin, start)
        begin = data.find(b"\n", place) + 1
        yield Piece(Kind.HEADER, data, start, begin)
        place = data.find(b"\\", begin, size)
    if size > begin:
        yield Piece(Kind.LINES, data, begin, size)


def _line_start(data: bytearray, place: int) -> int | None:
    """Return where the line of ``place`` starts if only blanks lie between, else None."""
    if place == 0 or data[place - 1] == _NEWLINE:
        return place
    if data[place - 1] not in b" \t\r":
        return None
    start = data.rfind(b"\n", 0, place) + 1
    return None if data[start:place].strip(b" \t\r") else start


def _blocks(stream: ByteSource, block_size: int) -> Iterator[tuple[bytearray, int]]:
    """Yield (buffer, size): whole lines; the last one gets a newline if it has none."""
    carry = b""
    room = block_size if stream.size is None else min(block_size, stream.size + 1)
    while True:
        capacity = len(carry) + room
        buffer = bytearray(capacity + PADDING)
        buffer[: len(carry)] = carry
        filled = len(carry)
        view = memoryview(buffer)
        count = -1
        while filled < capacity and count != 0:
            count = stream.readinto(view[filled:capacity])
            filled += count
        view.release()
        if count == 0:
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
