"""The settings of ``lmkit ngram fit`` by the names of its options, for commands and programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from lmkit.errors import UserError
from lmkit.language_model import Errors, Mode
from lmkit.ngram.config import NgramConfig
from lmkit.tasks.fit_ngram import FitNgramConfig
from lmkit.tasks.threads import num_threads
from lmkit.text.encoding import Form, Normalizer
from lmkit.text.vocab import VocabularyConfig, read_word_list

_CHOICES = {
    "mode": ("sentence", "document"),
    "errors": ("strict", "replace"),
    "unknown": ("share", "all"),
}


class NgramSettings(TypedDict, total=False):
    """What may be set; ``lmkit ngram fit --help`` says what each means and its default."""

    order: int
    prune: Sequence[int]
    mode: Mode
    discount_fallback: tuple[float, float, float]
    unknown: Literal["share", "all"]
    min_count: int
    vocab: str | Path | None
    """A file of words."""
    vocab_size: int | None
    lower: bool
    normalize: Form
    unit: str
    errors: Errors
    memory: int | None
    """Bytes."""
    seed: int
    threads: int | None
    """None for all cores."""


def fit_config(**settings: Unpack[NgramSettings]) -> FitNgramConfig:
    """Return the configuration of a fit; what is not given has the default of the command.

    Raises:
        TypeError: there is no setting of a given name; the message lists those there are.
        UserError: a value will not do.
    """
    names = NgramSettings.__annotations__
    if strange := sorted(set(settings) - set(names)):
        listed = ", ".join(map(repr, strange))
        raise TypeError(f"no setting {listed} of an n-gram model; there are {', '.join(names)}")
    for name, choices in _CHOICES.items():
        value = settings.get(name, choices[0])
        if value not in choices:
            raise UserError(f"--{name} {value!r} is not {' or '.join(choices)}")
    default = NgramConfig()
    vocab = settings.get("vocab")
    return FitNgramConfig(
        model=NgramConfig(
            order=settings.get("order", default.order),
            prune=tuple(settings.get("prune", default.prune)),
            mode=settings.get("mode", default.mode),
            fallback=settings.get("discount_fallback", default.fallback),
            interpolate_unigrams=settings.get("unknown", "share") == "share",
        ),
        vocabulary=VocabularyConfig(
            min_count=settings.get("min_count", 1),
            max_size=settings.get("vocab_size"),
            words=None if vocab is None else read_word_list(str(vocab)),
        ),
        normalizer=Normalizer(
            lower=settings.get("lower", False), form=settings.get("normalize", "none")
        ),
        unit=settings.get("unit", "word"),
        errors=settings.get("errors", "strict"),
        threads=num_threads(settings.get("threads")),
        memory=settings.get("memory"),
        seed=settings.get("seed", 1),
    )
