"""Writes n-gram models as ARPA files, as strictly as KenLM does.

    \\data\\
    ngram 1=33
    ngram 2=41

    \\1-grams:
    LOG10-PROBABILITY<TAB>WORDS<TAB>LOG10-BACK-OFF
    ...
    \\end\\

The back-off stands in all orders but the highest; the words of an n-gram are separated by single
spaces; ``<s>`` has the log probability 0, and what is never predicted -99. N-grams are in the
order of the model: context by context, a context's words by id. Numbers have as many digits as it
takes to read the same float32 natural logarithms back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Tokenizer
from lmkit.ngram.query.lookup import Records
from lmkit.text.vocab import WordTokenizer
from lmkit.text.writer import LineWriter

_CHUNK = 1 << 15
"""Records turned into text by one thread at a time."""
_BUFFER = 1 << 20
_NUMBERS = 64
"""Bytes that the two numbers of a line and what separates them take at most."""


class NgramRecords(Protocol):
    """What there is to write: an ``NgramModel`` or an ``ArpaModel``."""

    counts: list[int]

    @property
    def records(self) -> Records:
        """The n-grams."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The words."""


def write_arpa(
    model: NgramRecords,
    out: str | Path | None,
    *,
    force: bool = False,
    threads: int = 1,
    listener: Listener = SILENT,
) -> None:
    """Write a model as an ARPA file.

    Args:
        model: its records, words (for units other than words, the tokens' printable forms) and
            number of n-grams of each order.
        out: the file, which appears whole or not at all; compressed if it ends in .gz, .bz2 or
            .xz. None or ``"-"`` is standard output.
        force: replace an existing file.
        threads: how many threads make text; the bytes do not depend on it.
        listener: is told of the progress.

    Raises:
        UserError: the file exists or cannot be written, or two tokens look the same.
    """
    counts = list(model.counts)
    text = _Text(model.records, *_token_bytes(model.tokenizer), counts)
    listener.phase("writing", sum(counts), "n-grams")
    with LineWriter(out, force=force) as writer, ThreadPoolExecutor(threads) as pool:
        writer.write_bytes(text.header())
        for n in range(1, len(counts) + 1):
            writer.write_bytes(b"\n\\%d-grams:\n" % n)
            pending: deque[tuple[int, Future[list[NDArray[np.uint8]]]]] = deque()
            for first, last in text.chunks(n):
                pending.append((last - first, pool.submit(text.format, n, first, last)))
                if len(pending) > 2 * threads:
                    _write_next(pending, writer, listener)
            while pending:
                _write_next(pending, writer, listener)
        writer.write_bytes(b"\n\\end\\\n")
    listener.finish()


def _write_next(
    pending: deque[tuple[int, Future[list[NDArray[np.uint8]]]]],
    writer: LineWriter,
    listener: Listener,
) -> None:
    size, future = pending.popleft()
    for piece in future.result():
        writer.write_bytes(piece.data)
    listener.advance(size)


@dataclass(frozen=True, slots=True)
class _Text:
    """Makes the text of a model, piece by piece."""

    records: Records
    arena: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: list[int]

    def header(self) -> bytes:
        """Return the list of counts."""
        lines = [b"ngram %d=%d\n" % (n, count) for n, count in enumerate(self.counts, 1)]
        return b"\\data\\\n" + b"".join(lines)

    def chunks(self, n: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of records to format one by one."""
        base = sum(self.counts[: n - 1])
        for first in range(base, base + self.counts[n - 1], _CHUNK):
            yield first, min(first + _CHUNK, base + self.counts[n - 1])

    def format(self, n: int, first: int, last: int) -> list[NDArray[np.uint8]]:
        """Return the lines of the records ``first`` to ``last`` of order ``n``."""
        from lmkit.ngram.arpa.format import kernels

        bases = np.concatenate([[0], np.cumsum(self.counts)])
        longest = n * (int(np.diff(self.offsets).max()) + 1) + _NUMBERS
        pieces = []
        while first < last:
            out = np.empty(max(_BUFFER, 2 * longest), dtype=np.uint8)
            size, first = kernels.format_ngrams(
                first, last, n, n == len(self.counts), bases, self.records.inner,
                self.records.top, self.arena, self.offsets, longest, out,
            )  # fmt: skip
            pieces.append(out[:size])
        return pieces


def _token_bytes(tokenizer: Tokenizer) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the tokens as an ARPA file spells them, one behind the other, and their offsets."""
    if isinstance(tokenizer, WordTokenizer):
        return np.asarray(tokenizer.table.arena), np.asarray(tokenizer.table.offsets)
    tokens = [tokenizer.token(index) for index in range(tokenizer.num_tokens)]
    seen: set[str] = set()
    for token in tokens:
        if token in seen:
            raise UserError(
                f"two tokens are written {token!r}, so an ARPA file cannot hold this model"
            )
        seen.add(token)
    encoded = [token.encode() for token in tokens]
    assert all(word and not set(word) & set(b" \t\r\n\0") for word in encoded), "not printable"
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded) + bytes(64), dtype=np.uint8), offsets
