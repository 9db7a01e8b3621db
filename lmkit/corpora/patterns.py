"""Sentence patterns with agreeing slots, filled at random.

A pattern is a text such as ``{person.name} lost {person.his} {colour} hat .``. A slot names a
source and one of its columns; all slots of the same source in a pattern are filled from the one
row that was drawn for it, so pronouns, articles and verbs agree by construction. A source is a
`Table` of rows or a `Choice` of further patterns. Randomness is a function that returns the next
float in [0, 1), the only thing asked of the generator, so that streams repeat everywhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Protocol

Row = tuple[str, ...]
Uniform = Callable[[], float]

SLOT = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


class Source(Protocol):
    """What can fill a slot: named columns, and a row of them at each draw."""

    columns: Sequence[str]

    def draw(self, uniform: Uniform, subject: Row) -> Row:
        """Return a row; ``subject`` is the row of the sentence's subject, () where it has none."""
        ...


class Table:
    """Rows of word forms; earlier rows are drawn more often, up to five times as often."""

    __slots__ = ("_draws", "columns")

    def __init__(self, columns: Sequence[str], rows: Sequence[Row], *, even: bool = False) -> None:
        """Give each row its share of draws: 32 n / (n + 4 rank), or one each where ``even``."""
        self.columns: Sequence[str] = columns
        size = len(rows)
        self._draws: list[Row] = []
        for rank, row in enumerate(rows):
            assert len(row) == len(columns), row
            self._draws += [row] * (1 if even else 32 * size // (size + 4 * rank))

    def draw(self, uniform: Uniform, subject: Row) -> Row:
        """Return one of the rows."""
        return self._draws[int(uniform() * len(self._draws))]


class Words(Table):
    """A table of one column."""

    __slots__ = ()

    def __init__(self, words: Sequence[str], *, even: bool = False) -> None:
        """Make a one-column row of each word."""
        super().__init__(("",), [(word,) for word in words], even=even)


class Pattern:
    """A compiled pattern."""

    __slots__ = ("_frame", "_pick", "_sources", "_subject_size")

    def __init__(self, text: str, scope: Mapping[str, Source], subject: Sequence[str] = ()) -> None:
        """Compile ``text``; ``scope`` names the sources, ``subject`` the columns of slot ``s``."""
        offsets: dict[str, int] = {"s": 0}
        self._sources: list[tuple[Source, tuple[int, int] | None]] = []
        seen: dict[int, tuple[int, int]] = {}
        size = len(subject)
        indices: list[int] = []
        for name, column in SLOT.findall(text):
            if name == "s":
                indices.append(list(subject).index(column))
                continue
            source = scope[name]
            if name not in offsets:
                offsets[name] = size
                self._sources.append((source, seen.get(id(source))))
                end = size + len(source.columns)
                seen[id(source)] = (size, end)
                size = end
            indices.append(offsets[name] + list(source.columns).index(column))
        self._frame = SLOT.sub("%s", text)
        self._pick: Callable[[Row], object] = itemgetter(*indices) if indices else lambda row: ()
        self._subject_size = len(subject)

    def fill(self, uniform: Uniform, subject: Row = ()) -> str:
        """Return the text with every slot filled; two draws from one source differ."""
        assert len(subject) == self._subject_size
        flat = subject
        for source, former in self._sources:
            row = source.draw(uniform, subject)
            if former is not None:
                while row == flat[former[0] : former[1]]:
                    row = source.draw(uniform, subject)
            flat += row
        return self._frame % self._pick(flat)


class Choice:
    """A source that fills one of several patterns, each with its share of draws."""

    __slots__ = ("_draws", "columns")

    def __init__(self, shares: Sequence[tuple[Sequence[Pattern], int]]) -> None:
        """Take groups of patterns; each group is drawn in proportion to its share.

        Shares are small integers that add up to the number of draws a group is spread over.
        """
        self.columns: Sequence[str] = ("",)
        self._draws: list[Pattern] = []
        longest = max(len(patterns) for patterns, _ in shares)
        for patterns, share in shares:
            repeats = max(1, round(4 * longest * share / len(patterns)))
            self._draws += list(patterns) * repeats

    def draw(self, uniform: Uniform, subject: Row) -> Row:
        """Return the filled pattern as a row of one column."""
        return (self._draws[int(uniform() * len(self._draws))].fill(uniform, subject),)
