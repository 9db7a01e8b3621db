"""Reads fastText's .bin: its dictionary and its input matrix of words and n-gram buckets.

Layout, little-endian: int32 magic and version (absent in models before 2017); 12 int32 settings
and a double; int32 entries, words, labels, int64 tokens and pruned buckets (absent before 2017);
for each entry its bytes, NUL, int64 count, int8 kind (0: word, 1: label); a byte, whether the
matrix is quantised (absent before 2017); int64 rows and columns, then float32 rows: first the
words, then the buckets. What follows is only used in training.

As in fastText the vector of a word is the mean of its own row and those of its n-grams. A file
that is not compressed is mapped: buckets that nobody asks for are never read.
"""

from __future__ import annotations

import mmap
import struct
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.formats.sniffing import (
    FASTTEXT_COUNTS,
    FASTTEXT_MAGIC,
    FASTTEXT_OLD_COUNTS,
    FASTTEXT_SETTINGS,
)
from lmkit.embed.formats.source import BLOCK_SIZE, VectorSource
from lmkit.embed.formats.table import TableBuilder
from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Floats, Vectors
from lmkit.errors import TextError
from lmkit.events import Listener

_NEWEST = 12
"""Version since October 2017: models of labels may have n-grams, and ``</s>`` has none."""
_SUPERVISED = 3
_END_OF_LINE = b"</s>"
_ENTRY_END = struct.Struct("<qb")
_SHAPE = struct.Struct("<2q")
_FEW_WORDS = 5_000
"""Words up to which Python is quicker than loading the compiled kernels."""
_ROWS_AT_ONCE = 1 << 13
_FNV_START, _FNV_PRIME, _LOW_32 = 2166136261, 16777619, 0xFFFFFFFF


def read_fasttext(source: VectorSource, limit: int | None, listener: Listener) -> Vectors:
    """Read the model in ``source`` with its subwords; at most ``limit`` words.

    Raises:
        TextError: the file is cut short, damaged or quantised.
    """
    return _Model(source).vectors(limit, listener)


class _Model:
    """A model as it lies in the file; the constructor reads up to the matrix."""

    def __init__(self, source: VectorSource) -> None:
        self.name = source.name
        self.data = _whole_file(source)
        self.place = 0
        old = self.data[:4] != FASTTEXT_MAGIC.to_bytes(4, "little")
        self.version = 0 if old else int(self._take(struct.Struct("<2i"))[1])
        if self.version > _NEWEST:
            raise TextError(f"{self.name}: fastText version {self.version} is not known")
        self.settings = self._take(FASTTEXT_SETTINGS)
        self.size = int(self.settings[0])
        counts = self._take(FASTTEXT_OLD_COUNTS if old else FASTTEXT_COUNTS)
        entries, self.num_words = int(counts[0]), int(counts[1])
        if not old and counts[4] > 0:
            raise self._unreadable("pruned")
        if not 0 < self.size < 1 << 24 or not 0 < self.num_words <= entries:
            raise self._damaged("its dictionary")
        self.words, self.counts = self._read_dictionary(entries)
        if not old and self._take(struct.Struct("<b"))[0]:
            raise self._unreadable("quantised")
        self.matrix = self._map_matrix()

    def vectors(self, limit: int | None, listener: Listener) -> Vectors:
        """Return the vectors of the first ``limit`` words."""
        number = self.num_words if limit is None else min(limit, self.num_words)
        builder = TableBuilder(self.name, self.size, number, limit, listener)
        subwords = self._subwords()
        words = self.words[:number]
        bare = _END_OF_LINE if self.version >= _NEWEST else None
        rows = builder.matrix
        for begin in range(0, number, _ROWS_AT_ONCE):
            end = min(begin + _ROWS_AT_ONCE, number)
            rows[begin:end] = self.matrix[begin:end]
            if subwords is not None:
                _add_ngrams(words[begin:end], rows[begin:end], subwords, bare)
            finite = np.isfinite(rows[begin:end]).all(axis=1)
            if not finite.all():
                bad = begin + int(np.argmin(finite))
                shown = words[bad][:60].decode("utf-8", "replace")
                raise TextError(
                    f"{self.name}: the vector of word {bad + 1:,} ({shown!r}) is not finite"
                )
        builder.reserve(0, sum(map(len, words)))
        builder.add_words(words)
        return builder.finish(counts=self.counts[:number], subwords=subwords)

    def _subwords(self) -> Subwords | None:
        """Return the trained buckets; None in a model without n-grams."""
        num_buckets, shortest, longest = (int(self.settings[k]) for k in (8, 9, 10))
        if longest <= 0 or num_buckets <= 0:
            return None
        if self.version < _NEWEST and self.settings[7] == _SUPERVISED:
            return None
        buckets = self.matrix[self.num_words :]
        return Subwords(max(shortest, 1), longest, num_buckets, buckets)

    def _read_dictionary(self, entries: int) -> tuple[list[bytes], NDArray[np.int64]]:
        """Return the words and their counts; labels are passed over."""
        words: list[bytes] = []
        counts: list[int] = []
        for _ in range(entries):
            end = self.data.find(b"\0", self.place)
            if end < 0:
                raise self._cut_short("its dictionary")
            word = bytes(self.data[self.place : end])
            self.place = end + 1
            count, kind = self._take(_ENTRY_END)
            if kind == 0:
                words.append(word)
                counts.append(count)
        if len(words) != self.num_words:
            raise self._damaged("its dictionary")
        return words, np.array(counts, dtype=np.int64)

    def _map_matrix(self) -> Floats:
        """Return the rows of words and buckets as they lie in the file."""
        rows, columns = self._take(_SHAPE)
        buckets = int(self.settings[8])
        if columns != self.size or rows != self.num_words + max(buckets, 0):
            raise self._damaged("its matrix")
        if len(self.data) - self.place < 4 * rows * columns:
            whole = (len(self.data) - self.place) // (4 * columns)
            raise self._cut_short(f"row {whole + 1:,} of {rows:,} of its matrix")
        matrix = np.frombuffer(self.data, dtype="<f4", count=rows * columns, offset=self.place)
        matrix = matrix.reshape(rows, columns)
        # Where it lies is chance; said to be unaligned, it always is of one type for the kernels.
        matrix.setflags(align=False)
        return matrix

    def _take(self, fields: struct.Struct) -> tuple[Any, ...]:
        if len(self.data) - self.place < fields.size:
            raise self._cut_short("its header or dictionary")
        taken = fields.unpack_from(self.data, self.place)
        self.place += fields.size
        return taken

    def _cut_short(self, where: str) -> TextError:
        return TextError(f"{self.name}: cut short in {where}", "Fetch the file again")

    def _damaged(self, what: str) -> TextError:
        return TextError(f"{self.name}: {what} cannot be right", "Fetch the file again")

    def _unreadable(self, how: str) -> TextError:
        return TextError(
            f"{self.name}: a {how} fastText model, of which not all is left",
            "Convert the model that it was made from",
        )


def _whole_file(source: VectorSource) -> mmap.mmap | bytearray:
    """Return the bytes of the file: mapped, or in memory if it is compressed or a pipe."""
    if source.size is not None:
        with open(source.path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    data = bytearray()
    piece = bytearray(BLOCK_SIZE)
    while filled := source.readinto(memoryview(piece)):
        data += memoryview(piece)[:filled]
    return data


def _add_ngrams(words: list[bytes], rows: Floats, subwords: Subwords, bare: bytes | None) -> None:
    """Turn each of ``rows`` [n, D] into its mean with those of its word's n-grams, if not bare."""
    if len(words) <= _FEW_WORDS and "lmkit.embed.formats.kernels" not in sys.modules:
        for word, row in zip(words, rows, strict=True):
            found = [] if word == bare else byte_ngram_buckets(word, subwords)
            with np.errstate(all="ignore"):  # the caller looks for numbers that are not finite
                row += subwords.rows[found].sum(axis=0)
                row /= len(found) + 1
        return
    from lmkit.embed.formats import kernels

    marked = [b"" if word == bare else b"<%b>" % word for word in words]
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, marked), dtype=np.int64, count=len(marked)), out=offsets[1:])
    arena = np.frombuffer(bytearray(b"".join(marked)), dtype=np.uint8)
    kernels.add_ngrams(
        arena, offsets, np.int64(subwords.minimum), np.int64(subwords.maximum),
        np.int64(subwords.num_buckets), subwords.rows, rows,
    )  # fmt: skip


def byte_ngram_buckets(word: bytes, subwords: Subwords) -> list[int]:
    """Return the buckets of the n-grams of ``word``, which need not be UTF-8.

    The same as :func:`lmkit.embed.subwords.ngram_buckets` where it is: fastText counts as
    characters the bytes that do not continue one.
    """
    marked = b"<%b>" % word
    starts = [place for place, byte in enumerate(marked) if byte & 0xC0 != 0x80]
    ends = [*starts[1:], len(marked)]
    found = []
    for first, begin in enumerate(starts):
        value = _FNV_START
        for last in range(first, min(first + subwords.maximum, len(starts))):
            for byte in marked[starts[last] : ends[last]]:
                signed = byte if byte < 128 else byte | 0xFFFFFF00
                value = (value ^ signed) * _FNV_PRIME & _LOW_32
            length = last - first + 1
            at_edge = begin == 0 or last == len(starts) - 1
            if length >= subwords.minimum and not (length == 1 and at_edge):
                found.append(value % subwords.num_buckets)
    return found
