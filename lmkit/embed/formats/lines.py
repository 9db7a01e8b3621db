"""One line of a text format: the word and its numbers, or what is wrong with it."""

from __future__ import annotations

import re

import numpy as np

_FIELD = re.compile(rb"[^ \t]+")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)


class BadLine(Exception):
    """A line that is no vector; the message says why."""


def parse_line(line: bytes, size: int) -> tuple[bytes, list[float]] | None:
    """Return the word of ``line`` and its ``size`` numbers; None for a blank line.

    The numbers are the last fields, so the word may hold blanks. Where what would then be the end
    of the word looks like one more of the numbers, the line has too many.

    Raises:
        BadLine: it has too few or too many numbers, or one that is not finite.
    """
    line = line.strip(b" \t\r")
    fields = list(_FIELD.finditer(line))
    if not fields:
        return None
    if len(fields) <= size:
        raise BadLine(f"{_counted(len(fields) - 1)} instead of {size}")
    word_fields = [field[0] for field in fields[:-size]]
    texts = [field[0] for field in fields[-size:]]
    if len(word_fields) > 1 and _is_one_more(word_fields[-1], texts):
        raise BadLine(f"{_counted(_numbers_at_end(word_fields) + size)} instead of {size}")
    numbers = [_parse_number(text) for text in texts]
    return line[: fields[-size - 1].end()], numbers


def _is_one_more(field: bytes, texts: list[bytes]) -> bool:
    """Tell whether ``field`` looks like ``texts``: ``95`` next to ``0.25`` does not."""
    if not _NUMBER.fullmatch(field):
        return False
    return _has_point(field) or not any(map(_has_point, texts))


def _has_point(field: bytes) -> bool:
    return b"." in field or b"e" in field.lower()


def _numbers_at_end(word_fields: list[bytes]) -> int:
    count = 0
    while count < len(word_fields) - 1 and _NUMBER.fullmatch(word_fields[-1 - count]):
        count += 1
    return count


def _parse_number(text: bytes) -> float:
    if _NOT_FINITE.fullmatch(text):
        raise BadLine(f"{text.decode()} is not a finite number")
    if not _NUMBER.fullmatch(text):
        shown = text if len(text) <= 40 else text[:40] + b"..."
        raise BadLine(f"{shown.decode('utf-8', 'replace')!r} is not a number")
    number = float(text)
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(number)):
            raise BadLine(f"{text[:40].decode()} is too large for float32")
    return number


def _counted(number: int) -> str:
    return f"{number} number" if number == 1 else f"{number} numbers"
