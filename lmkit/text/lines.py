"""The one door through which text enters and leaves lmkit.

A line ends at ``\\n`` and nowhere else, in files and on standard input alike; one ``\\r`` before
it belongs to the line end. Text is UTF-8, whatever the locale; a byte order mark at the start of a
file is dropped. What is not UTF-8, or a NUL byte, is an error that names FILE:LINE:COLUMN (columns
count characters from 1), or becomes U+FFFD with ``errors="replace"``. Files compressed by gzip,
bzip2 or xz are known by their content. ``"-"`` is standard input.

Two readers see the same lines: :func:`read_blocks` hands out megabytes at a time for compiled code,
:func:`read_lines` one line as soon as it is there, for pipes. :class:`LineWriter` is the way out.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.text.sources import ByteSource, open_error
from lmkit.text.utf8 import is_text, replace_faults, text_error, utf16_error
from lmkit.text.writer import LineWriter

if TYPE_CHECKING:
    from hashlib import _Hash

__all__ = [
    "BLOCK_SIZE",
    "PADDING",
    "Block",
    "LineWriter",
    "block_lines",
    "block_of",
    "read_blocks",
    "read_lines",
    "total_size",
]

BLOCK_SIZE = 4 << 20
PADDING = 64
"""Zero bytes behind the text of a block, so that kernels may load whole words past its end."""

_NEWLINE = 10
# One more newline may be added at the end of a file.
_SPARE = PADDING + 8


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Whole lines of one source.

    Attributes:
        data: uint8 [>= size + PADDING]; ``data[:size]`` is text that ends with a newline, the rest
            is zero.
        size: bytes of text.
        source: what to call the source in messages.
        line: 1-based number of the first line.
    """

    data: NDArray[np.uint8]
    size: int
    source: str
    line: int

    def text(self) -> str:
        """Return the text, line ends and all."""
        return str(self.data[: self.size].data, "utf-8")


def block_of(text: str | bytes, source: str = "<text>", line: int = 1) -> Block:
    """Return ``text`` (UTF-8) as a block; a line end is added where the last line has none."""
    encoded = text.encode() if isinstance(text, str) else text
    size = len(encoded)
    buffer = bytearray(size + _SPARE)
    buffer[:size] = encoded
    if size and buffer[size - 1] != _NEWLINE:
        buffer[size] = _NEWLINE
        size += 1
    return Block(np.frombuffer(buffer, np.uint8), size, source, line)


def read_blocks(
    sources: Sequence[str | Path],
    *,
    errors: Errors = "strict",
    block_size: int = BLOCK_SIZE,
    at_once: bool = False,
    listener: Listener = SILENT,
    digest: _Hash | None = None,
) -> Iterator[Block]:
    """Yield the text of ``sources``, one after the other, in blocks of whole lines.

    Args:
        sources: paths, or ``"-"`` for standard input.
        errors: what to do about bytes that are not UTF-8 text.
        block_size: bytes to aim at; a longer line makes a longer block.
        at_once: hand out the lines of a pipe as they arrive instead of waiting for a full block.
        listener: is told how many bytes were taken from the disk (``advance``).
        digest: a hash object that is fed the text as it is handed out, so that a file and its
            compressed copy have the same digest.

    Raises:
        TextError: a source cannot be read, or is not text.
    """
    for source in sources:
        with ByteSource(source) as stream:
            _check_encoding(stream, errors, listener)
            line = 1
            told = 0
            for buffer, size in _whole_lines(stream, max(1, block_size), at_once):
                if not is_text(buffer, size):
                    if errors == "strict":
                        raise text_error(stream.name, line, buffer, size)
                    text = replace_faults(buffer[:size])
                    block = block_of(text, stream.name, line)
                else:
                    block = Block(np.frombuffer(buffer, np.uint8), size, stream.name, line)
                if digest is not None:
                    digest.update(block.data[: block.size].data)
                listener.advance(stream.consumed - told)
                told = stream.consumed
                yield block
                line += int(np.count_nonzero(block.data[: block.size] == _NEWLINE))


def read_lines(
    sources: Sequence[str | Path], *, errors: Errors = "strict", listener: Listener = SILENT
) -> Iterator[str]:
    """Yield the lines of ``sources`` without their line ends, each as soon as it is complete.

    The last line of a source counts even without a newline.

    Raises:
        TextError: a source cannot be read, or is not text.
    """
    for source in sources:
        with ByteSource(source) as stream, io.BufferedReader(stream, 1 << 17) as buffered:
            _check_encoding(stream, errors, listener)
            for number, raw in enumerate(buffered, 1):
                try:
                    text = raw.decode()
                except UnicodeDecodeError:
                    text = "\0"
                if "\0" in text:
                    if errors == "strict":
                        raise text_error(stream.name, number, raw, len(raw))
                    text = replace_faults(raw)
                yield text.removesuffix("\n").removesuffix("\r")


def block_lines(block: Block) -> list[str]:
    """Return the lines of ``block`` without their line ends."""
    lines = block.text().split("\n")
    lines.pop()  # what follows the last newline: nothing
    if 13 in block.data[: block.size]:
        lines = [line.removesuffix("\r") for line in lines]
    return lines


def total_size(sources: Sequence[str | Path]) -> int | None:
    """Return the bytes that ``sources`` take on disk, or None where one is a pipe or the like.

    Raises:
        TextError: a source is missing or may not be looked at.
    """
    total = 0
    for source in sources:
        if str(source) == "-":
            return None
        try:
            info = os.stat(source)
        except OSError as error:
            raise open_error(error, str(source)) from None
        if not stat.S_ISREG(info.st_mode):
            return None
        total += info.st_size
    return total


def _check_encoding(stream: ByteSource, errors: Errors, listener: Listener) -> None:
    if stream.utf16:
        error = utf16_error(stream.name)
        if errors == "strict":
            raise error
        listener.warn(str(error))


def _whole_lines(
    stream: ByteSource, block_size: int, at_once: bool
) -> Iterator[tuple[bytearray, int]]:
    """Yield (buffer, size): whole lines, then zeros; the buffer is the caller's to keep."""
    carry = memoryview(b"")
    at_end = False
    while not at_end:
        buffer, filled, at_end = _fill(stream, carry, block_size, at_once)
        if at_end:
            if filled and buffer[filled - 1] != _NEWLINE:
                buffer[filled] = _NEWLINE
                filled += 1
            size = filled
        else:
            size = buffer.rfind(b"\n", 0, filled) + 1
            carry = memoryview(buffer[size:filled])
            buffer[size:filled] = bytes(filled - size)
        if size:
            yield buffer, size


def _fill(
    stream: ByteSource, carry: memoryview, block_size: int, at_once: bool
) -> tuple[bytearray, int, bool]:
    """Read until a newline lies in a full buffer (in any, ``at_once``), or to the stream's end.

    Returns:
        The buffer (``carry`` comes first), how many bytes of it are text, whether the stream ended.
    """
    room = block_size
    if stream.size is not None:
        # One byte more than is left, so that the end of the file is noticed.
        room = min(room, max(stream.size - stream.consumed, 0) + 64)
    capacity = len(carry) + room
    filled = len(carry)
    buffer = bytearray(capacity + _SPARE)
    buffer[:filled] = carry
    while True:
        searched = filled
        while filled < capacity:
            count = stream.readinto(memoryview(buffer)[filled:capacity])
            if count == 0:
                return buffer, filled, True
            filled += count
            if at_once and buffer.rfind(b"\n", filled - count, filled) >= 0:
                return buffer, filled, False
        if buffer.rfind(b"\n", searched, filled) >= 0:
            return buffer, filled, False
        capacity *= 2
        larger = bytearray(capacity + _SPARE)
        larger[:filled] = memoryview(buffer)[:filled]
        buffer = larger
