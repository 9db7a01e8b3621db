"""Parses blocks of a section, many at a time, and says what is wrong with a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.parse import kernels
from lmkit.ngram.arpa.lexicon.index import Lexicon
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
        begin, end = piece.begin, piece.end
        data = np.frombuffer(piece.data, dtype=np.uint8)
        room = (end - begin) // 4 + 1
        starts, sizes = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        lines = np.empty(room, dtype=np.uint32)
        logprobs, backoffs = np.empty(room, np.float32), np.empty(room, np.float32)
        state = np.zeros(6, dtype=np.int64)
        kernels.parse_unigrams(
            data, begin, end, np.empty(end - begin + 64, dtype=np.uint32), starts, sizes, lines,
            logprobs, backoffs, state,
        )  # fmt: skip
        count, num_lines = int(state[kernels.NGRAMS]), int(state[kernels.LINES])
        fault = _encoding_fault(piece)
        if state[kernels.STATUS] != kernels.OK:
            fault = _line_fault(piece, 1, state)
        if fault is not None:
            return Parsed(None, num_lines, fault)
        arena = np.empty(int(sizes[:count].sum()), dtype=np.uint8)
        kernels.gather_words(data, starts[:count], sizes[:count], arena)
        unigrams = Unigrams(
            arena, sizes[:count], logprobs[:count], backoffs[:count], lines[:count]
        )
        return Parsed(unigrams, num_lines)


class NgramParser:
    """Parses the blocks of n-grams above 1-grams."""

    def __init__(self, n: int, words: Lexicon, trie: Trie, ngrams: RawNgrams) -> None:
        """Parse ``n``-grams; ``trie`` holds the orders below, ``ngrams`` is added to."""
        self.n = n
        self._words = words
        self._trie = trie
        self._ngrams = ngrams
        self._free: list[_Scratch] = []

    def __call__(self, piece: Piece) -> Parsed:
        """Return the n-grams of a block."""
        scratch = self._free.pop() if self._free else _Scratch()
        try:
            return self._parse(piece, scratch)
        finally:
            self._free.append(scratch)

    def _parse(self, piece: Piece, scratch: _Scratch) -> Parsed:
        n, begin, end = self.n, piece.begin, piece.end
        data = np.frombuffer(piece.data, dtype=np.uint8)
        room = (end - begin) // (2 * n + 2) + 1
        breaks = scratch.get("breaks", np.uint32, end - begin + 64)
        seen = scratch.get("seen", np.uint64, 4 * (n * room + 1)).reshape(-1, 4)
        words = scratch.get("words", np.uint32, n * room).reshape(n, room)
        lines = scratch.get("lines", np.uint32, room)
        logprobs = scratch.get("logprobs", np.float32, room)
        backoffs = scratch.get("backoffs", np.float32, room)
        state = np.zeros(6, dtype=np.int64)
        lexicon = self._words
        kernels.parse_ngrams(
            data, begin, end, n, lexicon.arena, lexicon.offsets, lexicon.id_bits, lexicon.slots,
            lexicon.heads, breaks, seen, words, lines, logprobs, backoffs, state,
        )  # fmt: skip
        count, num_lines = int(state[kernels.NGRAMS]), int(state[kernels.LINES])
        if state[kernels.STATUS] != kernels.OK:
            return Parsed(None, num_lines, _line_fault(piece, n, state))
        words = words[:, :count]
        contexts, missing = self._trie.find(words[:-1])
        chunk = self._ngrams.add(
            contexts, words, lines[:count], logprobs[:count], backoffs[:count], missing
        )
        return Parsed(chunk, num_lines)


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
