"""A word table that grows while the compiled kernels read text into it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.text import kernels
from lmkit.text.encoding import Encoded
from lmkit.text.vocab import WordTable, table_size

_PADDING = 64
_NEWLINE = 10


class GrowingTable:
    """Words numbered as they come, with counts and first occurrences; see ``kernels.py``."""

    def __init__(self, capacity: int, arena_size: int) -> None:
        """Make room for ``capacity`` words of ``arena_size`` bytes in all; both may grow."""
        self.num_words = 0
        self.arena_used = 0
        self.arena = np.zeros(arena_size + _PADDING, dtype=np.uint8)
        self._out = np.empty(0, dtype=np.uint32)
        self._make_room(capacity)

    @classmethod
    def of(
        cls, arena: NDArray[np.uint8], offsets: NDArray[np.int64], capacity: int = 0
    ) -> GrowingTable:
        """Make the table of the words in ``arena``, all different, keeping their numbers."""
        grown = cls(max(len(offsets) - 1, capacity), int(offsets[-1]))
        grown.add(arena, offsets)
        return grown

    def _make_room(self, capacity: int) -> None:
        size = table_size(capacity)
        self.table = np.zeros((size, 2), dtype=np.uint64)
        self.offsets = np.zeros(size // 2 + 2, dtype=np.int64)
        self.counts = np.zeros(size // 2 + 1, dtype=np.int64)
        self.first = np.zeros(size // 2 + 1, dtype=np.int64)

    def words(self) -> WordTable:
        """Return the words met so far."""
        return WordTable(self.table, self.arena, self.offsets[: self.num_words + 1])

    def add(self, arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add the words of another table; return their numbers here."""
        data, size = _as_lines(arena, offsets)
        ids = self.encode(data, size, False, 0).ids.astype(np.int64)
        ids[:3] = np.arange(min(3, len(ids)))  # the specials, which text reads as breaks
        return ids

    def encode(self, data: NDArray[np.uint8], size: int, sentences: bool, base: int) -> Encoded:
        """Encode ``data[:size]``, whole lines, with ``kernels.encode_words``."""
        if len(self._out) < size + 1:
            self._out = np.empty(size + 1, dtype=np.uint32)
        line_sizes = np.empty(np.count_nonzero(data[:size] == _NEWLINE), dtype=np.int64)
        state = np.zeros(7, dtype=np.int64)
        while True:
            state[kernels.NUM_WORDS] = self.num_words
            state[kernels.ARENA_USED] = self.arena_used
            status = kernels.encode_words(
                data, size, sentences, True, base, self.table, self.arena,
                self.offsets, self.counts, self.first, self._out, line_sizes, state,
            )  # fmt: skip
            self.num_words = int(state[kernels.NUM_WORDS])
            self.arena_used = int(state[kernels.ARENA_USED])
            if status == kernels.DONE:
                return Encoded(self._out[: state[kernels.OUT]].copy(), line_sizes)
            if status == kernels.GROW_WORDS:
                self._grow_table()
            else:
                arena = np.zeros(2 * len(self.arena) + size, dtype=np.uint8)
                arena[: self.arena_used] = self.arena[: self.arena_used]
                self.arena = arena

    def _grow_table(self) -> None:
        """Enter all words into a table of four times the size."""
        old, counts, first = self.words(), self.counts, self.first
        out, self._out = self._out, np.empty(0, dtype=np.uint32)
        self.num_words = self.arena_used = 0
        self.arena = np.zeros(len(old.arena), dtype=np.uint8)
        self._make_room(2 * len(self.table))
        self.add(old.arena, old.offsets)
        self.counts[: len(old)], self.first[: len(old)] = counts[: len(old)], first[: len(old)]
        self._out = out


def _as_lines(
    arena: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], int]:
    """Return the words of an arena as lines of text, padded, and the size of the text."""
    num_words = len(offsets) - 1
    total = int(offsets[-1])
    size = total + num_words
    data: NDArray[Any] = np.zeros(size + _PADDING, dtype=np.uint8)
    is_newline = np.zeros(size, dtype=bool)
    is_newline[offsets[1:] + np.arange(num_words)] = True
    data[:size][is_newline] = _NEWLINE
    data[:size][~is_newline] = arena[:total]
    return data, size
