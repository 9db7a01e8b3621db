"""Word vocabularies: the word table, the tokenizer over it, and how one is learnt from counts.

Words are what stands between spaces, TABs, CRs, LFs and NULs, as in KenLM's training. They are
told apart by their bytes. The table (see ``lmkit.text.kernels``) is stored with the model and
mapped, so that opening a model with millions of words costs nothing; single lines are encoded
by a Python twin of the kernels, so that short input never loads numba.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.language_model import BOS, EOS, SPECIALS, UNK, Ids, Mode
from lmkit.text.encoding import Encoded, Normalizer
from lmkit.text.lines import Block

SEPARATORS = re.compile(rb"[ \t\r\n\x00]+")
SMALL = 1 << 19
"""Bytes of text up to which Python is quicker than loading the compiled kernels."""
_FEW_WORDS, _FEW_WORDS_LOADED = 60_000, 100
"""Words up to which Python makes a table quicker than the kernels, to be loaded or loaded."""
_PADDING = 64
_MASK = (1 << 64) - 1
SPECIAL_BYTES = tuple(word.encode() for word in SPECIALS)


@dataclass(slots=True)
class WordTable:
    """A hash table from words to ids; see ``lmkit.text.kernels`` for the layout."""

    table: NDArray[np.uint64]
    """[size, 2], size a power of two."""
    arena: NDArray[np.uint8]
    """The words one behind the other, then at least 8 zeros."""
    offsets: NDArray[np.int64]
    """[V + 1]: word i is ``arena[offsets[i]:offsets[i + 1]]``."""

    @classmethod
    def of(cls, words: Sequence[bytes]) -> WordTable:
        """Build the table of ``words``, all different; word i gets id i."""
        sizes = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        offsets = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum(sizes, out=offsets[1:])
        # Writable, for numba compiles kernels anew for arrays that are not.
        arena = np.frombuffer(bytearray(b"".join(words)) + bytes(_PADDING), dtype=np.uint8)
        return cls.from_arena(arena, offsets)

    @classmethod
    def from_arena(cls, arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> WordTable:
        """Build the table of the words that lie in ``arena``."""
        loaded = "lmkit.text.kernels" in sys.modules
        if len(offsets) - 1 <= (_FEW_WORDS_LOADED if loaded else _FEW_WORDS):
            table = np.zeros((table_size(len(offsets) - 1), 2), dtype=np.uint64)
            _enter_in_python(table, arena, offsets)
            return cls(table, arena, offsets)
        from lmkit.text import kernels

        table = np.zeros((table_size(len(offsets) - 1), 2), dtype=np.uint64)
        kernels.enter_words(table, arena, offsets, np.zeros(len(offsets) - 1, dtype=np.bool_))
        return cls(table, arena, offsets)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.offsets) - 1

    def word(self, index: int) -> bytes:
        """Return the bytes of word ``index``."""
        return self.arena[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def words(self) -> list[bytes]:
        """Return all words in the order of their ids."""
        data = self.arena.tobytes()
        bounds = self.offsets.tolist()
        return [data[a:b] for a, b in pairwise(bounds)]

    def find(self, word: bytes) -> int:
        """Return the id of ``word``, or -1: the kernels' twin."""
        head, tag, slot = _probe(word, len(self.table))
        mask = len(self.table) - 1
        while True:
            first, second = self.table[slot].tolist()
            if second == 0:
                return -1
            if first == head and second >> 32 == tag:
                index = (second & 0xFFFFFFFF) - 1
                if self.word(index) == word:
                    return int(index)
            slot = (slot + 1) & mask


def table_size(num_words: int) -> int:
    """Return the number of slots for ``num_words`` words: a power of two, at most half full."""
    return max(16, 1 << (2 * num_words - 1).bit_length())


def _hash(word: bytes) -> int:
    value = len(word) * 0x9E3779B97F4A7C15 & _MASK
    for i in range(0, len(word), 8):
        value = (value ^ int.from_bytes(word[i : i + 8], "little")) * 0xFF51AFD7ED558CCD & _MASK
        value ^= value >> 32
    return value


def _probe(word: bytes, size: int) -> tuple[int, int, int]:
    value = _hash(word)
    return int.from_bytes(word[:8], "little"), value >> 32, value & (size - 1)


def _enter_in_python(
    table: NDArray[np.uint64], arena: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> None:
    """Enter all words into an empty table, as ``kernels.encode_words`` does."""
    data, bounds, size = arena.tobytes(), offsets.tolist(), len(table)
    slots: dict[int, tuple[int, int]] = {}
    for index in range(len(bounds) - 1):
        head, tag, slot = _probe(data[bounds[index] : bounds[index + 1]], size)
        while slot in slots:
            slot = (slot + 1) & (size - 1)
        slots[slot] = (head, tag << 32 | index + 1)
    for slot, entry in slots.items():
        table[slot] = entry


@dataclass(slots=True)
class WordTokenizer:
    """Encodes text by words; ids 0, 1, 2 are ``<unk>``, ``<s>``, ``</s>``.

    The words ``<s>`` and ``</s>`` in a text separate sentences, ``<unk>`` is the unknown word:
    nothing is glued together or dropped.
    """

    table: WordTable
    normalizer: Normalizer = field(default_factory=Normalizer)
    counts: NDArray[np.int64] | None = None
    """[V]: how often each word was seen in training, when known."""
    unit: str = "word"
    before_kernels: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    """Called before the compiled kernels walk through the table: checks a mapped one."""
    _known: dict[bytes, int] = field(default_factory=dict, repr=False)
    _bytes_encoded: int = field(default=0, repr=False)

    @classmethod
    def from_words(
        cls,
        words: Iterable[bytes],
        counts: Sequence[int] | NDArray[np.int64] | None = None,
        normalizer: Normalizer | None = None,
    ) -> WordTokenizer:
        """Build a tokenizer of ``words``, the three specials first (added where absent)."""
        listed = list(words)
        if tuple(listed[:3]) != SPECIAL_BYTES:
            given = dict.fromkeys(word for word in listed if word not in SPECIAL_BYTES)
            listed = [*SPECIAL_BYTES, *given]
            counts = None
        known = None if counts is None else np.asarray(counts, dtype=np.int64)
        return cls(WordTable.of(listed), normalizer or Normalizer(), known)

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary, the three specials included."""
        return len(self.table)

    def token(self, index: int) -> str:
        """Return word ``index``."""
        return self.table.word(index).decode()

    def encode(self, line: str) -> Ids:
        """Return the ids of the words of one line; see :class:`lmkit.language_model.Tokenizer`."""
        ids: list[int] = []
        for index in self._indices(line):
            if index != EOS or (ids and ids[-1] != EOS):
                ids.append(index)
        if ids and ids[-1] == EOS:
            ids.pop()
        return np.array(ids, dtype=np.uint32)

    def _indices(self, line: str) -> list[int]:
        """Return the id of each word of a line, both markers as id 2."""
        indices: list[int] = []
        known = self._known
        for word in SEPARATORS.split(self.normalizer(line).encode()):
            if word:
                index = known.get(word)
                if index is None:
                    index = self.table.find(word)
                    if index < 0:
                        index = UNK  # not kept: there is no end to unknown words
                    else:
                        known[word] = index
                indices.append(EOS if index == BOS else index)
        return indices

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the words joined by spaces; a final ``</s>`` is dropped, others end lines."""
        sentences: list[list[str]] = [[]]
        for index in ids:
            if index == EOS:
                sentences.append([])
            else:
                sentences[-1].append(self.token(int(index)))
        if len(sentences) > 1 and not sentences[-1]:
            sentences.pop()
        return "\n".join(" ".join(words) for words in sentences)

    def encode_block(self, block: Block, mode: Mode) -> Encoded:
        """Encode a block of lines with the compiled kernels."""
        self._bytes_encoded += block.size
        if self._bytes_encoded <= SMALL and "lmkit.text.kernels" not in sys.modules:
            return self._encode_small(block, mode)
        from lmkit.text import kernels

        if self.before_kernels is not None:
            self.before_kernels()

        block = self.normalizer.block(block)
        ids = np.empty(block.size + 1, dtype=np.uint32)
        lines = np.count_nonzero(block.data[: block.size] == 10)
        line_sizes = np.empty(lines, dtype=np.int64)
        state = np.zeros(7, dtype=np.int64)
        nothing = np.empty(0, dtype=np.int64)
        words = self.table
        kernels.encode_words(
            block.data, block.size, mode == "sentence", False, 0, words.table, words.arena,
            words.offsets, nothing, nothing, ids, line_sizes, state,
        )  # fmt: skip
        return Encoded(ids[: state[kernels.OUT]].copy(), line_sizes)

    def _encode_small(self, block: Block, mode: Mode) -> Encoded:
        """Encode a short block without numba: the twin of the kernels."""
        ids: list[int] = []
        sizes: list[int] = []
        for line in block.data[: block.size].tobytes().decode().split("\n")[:-1]:
            words = [*self.encode(line), EOS] if mode == "sentence" else self._indices(line)
            ids += words
            sizes.append(len(words))
        return Encoded(np.array(ids, dtype=np.uint32), np.array(sizes, dtype=np.int64))

    def spec(self) -> dict[str, Any]:
        """Return what a model card says about this tokenizer."""
        return {"unit": self.unit, **self.normalizer.spec()}

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the words and the normalisation."""
        digest = hashlib.sha256(repr(sorted(self.spec().items())).encode())
        digest.update(np.ascontiguousarray(self.table.offsets).tobytes())
        digest.update(self.table.arena[: self.table.offsets[-1]].tobytes())
        return digest.hexdigest()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store with a model."""
        arrays: dict[str, NDArray[Any]] = {
            "table": self.table.table,
            "arena": self.table.arena,
            "offsets": self.table.offsets,
        }
        if self.counts is not None:
            arrays["word_counts"] = self.counts
        return arrays

    def files(self) -> dict[str, bytes]:
        """Return the files to store with a model: the words and their counts, for people."""
        words = self.table.words()
        if self.counts is None:
            return {"vocab.tsv": b"".join(word + b"\n" for word in words)}
        counts = self.counts.tolist()
        return {"vocab.tsv": b"".join(map(b"%b\t%d\n".__mod__, zip(words, counts, strict=True)))}

    @classmethod
    def restore(cls, spec: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a tokenizer from :meth:`spec` and :meth:`arrays` without copying."""
        table = WordTable(arrays["table"], arrays["arena"], arrays["offsets"])
        return cls(table, Normalizer.from_spec(spec), arrays.get("word_counts"))


@dataclass(frozen=True, kw_only=True, slots=True)
class VocabularyConfig:
    """Which of the words seen in training keep an id of their own; the rest become <unk>."""

    min_count: int = 1
    """Keep words seen at least this often."""
    max_size: int | None = None
    """Keep at most this many words, the most frequent first."""
    words: tuple[bytes, ...] | None = None
    """Keep the words of this list, seen or not."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.min_count < 1:
            raise UserError(f"--min-count {self.min_count} is below 1")
        if self.max_size is not None and self.max_size < 1:
            raise UserError(f"--vocab-size {self.max_size} is below 1")
        if self.words is not None and (self.min_count > 1 or self.max_size is not None):
            raise UserError("--vocab gives the words, so --min-count and --vocab-size do nothing")


def read_word_list(path: str) -> tuple[bytes, ...]:
    """Read the words of a vocabulary file: separated by white space; a TAB ends the word's line.

    Lines of ``word<TAB>count``, as ``vocab.tsv`` has them, and plain lists of words both serve.
    """
    from lmkit.text.lines import read_lines

    words: dict[bytes, None] = {}
    for line in read_lines([path]):
        head = line.encode().split(b"\t")[0]
        words.update(dict.fromkeys(word for word in SEPARATORS.split(head) if word))
    if not words:
        raise UserError(f"{path}: no words in the vocabulary file")
    return tuple(word for word in words if word not in SPECIAL_BYTES)
