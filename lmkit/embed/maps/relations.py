"""Relations between words, given as pairs: man to woman, king to queen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Relation:
    """Pairs of words that all stand in one relation."""

    name: str
    """What to call it; may be empty."""
    pairs: tuple[tuple[str, str], ...]


def parse_pair(text: str, place: str) -> tuple[str, str]:
    """Return the two words of ``man:woman``, or of two words with white space between them.

    Raises:
        UserError: there are not two different words; the message begins with ``place``.
    """
    words = text.split()
    if len(words) == 1 and text.count(":") == 1:
        words = text.strip().split(":")
    if len(words) != 2 or not all(words) or words[0] == words[1]:
        raise UserError(f"{place}: {text.strip()!r} is no pair of two words", "Write man:woman")
    return words[0], words[1]


def parse_relations(lines: Iterable[str], source: str) -> list[Relation]:
    """Return the relations of a file: a pair a line, below ``: NAME`` where there are several.

    Raises:
        UserError: a line is no pair; the message names it.
    """
    relations: list[tuple[str, list[tuple[str, str]]]] = []
    for number, line in enumerate(lines, 1):
        if line.startswith(":"):
            relations.append((line[1:].strip(), []))
        elif line.strip():
            if not relations:
                relations.append(("", []))
            relations[-1][1].append(parse_pair(line, f"{source}:{number}"))
    return [Relation(name, tuple(dict.fromkeys(pairs))) for name, pairs in relations if pairs]


@dataclass(frozen=True, slots=True, eq=False)
class OffsetCosines:
    """How parallel the offsets of pairs are."""

    pairs: Floats
    """[P], each offset's mean cosine with the others of its relation; NaN where there are none."""
    relations: Floats
    """[R], the mean cosine of two offsets within each relation; NaN for one with a single pair."""
    across: float
    """The mean cosine of two offsets of different relations; NaN if there is one relation."""


def offset_cosines(
    starts: NDArray[np.floating], ends: NDArray[np.floating], groups: NDArray[np.integer]
) -> OffsetCosines:
    """Compare the offsets ``ends - starts`` [P, D] of pairs with one another.

    If a relation is a direction (Mikolov, Yih and Zweig 2013), its offsets are parallel: their
    cosines are well above those of offsets of different relations. An offset without length has
    cosine 0 with all others.

    Args:
        starts: [P, D], the first words of the pairs.
        ends: [P, D], the second words.
        groups: [P], the relation of each pair: 0 .. R - 1.
    """
    offsets = np.asarray(ends, dtype=np.float64) - starts
    lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
    offsets = np.divide(offsets, lengths, out=np.zeros_like(offsets), where=lengths > 0)
    cosines = offsets @ offsets.T
    same = groups[:, None] == groups
    others = same & ~np.eye(len(groups), dtype=bool)
    number = int(groups.max()) + 1 if len(groups) else 0
    relations = np.array([_mean(cosines[others & (groups == group)]) for group in range(number)])
    pairs = np.array([_mean(row[others[i]]) for i, row in enumerate(cosines)])
    return OffsetCosines(pairs, relations, _mean(cosines[~same]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")
