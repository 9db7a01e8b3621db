"""The tokenizer that ``--unit`` asks for, learned from text where it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors, Mode
from lmkit.text.encoding import Normalizer
from lmkit.text.restore import StoredTokenizer
from lmkit.text.vocab import VocabularyConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenizerConfig:
    """What a token is."""

    unit: str
    """char, byte, unigram or bpe (a sentencepiece model trained on the text), FILE.model."""
    mode: Mode
    """Whether line ends are tokens."""
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    normalizer: Normalizer = field(default_factory=Normalizer)
    errors: Errors = "strict"
    seed: int = 1
    """Of the sample of lines on which pieces are trained."""


def make_tokenizer(
    files: Sequence[str], config: TokenizerConfig, listener: Listener = SILENT
) -> StoredTokenizer:
    """Return a tokenizer of any unit but words, which are learned while the text is read.

    Args:
        files: the text, which is read for char, unigram and bpe.
        config: which tokenizer.
        listener: hears of the progress.

    Raises:
        UserError: there is no such unit, or a setting means nothing for it.
        TextError: the text cannot be read.
    """
    unit, limits = config.unit, config.vocabulary
    if limits.words is not None:
        raise UserError(f"--vocab is a list of words; it means nothing for --unit {unit}")
    if limits.min_count > 1 and unit != "char":
        raise UserError(f"--min-count means nothing for --unit {unit}")
    if limits.max_size is not None and unit not in ("char", "unigram", "bpe"):
        raise UserError(f"--vocab-size means nothing for --unit {unit}")
    if unit == "byte":
        from lmkit.text.byte_tokenizer import ByteTokenizer

        return ByteTokenizer(config.normalizer)
    if unit == "char":
        from lmkit.text.char_tokenizer import CharTokenizer
        from lmkit.text.lines import read_blocks

        return CharTokenizer.fit(
            read_blocks(files, errors=config.errors),
            config.mode,
            normalizer=config.normalizer,
            min_count=limits.min_count,
            max_size=limits.max_size,
        )
    if unit in ("unigram", "bpe"):
        from lmkit.text.sentencepiece_training import SentencePieceConfig, fit_sentencepiece

        kind: Any = unit
        pieces = SentencePieceConfig(
            kind=kind,
            vocab_size=limits.max_size or 8000,
            normalizer=config.normalizer,
            seed=config.seed,
        )
        return fit_sentencepiece(files, pieces, errors=config.errors, listener=listener)
    if unit.endswith(".model"):
        from lmkit.text.sentencepiece_tokenizer import SentencePieceTokenizer

        return SentencePieceTokenizer.from_file(unit, config.normalizer)
    raise UserError(
        f"no unit {unit!r}",
        "Use word, char, byte, unigram, bpe or the path of a sentencepiece FILE.model",
    )
