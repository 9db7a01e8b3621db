"""Passes over a text: in threads, at a falling learning rate, with a state to come back to.

The threads share the matrices without locks (Hogwild, Recht et al. 2011), so with more than one the
result differs from run to run; with one it is the same to the byte. Epochs are kept apart: after
each the matrices are checked and written to a file, to which a run that diverges or is interrupted
returns.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.trainees import Report, Trainee
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS

STRETCH = 1 << 14
"""Tokens that are trained on at one learning rate."""
_LEAST_STEPS = 64
_LEAST_RATE = 1e-4
"""Part of the first learning rate below which none falls."""
_POLL = 0.05
_MIX, _MASK = 6364136223846793005, (1 << 63) - 1


@dataclass(slots=True)
class Training:
    """What came of the training."""

    epochs: int = 0
    """How many epochs the matrices have gone through."""
    losses: list[float] = field(default_factory=list)
    """Mean loss of each epoch."""
    kept: list[int] = field(default_factory=list)
    """Words of each epoch that subsampling kept."""
    seconds: float = 0.0
    diverged: int | None = None
    """The epoch in which a number ceased to be finite or the loss ran away."""
    interrupted: BaseException | None = None
    """What ended it before its time, such as KeyboardInterrupt."""


def train(
    trainee: Trainee,
    ids: NDArray[np.uint32],
    *,
    threads: int,
    snapshot: Path,
    listener: Listener = SILENT,
) -> Training:
    """Train for the epochs of the trainee's config; return what came of it.

    Args:
        trainee: is changed.
        ids: [T] encoded text, sentences closed by id 2.
        threads: how many to train in.
        snapshot: a file for the state after each epoch; removed at the end.
        listener: hears of the words done, the loss and the learning rate.

    Raises:
        UserError: there was nothing to train on.
    """
    config = trainee.config
    run = _Run(trainee, ids, stretches(ids, threads), threads)
    training = Training()
    listener.phase("training", len(ids) * config.epochs, "words")
    begun = time.perf_counter()
    saved = 0
    try:
        try:
            trainee.train(ids, 0, 0, 0.0, 0, np.zeros(8))  # compiles or loads beforehand
            begun = time.perf_counter()
            for epoch in range(config.epochs):
                loss, kept = run.epoch(epoch, listener)
                if not (loss <= run.hopeless and all(map(_is_finite, trainee.matrices))):
                    training.diverged = epoch + 1
                    break
                training.losses.append(loss)
                training.kept.append(kept)
                training.epochs = epoch + 1
                if epoch + 1 < config.epochs:
                    _write(trainee.matrices, snapshot)
                    saved = epoch + 1
            if not training.diverged and not run.total()[1]:
                raise UserError(
                    "no line has two words left after --min-count and --subsample, so there is "
                    "nothing to learn",
                    "Give lines of several words, or lower --min-count and pass --subsample 0",
                )
        except BaseException as error:
            run.stop()
            if isinstance(error, Exception):
                raise
            training.interrupted = error
        training.seconds = time.perf_counter() - begun
        if training.epochs == saved and 0 < saved < config.epochs:
            _read(trainee.matrices, snapshot)
    finally:
        snapshot.unlink(missing_ok=True)
    return training


def stretches(ids: NDArray[np.uint32], threads: int) -> list[int]:
    """Return the borders of the parts of a text, at ends of sentences where there are some."""
    size = max(1, min(STRETCH, len(ids) // (_LEAST_STEPS * threads)))
    borders = [0]
    while borders[-1] + size < len(ids):
        begin = borders[-1] + size
        ahead = np.flatnonzero(ids[begin : begin + STRETCH] == EOS)
        borders.append(begin + int(ahead[0]) + 1 if len(ahead) else begin)
    if borders[-1] < len(ids):
        borders.append(len(ids))
    return borders


class _Run:
    """The threads of a training."""

    def __init__(
        self, trainee: Trainee, ids: NDArray[np.uint32], borders: Sequence[int], threads: int
    ) -> None:
        self.trainee, self.ids, self.borders = trainee, ids, borders
        self.hopeless = trainee.hopeless()
        self.reports: list[Report] = [np.zeros(8) for _ in range(threads)]
        self.done = [0] * threads
        self.lock = threading.Lock()
        self.next = 0
        self.stopping = False
        self.failure: BaseException | None = None
        self.workers: list[threading.Thread] = []

    def epoch(self, number: int, listener: Listener) -> tuple[float, int]:
        """Go through the text once; return the mean loss and how many words were kept."""
        self.next = 0
        before = seen = self.total()
        told, running = sum(self.done), True
        self.workers = [
            threading.Thread(target=self._work, args=(number, worker), daemon=True)
            for worker in range(len(self.reports))
        ]
        for thread in self.workers:
            thread.start()
        while running:
            for thread in self.workers:
                thread.join(_POLL)
            running = any(thread.is_alive() for thread in self.workers)
            done, now = sum(self.done), self.total()
            if now[1] > seen[1]:
                loss = float((now[0] - seen[0]) / (now[1] - seen[1]))
                if not loss <= self.hopeless:
                    self.stopping = True
                listener.figures(loss=loss, rate=self._rate(number, self.next))
                seen = now
            listener.advance(done - told)
            told = done
        if self.failure is not None:
            raise self.failure
        change = self.total() - before
        return float(change[0] / max(change[1], 1.0)), int(change[2])

    def total(self) -> Report:
        """Return what the threads have reported so far."""
        total: Report = np.sum(self.reports, axis=0)
        return total

    def stop(self) -> None:
        """Make the threads end, and wait for them."""
        self.stopping = True
        for thread in self.workers:
            if thread.is_alive():
                thread.join()

    def _rate(self, epoch: int, part: int) -> float:
        """Return the learning rate of part ``part`` of an epoch."""
        config = self.trainee.config
        part = min(part, len(self.borders) - 1)
        done = (epoch + self.borders[part] / len(self.ids)) / config.epochs
        return config.rate * max(_LEAST_RATE, 1.0 - done)

    def _work(self, epoch: int, worker: int) -> None:
        try:
            while not self.stopping:
                with self.lock:
                    part = self.next
                    self.next += 1
                if part >= len(self.borders) - 1:
                    return
                begin, end = self.borders[part], self.borders[part + 1]
                seed = (self.trainee.config.seed * _MIX + (epoch << 32) + part) & _MASK
                rate = self._rate(epoch, part)
                self.trainee.train(self.ids, begin, end, rate, seed, self.reports[worker])
                self.done[worker] += end - begin
        except BaseException as error:
            self.failure = error
            self.stopping = True


def _is_finite(matrix: NDArray[np.float32]) -> bool:
    return bool(np.isfinite(matrix.min()) and np.isfinite(matrix.max()))


def _write(matrices: Sequence[NDArray[np.float32]], path: Path) -> None:
    with path.open("wb") as file:
        for matrix in matrices:
            matrix.tofile(file)


def _read(matrices: Sequence[NDArray[np.float32]], path: Path) -> None:
    with path.open("rb") as file:
        for matrix in matrices:
            matrix[:] = np.fromfile(file, dtype=np.float32, count=matrix.size).reshape(matrix.shape)
