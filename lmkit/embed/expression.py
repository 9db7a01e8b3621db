"""Sums of words as people write them: ``king - man + woman``, ``0.5 * paris - 2*france``.

What stands between spaces is a sign (``+`` or ``-``), a weight (a number and ``*``) or a word; a
sign and a weight may also be written right before their word. Words keep their hyphens and dots
(``ice-cream``, ``u.s.``), and in double quotes their spaces (``"new york"``). Three words without
any sign, ``A B C``, mean ``A - B + C``; on a line with TABs these stand between the words, which
then may have spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmkit.errors import UserError

_SPACES = re.compile("[ \t\r\n\0]+")
_TERM = re.compile(
    r"""
    [\s]*
    (?: (?P<sign> [-+\u2212] ) [\s]* (?! $ ) )?
    (?: (?P<weight> (?: \d+ (?: \.\d* )? | \.\d+ ) (?: e[-+]?\d+ )? ) [\s]* [*\u00d7] [\s]* )?
    (?: "(?P<quoted> [^"]+ )" (?= [\s] | $ ) | (?P<word> [^\s]+ ) )
    """.replace(r"\s", r"\ \t\r\n\0"),
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS = {"+": 1.0, "-": -1.0, "\u2212": -1.0}
_OPERATORS = (*_SIGNS, "*", "\u00d7")
_HINT = "Write A B C, or a sum such as king - man + woman"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a sum."""

    word: str
    weight: float = 1.0
    """What its vector is multiplied with; negative for a word that is subtracted."""


def split_words(text: str) -> list[str]:
    """Return the words of a line: what stands between TABs if it has any, else between spaces."""
    parts = text.split("\t") if "\t" in text else _SPACES.split(text)
    return [part for part in (part.strip(" \r\n\0") for part in parts) if part]


def parse_arguments(words: Sequence[str]) -> list[Term]:
    """Return the sum that the arguments of a command mean; see :func:`parse`.

    Three arguments without signs and weights are words as they stand, spaces and all.

    Raises:
        UserError: they are no sum.
    """
    if len(words) == 3 and all(map(_is_word, words)):
        return _offset(words)
    return parse(" ".join(words))


def parse(text: str) -> list[Term]:
    """Return the terms of the sum in ``text``; none of a blank one.

    Raises:
        UserError: ``text`` is no sum.
    """
    words = split_words(text)
    if "\t" in text and len(words) == 3:
        return _offset(words)
    parts = list(_parts(text.rstrip(" \t\r\n\0")))
    if len(parts) == 3 and not any(part["sign"] or part["weight"] for part in parts):
        return _offset([part["quoted"] or part["word"] for part in parts])
    return [_term(part, text, first=number == 0) for number, part in enumerate(parts)]


def _is_word(text: str) -> bool:
    """Tell whether ``text`` begins like a word: not with a sign or a weight."""
    part = _TERM.match(text)
    if part is None:
        return False
    return not (part["sign"] or part["weight"] or part["word"] in _OPERATORS)


def _offset(words: Sequence[str]) -> list[Term]:
    first, second, third = words
    return [Term(first), Term(second, -1.0), Term(third)]


def _parts(text: str) -> Iterator[re.Match[str]]:
    place = 0
    while part := _TERM.match(text, place):
        if part["word"] in _OPERATORS:
            raise _no_sum(text, f"{part['word']} where a word should be")
        yield part
        place = part.end()


def _term(part: re.Match[str], text: str, first: bool) -> Term:
    word = part["quoted"] or part["word"]
    if not part["sign"] and not first:
        raise _no_sum(text, f"no + or - before {word!r}")
    weight = float(part["weight"] or 1.0) * _SIGNS.get(part["sign"], 1.0)
    if not abs(weight) < float("inf"):
        raise _no_sum(text, f"the weight {part['weight']} is too large")
    return Term(word, weight)


def _no_sum(text: str, why: str) -> UserError:
    shown = text if len(text) <= 80 else f"{text[:77]}..."
    return UserError(f"{shown!r} is no sum of words: {why}", _HINT)
