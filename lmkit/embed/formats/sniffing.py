"""Tells the format of a vectors file from its first bytes; its name does not matter."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass

from lmkit.embed.formats.kinds import Kind
from lmkit.embed.formats.source import VectorSource
from lmkit.errors import TextError

HEAD = 1 << 16
"""Bytes that decide; more only where a line is longer."""
_LONGEST_LINE = 1 << 24
_LINES = 32
"""Lines of a file without a header that vote on the number of dimensions."""

FASTTEXT_MAGIC = 793712314
"""The int32 that fastText models begin with since 2017."""
FASTTEXT_SETTINGS = struct.Struct("<12id")
FASTTEXT_COUNTS = struct.Struct("<3i2q")
FASTTEXT_OLD_COUNTS = struct.Struct("<3iq")

_HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t\r]*\n")
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?nan|[+-]?inf(?:inity)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the beginning of a file tells about it."""

    kind: Kind
    size: int
    """Numbers of a vector, D."""
    promised: int | None = None
    """Vectors, as the header says."""
    header: int = 0
    """Bytes of the header."""
    line_bytes: float = 0.0
    """Mean length of the first lines of text."""


def look_at(source: VectorSource) -> Layout:
    """Return the layout of ``source``, from which nothing is taken.

    Raises:
        TextError: the file is empty or of no known format.
    """
    count = HEAD
    head = source.peek(count)
    while len(head) == count and head.count(b"\n") < 2 and count < _LONGEST_LINE:
        count *= 4
        head = source.peek(count)
    whole = len(head) < count
    if not head.strip():
        raise TextError(f"{source.name}: the file is empty", "Fetch it again")
    if (size := _fasttext_size(head)) is not None:
        return Layout("fasttext", size)
    if header := _HEADER.match(head):
        return _with_header(source.name, head, header, whole)
    lines = _sample(head, whole)
    size = _voted_size(lines)
    if not size:
        raise TextError(
            f"{source.name}: not a file of word vectors",
            "Formats: word2vec text and .bin, GloVe text, fastText .vec and .bin",
        )
    return Layout("glove", size, line_bytes=_mean_length(lines))


def _with_header(name: str, head: bytes, header: re.Match[bytes], whole: bool) -> Layout:
    promised, size = int(header[1]), int(header[2])
    body = head[header.end() :]
    if not size or not promised or (whole and not body.strip()):
        raise TextError(f"{name}: no vectors, only the header '{promised} {size}'")
    if size > 1 << 24:
        raise TextError(f"{name}:1: a header of {size:,} numbers a vector cannot be right")
    lines = _sample(body, whole)
    first = lines[0].split() if lines else []
    numbers = _trailing_numbers(lines[0]) if lines else 0
    is_text = numbers > 0 and 2 * numbers >= min(size, len(first) - 1)
    kind: Kind = "word2vec" if is_text else "binary"
    return Layout(kind, size, promised, header.end(), _mean_length(lines))


def _sample(body: bytes, whole: bool) -> list[bytes]:
    """Return the first whole lines that are not blank; of a line cut short the whole fields."""
    lines = body.split(b"\n", _LINES + 1)
    rest = lines.pop() if len(lines) > _LINES or not whole else b""
    if not lines:
        lines = [rest[: rest.rfind(b" ") + 1]]
    return [line for line in lines if line.strip(b" \t\r")]


def _mean_length(lines: list[bytes]) -> float:
    return sum(len(line) + 1 for line in lines) / len(lines) if lines else 0.0


def _trailing_numbers(line: bytes) -> int:
    """Return how many fields at the end of ``line`` are numbers; the first one is the word."""
    fields = line.replace(b"\t", b" ").rstrip(b" \r").split(b" ")
    fields = [field for field in fields if field][1:]
    count = 0
    while count < len(fields) and _NUMBER.fullmatch(fields[-1 - count]):
        count += 1
    return count


def _voted_size(lines: list[bytes]) -> int:
    """Return the number of dimensions that most of ``lines`` have; 0 where they are no vectors."""
    votes = Counter(map(_trailing_numbers, lines))
    if not votes:
        return 0
    size = votes.most_common(1)[0][0]
    if size == 1 and all(line.split()[-1].isdigit() for line in lines):
        return 0  # words and their counts
    return size


def _fasttext_size(head: bytes) -> int | None:
    """Return the number of dimensions if ``head`` begins a fastText model, old or new."""
    if len(head) < 4 + 4 + FASTTEXT_SETTINGS.size + FASTTEXT_COUNTS.size:
        return 0 if head[:4] == FASTTEXT_MAGIC.to_bytes(4, "little") else None
    if int.from_bytes(head[:4], "little") == FASTTEXT_MAGIC:
        return int.from_bytes(head[8:12], "little")
    settings = FASTTEXT_SETTINGS.unpack_from(head)
    counts = FASTTEXT_OLD_COUNTS.unpack_from(head, FASTTEXT_SETTINGS.size)
    size, loss, model, shortest, longest = (settings[k] for k in (0, 6, 7, 9, 10))
    sound = (
        0 < size < 1 << 16
        and min(settings[1:12]) >= 0
        and 1 <= loss <= 4
        and 1 <= model <= 3
        and max(shortest, longest) <= 100
        and min(counts) >= 0
        and counts[0] == counts[1] + counts[2]
    )
    return size if sound else None
