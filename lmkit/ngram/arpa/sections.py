"""Parses blocks of a section, many at a time, and says what is wrong with a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.lexicon.index import Lexicon
from lmkit.ngram.arpa.parse import kernels
from lmkit.ngram.arpa.scanner import Piece
from lmkit.ngram.arpa.trie.levels import Chunk, RawNgrams, Trie
from lmkit.ngram.arpa.unigrams import Unigrams
from lmkit.text.utf8 import find_fault, is_text

_SEPARATORS = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line of a block; ``line`` counts from 0."""

    line: int
    what: str
    hint: str = ""


@dataclass(slots=True)
class Parsed:
    """What a block of a section holds."""

    ngrams: Unigrams | Chunk | None
    num_lines: int
    fault: Fault | None = None

    def __len__(self) -> int:
        """Return the number of n-grams."""
        return 0 if self.ngrams is None else len(self.ngrams)


class _Scratch:
    """Arrays that parsing fills and that are used again for the next block."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def get(self, name: str, dtype: Any, size: int) -> NDArray[Any]:
        array = self._arrays.get(name)
        if array is None or len(array) < size or array.dtype != dtype:
            array = self._arrays[name] = np.empty(size, dtype=dtype)
        return array[:size]


class SectionParser(Protocol):
    """Parses the blocks of one section; threads may share it."""

    n: int
    """The order of the n-grams."""

    def __call__(self, piece: Piece) -> Parsed:
        """Return the n-grams of a block."""


class UnigramParser:
    """Parses the blocks of 1-grams."""

    n = 1

    def __call__(self, piece: Piece) -> Parsed:
        """Return the n-grams of a block."""
        lines = _parse_lines(piece, 1, _Scratch())
        fault = _encoding_fault(piece) if lines.fault is None else lines.fault
        if fault is not None:
            return Parsed(None, lines.num_lines, fault)
        found = lines.seen[lines.words[0], 0]
        starts = (found >> np.uint64(32)).astype(np.int64)
        sizes = (found & np.uint64(0xFFFFFFFF)).astype(np.int64)
        arena = np.empty(int(sizes.sum()), dtype=np.uint8)
        kernels.gather_words(lines.data, starts, sizes, arena)
        unigrams = Unigrams(arena, sizes, lines.logprobs, lines.backoffs, lines.numbers)
        return Parsed(unigrams, lines.num_lines)


class NgramParser:
    """Parses the blocks of n-grams above 1-grams."""

    def __init__(self, n: int, lexicon: Lexicon, trie: Trie, ngrams: RawNgrams) -> None:
        """Parse ``n``-grams; ``trie`` holds the orders below, ``ngrams`` is added to."""
        self.n = n
        self._lexicon = lexicon
        self._trie = trie
        self._ngrams = ngrams
        self._free: list[_Scratch] = []

    def __call__(self, piece: Piece) -> Parsed:
        """Return the n-grams of a block."""
        try:
            scratch = self._free.pop()
        except IndexError:  # another thread may have taken the last one
            scratch = _Scratch()
        try:
            return self._parse(piece, scratch)
        finally:
            self._free.append(scratch)

    def _parse(self, piece: Piece, scratch: _Scratch) -> Parsed:
        lines = _parse_lines(piece, self.n, scratch)
        lexicon = self._lexicon
        kernels.number_words(
            lines.data, lexicon.arena, lexicon.offsets, lexicon.id_bits, lexicon.slots,
            lexicon.heads, lines.seen, lines.all_words, lines.numbers, lines.state,
        )  # fmt: skip
        if lines.state[kernels.STATUS] != kernels.OK:
            return Parsed(None, lines.num_lines, _line_fault(piece, self.n, lines.state))
        contexts, missing = self._trie.find(lines.words[:-1])
        chunk = self._ngrams.add(
            contexts, lines.words, lines.numbers, lines.logprobs, lines.backoffs, missing
        )
        return Parsed(chunk, lines.num_lines)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Parsed lines; the arrays belong to a scratch."""

    piece: Piece
    n: int
    data: NDArray[np.uint8]
    seen: NDArray[np.uint64]
    all_words: NDArray[np.uint32]
    all_numbers: NDArray[np.uint32]
    all_logprobs: NDArray[np.float32]
    all_backoffs: NDArray[np.float32]
    state: NDArray[np.int64]

    @property
    def num_lines(self) -> int:
        return int(self.state[kernels.LINES])

    @property
    def words(self) -> NDArray[np.uint32]:
        """[n, n-grams]"""
        return self.all_words[:, : self.state[kernels.NGRAMS]]

    @property
    def numbers(self) -> NDArray[np.uint32]:
        return self.all_numbers[: self.state[kernels.NGRAMS]]

    @property
    def logprobs(self) -> NDArray[np.float32]:
        return self.all_logprobs[: self.state[kernels.NGRAMS]]

    @property
    def backoffs(self) -> NDArray[np.float32]:
        return self.all_backoffs[: self.state[kernels.NGRAMS]]

    @property
    def fault(self) -> Fault | None:
        if self.state[kernels.STATUS] == kernels.OK:
            return None
        return _line_fault(self.piece, self.n, self.state)


def _parse_lines(piece: Piece, n: int, scratch: _Scratch) -> _Lines:
    """Parse the lines of a block, up to one at fault."""
    size = piece.end - piece.begin
    room = size // (2 * n + 2) + 1
    lines = _Lines(
        piece,
        n,
        np.frombuffer(piece.data, dtype=np.uint8),
        scratch.get("seen", np.uint64, 4 * (n * room + 1)).reshape(-1, 4),
        scratch.get("words", np.uint32, n * room).reshape(n, room),
        scratch.get("lines", np.uint32, room),
        scratch.get("logprobs", np.float32, room),
        scratch.get("backoffs", np.float32, room),
        np.zeros(6, dtype=np.int64),
    )
    breaks = scratch.get("breaks", np.uint32, size + 64)
    kernels.parse_ngrams(
        lines.data, piece.begin, piece.end, n, breaks, lines.seen, lines.all_words,
        lines.all_numbers, lines.all_logprobs, lines.all_backoffs, lines.state,
    )  # fmt: skip
    return lines


def _encoding_fault(piece: Piece) -> Fault | None:
    """Return what keeps the words from being UTF-8 text, or None."""
    text = piece.text()
    if is_text(text, len(text)):
        return None
    fault = find_fault(text, len(text))
    assert fault is not None
    line = text.count(b"\n", 0, fault.offset)
    return Fault(line, fault.what, "Convert the file to UTF-8 first: iconv -t utf-8")


def _line_fault(piece: Piece, n: int, state: NDArray[np.int64]) -> Fault:
    """Say what is wrong with the line that stopped a parser."""
    start, field = int(state[kernels.PLACE]), int(state[kernels.FIELD])
    line = int(state[kernels.LINES])
    status = int(state[kernels.STATUS])
    if status == kernels.BAD_FIELDS:
        return Fault(
            line,
            f"{field} field{'s' if field != 1 else ''} where a {n}-gram has a log probability, "
            f"{n} word{'s' if n > 1 else ''} and perhaps a back-off",
        )
    text = bytes(memoryview(piece.data)[start : piece.data.find(b"\n", start)])
    shown = _shown(_fields(text)[0 if status == kernels.UNKNOWN_WORD else field])
    if status == kernels.BAD_NUMBER:
        return Fault(line, f"{shown} is no log probability")
    if status == kernels.POSITIVE:
        return Fault(line, f"the log probability {shown} is above 0")
    if status == kernels.BAD_BACKOFF:
        return Fault(line, f"{shown} is no back-off weight")
    return Fault(line, f"the word {shown} is not among the 1-grams")


def _fields(line: bytes) -> list[bytes]:
    for separator in _SEPARATORS:
        line = line.replace(bytes([separator]), b" ")
    return [field for field in line.split(b" ") if field]


def _shown(field: bytes, most: int = 60) -> str:
    """Return a field for a message."""
    text = field.decode("utf-8", "replace")
    return repr(text if len(text) <= most else text[:most] + "...")
