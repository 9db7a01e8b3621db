"""Batches of tokens to train on and to validate on.

Each kind of batches offers ``batch(step)``, a pure function of the seed and the step, so that a
run that was stopped goes on with the very batches it would have seen; and ``everything(rows)``,
which predicts each token of the text exactly once. ``targets`` are what follows ``ids``, or -1
where nothing is to be predicted. ``<s>`` stands before the first token of the text and in place of
each id 2 that is read: behind the end of a sentence or document a new one begins.

Letters of shapes: B rows, T tokens of a row, N contexts, n order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.language_model import BOS, EOS, Mode

Batch = dict[str, NDArray[Any]]
NOTHING = -1
"""The target where nothing is to be predicted."""


def _rng(seed: int, *stream: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([seed, *stream]))


def _pairs(
    ids: NDArray[Any], places: NDArray[np.int64], mode: Mode, keep: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what is read before, and what stands at, ``places`` of a text [...]."""
    targets = ids[places].astype(np.int64)
    inputs = ids[np.maximum(places - 1, 0)].astype(np.int64)
    inputs[(inputs == EOS) | (places == 0)] = BOS
    if mode == "document":
        targets[targets == EOS] = NOTHING
    if keep is not None:
        targets[~keep] = NOTHING
    return inputs, targets


class Windows:
    """Stretches of T tokens, cut anew in each epoch and shuffled.

    Args:
        ids: the text [size].
        size: T.
        rows: B.
        seed: of the order and of where an epoch's first window begins.
        mode: whether id 2 is predicted.

    Raises:
        UserError: the text is shorter than a window.
    """

    def __init__(self, ids: NDArray[Any], size: int, rows: int, *, seed: int, mode: Mode) -> None:
        if len(ids) < size:
            raise UserError(
                f"the text has {len(ids):,} tokens, a window takes {size:,}",
                f"Give more text, or --context {max(1, len(ids) // 2)}",
            )
        self._ids, self._size, self._rows, self._seed, self._mode = ids, size, rows, seed, mode
        self._windows = max(1, (len(ids) - size + 1) // size)  # whatever the offset
        self.steps_per_epoch = -(-self._windows // rows)
        self.tokens_per_batch = rows * size
        self._epoch: tuple[int, int, NDArray[np.int64]] | None = None

    def batch(self, step: int) -> Batch:
        """Return ``ids`` and ``targets`` int64 [B, T] of a step; rows wrap round in an epoch."""
        epoch, place = divmod(step, self.steps_per_epoch)
        offset, order = self._order(epoch)
        chosen = order[np.arange(place * self._rows, (place + 1) * self._rows) % len(order)]
        places = offset + chosen[:, None] * self._size + np.arange(self._size)
        inputs, targets = _pairs(self._ids, places, self._mode)
        return {"ids": inputs, "targets": targets}

    def _order(self, epoch: int) -> tuple[int, NDArray[np.int64]]:
        if self._epoch is None or self._epoch[0] != epoch:
            rng = _rng(self._seed, epoch)
            room = len(self._ids) - self._windows * self._size
            offset = int(rng.integers(0, min(room, self._size - 1) + 1))
            self._epoch = epoch, offset, rng.permutation(self._windows)
        return self._epoch[1:]

    def everything(self, rows: int) -> Iterator[Batch]:
        """Yield the text in order, each token predicted once; the last window is padded."""
        size = len(self._ids)
        starts = np.arange(0, size, self._size)
        for begin in range(0, len(starts), rows):
            places = starts[begin : begin + rows, None] + np.arange(self._size)
            keep = places < size
            inputs, targets = _pairs(self._ids, np.minimum(places, size - 1), self._mode, keep)
            yield {"ids": inputs, "targets": targets}


class Lanes:
    """The text in B lanes read side by side, T tokens at a time, for a state that is carried on.

    Args:
        ids: the text [size].
        size: T.
        rows: B.
        mode: whether id 2 is predicted.

    Raises:
        UserError: the text is shorter than the lanes are many.
    """

    def __init__(self, ids: NDArray[Any], size: int, rows: int, *, mode: Mode) -> None:
        if len(ids) < rows:
            raise UserError(
                f"the text has {len(ids):,} tokens, too few for {rows} rows", "Lower --batch"
            )
        self._ids, self._size, self._rows, self._mode = ids, size, rows, mode
        self._length = len(ids) // rows
        self.steps_per_epoch = -(-self._length // size)
        self.tokens_per_batch = rows * size

    def batch(self, step: int) -> Batch:
        """Return ``ids`` and ``targets`` int64 [B, T], and ``fresh`` bool [B]: a lane begins."""
        return self._chunk(step % self.steps_per_epoch, self._rows, self._length)

    def _chunk(self, number: int, rows: int, length: int) -> Batch:
        inside = number * self._size + np.arange(self._size)
        places = np.arange(rows)[:, None] * length + np.minimum(inside, length - 1)
        keep = np.broadcast_to(inside < length, places.shape)
        inputs, targets = _pairs(self._ids, places, self._mode, keep)
        if number == 0:
            inputs[:, 0] = BOS
        return {"ids": inputs, "targets": targets, "fresh": np.full(rows, number == 0)}

    def everything(self, rows: int) -> Iterator[Batch]:
        """Yield the text in order in one lane; ``rows`` does not matter."""
        del rows
        for number in range(-(-len(self._ids) // self._size)):
            yield self._chunk(number, 1, len(self._ids))


class Sentences:
    """Rows of one sentence each, ``<s> w .. </s>``, padded; those of like length together.

    Sentences of more than ``size`` tokens are cut; what is behind a cut is a row of its own that
    begins with the token before it. Ids behind the last id 2 are a sentence too.

    Args:
        ids: the text [size] in sentence mode.
        size: T at most.
        rows: B.
        seed: of the order.
    """

    POOL = 50
    """Batches among which sentences are sorted by length."""

    def __init__(self, ids: NDArray[Any], size: int, rows: int, *, seed: int) -> None:
        self._ids, self._rows, self._seed = ids, rows, seed
        ends = np.flatnonzero(ids == EOS) + 1
        if len(ids) and (not len(ends) or ends[-1] != len(ids)):
            ends = np.append(ends, len(ids))
        lengths = np.diff(ends, prepend=0)
        parts = -(-lengths // size)
        within = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        self._starts = np.repeat(ends - lengths, parts) + within * size
        self._lengths = np.minimum(np.repeat(lengths, parts) - within * size, size)
        if not len(self._starts):
            raise UserError("the text has no sentences", "Give a text with at least one line")
        self.steps_per_epoch = -(-len(self._starts) // rows)
        self.tokens_per_batch = round(rows * float(self._lengths.mean()))
        self._epoch: tuple[int, NDArray[np.int64]] | None = None

    def batch(self, step: int) -> Batch:
        """Return ``ids`` and ``targets`` int64 [B, T], T that of the longest sentence."""
        epoch, place = divmod(step, self.steps_per_epoch)
        return self._rows_of(self._order(epoch)[place * self._rows : (place + 1) * self._rows])

    def _order(self, epoch: int) -> NDArray[np.int64]:
        """Return all sentences: shuffled, sorted by length in pools, batches shuffled again."""
        if self._epoch is None or self._epoch[0] != epoch:
            rng = _rng(self._seed, epoch)
            order = rng.permutation(len(self._starts))
            pool = np.arange(len(order)) // (self.POOL * self._rows)
            order = order[np.lexsort([self._lengths[order], pool])]
            full = len(order) // self._rows * self._rows
            batches = order[:full].reshape(-1, self._rows)[rng.permutation(full // self._rows)]
            self._epoch = epoch, np.concatenate([batches.reshape(-1), order[full:]])
        return self._epoch[1]

    def _rows_of(self, chosen: NDArray[np.int64]) -> Batch:
        lengths = self._lengths[chosen, None]
        inside = np.arange(int(lengths.max()))
        keep = inside < lengths
        places = self._starts[chosen, None] + np.minimum(inside, lengths - 1)
        inputs, targets = _pairs(self._ids, places, "sentence", keep)
        return {"ids": inputs, "targets": targets}

    def everything(self, rows: int) -> Iterator[Batch]:
        """Yield all sentences, short ones first."""
        order = np.argsort(self._lengths, kind="stable")
        for begin in range(0, len(order), rows):
            yield self._rows_of(order[begin : begin + rows])


class Contexts:
    """The n - 1 tokens before each token of the text, shuffled (Bengio et al. 2003).

    Args:
        ids: the text [size].
        order: n.
        rows: N.
        seed: of the order.
        mode: whether id 2 is predicted.
    """

    def __init__(self, ids: NDArray[Any], order: int, rows: int, *, seed: int, mode: Mode) -> None:
        self._ids, self._rows, self._seed = ids, rows, seed
        self._back = np.arange(order - 1, 0, -1)
        every = np.arange(len(ids)) if mode == "sentence" else np.flatnonzero(ids != EOS)
        if not len(every):
            raise UserError("the text has no tokens", "Give a text with at least one word")
        self._places = every
        self.steps_per_epoch = -(-len(every) // rows)
        self.tokens_per_batch = rows
        self._epoch: tuple[int, NDArray[np.int64]] | None = None

    def batch(self, step: int) -> Batch:
        """Return ``ids`` int64 [N, n - 1], the newest last, and ``targets`` int64 [N]."""
        epoch, place = divmod(step, self.steps_per_epoch)
        if self._epoch is None or self._epoch[0] != epoch:
            self._epoch = epoch, _rng(self._seed, epoch).permutation(len(self._places))
        order = self._epoch[1]
        chosen = order[np.arange(place * self._rows, (place + 1) * self._rows) % len(order)]
        return self._read(self._places[chosen])

    def _read(self, places: NDArray[np.int64]) -> Batch:
        before = places[:, None] - self._back
        contexts = self._ids[np.maximum(before, 0)].astype(np.int64)
        # From the newest backwards: behind the first end everything belongs to another sentence.
        outside = (contexts == EOS) | (before < 0)
        outside = np.logical_or.accumulate(outside[:, ::-1], axis=1)[:, ::-1]
        contexts[outside] = BOS
        return {"ids": contexts, "targets": self._ids[places].astype(np.int64)}

    def everything(self, rows: int) -> Iterator[Batch]:
        """Yield the text in order."""
        for begin in range(0, len(self._places), rows):
            yield self._read(self._places[begin : begin + rows])
