"""Word tables that grow while text is read, and how those of several threads become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import EOS, Mode
from lmkit.text.encoding import Encoded
from lmkit.text.lines import Block
from lmkit.text.vocab import SEPARATORS, SPECIAL_BYTES, WordTable

if TYPE_CHECKING:
    from lmkit.text.growing import GrowingTable

_PADDING = 64


class LocalWords:
    """The words one thread has met so far, numbered as they came; 0, 1, 2 are the specials."""

    def __init__(self, *, compiled: bool) -> None:
        """Start with the specials; ``compiled``: use the kernels, which large texts need."""
        self._grown: GrowingTable | None = None
        if compiled:
            from lmkit.text.growing import GrowingTable

            special = WordTable.of(SPECIAL_BYTES)
            self._grown = GrowingTable.of(special.arena, special.offsets, capacity=1 << 16)
            self._grown.counts[:] = 0  # they were entered, not met
        self._words: dict[bytes, int] = {word: i for i, word in enumerate(SPECIAL_BYTES)}
        self._counts: list[int] = [0, 0, 0]
        self._first: list[int] = [0, 0, 0]

    def encode(self, block: Block, mode: Mode, base: int) -> Encoded:
        """Encode a block, adding the words it brings; ``base`` grows from block to block."""
        if self._grown is None:
            return self._encode_small(block, mode, base)
        return self._grown.encode(block.data, block.size, mode == "sentence", base)

    def _encode_small(self, block: Block, mode: Mode, base: int) -> Encoded:
        """Encode without numba: the twin of ``kernels.encode_words`` with ``grow``."""
        words, counts, firsts = self._words, self._counts, self._first
        ids: list[int] = []
        sizes: list[int] = []
        sentence_tokens = 0
        position = base
        for line in block.data[: block.size].tobytes().split(b"\n")[:-1]:
            before = len(ids)
            for word in SEPARATORS.split(line):
                if not word:
                    continue
                index = words.get(word)
                if index is None:
                    index = words[word] = len(words)
                    counts.append(0)
                    firsts.append(position + index)
                counts[index] += 1
                if index not in (1, 2):
                    ids.append(index)
                    sentence_tokens += 1
                elif sentence_tokens or mode == "document":
                    ids.append(EOS)
                    sentence_tokens = 0
            if mode == "sentence" and (sentence_tokens or len(ids) == before):
                ids.append(EOS)
                sentence_tokens = 0
            sizes.append(len(ids) - before)
        return Encoded(np.array(ids, dtype=np.uint32), np.array(sizes, dtype=np.int64))

    def result(self) -> tuple[WordTable, NDArray[np.int64], NDArray[np.int64]]:
        """Return the table, the counts and the first occurrences of what was met."""
        if self._grown is None:
            listed = list(self._words)
            return WordTable.of(listed), np.array(self._counts), np.array(self._first)
        grown, size = self._grown, self._grown.num_words
        return grown.words(), grown.counts[:size], grown.first[:size]


def merge_words(
    parts: Sequence[LocalWords],
) -> tuple[WordTable, NDArray[np.int64], list[NDArray[np.int64]]]:
    """Join the tables of all threads; words by falling count, ties by first occurrence.

    Returns:
        The table, the counts [V], and for each part the new id of each of its words.
    """
    if not parts:
        return WordTable.of(SPECIAL_BYTES), np.zeros(3, dtype=np.int64), []
    tables = [part.result() for part in parts]
    merged = tables[0][0]
    maps = [np.arange(len(merged), dtype=np.int64)]
    if len(tables) > 1:
        merged, others = _merged(merged, [table for table, _, _ in tables[1:]])
        maps += others
    counts = np.zeros(len(merged), dtype=np.int64)
    first = np.full(len(merged), np.iinfo(np.int64).max)
    for (_, count, begin), ids in zip(tables, maps, strict=True):
        counts[ids] += count
        seen = count > 0
        np.minimum.at(first, ids[seen], begin[seen])
    order = np.concatenate([np.arange(3), 3 + np.lexsort((first[3:], -counts[3:]))])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return _reordered(merged, order), counts[order], [ranks[ids] for ids in maps]


def _merged(
    first: WordTable, others: Sequence[WordTable]
) -> tuple[WordTable, list[NDArray[np.int64]]]:
    """Add the words of ``others`` to those of ``first``; return all and the ids of the others'."""
    from lmkit.text.growing import GrowingTable

    most = sum(len(table) for table in (first, *others))
    grown = GrowingTable.of(first.arena, first.offsets, capacity=most)
    maps = [grown.add(table.arena, table.offsets) for table in others]
    return grown.words(), maps


def _reordered(table: WordTable, order: NDArray[np.int64]) -> WordTable:
    """Return the table whose word i is word ``order[i]`` of ``table``."""
    sizes = np.diff(table.offsets)[order]
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    begins = np.repeat(table.offsets[:-1][order] - offsets[:-1], sizes)
    arena = np.zeros(int(offsets[-1]) + _PADDING, dtype=np.uint8)
    arena[: offsets[-1]] = table.arena[begins + np.arange(offsets[-1])]
    return WordTable.from_arena(arena, offsets)
