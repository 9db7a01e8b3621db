"""The vocabulary of an ARPA file: its 1-grams with <unk>, <s> and </s> put first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.events import Listener
from lmkit.language_model import BOS, EOS, SPECIALS, UNK
from lmkit.ngram.arpa.kernels import LN10
from lmkit.ngram.arpa.lexicon.index import Lexicon, RepeatedWord
from lmkit.ngram.arpa.parse import kernels
from lmkit.text.vocab import WordTable, WordTokenizer

UNKNOWN_LOG10 = -100.0
"""The log10 probability of <unk> where the file has none: KenLM's choice."""
ZERO_LOG10 = -99.0
"""The log10 probability that stands for 0."""
_UNKNOWN_SPELLINGS = (b"<unk>", b"<UNK>", b"<Unk>")
_PADDING = 64


@dataclass(slots=True)
class Unigrams:
    """1-grams in the order of the file, of one block or of all."""

    arena: NDArray[np.uint8]
    """The words one behind the other."""
    sizes: NDArray[np.int64]
    logprobs: NDArray[np.float32]
    backoffs: NDArray[np.float32]
    lines: NDArray[np.uint32]
    """The line of each, from the first line of the block on."""
    first_line: int = 0

    def __len__(self) -> int:
        """Return the number of 1-grams."""
        return len(self.sizes)

    @classmethod
    def join(cls, parts: Sequence[Unigrams]) -> Unigrams:
        """Return the 1-grams of all ``parts``, with the lines of the file."""
        return cls(
            np.concatenate([part.arena for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            np.concatenate([part.logprobs for part in parts]),
            np.concatenate([part.backoffs for part in parts]),
            np.concatenate([part.lines + np.uint32(part.first_line) for part in parts]),
        )

    def word(self, index: int) -> bytes:
        """Return word ``index``."""
        begin = int(self.sizes[:index].sum())
        return self.arena[begin : begin + int(self.sizes[index])].tobytes()


@dataclass(slots=True)
class Vocabulary:
    """The words by id, and their numbers."""

    lexicon: Lexicon
    """Finds the words as the file spells them."""
    tokenizer: WordTokenizer
    logprobs: NDArray[np.float32]
    backoffs: NDArray[np.float32]

    @property
    def has_sentences(self) -> bool:
        """Whether </s> is ever predicted: without it the model is one of running text."""
        return bool(self.logprobs[EOS] > ZERO_LOG10 * LN10 * (1 - 1e-6))


def make_vocabulary(unigrams: Unigrams, name: str, listener: Listener) -> Vocabulary:
    """Number the words: <unk>, <s>, </s>, then the others in the order of the file.

    A model without one of the three gets it, with a warning.

    Raises:
        RepeatedWord: a word is there twice.
    """
    size = len(unigrams)
    added = b"".join(word.encode() for word in SPECIALS) + bytes(_PADDING)
    arena = np.concatenate([unigrams.arena, np.frombuffer(added, dtype=np.uint8)])
    sizes = np.concatenate([unigrams.sizes, [len(word) for word in SPECIALS]])
    starts = np.cumsum(sizes) - sizes
    indices = _find_specials(arena, starts[:size], sizes[:size])
    others = np.ones(size, dtype=bool)
    others[[index for index in indices if index < size]] = False
    order = np.concatenate([indices, np.flatnonzero(others)])
    spelled = _gathered(arena, starts[order], sizes[order])
    try:
        lexicon = Lexicon.of(*spelled)
    except RepeatedWord as error:
        raise RepeatedWord(int(order[error.index])) from None
    _warn(indices, unigrams, name, listener)
    missing = [UNKNOWN_LOG10 * LN10, 0.0, ZERO_LOG10 * LN10]
    logprobs = np.concatenate([unigrams.logprobs, missing]).astype(np.float32)[order]
    backoffs = np.concatenate([unigrams.backoffs, np.zeros(3)]).astype(np.float32)[order]
    logprobs[BOS] = 0.0
    order[UNK] = size + UNK  # whatever its spelling
    final = _gathered(arena, starts[order], sizes[order])
    tokenizer = WordTokenizer(WordTable.from_arena(*final))
    return Vocabulary(lexicon, tokenizer, logprobs, backoffs)


def _find_specials(
    arena: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[int]:
    """Return where <unk>, <s> and </s> are; the numbers behind the last word where they are not."""
    bracketed = np.flatnonzero((arena[starts] == ord("<")) & (sizes <= 5))
    found: dict[bytes, int] = {}
    for index in bracketed.tolist():
        word = arena[starts[index] : starts[index] + sizes[index]].tobytes()
        found.setdefault(word, index)
    unknown = next((found[word] for word in _UNKNOWN_SPELLINGS if word in found), len(sizes))
    others = [found.get(SPECIALS[i].encode(), len(sizes) + i) for i in (BOS, EOS)]
    return [unknown, *others]


def _warn(indices: Sequence[int], unigrams: Unigrams, name: str, listener: Listener) -> None:
    size = len(unigrams)
    if indices[UNK] >= size:
        listener.warn(
            f"{name} has no <unk>: unknown words get the log10 probability {UNKNOWN_LOG10:g}"
        )
    elif unigrams.word(indices[UNK]) != _UNKNOWN_SPELLINGS[0]:
        listener.note(f"{name}: {unigrams.word(indices[UNK]).decode()} is taken as <unk>")
    if indices[EOS] >= size:
        listener.warn(f"{name} has no </s>: lines are not taken as sentences (document mode)")
    elif indices[BOS] >= size:
        listener.warn(f"{name} has no <s>: sentences begin without a context")


def _gathered(
    arena: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the words that lie at ``starts`` one behind the other, and their offsets."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    gathered = np.zeros(int(offsets[-1]) + _PADDING, dtype=np.uint8)
    kernels.gather_words(arena, starts, sizes, gathered)
    return gathered, offsets
