"""Perplexity and its relatives, each with the counts it is made of.

Texts and models are compared by many numbers that all go by the name of perplexity. They differ
in what they divide by and in what becomes of words outside the vocabulary (OOVs):

======================== ============================== ========================================
figure                   log probability of             divided by
======================== ============================== ========================================
perplexity               every predicted token          predicted tokens (KenLM "including OOVs")
perplexity_excluding_oov every token but the OOVs       those tokens (KenLM "excluding OOVs",
                                                        SRILM's ``ppl``)
srilm_ppl1               every token but the OOVs       words that are not OOVs (SRILM's ``ppl1``)
perplexity_per_word      every predicted token          words, whatever the unit of the model
bits_per_byte            every predicted token          bytes of the text
======================== ============================== ========================================

In sentence mode ``</s>`` is predicted and counts as a token. An OOV stands for every word that is
not in the vocabulary at once: its probability says nothing about which word it was. So wherever
``oov`` is not 0, ``perplexity`` and ``perplexity_per_word`` flatter a small vocabulary, and
``bits_per_byte`` is not the length of a code from which the text could be restored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import EOS, UNK, Ids, Logprobs, Mode

_SPACES = np.zeros(256, dtype=bool)
_SPACES[[0, 9, 10, 13, 32]] = True  # what separates words: NUL, TAB, LF, CR, space


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """How well a model predicts a text: sums, counts, and the figures that follow from them."""

    logprob: float
    """Natural log of the probability of the text, OOVs included."""
    logprob_excluding_oov: float
    """The part of ``logprob`` that comes from tokens in the vocabulary."""
    tokens: int
    """Predicted tokens; in sentence mode each ``</s>`` is one."""
    oov: int
    """Tokens that are not in the vocabulary (``<unk>`` written in the text counts too)."""
    sentences: int
    """Ends of sentences that were predicted; 0 in document mode."""
    words: int
    """Words between white space, whatever the unit of the model; ``</s>`` is none."""
    lines: int
    """Lines of the text."""
    bytes: int
    """Bytes of the text as read: UTF-8, line ends included."""
    vocabulary: int
    """Tokens that the model can predict: its vocabulary without ``<s>``, and without ``</s>`` in
    document mode."""
    unit: str
    """What a token is: ``"word"``, ``"char"``, ``"byte"`` or ``"sentencepiece"``."""
    mode: Mode
    """``"sentence"`` or ``"document"``."""

    @property
    def oov_rate(self) -> float:
        """OOV tokens per token that is not ``</s>``; NaN for an empty text."""
        return _divide(self.oov, self.tokens - self.sentences)

    @property
    def perplexity(self) -> float:
        """``exp(-logprob / tokens)``: OOVs included."""
        return _perplexity(self.logprob, self.tokens)

    @property
    def perplexity_excluding_oov(self) -> float:
        """The same over the tokens in the vocabulary alone; they still see OOVs as context."""
        return _perplexity(self.logprob_excluding_oov, self.tokens - self.oov)

    @property
    def perplexity_per_word(self) -> float:
        """``exp(-logprob / words)``: comparable between units, if neither has OOVs."""
        return _perplexity(self.logprob, self.words)

    @property
    def srilm_ppl(self) -> float:
        """SRILM's ``ppl``; NaN unless the unit is the word."""
        return self.perplexity_excluding_oov if self.unit == "word" else math.nan

    @property
    def srilm_ppl1(self) -> float:
        """SRILM's ``ppl1``, which leaves ``</s>`` out of the count; NaN unless unit is word."""
        if self.unit != "word":
            return math.nan
        return _perplexity(self.logprob_excluding_oov, self.words - self.oov)

    @property
    def bits_per_byte(self) -> float:
        """``-logprob / ln 2 / bytes``; a code length only if ``oov`` is 0 (see the module)."""
        return _divide(-self.logprob / math.log(2), self.bytes)

    def record(self) -> dict[str, float | int | str | None]:
        """Return every figure under its name, fit for JSON: None where it is not a number."""
        figures: dict[str, float | int | str | None] = {
            "logprob": self.logprob,
            "tokens": self.tokens,
            "oov": self.oov,
            "sentences": self.sentences,
            "bytes": self.bytes,
            "perplexity": self.perplexity,
            "perplexity_excluding_oov": self.perplexity_excluding_oov,
            "perplexity_per_word": self.perplexity_per_word,
            "bits_per_byte": self.bits_per_byte,
            "lines": self.lines,
            "words": self.words,
            "logprob_excluding_oov": self.logprob_excluding_oov,
            "oov_rate": self.oov_rate,
            "srilm_ppl": self.srilm_ppl,
            "srilm_ppl1": self.srilm_ppl1,
            "vocabulary": self.vocabulary,
            "unit": self.unit,
            "mode": self.mode,
        }
        return {name: _finite(value) for name, value in figures.items()}


class Accumulator:
    """Adds up an :class:`Evaluation` block by block, in float64."""

    def __init__(self, *, num_tokens: int, unit: str, mode: Mode) -> None:
        """Begin with nothing read.

        Args:
            num_tokens: size of the model's vocabulary, the specials included.
            unit: unit of the model's tokenizer.
            mode: mode of the model.
        """
        self._vocabulary = num_tokens - (1 if mode == "sentence" else 2)
        self._unit = unit
        self._mode = mode
        self._logprob = self._logprob_known = 0.0
        self._tokens = self._oov = self._sentences = 0
        self._words = self._lines = self._bytes = 0

    def add(
        self, ids: Ids, logprobs: Logprobs, *, words: int | None = None, lines: int, num_bytes: int
    ) -> None:
        """Add one block.

        Args:
            ids: the tokens [T]; id 2 is ``</s>`` in sentence mode, a break in document mode.
            logprobs: their natural log probabilities [T]; 0.0 at breaks.
            words: words of the block between white space; None for word units, where each
                token but id 2 is one.
            lines: lines of the block.
            num_bytes: bytes of the block, line ends included.
        """
        ends = int(np.count_nonzero(ids == EOS))
        unknown = ids == UNK
        num_unknown = int(np.count_nonzero(unknown))
        known = np.where(unknown, 0.0, logprobs) if num_unknown else logprobs
        self._logprob += float(logprobs.sum())
        self._logprob_known += float(known.sum())
        self._oov += num_unknown
        self._sentences += ends if self._mode == "sentence" else 0
        self._tokens += len(ids) if self._mode == "sentence" else len(ids) - ends
        self._words += len(ids) - ends if words is None else words
        self._lines += lines
        self._bytes += num_bytes

    def merge(self, part: Accumulator) -> None:
        """Add what another accumulator, of the same model, has added up."""
        self._logprob += part._logprob
        self._logprob_known += part._logprob_known
        self._tokens += part._tokens
        self._oov += part._oov
        self._sentences += part._sentences
        self._words += part._words
        self._lines += part._lines
        self._bytes += part._bytes

    def result(self) -> Evaluation:
        """Return the evaluation of everything added so far."""
        return Evaluation(
            logprob=self._logprob,
            logprob_excluding_oov=self._logprob_known,
            tokens=self._tokens,
            oov=self._oov,
            sentences=self._sentences,
            words=self._words,
            lines=self._lines,
            bytes=self._bytes,
            vocabulary=self._vocabulary,
            unit=self._unit,
            mode=self._mode,
        )


def count_words(data: NDArray[np.uint8]) -> int:
    """Return how many words stand between white space (NUL, TAB, LF, CR, space) in ``data``."""
    if not len(data):
        return 0
    space = _SPACES[data]
    return int(np.count_nonzero(space[:-1] & ~space[1:])) + int(not space[0])


def _divide(numerator: float, denominator: int) -> float:
    return numerator / denominator if denominator > 0 else math.nan


def _perplexity(logprob: float, count: int) -> float:
    exponent = _divide(-logprob, count)
    return math.exp(exponent) if exponent < 709 else exponent * math.inf


def _finite(value: float | int | str | None) -> float | int | str | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value
