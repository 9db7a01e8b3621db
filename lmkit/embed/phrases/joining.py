"""Joins the words of known phrases in text, line by line or in large blocks.

From left to right: a word that is joined to the one before it begins no further phrase in the
same pass, as in word2phrase; longer phrases come from the next pass. Pairs reach across spaces
and TABs, never across lines. What stands between other words stays as it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.phrases.table import PhrasePass, PhraseTable
from lmkit.text.lines import PADDING, Block
from lmkit.text.vocab import WordTable

SMALL = 1 << 19
"""Bytes of text up to which Python is quicker than loading the compiled kernels."""
_SEPARATORS = re.compile("([ \t\r\0]+)")


@dataclass(frozen=True, slots=True)
class _Compiled:
    """One pass as the kernels want it."""

    words: WordTable
    pairs: NDArray[np.uint64]
    shift: np.uint64


class Joiner:
    """Applies a phrase table to text; the same text gets the same phrases, by either way."""

    def __init__(self, table: PhraseTable) -> None:
        self._table = table
        self._pairs = [set(zip(one.left, one.right, strict=True)) for one in table.passes]
        self._bytes_joined = 0
        self._compiled: list[_Compiled] | None = None

    def line(self, line: str) -> str:
        """Return ``line``, without a line end, with its phrases joined."""
        for pairs in self._pairs:
            parts = _SEPARATORS.split(line)  # word, separator, word, separator, word
            previous = parts[0]
            for place in range(2, len(parts), 2):
                if (previous, parts[place]) in pairs:
                    parts[place - 1] = self._table.delimiter
                    previous = ""
                else:
                    previous = parts[place]
            line = "".join(parts)
        return line

    def block(self, block: Block) -> Block:
        r"""Return ``block`` with its phrases joined and each ``\r\n`` as ``\n``."""
        self._bytes_joined += block.size
        if self._bytes_joined <= SMALL and "lmkit.embed.phrases.kernels" not in sys.modules:
            lines = block.text().split("\n")
            text = "\n".join(self.line(line.removesuffix("\r")) for line in lines)
            return _padded(text.encode(), block)
        return self.block_by_kernels(block)

    def block_by_kernels(self, block: Block) -> Block:
        """Return what :meth:`block` returns, whatever the size."""
        from lmkit.embed.phrases import kernels

        data = block.data
        if 13 in data[: block.size]:
            block = _padded(data[: block.size].tobytes().replace(b"\r\n", b"\n"), block)
        if self._compiled is None:
            self._compiled = [_compile(one) for one in self._table.passes]
        delimiter = np.frombuffer(bytearray(self._table.delimiter.encode()), dtype=np.uint8)
        for one in self._compiled:
            size = block.size + (block.size // 2) * (len(delimiter) - 1)
            out = np.zeros(size + PADDING, dtype=np.uint8)
            written = kernels.join_phrases(
                block.data, block.size, one.words.table, one.words.arena, one.words.offsets,
                one.pairs, one.shift, delimiter, out,
            )  # fmt: skip
            block = Block(out, int(written), block.source, block.line)
        return block


def _compile(one: PhrasePass) -> _Compiled:
    numbers = {word: i for i, word in enumerate(dict.fromkeys([*one.left, *one.right]), start=1)}
    keys = _keys(one.left, one.right, numbers)
    slots = max(16, 1 << (2 * len(keys)).bit_length())
    shift = np.uint64(64 - (slots.bit_length() - 1))
    from lmkit.embed.phrases import kernels

    listed = np.zeros((max(1, len(keys)), 2), dtype=np.uint64)
    listed[: len(keys), 0] = keys
    pairs = np.zeros((slots, 2), dtype=np.uint64)
    kernels.copy_pairs(listed, np.uint64(0), pairs, shift)
    return _Compiled(WordTable.of([word.encode() for word in numbers]), pairs, shift)


def _keys(left: Sequence[str], right: Sequence[str], numbers: dict[str, int]) -> NDArray[np.uint64]:
    keys = [numbers[a] << 32 | numbers[b] for a, b in zip(left, right, strict=True)]
    return np.array(keys, dtype=np.uint64)


def _padded(text: bytes, block: Block) -> Block:
    data = np.zeros(len(text) + PADDING, dtype=np.uint8)
    data[: len(text)] = np.frombuffer(text, dtype=np.uint8)
    return Block(data, len(text), block.source, block.line)
