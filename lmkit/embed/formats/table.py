"""Collects the words and rows of a file, and makes sound vectors of them.

The matrix is filled in place, so that reading takes little more memory than its result.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Floats, ListedWords, Vectors, Words
from lmkit.errors import TextError, UserError
from lmkit.events import Listener
from lmkit.text.vocab import WordTable, table_size

_PADDING = 64
_FEW_WORDS = 500_000
"""Words up to which a list and a dictionary do, where no kernels are loaded anyway."""
_BLOCK = 1 << 12


class TableBuilder:
    """Words and rows as they come.

    Attributes:
        matrix: float32 [>= num_rows, D].
        arena: the words one behind the other, then room.
        sizes: int64 [>= num_rows], the bytes of each word.
    """

    def __init__(
        self, name: str, size: int, expected: int, limit: int | None, listener: Listener
    ) -> None:
        """Make room for ``expected`` rows of ``size`` numbers; at most ``limit`` are wanted."""
        self.name = name
        self.size = size
        self.limit = limit
        self.num_rows = 0
        self.arena_used = 0
        self._listener = listener
        expected = max(expected if limit is None else min(expected, limit), 1)
        try:
            self.matrix: Floats = np.empty((expected, size), dtype=np.float32)
            self.arena = np.zeros(8 * expected + _PADDING, dtype=np.uint8)
            self.sizes = np.empty(expected, dtype=np.int64)
        except (MemoryError, ValueError):
            raise self._no_memory(expected) from None

    @property
    def wanted(self) -> int:
        """How many more rows may come."""
        return sys.maxsize if self.limit is None else self.limit - self.num_rows

    def reserve(self, rows: int, word_bytes: int) -> None:
        """Make room for ``rows`` more rows whose words have ``word_bytes`` in all."""
        needed = self.num_rows + rows
        if needed > len(self.matrix):
            capacity = needed + needed // 8
            try:
                # No view of these arrays outlives the call that fills them.
                self.matrix.resize((capacity, self.size), refcheck=False)
                self.sizes.resize(capacity, refcheck=False)
            except MemoryError:
                raise self._no_memory(capacity) from None
        if self.arena_used + word_bytes + _PADDING > len(self.arena):
            self.arena.resize(2 * (self.arena_used + word_bytes) + _PADDING, refcheck=False)

    def add(self, words: Sequence[bytes], rows: Floats) -> None:
        """Append ``words`` and their ``rows`` [n, D]."""
        self.reserve(len(words), sum(map(len, words)))
        self.matrix[self.num_rows : self.num_rows + len(words)] = rows
        self.add_words(words)

    def add_words(self, words: Sequence[bytes]) -> None:
        """Append words whose rows are in place; :meth:`reserve` made room for them."""
        joined = b"".join(words)
        begin, end = self.arena_used, self.arena_used + len(joined)
        self.arena[begin:end] = np.frombuffer(joined, dtype=np.uint8)
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        self.sizes[self.num_rows : self.num_rows + len(words)] = lengths
        self.num_rows += len(words)
        self.arena_used = end

    def finish(
        self, *, counts: NDArray[np.int64] | None = None, subwords: Subwords | None = None
    ) -> Vectors:
        """Return the vectors: bad UTF-8 is replaced, and of equal words the first one stays.

        Raises:
            TextError: there are none.
        """
        if not self.num_rows:
            raise TextError(f"{self.name}: no vectors")
        arena, offsets = self._readable_words()
        words, repeated = _index(arena, offsets)
        matrix = self.matrix[: self.num_rows]
        if repeated.any():
            kept = np.flatnonzero(~repeated)
            self._listener.warn(
                f"{self.name}: {_counted(len(repeated) - len(kept), 'repeated word')} left out; "
                "the first vector of a word counts"
            )
            words, _ = _index(*_gathered(arena, offsets, kept))
            for begin in range(0, len(kept), _BLOCK):
                moved = kept[begin : begin + _BLOCK]
                matrix[begin : begin + len(moved)] = matrix[moved]
            matrix = matrix[: len(kept)]
            counts = None if counts is None else counts[kept]
        return Vectors.of(words, matrix, counts=counts, subwords=subwords)

    def _readable_words(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the arena and offsets of the words as UTF-8."""
        offsets = np.zeros(self.num_rows + 1, dtype=np.int64)
        np.cumsum(self.sizes[: self.num_rows], out=offsets[1:])
        text = self.arena[: self.arena_used]
        self.arena[self.arena_used :] = 0
        if not (text & 0x80).any():
            return self.arena, offsets
        words = _cut(text.tobytes(), offsets)
        mended = [_mended(word) for word in words]
        bad = sum(new is not old for new, old in zip(mended, words, strict=True))
        if not bad:
            return self.arena, offsets
        self._listener.warn(
            f"{self.name}: {_counted(bad, 'word')} not UTF-8; U+FFFD stands for the bad bytes"
        )
        np.cumsum(np.fromiter(map(len, mended), dtype=np.int64), out=offsets[1:])
        return _as_arena(b"".join(mended)), offsets

    def _no_memory(self, rows: int) -> UserError:
        need = 4 * rows * self.size >> 20
        return UserError(
            f"{self.name}: {rows:,} vectors of {self.size} numbers take {need:,} MiB, "
            "which this machine does not have",
            "Pass --limit N",
        )


def _index(arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[Words, NDArray[np.bool_]]:
    """Return the words by number and, for each, whether it was there before."""
    num_words = len(offsets) - 1
    repeated = np.zeros(num_words, dtype=np.bool_)
    if num_words <= _FEW_WORDS and "numba" not in sys.modules:
        words = _cut(arena[: offsets[-1]].tobytes(), offsets)
        if len(set(words)) < num_words:
            seen: set[bytes] = set()
            for number, word in enumerate(words):
                repeated[number] = word in seen
                seen.add(word)
        return ListedWords(words), repeated
    from lmkit.text import kernels

    table = np.zeros((table_size(num_words), 2), dtype=np.uint64)
    kernels.enter_words(table, arena, offsets, repeated)
    return WordTable(table, arena, offsets), repeated


def _gathered(
    arena: NDArray[np.uint8], offsets: NDArray[np.int64], kept: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the arena and offsets of the words ``kept``."""
    words = _cut(arena[: offsets[-1]].tobytes(), offsets)
    joined = b"".join([words[number] for number in kept.tolist()])
    bounds = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(np.diff(offsets)[kept], out=bounds[1:])
    return _as_arena(joined), bounds


def _as_arena(joined: bytes) -> NDArray[np.uint8]:
    # Writable, for numba compiles kernels anew for arrays that are not.
    return np.frombuffer(bytearray(joined) + bytes(_PADDING), dtype=np.uint8)


def _cut(data: bytes, offsets: NDArray[np.int64]) -> list[bytes]:
    bounds = offsets.tolist()
    return [data[bounds[i] : bounds[i + 1]] for i in range(len(bounds) - 1)]


def _mended(word: bytes) -> bytes:
    """Return ``word`` itself if it is UTF-8, else with U+FFFD for what is not."""
    try:
        word.decode()
    except UnicodeDecodeError:
        return word.decode("utf-8", "replace").encode()
    return word


def _counted(number: int, noun: str) -> str:
    """Return ``1 word was``, ``3 words were``."""
    return f"{number:,} {noun} was" if number == 1 else f"{number:,} {noun}s were"
