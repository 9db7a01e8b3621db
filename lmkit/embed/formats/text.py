"""Reads vectors from text: a word and its numbers a line, with or without a first line ``V D``.

Numbers become float32 by way of float64, as in C's strtod and in Python. Fields are separated by
spaces or TABs, lines end in a newline with or without a carriage return before it, blank lines do
not count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.formats.lines import BadLine, parse_line
from lmkit.embed.formats.sniffing import Layout
from lmkit.embed.formats.source import VectorSource
from lmkit.embed.formats.table import TableBuilder
from lmkit.embed.vectors import Vectors
from lmkit.errors import TextError
from lmkit.events import Listener

SMALL = 24 << 20
"""Bytes up to which Python is quicker than loading the compiled kernels."""
_PLAIN = b"0123456789+-.eE "
"""What the numbers of a plain line consist of."""
_AT_ONCE = 1 << 17
"""Numbers that Python converts at a time."""


def read_text_file(
    source: VectorSource,
    layout: Layout,
    limit: int | None,
    listener: Listener,
    *,
    small: int = SMALL,
) -> Vectors:
    """Read the vectors of ``source``, whose beginning told ``layout``; at most ``limit``.

    Raises:
        TextError: a line is no vector, or there are fewer lines than the header says; the
            message names FILE:LINE.
    """
    source.skip(layout.header)
    builder = TableBuilder(source.name, layout.size, _expected(source, layout), limit, listener)
    first_line, seen = 1 + (layout.header > 0), 0
    large = (source.size or 0) > small and (limit is None or limit * layout.line_bytes > small)
    for buffer, size in source.read_lines():
        seen += size
        parse = _parse_compiled if large or seen > small else _parse
        parse(_Block(builder, buffer, size, first_line))
        if builder.wanted <= 0:
            break
        first_line += buffer.count(b"\n", 0, size)
    _check_promise(builder, layout, listener)
    return builder.finish()


def _expected(source: VectorSource, layout: Layout) -> int:
    """Return for how many rows to make room."""
    if source.size is None:
        most = (64 << 20) // (4 * layout.size) + 1
        return min(layout.promised or most, most)
    most = source.size // (2 * layout.size) + 1
    if layout.promised is None:
        return min(int(1.02 * source.size / max(layout.line_bytes, 2.0)) + 1, most)
    return min(layout.promised, most)


def _check_promise(builder: TableBuilder, layout: Layout, listener: Listener) -> None:
    """Compare the number of rows with that of the header, unless a limit ended the reading."""
    promised, found = layout.promised, builder.num_rows
    if promised is None or builder.wanted <= 0 or promised == found:
        return
    if found < promised:
        raise TextError(
            f"{builder.name}: {found:,} vectors, but its header promises {promised:,}",
            f"Fetch it again; lmkit embed convert FILE OUT --limit {found} keeps what is there",
        )
    listener.warn(
        f"{builder.name}: {found:,} vectors, though its header says {promised:,}; all were read"
    )


class _Block:
    """Lines to be parsed, and where the rows go."""

    def __init__(self, builder: TableBuilder, data: bytearray, size: int, first_line: int) -> None:
        self.builder = builder
        self.data = data
        self.size = size
        self.first_line = first_line

    def parse_carefully(self, begin: int) -> tuple[bytes, list[float]] | None:
        """Return what the line at ``begin`` holds, None if it is blank."""
        end = self.data.index(b"\n", begin)
        try:
            return parse_line(bytes(self.data[begin:end]), self.builder.size)
        except BadLine as error:
            number = self.first_line + self.data.count(b"\n", 0, begin)
            raise TextError(f"{self.builder.name}:{number}: {error}") from None


def _parse(block: _Block) -> None:
    """Parse a block with Python."""
    builder = block.builder
    size, at_once = builder.size, max(_AT_ONCE // builder.size, 1)
    words: list[bytes] = []
    numbers: list[float] = []
    begins: list[int] = []
    begin = 0
    while begin < block.size and len(words) < builder.wanted:
        end = block.data.index(b"\n", begin)
        parsed = _plain_line(bytes(block.data[begin:end]), size) or block.parse_carefully(begin)
        if parsed is not None:
            words.append(parsed[0])
            numbers += parsed[1]
            begins.append(begin)
        begin = end + 1
        if len(words) == at_once:
            _add(block, words, numbers, begins)
            words, numbers, begins = [], [], []
    _add(block, words, numbers, begins)


def _plain_line(line: bytes, size: int) -> tuple[bytes, list[float]] | None:
    """Return what a line holds that has nothing special; None for any other."""
    word, _, rest = line.rstrip(b" \r").partition(b" ")
    if not word or b"\t" in word or rest.translate(None, _PLAIN):
        return None
    fields = rest.split(b" ")
    if len(fields) != size:
        return None
    try:
        return word, list(map(float, fields))
    except ValueError:
        return None


def _add(block: _Block, words: list[bytes], numbers: list[float], begins: list[int]) -> None:
    with np.errstate(over="ignore"):
        rows = np.array(numbers, dtype=np.float32).reshape(len(words), block.builder.size)
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        block.parse_carefully(begins[bad])
    block.builder.add(words, rows)


def _parse_compiled(block: _Block) -> None:
    """Parse a block with the kernels, and with Python the lines that they leave."""
    from lmkit.embed.formats import kernels

    builder = block.builder
    data: NDArray[np.uint8] = np.frombuffer(block.data, dtype=np.uint8)
    builder.reserve(block.data.count(b"\n", 0, block.size), block.size)
    most = builder.num_rows + min(builder.wanted, len(builder.matrix) - builder.num_rows)
    state = np.zeros(3, dtype=np.int64)
    parse: Callable[..., bool] = kernels.parse_lines
    while builder.wanted > 0:
        state[kernels.ROWS], state[kernels.ARENA] = builder.num_rows, builder.arena_used
        done = parse(
            data, block.size, most, builder.matrix, builder.arena, builder.sizes, state
        )  # fmt: skip
        builder.num_rows, builder.arena_used = int(state[kernels.ROWS]), int(state[kernels.ARENA])
        if done:
            return
        begin = int(state[kernels.PLACE])
        parsed = block.parse_carefully(begin)
        if parsed is not None:
            builder.add([parsed[0]], np.array([parsed[1]], dtype=np.float32))
        state[kernels.PLACE] = block.data.index(b"\n", begin) + 1
