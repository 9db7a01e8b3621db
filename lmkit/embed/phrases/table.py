r"""The phrases that were learnt, and the file they are kept in.

The file is text, TAB-separated. The first line says how it was made, one ``name=value`` a column::

    # lmkit phrases 1\tdelimiter=_\tscore=word2vec\tmin_count=5\tthresholds=200,100

Then a line for each phrase: pass (from 1), first word, second word, score, count of the pair;
the best of a pass first. In the second pass the words may be phrases of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from lmkit.embed.phrases.config import PhrasesConfig, Score
from lmkit.errors import ModelError, UserError
from lmkit.text.lines import read_lines
from lmkit.text.vocab import SEPARATORS
from lmkit.text.writer import LineWriter

_MARK = "# lmkit phrases 1"
_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class PhrasePass:
    """The phrases of one pass: P pairs, the best first."""

    left: Sequence[str]
    """[P]"""
    right: Sequence[str]
    """[P]"""
    scores: Sequence[float]
    """[P]"""
    counts: Sequence[int]
    """[P] how often each pair was seen."""

    def __len__(self) -> int:
        """Return the number of phrases."""
        return len(self.left)


@dataclass(frozen=True, slots=True)
class PhraseTable:
    """Phrases, pass by pass, and the settings they were learnt with."""

    config: PhrasesConfig
    passes: Sequence[PhrasePass]

    @property
    def delimiter(self) -> str:
        """Return what joins the words of a phrase."""
        return self.config.delimiter

    def write(self, writer: LineWriter) -> None:
        """Write the table as lines."""
        thresholds = ",".join(f"{threshold!r}" for threshold in self.config.thresholds)
        facts = {
            "delimiter": self.config.delimiter,
            "score": self.config.score,
            "min_count": self.config.min_count,
            "thresholds": thresholds,
        }
        writer.write("\t".join([_MARK, *(f"{name}={value}" for name, value in facts.items())]))
        writer.write_lines(self._lines())

    def _lines(self) -> Iterator[str]:
        for number, one in enumerate(self.passes, start=1):
            for row in zip(one.left, one.right, one.scores, one.counts, strict=True):
                yield f"{number}\t{row[0]}\t{row[1]}\t{row[2]!r}\t{row[3]}"

    @classmethod
    def read(cls, path: str) -> PhraseTable:
        """Read a table that :meth:`write` wrote, compressed or not.

        Raises:
            TextError: the file cannot be read.
            ModelError: it is no phrase table.
        """
        lines = read_lines([path])
        config = _read_config(path, next(lines, ""))
        rows: list[list[tuple[str, str, float, int]]] = [[] for _ in config.thresholds]
        for number, line in enumerate(lines, start=2):
            place, row = _read_row(f"{path}:{number}", line, len(rows))
            rows[place].append(row)
        return cls(config, [_pass(found) for found in rows])


def _read_config(path: str, line: str) -> PhrasesConfig:
    mark, *columns = line.split("\t")
    facts = dict(column.split("=", 1) for column in columns if "=" in column)
    if mark != _MARK:
        raise ModelError(f"{path}: not a phrase table", "Make one with lmkit embed phrases --save")
    try:
        if facts["score"] not in ("word2vec", "npmi"):
            raise UserError(f"no score {facts['score']!r}")
        return PhrasesConfig(
            score=cast("Score", facts["score"]),
            min_count=int(facts["min_count"]),
            thresholds=tuple(float(number) for number in facts["thresholds"].split(",")),
            delimiter=facts["delimiter"],
        )
    except (KeyError, ValueError, UserError) as error:
        what = f"misses {error}" if isinstance(error, KeyError) else str(error)
        raise ModelError(f"{path}:1: the first line of the phrase table {what}") from None


def _read_row(place: str, line: str, passes: int) -> tuple[int, tuple[str, str, float, int]]:
    columns = line.split("\t")
    try:
        number = int(columns[0])
        words = [column.encode() for column in columns[1:3]]
        if len(columns) != _COLUMNS or not 1 <= number <= passes or b"" in words:
            raise ValueError
        if any(map(SEPARATORS.search, words)):
            raise ValueError
        return number - 1, (columns[1], columns[2], float(columns[3]), int(columns[4]))
    except ValueError:
        raise ModelError(
            f"{place}: not a line of a phrase table (pass, word, word, score, count)"
        ) from None


def _pass(rows: list[tuple[str, str, float, int]]) -> PhrasePass:
    left, right, scores, counts = zip(*rows, strict=True) if rows else ((), (), (), ())
    return PhrasePass(left, right, scores, counts)
