"""What decides an n-gram model: the settings of ``lmkit ngram fit``."""

from __future__ import annotations

from dataclasses import dataclass

from lmkit.errors import UserError
from lmkit.language_model import Mode

MAX_ORDER = 200
DEFAULT_DISCOUNTS = (0.5, 1.0, 1.5)
"""D1, D2, D3+ of an order whose counts of counts give no estimate (KenLM's fallback)."""

_ARPA_SUFFIXES = (".arpa", ".arpa.gz", ".arpa.bz2", ".arpa.xz", ".lm", ".lm.gz")


def is_arpa(name: str) -> bool:
    """Tell by its suffix whether ``name`` is an ARPA file."""
    return name.endswith(_ARPA_SUFFIXES)


@dataclass(frozen=True, kw_only=True, slots=True)
class NgramConfig:
    """Settings of a modified Kneser-Ney model."""

    order: int = 5
    """Words of an n-gram, the predicted one counted."""
    prune: tuple[int, ...] = (0,)
    """Drop n-grams seen at most this often, by order; the last number holds for higher orders."""
    mode: Mode = "sentence"
    """sentence: each line is <s> line </s>; document: the text is one stream without marks."""
    fallback: tuple[float, float, float] = DEFAULT_DISCOUNTS
    """Discounts D1 D2 D3+ for an order where they cannot be estimated."""
    interpolate_unigrams: bool = True
    """Mix unigrams with the uniform distribution; else <unk> gets all the mass set free."""

    def __post_init__(self) -> None:
        """Check the settings."""
        if not 1 <= self.order <= MAX_ORDER:
            raise UserError(f"--order {self.order} is not between 1 and {MAX_ORDER}")
        if not self.prune or self.prune[0] != 0:
            raise UserError("--prune must begin with 0", "Limit words with --min-count instead")
        if len(self.prune) > self.order:
            raise UserError(
                f"--prune gives {len(self.prune)} thresholds for an order of {self.order}"
            )
        if any(b < a for a, b in zip(self.prune, self.prune[1:], strict=False)):
            raise UserError("--prune thresholds must not fall from one order to the next")
        for count, discount in enumerate(self.fallback, start=1):
            if not 0 <= discount <= count:
                raise UserError(f"--discount-fallback: D{count} = {discount} is not in 0..{count}")

    def threshold(self, n: int) -> int:
        """Return the count up to which n-grams of order ``n`` are dropped."""
        return self.prune[min(n, len(self.prune)) - 1]
