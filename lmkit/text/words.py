"""Word tables that grow while text is read, and how those of several threads become one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import EOS, Mode
from lmkit.text.lines import Block
from lmkit.text.encoding import Encoded
from lmkit.text.vocab import _SEPARATORS, _SPECIAL_BYTES, WordTable, table_size

_PADDING = 64


class LocalWords:
    """The words one thread has met so far, numbered as they came; 0, 1, 2 are the specials."""

    def __init__(self, *, compiled: bool) -> None:
        """Start with the specials; ``compiled``: use the kernels, which large texts need."""
        self.compiled = compiled
        self.words: dict[bytes, int] = {word: i for i, word in enumerate(_SPECIAL_BYTES)}
        size = 1 << 17 if compiled else 16
        self.table = np.zeros((size, 2), dtype=np.uint64)
        self.arena = np.zeros(1 << 20 if compiled else 64, dtype=np.uint8)
        self.offsets = np.zeros(size // 2 + 2, dtype=np.int64)
        self.counts = np.zeros(size // 2 + 1, dtype=np.int64)
        self.first = np.zeros(size // 2 + 1, dtype=np.int64)
        self.num_words = 3
        special = WordTable.of(_SPECIAL_BYTES)
        self.arena_used = int(special.offsets[-1])
        self.arena[: self.arena_used] = special.arena[: self.arena_used]
        self.offsets[:4] = special.offsets
        self._out = np.empty(0, dtype=np.uint32)
        self._counted: list[int] = [0, 0, 0]
        self._firsts: list[int] = [0, 0, 0]
        if compiled:
            self._rehash()

    def encode(self, block: Block, mode: Mode, base: int) -> Encoded:
        """Encode a block that begins ``base`` bytes into the text, adding the words it brings."""
        if not self.compiled:
            return self._encode_small(block, mode, base)
        from lmkit.text import kernels

        if len(self._out) < block.size + 1:
            self._out = np.empty(block.size + 1, dtype=np.uint32)
        lines = np.count_nonzero(block.data[: block.size] == 10)
        line_sizes = np.empty(lines, dtype=np.int64)
        state = np.zeros(7, dtype=np.int64)
        while True:
            state[kernels.NUM_WORDS] = self.num_words
            state[kernels.ARENA_USED] = self.arena_used
            status = kernels.encode_words(
                block.data, block.size, mode == "sentence", True, base, self.table, self.arena,
                self.offsets, self.counts, self.first, self._out, line_sizes, state,
            )  # fmt: skip
            self.num_words = int(state[kernels.NUM_WORDS])
            self.arena_used = int(state[kernels.ARENA_USED])
            if status == kernels.DONE:
                break
            if status == kernels.GROW_WORDS:
                self._grow_table()
            else:
                self.arena = _grown(self.arena, 2 * len(self.arena) + block.size)
        return Encoded(self._out[: state[kernels.OUT]].copy(), line_sizes)

    def _grow_table(self) -> None:
        size = 4 * len(self.table)
        self.table = np.zeros((size, 2), dtype=np.uint64)
        self.offsets = _grown(self.offsets, size // 2 + 2)
        self.counts = _grown(self.counts, size // 2 + 1)
        self.first = _grown(self.first, size // 2 + 1)
        self._rehash()

    def _rehash(self) -> None:
        from lmkit.text import kernels

        kernels.rehash_words(self.num_words, self.table, self.arena, self.offsets)

    def _encode_small(self, block: Block, mode: Mode, base: int) -> Encoded:
        """Encode without numba: the twin of ``kernels.encode_words`` with ``grow``."""
        words, counts, firsts = self.words, self._counted, self._firsts
        ids: list[int] = []
        sizes: list[int] = []
        sentence_tokens = 0
        position = base
        for line in block.data[: block.size].tobytes().split(b"\n")[:-1]:
            before = len(ids)
            for word in _SEPARATORS.split(line):
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

    def result(self) -> tuple[list[bytes] | None, WordTable, NDArray[np.int64], NDArray[np.int64]]:
        """Return (words or None, table, counts, first occurrences) of what was met."""
        if not self.compiled:
            listed = list(self.words)
            table = WordTable.of(listed)
            return listed, table, np.array(self._counted), np.array(self._firsts)
        n = self.num_words
        table = WordTable(self.table, self.arena, self.offsets[: n + 1])
        return None, table, self.counts[:n], self.first[:n]


def merge_words(
    parts: Sequence[LocalWords],
) -> tuple[WordTable, NDArray[np.int64], list[NDArray[np.int64]]]:
    """Join the tables of all threads; words by falling count, ties by first occurrence.

    Returns:
        The table, the counts [V], and for each part the new id of each of its words.
    """
    if not parts:
        return WordTable.of(_SPECIAL_BYTES), np.zeros(3, dtype=np.int64), []
    tables = [part.result() for part in parts]
    merged = tables[0][1]
    maps = [np.arange(len(merged), dtype=np.int64)]
    for _, table, _, _ in tables[1:]:
        merged, ids = _merged(merged, table, parts[0].compiled)
        maps.append(ids)
    counts = np.zeros(len(merged), dtype=np.int64)
    first = np.full(len(merged), np.iinfo(np.int64).max)
    for (_, _, count, begin), ids in zip(tables, maps, strict=True):
        counts[ids] += count
        seen = count > 0
        np.minimum.at(first, ids[seen], begin[seen])
    order = np.concatenate([np.arange(3), 3 + np.lexsort((first[3:], -counts[3:]))])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return _reordered(merged, order), counts[order], [ranks[ids] for ids in maps]


def _merged(
    target: WordTable, source: WordTable, compiled: bool
) -> tuple[WordTable, NDArray[np.int64]]:
    """Add the words of ``source`` to ``target``; return it and the ids of the source's words."""
    num_words, more = len(target), len(source)
    ids = np.empty(more, dtype=np.int64)
    used, extra = int(target.offsets[-1]), int(source.offsets[-1])
    arena = np.zeros(used + extra + _PADDING, dtype=np.uint8)
    arena[:used] = target.arena[:used]
    offsets = _grown(target.offsets, num_words + more + 1)
    if not compiled:
        known = {word: i for i, word in enumerate(target.words())}
        for i, word in enumerate(source.words()):
            ids[i] = known.setdefault(word, len(known))
        return WordTable.of(list(known)), ids
    from lmkit.text import kernels

    table = np.zeros((table_size(num_words + more), 2), dtype=np.uint64)
    kernels.rehash_words(num_words, table, arena, offsets)
    state = np.zeros(7, dtype=np.int64)
    state[kernels.NUM_WORDS], state[kernels.ARENA_USED] = num_words, used
    sizes = np.diff(source.offsets)
    begins = np.ascontiguousarray(source.offsets[:-1])
    kernels.insert_words(source.arena, begins, sizes, ids, table, arena, offsets, state)
    total = int(state[kernels.NUM_WORDS])
    return WordTable(table, arena, offsets[: total + 1]), ids


def _reordered(table: WordTable, order: NDArray[np.int64]) -> WordTable:
    """Return the table whose word i is word ``order[i]`` of ``table``."""
    sizes = np.diff(table.offsets)[order]
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    begins = np.repeat(table.offsets[:-1][order] - offsets[:-1], sizes)
    arena = np.zeros(int(offsets[-1]) + _PADDING, dtype=np.uint8)
    arena[: offsets[-1]] = table.arena[begins + np.arange(offsets[-1])]
    return WordTable.from_arena(arena, offsets)


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    grown = np.zeros(size, dtype=array.dtype)
    grown[: len(array)] = array
    return grown
