"""Small vectors files for tests, and a listener that remembers what it was warned of."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lmkit.embed.formats import read
from lmkit.embed.vectors import Vectors
from lmkit.events import Listener


class Heard(Listener):
    """Keeps warnings and notes."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.notes: list[str] = []

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    def note(self, message: str) -> None:
        self.notes.append(message)


def heard(path: Path, limit: int | None = None) -> tuple[Vectors, list[str]]:
    """Read the file at ``path``; return its vectors and the warnings."""
    listener = Heard()
    return read(path, limit=limit, listener=listener), listener.warnings


def table(vectors: Vectors) -> dict[bytes, list[float]]:
    """Return the vectors as a dictionary in their order."""
    rows = vectors.matrix.tolist()
    return {vectors.words.word(i): rows[i] for i in range(len(vectors))}


def binary(words: Sequence[bytes], rows: np.ndarray, end: bytes = b"\n") -> bytes:
    """Return a word2vec .bin with ``end`` behind each vector."""
    header = b"%d %d\n" % rows.shape
    records = zip(words, rows.astype("<f4"), strict=True)
    return header + b"".join(word + b" " + row.tobytes() + end for word, row in records)


def fasttext(
    words: Sequence[bytes],
    matrix: np.ndarray,
    *,
    buckets: int,
    shortest: int = 3,
    longest: int = 6,
    labels: Sequence[bytes] = (),
    old: bool = False,
    quantised: bool = False,
    pruned: int = 0,
    version: int = 12,
) -> bytes:
    """Return the beginning of a fastText model, up to the end of its input matrix."""
    size = matrix.shape[1]
    head = b"" if old else struct.pack("<2i", 793712314, version)
    settings = [size, 5, 5, 1, 5, 1, 2, 2, buckets, shortest, longest, 100]
    head += struct.pack("<12id", *settings, 1e-4)
    head += struct.pack("<3iq", len(words) + len(labels), len(words), len(labels), 100)
    head += b"" if old else struct.pack("<q", pruned or -1)
    for kind, names in enumerate((words, labels)):
        for count, word in enumerate(names, 1):
            head += word + b"\0" + struct.pack("<qb", count, kind)
    head += b"" if old else struct.pack("<b", quantised)
    return head + struct.pack("<2q", *matrix.shape) + matrix.astype("<f4").tobytes()
