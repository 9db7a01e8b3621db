"""What makes a pair of words a phrase, and how often the text is gone through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lmkit.errors import UserError
from lmkit.text.vocab import SEPARATORS

Score = Literal["word2vec", "npmi"]

DEFAULT_THRESHOLDS: dict[Score, float] = {"word2vec": 100.0, "npmi": 0.5}
_HINTS: dict[Score, str] = {
    "word2vec": "Give a number such as 100; the higher, the fewer phrases",
    "npmi": "NPMI lies in -1 .. 1",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PhrasesConfig:
    """Settings of learning phrases."""

    score: Score = "word2vec"
    """How surprising a pair is: see :mod:`lmkit.embed.phrases.scores`."""
    min_count: int = 5
    """A pair and both of its words must be seen at least this often; word2vec's discount too."""
    thresholds: tuple[float, ...] = (100.0,)
    """Pairs that score above this become phrases; one number a pass, the first pass first."""
    delimiter: str = "_"
    """What joins the words of a phrase."""
    max_pairs: int = 40_000_000
    """Different pairs kept in memory (24 to 48 bytes each); beyond, the rarest are forgotten."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.min_count < 1:
            raise UserError(f"--min-count {self.min_count} is below 1")
        if self.max_pairs < 1:
            raise UserError(f"--max-pairs {self.max_pairs} is below 1")
        if not self.thresholds:
            raise UserError("--threshold gives no number")
        for threshold in self.thresholds:
            if threshold != threshold or (self.score == "npmi" and not -1 <= threshold < 1):
                what = f"--threshold {threshold:g} means nothing"
                raise UserError(f"{what} for --score {self.score}", _HINTS[self.score])
        check_delimiter(self.delimiter)


def check_delimiter(delimiter: str) -> None:
    """Refuse a delimiter that would not keep the words of a phrase together."""
    if not delimiter or SEPARATORS.search(delimiter.encode()):
        raise UserError(
            f"--delimiter {delimiter!r} does not join words", "Choose a character such as _"
        )


def pass_thresholds(
    score: Score, given: tuple[float, ...] = (), passes: int | None = None
) -> tuple[float, ...]:
    """Return the threshold of every pass, the first pass first.

    With one threshold (or the default of ``score``) for several passes, the last pass has that
    one; for the score of word2vec each pass before has twice the threshold of the next, as in
    word2vec's own recipe (200, then 100), so that the surest pairs are joined first. NPMI has
    the same threshold in each pass.

    Raises:
        UserError: there are several thresholds, but not one for each pass.
    """
    if len(given) > 1:
        if passes is not None and passes != len(given):
            raise UserError(
                f"--threshold is given {len(given)} times, for {passes} passes",
                "Give one for each pass, or one for all",
            )
        return given
    last = given[0] if given else DEFAULT_THRESHOLDS[score]
    count = 1 if passes is None else passes
    if count < 1:
        raise UserError(f"--passes {count} is below 1")
    doubling = 2.0 if score == "word2vec" else 1.0
    return tuple(last * doubling**before for before in range(count - 1, -1, -1))
