"""Counts of words and of pairs of neighbours, taken block by block; memory grows with the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS, Ids
from lmkit.text.lines import Block
from lmkit.text.words import LocalWords

FIRST_WORD = EOS + 1
"""Ids below stand between sentences: the words ``<unk>``, ``<s>``, ``</s>`` are in no phrase."""
_FIRST_SLOTS = 1 << 16
_FULL = 0.7
"""Share of the slots that may be taken before a table of pairs is made larger."""


class PairTable:
    """Counted pairs of ids; see ``kernels.py`` for the layout."""

    def __init__(self, max_pairs: int, listener: Listener = SILENT) -> None:
        """Start empty; beyond ``max_pairs`` pairs the rarest are forgotten, with a warning."""
        self.least = 1
        """How often a pair that is kept was seen at least, when others were forgotten last."""
        self._max_pairs = max_pairs
        self._listener = listener
        self._used = 0
        self._make_room(_FIRST_SLOTS)

    def _make_room(self, slots: int) -> None:
        self._pairs = np.zeros((slots, 2), dtype=np.uint64)
        self._shift = np.uint64(64 - (slots.bit_length() - 1))
        self._limit = min(int(slots * _FULL), self._max_pairs)

    def add(self, ids: Ids) -> None:
        """Count the pairs in ``ids`` [T]; no pair reaches from one call to the next."""
        from lmkit.embed.phrases import kernels

        place = 0
        while True:
            place, self._used = kernels.count_pairs(
                ids, place, FIRST_WORD, self._pairs, self._shift, self._used, self._limit
            )
            if place == len(ids):
                return
            if self._used < self._max_pairs:
                self._rebuild(2 * len(self._pairs))
            else:
                self._forget()

    def _forget(self) -> None:
        """Drop the rarest pairs, until at least a tenth of the room is free."""
        counts = self._pairs[:, 1]
        while np.count_nonzero(counts >= self.least) > 0.9 * self._max_pairs:
            self.least += 1
        self._listener.warn(
            f"more than {self._max_pairs:,} different pairs: those seen fewer than {self.least} "
            "times so far are forgotten, so rare phrases may be missed; --max-pairs allows more"
        )
        self._rebuild(len(self._pairs))

    def _rebuild(self, slots: int) -> None:
        from lmkit.embed.phrases import kernels

        old = self._pairs
        self._make_room(slots)
        self._used = kernels.copy_pairs(old, np.uint64(self.least), self._pairs, self._shift)

    def result(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the keys [P], ascending, and their counts [P]."""
        kept = self._pairs[self._pairs[:, 0] != 0]
        kept = kept[np.argsort(kept[:, 0])]
        return kept[:, 0].copy(), kept[:, 1].astype(np.int64)


class Neighbours:
    """The words of a text and its pairs of neighbours, counted."""

    def __init__(
        self, max_pairs: int, *, compiled: bool = True, listener: Listener = SILENT
    ) -> None:
        """Start empty; without ``compiled`` no kernels are loaded, for short texts."""
        self.words = LocalWords(compiled=compiled)
        self._table = PairTable(max_pairs, listener) if compiled else None
        self._ids: list[Ids] = []

    def encode(self, block: Block, number: int) -> Ids:
        """Return the words of block ``number`` as ids, each line closed; counts the words."""
        return self.words.encode(block, "sentence", number << 40).ids

    def add(self, ids: Ids) -> None:
        """Count the pairs of a block."""
        if self._table is None:
            self._ids.append(ids)
        else:
            self._table.add(ids)

    def pairs(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the keys ``left << 32 | right`` [P], ascending, and their counts [P]."""
        if self._table is not None:
            return self._table.result()
        ids = np.concatenate([np.zeros(0, dtype=np.uint32), *self._ids]).astype(np.uint64)
        left, right = ids[:-1], ids[1:]
        inside = (left >= FIRST_WORD) & (right >= FIRST_WORD)
        keys, counts = np.unique(left[inside] << 32 | right[inside], return_counts=True)
        return keys, counts.astype(np.int64)
