"""The word index of a file's 1-grams; see ``kernels.py`` for the layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.lexicon import kernels


class RepeatedWord(Exception):
    """Word number ``index`` is there twice."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


@dataclass(slots=True)
class Lexicon:
    """Finds words among those of an arena."""

    arena: NDArray[np.uint8]
    """The words one behind the other, then at least 8 zeros."""
    offsets: NDArray[np.int64]
    """[V + 1]: word i is ``arena[offsets[i]:offsets[i + 1]]``."""
    id_bits: int
    slots: NDArray[np.uint32]
    heads: NDArray[np.uint64]

    @classmethod
    def of(cls, arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Lexicon:
        """Index the words of ``arena``.

        Raises:
            RepeatedWord: one is there twice.
        """
        num_words = len(offsets) - 1
        id_bits = num_words.bit_length()
        slots = np.zeros(2 << num_words.bit_length(), dtype=np.uint32)
        heads = np.zeros((num_words, 2), dtype=np.uint64)
        repeated = kernels.index_words(arena, offsets, id_bits, slots, heads)
        if repeated >= 0:
            raise RepeatedWord(int(repeated))
        return cls(arena, offsets, id_bits, slots, heads)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.heads)

    def word(self, index: int) -> bytes:
        """Return word ``index``."""
        return self.arena[self.offsets[index] : self.offsets[index + 1]].tobytes()
