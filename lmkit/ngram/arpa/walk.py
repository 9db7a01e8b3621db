"""Walks through the sections of an ARPA file and keeps count of the lines."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future

from lmkit.errors import TextError
from lmkit.events import Listener
from lmkit.ngram.arpa.scanner import Kind, Piece, scan
from lmkit.ngram.arpa.sections import Parsed, SectionParser
from lmkit.text.sources import ByteSource

DATA, END = b"\\data\\", b"\\end\\"
MOST_ORDERS = 200
_MOST_NGRAMS = 0xFFFFFF00
"""N-grams that states of 32 bits can tell apart."""
_PREAMBLE = 16 << 20
"""Bytes of text allowed before \\data\\."""
_COUNT = re.compile(rb"\s*ngram\s+(\d{1,18})\s*=\s*(\d{1,18})\s*")
_MAGICS = (
    (b"mmap lm http://kheafield.com/code", "a binary file of KenLM"),
    (b"blmt", "a binary file of IRSTLM"),
    (b"Qblmt", "a binary file of IRSTLM"),
    (b"iARPA", "an iARPA file of IRSTLM (compile-lm --text=yes makes an ARPA file of it)"),
)


class Walk:
    """Reads one section after the other.

    Attributes:
        name: what to call the file in messages.
        header: the header that ended what was read last; None at the end of the file.
        header_line: its line.
    """

    def __init__(
        self, stream: ByteSource, pool: Executor, threads: int, listener: Listener
    ) -> None:
        self.name = stream.name
        self.header: bytes | None = None
        self.header_line = 0
        self._pool = pool
        self._threads = threads
        self._pieces = scan(stream, listener)
        self._line = 1  # the number of the next line
        self._empty: list[bytes] = []  # headers of the highest orders that have no n-grams

    def read_counts(self) -> list[int]:
        """Read up to the header of the first section; return the number of n-grams by order.

        Raises:
            TextError: this is no ARPA file, or its list of counts is damaged.
        """
        self._find_data()
        data_line = self.header_line
        counts: list[int] = []
        for piece in self._until_header():
            for text in piece.text().split(b"\n")[:-1]:
                if text.strip():
                    counts.append(self._parse_count(text, len(counts) + 1))
                self._line += 1
        if not counts:
            raise self.error(data_line, "no line 'ngram 1=COUNT' behind \\data\\")
        if sum(counts) > _MOST_NGRAMS:
            raise self.error(data_line, f"the header promises {sum(counts):,} n-grams, too many")
        while len(counts) > 1 and counts[-1] == 0:
            self._empty.append(b"\\%d-grams:" % len(counts))
            counts.pop()
        return counts

    def at_section(self, n: int) -> bool:
        """Return whether the section of ``n``-grams comes next."""
        return self.header is not None and self.header.lower() == b"\\%d-grams:" % n

    def read_section(self, parser: SectionParser, promised: int) -> list[Parsed]:
        """Read the n-grams of the section that comes next, ``promised`` in number.

        Raises:
            TextError: another section comes, a line is bad, or the number of n-grams is another.
        """
        n = parser.n
        if not self.at_section(n):
            if promised == 0:
                return []
            raise self._missing(f"\\{n}-grams:")
        pending: deque[Future[Parsed]] = deque()
        parts: list[Parsed] = []
        piece = next(self._pieces, None)
        while piece is not None and piece.kind is Kind.LINES:
            pending.append(self._pool.submit(parser, piece))
            if len(pending) > self._threads + 1:
                parts.append(self._collect(pending.popleft()))
            piece = next(self._pieces, None)
        while pending:
            parts.append(self._collect(pending.popleft()))
        self._pass(piece)
        found = sum(map(len, parts))
        if found == promised:
            return parts
        if self.header is None:
            raise self.error(
                self._line,
                f"the file ends in the {n}-grams, {found:,} of {promised:,} are there",
                "Fetch or make it again",
            )
        raise self.error(
            self.header_line,
            f"here end {found:,} {n}-grams, but the header promises {promised:,}",
        )

    def expect_end(self) -> None:
        """Check that the sections end as they should; those of empty orders are passed over.

        Raises:
            TextError: they do not.
        """
        while self.header in self._empty:
            for piece in self._until_header():
                if piece.text().strip():
                    raise self.error(self._line, "n-grams of an order that the header calls empty")
                self._line += piece.text().count(b"\n")
        if self.header is None or self.header.lower() != END:
            raise self._missing("\\end\\")

    def error(self, line: int, what: str, hint: str = "") -> TextError:
        """Return the error for something wrong with a line."""
        return TextError(f"{self.name}:{line}: {what}", hint)

    def _missing(self, expected: str) -> TextError:
        if self.header is None:
            return self.error(
                self._line, f"the file ends without {expected}", "Fetch or make it again"
            )
        shown = self.header.decode("utf-8", "replace")[:60]
        return self.error(self.header_line, f"{shown} where {expected} belongs")

    def _find_data(self) -> None:
        """Skip what comes before \\data\\."""
        seen = 0
        while True:
            for piece in self._until_header():
                text = piece.text()
                if not seen:
                    self._check_magic(text)
                seen += len(text)
                self._line += text.count(b"\n")
                if seen > _PREAMBLE:
                    break
            if self.header is not None and self.header.lower() == DATA:
                return
            if self.header is None or seen > _PREAMBLE:
                raise TextError(f"{self.name}: no line {DATA.decode()}, so this is no ARPA file")

    def _check_magic(self, text: bytes) -> None:
        for magic, kind in _MAGICS:
            if text.lstrip().startswith(magic):
                raise TextError(f"{self.name}: {kind}, not an ARPA file")

    def _until_header(self) -> Iterator[Piece]:
        """Yield blocks of lines up to the next header, which becomes ``self.header``."""
        self.header = None
        piece = next(self._pieces, None)
        while piece is not None and piece.kind is Kind.LINES:
            yield piece
            piece = next(self._pieces, None)
        if piece is not None and piece.kind is Kind.NUL and self._line == 1:
            self._check_magic(piece.text())
        self._pass(piece)

    def _pass(self, piece: Piece | None) -> None:
        """Take note of the header, or of the end of the file."""
        self.header = None
        if piece is None:
            return
        if piece.kind is Kind.NUL:
            raise self.error(self._line, "a NUL byte, so this is no ARPA file")
        self.header = piece.text().strip()
        self.header_line = self._line
        self._line += 1

    def _collect(self, future: Future[Parsed]) -> Parsed:
        """Wait for a block and number its lines."""
        parsed = future.result()
        if parsed.fault is not None:
            raise self.error(self._line + parsed.fault.line, parsed.fault.what, parsed.fault.hint)
        if parsed.ngrams is not None:
            parsed.ngrams.first_line = self._line
        self._line += parsed.num_lines
        return parsed

    def _parse_count(self, text: bytes, n: int) -> int:
        match = _COUNT.fullmatch(text)
        if match is None or int(match[1]) != n or n > MOST_ORDERS:
            shown = text.strip().decode("utf-8", "replace")[:60]
            raise self.error(self._line, f"{shown!r} where the line 'ngram {n}=COUNT' belongs")
        return int(match[2])
