"""Training a sentencepiece model: quietly, repeatably, without skipping a line.

Left alone, the library drops lines longer than 4,192 bytes and lines with characters it keeps for
itself, draws its sample from a generator that cannot be seeded twice in a process, and normalises
the text in its own way. Here long lines are cut, the sample is ours, and the text is kept as it is:
``decode(encode(line)) == line`` as long as every character is known.
"""

from __future__ import annotations

import io
import math
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.text.encoding import Normalizer
from lmkit.text.lines import block_lines, read_blocks, total_size
from lmkit.text.sentencepiece_tokenizer import SentencePieceTokenizer
from lmkit.text.utf8 import REPLACEMENT

# The library marks unknown characters with this one and drops lines that have it.
_RESERVED = "\u2585"
_LONGEST = 4000
# Sums in the unigram EM are split by thread: a fixed number, so that all machines agree.
_THREADS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class SentencePieceConfig:
    """How a sentencepiece model is trained."""

    kind: Literal["unigram", "bpe"] = "unigram"
    """Kind of model."""
    vocab_size: int = 8000
    """Size of the vocabulary, ``<unk>``, ``<s>`` and ``</s>`` included."""
    character_coverage: float = 0.9995
    """Share of the characters of the text that get a piece; the rarest ones become <unk>."""
    byte_fallback: bool = False
    """Spell rare characters in bytes (256 more pieces) instead of making them <unk>."""
    max_lines: int = 1_000_000
    """Train on a random sample of this many lines where there are more."""
    seed: int = 1
    """Decides the sample."""
    normalizer: Normalizer = field(default_factory=Normalizer)
    """What is done to the text first."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.vocab_size < 4:
            raise UserError(f"a vocabulary of {self.vocab_size} is too small", "Use 4 or more")
        if not 0.9 <= self.character_coverage <= 1.0:
            raise UserError(
                f"a character coverage of {self.character_coverage} is out of range",
                "Use a number from 0.9 to 1",
            )
        if self.max_lines < 1:
            raise UserError(f"a sample of {self.max_lines} lines is too small")


def fit_sentencepiece(
    sources: Sequence[str | Path],
    config: SentencePieceConfig | None = None,
    *,
    errors: Errors = "strict",
    listener: Listener = SILENT,
) -> SentencePieceTokenizer:
    """Train a sentencepiece model on the lines of ``sources``.

    The same text, settings and library version give the same model, byte for byte.

    Raises:
        UserError: there is no text, or the vocabulary size does not fit it.
        TextError: a source cannot be read.
    """
    config = config or SentencePieceConfig()
    listener.phase("reading lines", total_size(sources), "B")
    lines = (
        line
        for block in read_blocks(sources, errors=errors, listener=listener)
        for line in block_lines(config.normalizer.block(block))
        if line and not line.isspace()
    )
    sample, total = sample_lines(lines, config.max_lines, config.seed)
    if not sample:
        raise UserError("no text to train a tokenizer on", "Name a file with some text in it")
    if total > len(sample):
        listener.note(f"tokenizer: trained on a random {len(sample):,} of {total:,} lines")
    listener.phase(f"training {config.kind} pieces")
    model = _train(sample, config)
    listener.finish()
    return SentencePieceTokenizer(model, config.normalizer)


def sample_lines(lines: Iterable[str], size: int, seed: int) -> tuple[list[str], int]:
    """Draw ``size`` of ``lines`` without replacement, all sets equally likely.

    Li 1994, algorithm L: the number of random draws grows with the logarithm of the total.

    Returns:
        The sample (all lines, in order, where there are no more than ``size``), and the total.
    """
    generator = random.Random(seed)
    iterator = iter(lines)
    sample = list(islice(iterator, size))
    if len(sample) < size:
        return sample, len(sample)

    def draw() -> float:
        return 1.0 - generator.random()  # in (0, 1], so that its logarithm exists

    total = size
    weight = math.exp(math.log(draw()) / size)
    upcoming = total + _gap(draw(), weight)
    for line in iterator:
        if total == upcoming:
            sample[generator.randrange(size)] = line
            weight *= math.exp(math.log(draw()) / size)
            upcoming += 1 + _gap(draw(), weight)
        total += 1
    return sample, total


def _gap(uniform: float, weight: float) -> int:
    """Return how many lines are passed over before the next that enters the sample."""
    if weight >= 1.0:
        return 0
    denominator = math.log1p(-weight)
    return int(math.log(uniform) / denominator) if denominator else 1 << 62


def _train(lines: Iterable[str], config: SentencePieceConfig) -> bytes:
    import sentencepiece

    writer = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_training_parts(lines),
            model_writer=writer,
            model_type=config.kind,
            vocab_size=config.vocab_size,
            character_coverage=config.character_coverage,
            byte_fallback=config.byte_fallback,
            unk_id=0,
            bos_id=1,
            eos_id=2,
            pad_id=-1,
            unk_surface=REPLACEMENT,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=8 * _LONGEST,
            num_threads=_THREADS,
            minloglevel=3,
        )
    except RuntimeError as error:
        raise _explained(error, config) from None
    return writer.getvalue()


def _training_parts(lines: Iterable[str]) -> Iterator[str]:
    """Cut lines that the library would skip; at white space where there is some."""
    for line in lines:
        rest = line.replace(_RESERVED, " ")
        while len(rest) > _LONGEST:
            cut = rest.rfind(" ", 1, _LONGEST)
            cut = cut if cut > 0 else _LONGEST
            yield rest[:cut]
            rest = rest[cut:].removeprefix(" ")
        yield rest


def _explained(error: RuntimeError, config: SentencePieceConfig) -> UserError:
    """Turn what the library says into what the user can do about it."""
    message = str(error)
    size = config.vocab_size
    if found := re.search(r"size too high.*<= (\d+)", message):
        return UserError(
            f"a vocabulary of {size} pieces is too large for this text",
            f"Use {found[1]} or less, or more text",
        )
    if found := re.search(r"smaller than required_chars\. (\d+) vs (\d+)", message):
        return UserError(
            f"a vocabulary of {size} pieces is too small for the characters of this text",
            f"Use {found[2]} or more, or a lower character coverage",
        )
    return UserError(f"sentencepiece cannot train on this text: {message}")
