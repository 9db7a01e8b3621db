"""Reads a vectors file of any known format."""

from __future__ import annotations

from pathlib import Path

from lmkit.embed.formats.binary import read_binary
from lmkit.embed.formats.fasttext import read_fasttext
from lmkit.embed.formats.kinds import Kind
from lmkit.embed.formats.sniffing import look_at
from lmkit.embed.formats.source import VectorSource
from lmkit.embed.formats.text import read_text_file
from lmkit.embed.vectors import Vectors
from lmkit.events import SILENT, Listener
from lmkit.text.lines import total_size


def sniff(path: str | Path) -> Kind:
    """Return the format of the file at ``path``, told by its content.

    Raises:
        TextError: it cannot be read, is empty or of no known format.
    """
    with VectorSource(path) as source:
        return look_at(source).kind


def read(path: str | Path, *, limit: int | None = None, listener: Listener = SILENT) -> Vectors:
    """Read the vectors in the file at ``path``, whose content tells the format.

    Args:
        path: the file, also .gz, .bz2 and .xz; ``"-"`` is standard input.
        limit: read only the first ``limit`` vectors.
        listener: is told of the progress, and warned once of each oddity: words that are not
            UTF-8, repeated words, a header that says less than there is.

    Returns:
        The vectors; those of a fastText model have its subwords.

    Raises:
        TextError: the file cannot be read, is damaged or of no known format; the message names
            the line or the word.
        UserError: the matrix does not fit into memory.
    """
    with VectorSource(path, listener) as source:
        listener.phase("reading", total_size([path]), "B")
        layout = look_at(source)
        if layout.kind == "fasttext":
            vectors = read_fasttext(source, limit, listener)
        elif layout.kind == "binary":
            vectors = read_binary(source, layout, limit, listener)
        else:
            vectors = read_text_file(source, layout, limit, listener)
    listener.finish()
    return vectors
