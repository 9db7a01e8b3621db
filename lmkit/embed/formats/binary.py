r"""Reads word2vec's .bin: the line ``V D``, then for each word its bytes, a space, D float32.

word2vec C writes a newline behind each vector, gensim none; both are read. A word is what lies
before the first space. Where that leads to a vector that cannot be, it is tried whether a later
space ends the word: a newline behind the vector, or numbers of a sane size, tell.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.formats.sniffing import Layout
from lmkit.embed.formats.source import VectorSource
from lmkit.embed.formats.table import TableBuilder
from lmkit.embed.vectors import Floats, Vectors
from lmkit.errors import TextError
from lmkit.events import Listener

_BLOCK_SIZE = 1 << 20
LONGEST_WORD = 1 << 12
_NEWLINE = 10
_ASCII = re.compile(rb"[!-~]+")
_AT_ONCE = 256
"""Records taken on trust before their numbers are looked at."""
_SPACES = 32
"""Spaces that are tried as the end of a word."""
_SMALLEST, _LARGEST = 1e-15, 1e15
"""Sizes between which the numbers of vectors lie; others make a record suspect."""


def read_binary(
    source: VectorSource, layout: Layout, limit: int | None, listener: Listener
) -> Vectors:
    """Read the vectors of ``source``, whose beginning told ``layout``; at most ``limit``.

    Raises:
        TextError: the file is cut short, or a vector is not finite; the message says which.
    """
    source.skip(layout.header)
    promised = layout.promised or 0
    bytes_each = 4 * layout.size + 2
    most = (source.size or 64 << 20) // bytes_each + 1
    builder = TableBuilder(source.name, layout.size, min(promised, most), limit, listener)
    reading = _Reading(source, builder, promised, listener)
    reading.run()
    if builder.wanted > 0 and builder.num_rows > promised:
        listener.warn(
            f"{source.name}: {builder.num_rows:,} vectors, though its header says {promised:,}; "
            "all were read"
        )
    return builder.finish()


class _Reading:
    """A window that moves over the records of one file."""

    def __init__(
        self, source: VectorSource, builder: TableBuilder, promised: int, listener: Listener
    ) -> None:
        self.source = source
        self.listener = listener
        self.builder = builder
        self.promised = promised
        self.row_bytes = 4 * builder.size
        self.data = b""
        self.place = 0
        self.at_end = False
        self.newlines: bool | None = None
        """Whether a newline follows each vector; None before the first."""
        self.doubtful = True
        """Whether numbers of odd sizes make a record suspect in this file."""

    def run(self) -> None:
        """Read all records."""
        builder = self.builder
        while builder.wanted > 0:
            self._refill()
            if self._is_over():
                break
            if self._take_plain():
                continue
            try:
                self._take_one()
            except TextError as error:
                if builder.num_rows < self.promised:
                    raise
                self.listener.warn(f"{error} It lies behind all that the header promises")
                break
        if builder.wanted > 0 and builder.num_rows < self.promised:
            raise self._cut_short("word")

    def _is_over(self) -> bool:
        """Tell whether nothing follows but line ends."""
        rest = len(self.data) - self.place
        return self.at_end and rest < self.row_bytes and not self.data[self.place :].strip(b"\r\n")

    def _refill(self) -> None:
        """Have a whole record and the beginning of the next in the window, or the end."""
        longest = self.row_bytes + 2 * LONGEST_WORD
        if self.at_end or len(self.data) - self.place >= longest:
            return
        room = max(_BLOCK_SIZE, 2 * longest)
        if self.source.size is not None:
            room = min(room, self.source.size + 1)
        more = bytearray(room)
        filled = self.source.readinto(memoryview(more))
        self.at_end = filled < room
        self.data = self.data[self.place :] + bytes(memoryview(more)[:filled])
        self.place = 0

    def _take_plain(self) -> bool:
        """Take records that lie as they should; return whether there were any."""
        words, starts, ends = self._find_plain(min(_AT_ONCE, self.builder.wanted))
        if not words:
            return False
        data, size = self.data, self.row_bytes
        joined = b"".join([data[start : start + size] for start in starts])
        rows = np.frombuffer(joined, dtype="<f4").reshape(len(words), self.builder.size)
        sound = _sane(rows) if self.doubtful else np.isfinite(rows).all(axis=1)
        taken = len(words) if sound.all() else int(np.argmin(sound))
        if not taken:
            return False
        self.builder.add(words[:taken], rows[:taken])
        self.place = ends[taken - 1]
        return True

    def _find_plain(self, most: int) -> tuple[list[bytes], list[int], list[int]]:
        """Return words, where their vectors start and where their records end."""
        data, size, place = self.data, self.row_bytes, self.place
        words: list[bytes] = []
        starts: list[int] = []
        ends: list[int] = []
        if self.newlines is None:
            return words, starts, ends
        last = len(data) - size - (1 if self.at_end else LONGEST_WORD)
        while len(words) < most:
            space = data.find(b" ", place, place + LONGEST_WORD)
            if space <= place or space >= last:
                break
            end = space + 1 + size
            if (data[end] == _NEWLINE) != self.newlines:
                break
            word = data[place:space]
            if not (self.newlines or _is_text(word)):
                break
            words.append(word)
            starts.append(space + 1)
            ends.append(end + self.newlines)
            place = ends[-1]
        if words and not self.newlines:  # whether a record is right, the word behind it tells
            del words[-1], starts[-1], ends[-1]
        return words, starts, ends

    def _take_one(self) -> None:
        """Take one record with care, the first and the last of the file among them."""
        data, begin = self.data, self.place
        while data[begin : begin + 1] == b"\n":
            begin += 1
        spaces = self._possible_ends(begin)
        if not spaces:
            raise self._cut_short("word")
        chosen = next((space for space in spaces if self._is_plausible(space)), None)
        if chosen is None:
            chosen = spaces[0]
        end = chosen + 1 + self.row_bytes
        if end > len(data):
            raise self._cut_short("the vector of word")
        rows = np.frombuffer(data[chosen + 1 : end], dtype="<f4").reshape(1, -1)
        word = data[begin:chosen]
        if not np.isfinite(rows).all():
            shown = word[:60].decode("utf-8", "replace")
            raise TextError(
                f"{self.source.name}: the vector of word {self.builder.num_rows + 1:,} "
                f"({shown!r}) is not finite"
            )
        if not _sane(rows).all():
            self.doubtful = False
        follows = data[end : end + 1] == b"\n"
        if self.newlines is None and end < len(data):
            self.newlines = follows
        self.builder.add([word], rows)
        self.place = end + follows

    def _possible_ends(self, begin: int) -> list[int]:
        """Return where spaces stand that may end the word at ``begin``."""
        spaces: list[int] = []
        place = begin
        while len(spaces) < _SPACES:
            space = self.data.find(b" ", place, begin + LONGEST_WORD)
            if space < 0 or (spaces and _has_control(self.data[begin:space])):
                break
            spaces.append(space)
            place = space + 1
        if not spaces and len(self.data) - begin > LONGEST_WORD:
            raise TextError(
                f"{self.source.name}: word {self.builder.num_rows + 1:,} has no end",
                "The file is damaged; fetch it again",
            )
        return spaces

    def _is_plausible(self, space: int) -> bool:
        """Tell whether a vector begins behind ``space``."""
        end = space + 1 + self.row_bytes
        if end > len(self.data):
            return False
        row: NDArray[np.float32] = np.frombuffer(self.data[space + 1 : end], dtype="<f4")
        if not np.isfinite(row).all():
            return False
        if end == len(self.data):
            return not self.newlines or bool(_sane(row[None]).all())
        follows = self.data[end] == _NEWLINE
        if self.newlines is not None and follows != self.newlines:
            return False
        if not follows:
            space = self.data.find(b" ", end, end + LONGEST_WORD)
            if space > 0 and not _is_text(self.data[end:space]):
                return False
        return not self.doubtful or bool(_sane(row[None]).all())

    def _cut_short(self, where: str) -> TextError:
        done = self.builder.num_rows
        hint = f"; lmkit embed convert FILE OUT --limit {done} keeps the others" if done else ""
        return TextError(
            f"{self.source.name}: cut short in {where} {done + 1:,} of {self.promised:,}",
            f"Fetch the file again{hint}",
        )


def _sane(rows: Floats) -> NDArray[np.bool_]:
    """Return for each row whether its numbers have the sizes that those of vectors have."""
    sizes = np.abs(rows)
    sane = ((sizes > _SMALLEST) & (sizes < _LARGEST)) | (sizes == 0)
    return np.asarray(sane.all(axis=1))


def _has_control(word: bytes) -> bool:
    return any(byte < 32 for byte in word)


def _is_text(word: bytes) -> bool:
    """Tell whether ``word`` can be the beginning of a record: UTF-8 without control characters."""
    if _ASCII.fullmatch(word):
        return True
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return bool(word) and not _has_control(word)
