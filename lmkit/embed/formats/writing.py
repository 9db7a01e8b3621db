"""Writes vectors files: word2vec text with its header, GloVe text without, word2vec .bin.

Numbers in text have the fewest digits that float32 reads back as the same. The .bin is that of
word2vec C, a newline behind each vector. A file appears whole or not at all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.formats.kinds import WrittenKind, written_kind
from lmkit.embed.vectors import Floats, Vectors
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.text.sources import BOM
from lmkit.text.writer import LineWriter

SMALL = 200_000
"""Numbers up to which Python writes text quicker than loading the compiled kernels."""
_BLOCK_BYTES = 4 << 20
_LONGEST_NUMBER = 17
"""Characters of ``-1.1754944e-38``, the space before it and some to spare."""
_Piece = tuple[int, bytes | memoryview]
"""How many words, and their bytes."""
_BLANK = re.compile(rb"[ \t\r\n\0]")


def write(
    path: str | Path,
    vectors: Vectors,
    kind: str | None = None,
    *,
    force: bool = False,
    escape: bool = False,
    listener: Listener = SILENT,
    small: int = SMALL,
) -> None:
    """Write ``vectors`` to the file at ``path``; .gz, .bz2 and .xz are compressed.

    Args:
        path: the file.
        vectors: what to write; of subwords and counts these formats keep nothing.
        kind: ``"word2vec"``, ``"glove"`` or ``"binary"``; None for what the suffix says (.txt
            and .vec: word2vec, .bin: binary).
        force: replace the file if it exists.
        escape: write words that the formats cannot hold with ``_`` for each blank, line end or
            NUL in them (and for an empty word); more ``_`` at the end if there is such a word.
            Else they are an error.
        listener: is told of the progress and warned of what is changed or lost.
        small: numbers up to which the compiled kernels are not loaded.

    Raises:
        UserError: the suffix tells no format, a word cannot be written, or the file cannot.
    """
    chosen = written_kind(str(path), kind)
    with LineWriter(path, force=force) as out:
        words = _writable(vectors.words.words(), chosen, str(path), escape, listener)
        if vectors.subwords is not None:
            listener.warn(f"{path} keeps no subwords: words that are not in it get no vector")
        listener.phase("writing", len(words), "words")
        if chosen != "glove":
            out.write_bytes(b"%d %d\n" % (len(words), vectors.size))
        if chosen == "binary":
            pieces = _binary_pieces(words, vectors.matrix)
        elif vectors.matrix.size <= small and "lmkit.embed.formats.kernels" not in sys.modules:
            pieces = _text_pieces(words, vectors.matrix)
        else:
            pieces = _compiled_pieces(words, vectors.matrix)
        for count, piece in pieces:
            out.write_bytes(piece)
            listener.advance(count)
    listener.finish()


def _writable(
    words: list[bytes], kind: WrittenKind, name: str, escape: bool, listener: Listener
) -> list[bytes]:
    """Return ``words`` as they are written.

    Raises:
        UserError: without ``escape``, if some cannot be.
    """
    unfit = [i for i, word in enumerate(words) if not word or _BLANK.search(word)]
    if kind == "glove" and words and words[0].startswith(BOM):
        unfit = [0, *(i for i in unfit if i)]  # readers would drop the mark
    if not unfit:
        return words
    shown = words[unfit[0]][:60].decode("utf-8", "replace")
    if not escape:
        raise UserError(
            f"{name}: {len(unfit):,} of {len(words):,} words are empty or hold blanks, which end "
            f"a word in this format; the first is {shown!r}",
            "Pass --escape to write _ for each blank",
        )
    taken = set(words)
    written = list(words)
    for i in unfit:
        word = _BLANK.sub(b"_", words[i]) or b"_"
        if word.startswith(BOM):
            word = b"_" + word
        while word in taken:
            word += b"_"
        taken.add(word)
        written[i] = word
    new = written[unfit[0]].decode("utf-8", "replace")
    listener.warn(f"{name}: _ stands for blanks in {len(unfit):,} words: {shown!r} is {new!r}")
    return written


def _blocks(matrix: Floats, row_bytes: int) -> Iterator[tuple[int, Floats]]:
    """Yield (first row, rows) in pieces that take a few megabytes when written."""
    step = max(_BLOCK_BYTES // row_bytes, 1)
    for begin in range(0, len(matrix), step):
        yield begin, np.ascontiguousarray(matrix[begin : begin + step], dtype=np.float32)


def _binary_pieces(words: list[bytes], matrix: Floats) -> Iterator[_Piece]:
    size = 4 * matrix.shape[1]
    for begin, rows in _blocks(matrix, size):
        data = rows.astype("<f4", copy=False).tobytes()
        places = range(0, len(data), size)
        named = zip(words[begin : begin + len(rows)], places, strict=True)
        yield len(rows), b"".join([b"%b %b\n" % (word, data[k : k + size]) for word, k in named])


def _text_pieces(words: list[bytes], matrix: Floats) -> Iterator[_Piece]:
    for begin, rows in _blocks(matrix, _LONGEST_NUMBER * matrix.shape[1]):
        lines = map(_line, words[begin : begin + len(rows)], rows)
        yield len(rows), b"".join(lines)


def _line(word: bytes, row: NDArray[np.float32]) -> bytes:
    # NumPy finds the digits, Python spells them: NumPy's spelling depends on its version.
    return b"%b %b\n" % (word, " ".join([repr(float(str(x))) for x in row]).encode())


def _compiled_pieces(words: list[bytes], matrix: Floats) -> Iterator[_Piece]:
    from lmkit.embed.formats import kernels

    format_rows: Callable[..., tuple[int, int]] = kernels.format_rows
    number_bytes = _LONGEST_NUMBER * matrix.shape[1]
    for first, rows in _blocks(matrix, number_bytes):
        chosen = words[first : first + len(rows)]
        arena = np.frombuffer(bytearray(b"".join(chosen)) + bytes(8), dtype=np.uint8)
        offsets = np.zeros(len(chosen) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, chosen), dtype=np.int64), out=offsets[1:])
        out = np.empty(len(rows) * (number_bytes + 1) + len(arena) + 64, dtype=np.uint8)
        begin = 0
        while begin < len(rows):
            end, used = format_rows(rows, begin, arena, offsets, 0, out)
            yield end - begin, out[:used].data
            if end < len(rows):
                yield 1, memoryview(_line(chosen[end], rows[end]))
            begin = end + 1
