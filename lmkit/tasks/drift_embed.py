"""Tells how far words moved between two tables of vectors: the work of ``lmkit embed drift``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmkit.embed.drift import Drift, WordDrift
from lmkit.embed.vectors import LIMIT, Vectors
from lmkit.errors import NegativeResult, UserError
from lmkit.events import SILENT, Listener
from lmkit.tasks.open_vectors import open_vectors
from lmkit.tasks.unknown_words import UnknownWordNotes


def drift_embed(
    before: str,
    after: str,
    words: Sequence[str] = (),
    *,
    top: int = 10,
    limit: int = LIMIT,
    strict: bool = False,
    listener: Listener = SILENT,
) -> Iterator[tuple[str, WordDrift | None]]:
    """Yield words and how far they moved from the vectors ``before`` to those called ``after``.

    Args:
        before: the first vectors.
        after: the second vectors.
        words: which words, in this order; if none, those that moved most, farthest first.
        top: how many, if no words are named.
        limit: compare only words that are among the first so many of both; 0: all.
        strict: stop where a word is missing, instead of yielding None for it.
        listener: is told of words that are missing.

    Raises:
        ModelError: there are no such vectors.
        UserError: they have no words in common or differ in size.
        NegativeResult: a word is missing, and that is not allowed.
    """
    if limit < 0:
        raise UserError(f"--limit {limit} is below 0")
    sides = open_vectors(before, listener=listener), open_vectors(after, listener=listener)
    listener.phase("aligning")
    drift = Drift(*sides, limit or None)
    listener.note(f"{len(drift):,} words in common")
    listener.finish()
    if not words:
        for number in drift.farthest(top):
            moved = drift.of(number)
            yield moved.word, moved
        return
    missing = [word for word in words if drift.find(word) < 0]
    facts = [_missing(word, (before, after), sides, limit, listener) for word in missing]
    if strict and facts:
        raise NegativeResult("; ".join(facts))
    for fact in facts:
        listener.note(fact)
    for word in words:
        number = drift.find(word)
        yield word, drift.of(number) if number >= 0 else None


def _missing(
    word: str,
    names: tuple[str, str],
    sides: tuple[Vectors, Vectors],
    limit: int,
    listener: Listener,
) -> str:
    """Return where ``word`` is missing."""
    without = [i for i in (0, 1) if sides[i].index(word) < 0]
    if not without:
        for name, side in zip(names, sides, strict=True):
            if side.norms[side.index(word)] == 0:
                return f"the vector of {word!r} is zero in {name}"
        return f"{word!r} is not among the first {limit:,} words of both; --limit 0 takes all"
    described = UnknownWordNotes(sides[without[0]], listener).describe(word)
    known, _, guess = described.partition(";")
    where = "either model" if len(without) == 2 else names[without[0]]
    return f"{known} in {where}" + (f";{guess}" if guess else "")
