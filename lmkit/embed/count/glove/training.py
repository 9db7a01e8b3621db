"""GloVe (Pennington, Socher & Manning 2014): a log-bilinear model of co-occurrence counts.

Minimises equation 8, J = sum over the cells of f(X_ij) (w_i . c_j + b_i + d_j - log X_ij)^2 with
f(x) = min(1, x / x_max)^alpha, by AdaGrad over the cells in random order; the vector of a word is
w + c. A coordinate's step is its gradient over the root of 1 / learning_rate^2 plus all its
squared gradients, so the first steps have the length ``learning_rate`` times the gradient. What
differs from the authors' program: a step counts its own gradient among the squares, as AdaGrad is
defined (Duchi et al. 2011), so that it stays below 1 and no gradient need be clipped; biases are
coordinates like any other; cells are taken four of a row at a time, with gradients as of before
the four; and a run that diverges stops.

The biases are two further coordinates: (w, b, 1) . (c, 1, d) is the score. A sum of squares
beyond all measure keeps the ones where they are.

Letters: V words, D coordinates of a vector, S floats of a row, a multiple of 16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.glove import kernels
from lmkit.embed.count.workers import Workers
from lmkit.embed.vectors import Floats
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener

_PIECE = 1 << 13
"""Neighbouring groups that are drawn together."""
_POOL = 1 << 22
"""Groups that are shuffled together, 32 MB of them."""
_CHUNK = 1 << 16
"""Groups between two looks at the loss."""
_FIXED = np.float32(1e30)
_LINE = 64

AfterEpoch = Callable[[int, float, Floats], None]
"""Is told the number of the epoch that is over, its loss and the vectors [V, D] so far."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GloveConfig:
    """Settings of GloVe."""

    size: int = 100
    """Coordinates of a vector."""
    epochs: int = 25
    """Passes over the cells of the matrix."""
    x_max: float = 100.0
    """Count from which a cell weighs as much as any."""
    alpha: float = 0.75
    """Exponent of the weight of a cell that counts less."""
    learning_rate: float = 0.05
    """Of the first steps; AdaGrad shortens later ones."""
    seed: int = 0
    """Of the first vectors and of the order of the cells."""


@dataclass(frozen=True, slots=True)
class GloveResult:
    """What was learned."""

    words: Floats
    """w [V, D]."""
    contexts: Floats
    """c [V, D]."""
    word_biases: Floats
    """b [V]."""
    context_biases: Floats
    """d [V]."""
    losses: tuple[float, ...] = field(default=())
    """Mean of f (score - log X)^2 / 2 of a cell in each epoch, as the authors' program shows it."""

    @property
    def vectors(self) -> Floats:
        """Return w + c [V, D]."""
        total: Floats = self.words + self.contexts
        return total


def fit_glove(
    matrix: SparseMatrix,
    config: GloveConfig,
    *,
    threads: int = 1,
    listener: Listener = SILENT,
    after_epoch: AfterEpoch | None = None,
) -> GloveResult:
    """Train vectors on a matrix of counts [V, V].

    One thread gives the same bytes for the same seed. Several write to the same rows without
    locks (Hogwild, Recht et al. 2011), so their results differ a little from run to run.

    A word without cells gets a vector of zeros.

    Raises:
        UserError: the matrix is empty, or the loss is no longer finite.
    """
    if not len(matrix):
        raise UserError(
            "no two words stand near each other in this text",
            "Lower --min-count, or give more text",
        )
    trainer = _Trainer(matrix, config)
    losses: list[float] = []
    with Workers(threads) as workers:
        for epoch in range(1, config.epochs + 1):
            said = f", loss {losses[-1]:.4f}" if losses else ""
            listener.phase(f"epoch {epoch}/{config.epochs}{said}", len(matrix), "cells")
            losses.append(trainer.epoch(epoch, workers, listener))
            if after_epoch is not None:
                after_epoch(epoch, losses[-1], trainer.result(losses).vectors)
    return trainer.result(losses)


class _Trainer:
    """The parameters, and the order in which the cells are taken."""

    def __init__(self, matrix: SparseMatrix, config: GloveConfig) -> None:
        self.matrix = matrix
        self.config = config
        num_words = matrix.num_rows
        assert num_words <= kernels.MAX_ROWS and len(matrix) < 1 << kernels.CELL_BITS
        self.rng = np.random.default_rng(config.seed)
        self.row_size = -(-(config.size + 2) // 16) * 16
        size = config.size
        self.words = self._first_rows(num_words, size, size + 1)
        self.contexts = self._first_rows(num_words, size + 1, size)
        cells = np.diff(matrix.offsets)
        self.has_contexts = cells > 0
        self.is_context = np.zeros(matrix.num_columns, dtype=np.bool_)
        self.is_context[matrix.columns] = True
        self.starts = np.zeros(num_words + 1, dtype=np.int64)
        np.cumsum(-(-cells // kernels.GROUP), out=self.starts[1:])

    def _first_rows(self, num_words: int, bias: int, one: int) -> Floats:
        """Return rows [V, 2, S]: coordinates between -1/2D and 1/2D, and AdaGrad's sums."""
        size = self.config.size
        rows = _aligned_zeros((num_words, 2, self.row_size))
        for column in (slice(0, size), bias):
            shape = rows[:, 0, column].shape
            rows[:, 0, column] = (self.rng.random(shape, dtype=np.float32) - 0.5) / size
        rows[:, 0, one] = 1
        rows[:, 1, :] = np.float32(1 / self.config.learning_rate**2)
        rows[:, 1, one] = _FIXED
        return rows

    def epoch(self, number: int, workers: Workers, listener: Listener) -> float:
        """Go over all cells once; return the mean loss of a cell."""
        matrix, config = self.matrix, self.config
        bands = -(-matrix.num_columns // kernels.BAND)
        words, contexts = self.words.reshape(-1), self.contexts.reshape(-1)

        def run(job: tuple[NDArray[np.uint64], int]) -> tuple[float, int]:
            groups, shift = job
            room, ends = np.empty_like(groups), np.empty(bands + 1, dtype=np.int64)
            kernels.sort_by_band(groups, matrix.columns, np.int64(shift), room, ends)
            loss = kernels.train_groups(
                groups, matrix.offsets, matrix.columns, matrix.values, words, contexts,
                np.int64(self.row_size), np.float32(config.x_max), np.float32(config.alpha),
            )  # fmt: skip
            return loss, len(groups)

        total, cells_of_group = 0.0, len(matrix) / int(self.starts[-1])
        for loss, groups in workers.in_order(run, self._chunks(bands)):
            if not math.isfinite(loss):
                raise UserError(
                    f"training diverged in epoch {number}: the loss is no longer finite",
                    f"Lower --learning-rate, which was {config.learning_rate:g}",
                )
            total += loss
            listener.advance(round(groups * cells_of_group))
        return total / len(matrix)

    def _chunks(self, bands: int) -> Iterator[tuple[NDArray[np.uint64], int]]:
        """Yield the groups in random order, in chunks; with each a random band to begin with.

        Pieces of the matrix are drawn at random until a pool is full; the groups of a pool are
        shuffled. So the cells of a matrix on disk are read a few times 32 MB at a time.
        """
        num_groups = int(self.starts[-1])
        pieces = self.rng.permutation(-(-num_groups // _PIECE))
        for begin in range(0, len(pieces), _POOL // _PIECE):
            chosen = [
                self._groups(int(piece) * _PIECE, min((int(piece) + 1) * _PIECE, num_groups))
                for piece in pieces[begin : begin + _POOL // _PIECE]
            ]
            groups = np.concatenate(chosen)
            self.rng.shuffle(groups)
            for first in range(0, len(groups), _CHUNK):
                yield groups[first : first + _CHUNK], int(self.rng.integers(bands))

    def _groups(self, first: int, last: int) -> NDArray[np.uint64]:
        out = np.empty(last - first, dtype=np.uint64)
        kernels.list_groups(self.matrix.offsets, self.starts, np.int64(first), np.int64(last), out)
        return out

    def result(self, losses: list[float]) -> GloveResult:
        """Return the parameters as they are; rows of words without cells are 0."""
        size = self.config.size
        words, contexts = self.has_contexts, self.is_context
        return GloveResult(
            self.words[:, 0, :size] * words[:, None],
            self.contexts[:, 0, :size] * contexts[:, None],
            self.words[:, 0, size] * words,
            self.contexts[:, 0, size + 1] * contexts,
            tuple(losses),
        )


def _aligned_zeros(shape: tuple[int, ...]) -> Floats:
    """Return zeros whose first byte is at a multiple of 64."""
    count = math.prod(shape)
    room = np.zeros(count + _LINE // 4, dtype=np.float32)
    begin = -room.ctypes.data % _LINE // 4
    return room[begin : begin + count].reshape(shape)
