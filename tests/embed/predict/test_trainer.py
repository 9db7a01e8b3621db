"""Passes over a text: repeatable, in threads, and with a state to come back to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embed.predict.kernel_calls import encoded
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lmkit.embed.predict import trainer
from lmkit.embed.predict.config import PredictConfig
from lmkit.embed.predict.kernels import TERMS
from lmkit.embed.predict.trainees import Trainee, make_trainee
from lmkit.embed.predict.trainer import STRETCH, Training, stretches, train
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS
from lmkit.text.vocab import WordTable

WORDS = 20
Floats = NDArray[np.float32]


def text(seed: int = 1, lines: int = 120) -> NDArray[np.uint32]:
    """Return sentences about two topics, in which each word follows its own kind."""
    rng = np.random.default_rng(seed)
    drawn = [(rng.integers(0, WORDS // 2, 8) * 2 + line % 2).tolist() for line in range(lines)]
    return encoded(drawn)


def trainee(**given: Any) -> Trainee:
    chosen = {"loss": "hierarchical", "size": 10, "epochs": 4, "subsample": 0} | given
    words = WordTable.of([b"w%d" % word for word in range(WORDS)])
    counts = np.sort(np.bincount(text(), minlength=WORDS + 3)[3:])[::-1].astype(np.int64)
    return make_trainee(PredictConfig(**chosen), words, counts)


class Watcher(Listener):
    """Keeps the matrices as each epoch leaves them, and acts at the end of some epoch."""

    def __init__(self, watched: Trainee, at: int = 0, act: Callable[[], None] = lambda: None):
        self.trainee, self.at, self.act = watched, at, act
        self.size, self.done = len(text()), 0
        self.states: list[list[Floats]] = []
        self.losses: list[float] = []
        self.rates: list[float] = []

    def figures(self, **values: float) -> None:
        self.losses.append(values["loss"])
        self.rates.append(values["rate"])

    def advance(self, amount: int) -> None:
        self.done += amount
        if amount and self.done % self.size == 0:
            self.states.append([matrix.copy() for matrix in self.trainee.matrices])
            if self.done == self.at * self.size:
                self.act()


def run(made: Trainee, folder: Path, listener: Listener = SILENT, threads: int = 1) -> Training:
    training = train(made, text(), threads=threads, snapshot=folder / "epoch", listener=listener)
    assert list(folder.iterdir()) == []
    return training


def same(left: Any, right: Any) -> bool:
    return all(map(np.array_equal, left, right))


@pytest.mark.parametrize("arch", ["skipgram", "cbow"])
@pytest.mark.parametrize("loss", ["negative", "hierarchical"])
def test_a_seed_repeats_to_the_byte(arch: str, loss: str, tmp_path: Path) -> None:
    made = [trainee(arch=arch, loss=loss, subsample=0.01, seed=seed) for seed in (5, 5, 6)]
    first, again, other = made
    trainings = [run(each, tmp_path) for each in made]
    assert same(first.matrices, again.matrices)
    assert not same(first.matrices, other.matrices)
    assert trainings[0].losses == trainings[1].losses != trainings[2].losses
    training = trainings[0]
    assert (training.epochs, training.diverged, training.interrupted) == (4, None, None)
    assert len(training.losses) == len(training.kept) == 4
    assert len(set(training.kept)) > 1, "each epoch leaves out other words"
    assert training.seconds > 0


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_loss_falls_and_topics_part(threads: int, tmp_path: Path) -> None:
    made = trainee(learning_rate=0.2, epochs=12)
    watcher = Watcher(made)
    training = run(made, tmp_path, watcher, threads)
    losses = training.losses
    assert losses[-1] < 0.9 * losses[0] and losses[-1] < losses[3] < losses[0]
    assert training.kept == [120 * 8] * 12
    assert watcher.done == 12 * len(text())
    matrix = made.inputs[:WORDS, :10]
    cosines = matrix @ matrix.T / np.outer(*2 * [np.linalg.norm(matrix, axis=1)])
    kind = np.arange(WORDS) % 2
    alike = kind[:, None] == kind
    assert cosines[alike & ~np.eye(WORDS, dtype=bool)].mean() > cosines[~alike].mean() + 0.5
    assert watcher.losses and all(map(np.isfinite, watcher.losses))
    assert all(0 < rate < 0.2 for rate in watcher.rates)
    assert watcher.rates == sorted(watcher.rates, reverse=True)


def test_the_rate_falls_on_a_line(tmp_path: Path) -> None:
    made = trainee(learning_rate=0.2, epochs=2)
    seen: list[tuple[float, int]] = []
    train_part = made.train

    def watched(ids: Any, begin: int, end: int, rate: float, *others: Any) -> None:
        if end > begin:
            seen.append((rate, begin))
        train_part(ids, begin, end, rate, *others)

    made.train = watched  # type: ignore[method-assign]
    run(made, tmp_path)
    half = len(seen) // 2
    size = len(text())
    for number, (rate, begin) in enumerate(seen):
        done = (begin + (size if number >= half else 0)) / (2 * size)
        assert rate == pytest.approx(0.2 * (1 - done))


def test_seeds_of_parts_and_epochs_differ(tmp_path: Path) -> None:
    made = trainee(epochs=3)
    seeds: list[int] = []

    def watched(ids: Any, begin: int, end: int, rate: float, seed: int, report: Any) -> None:
        seeds.append(seed)
        report[TERMS] += 1

    made.train = watched  # type: ignore[method-assign]
    run(made, tmp_path)
    parts = len(stretches(text(), 1)) - 1
    assert parts > 10
    assert seeds[0] == 0, "a call that only compiles"
    assert len(set(seeds)) == len(seeds) == 1 + 3 * parts


@given(
    st.lists(st.integers(0, 40), max_size=60), st.integers(1, 4), st.booleans(), st.integers(1, 9)
)
@settings(max_examples=60)
def test_stretches_cover_the_text(
    lengths: list[int], threads: int, ends: bool, largest: int
) -> None:
    ids = encoded([[1] * length for length in lengths])
    if not ends:
        ids[ids == EOS] = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer, "STRETCH", largest)
        check_borders(ids, stretches(ids, threads))


def check_borders(ids: NDArray[np.uint32], borders: list[int]) -> None:
    assert borders[0] == 0 and borders[-1] == len(ids)
    assert borders == sorted(set(borders))
    for border in borders[1:-1]:
        assert ids[border - 1] == EOS or EOS not in ids[border : border + trainer.STRETCH]


def test_stretches_of_a_large_text() -> None:
    ids = np.full(40 * STRETCH, 5, dtype=np.uint32)
    ids[999::1000] = EOS
    ids[-STRETCH * 3 :] = 5  # one long line
    borders = stretches(ids, 1)
    check_borders(ids, borders)
    sizes = np.diff(borders)
    assert len(sizes) > 50 and sizes.max() <= STRETCH


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("loss", ["negative", "hierarchical"])
def test_an_absurd_rate_is_found_out(loss: str, threads: int, tmp_path: Path) -> None:
    made = trainee(loss=loss, learning_rate=1e30)
    training = run(made, tmp_path, threads=threads)
    assert (training.epochs, training.diverged) == (0, 1)
    assert training.losses == training.kept == []


def test_divergence_goes_back_to_the_last_good_epoch(tmp_path: Path) -> None:
    made = trainee()
    watcher = Watcher(made, 3, lambda: made.inputs.__setitem__((4, 2), np.nan))
    training = run(made, tmp_path, watcher)
    assert (training.epochs, training.diverged, len(training.losses)) == (2, 3, 2)
    assert same(made.matrices, watcher.states[1])


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("at", [2, 4])
def test_an_interruption_goes_back_to_the_last_epoch(at: int, threads: int, tmp_path: Path) -> None:
    made = trainee()
    watcher = Watcher(made, at, interrupt)
    training = run(made, tmp_path, watcher, threads)
    assert isinstance(training.interrupted, KeyboardInterrupt)
    assert (training.epochs, len(training.losses)) == (at - 1, at - 1)
    assert same(made.matrices, watcher.states[-2])
    assert not same(made.matrices, watcher.states[-1])


def test_an_interruption_in_the_first_epoch(tmp_path: Path) -> None:
    made = trainee()
    training = run(made, tmp_path, Watcher(made, 1, interrupt))
    assert training.epochs == 0 and training.interrupted is not None


@pytest.mark.parametrize("at", [1, 2])
def test_an_interruption_while_the_state_is_written(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a state is not read: what is in memory is the last epoch."""
    made = trainee()
    watcher = Watcher(made)
    write = trainer._write

    def broken(matrices: Any, path: Path) -> None:
        if len(watcher.states) < at:
            return write(matrices, path)
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "_write", broken)
    training = run(made, tmp_path, watcher)
    assert training.epochs == at and training.interrupted is not None
    assert same(made.matrices, watcher.states[at - 1])


@pytest.mark.parametrize("threads", [1, 2])
def test_errors_of_threads_and_disks_come_through(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trainee()
    monkeypatch.setattr(trainer, "_write", lambda matrices, path: path.joinpath("x").mkdir())
    with pytest.raises(OSError):
        run(made, tmp_path, threads=threads)

    def fail(*arguments: Any) -> None:
        if arguments[2] > 0:
            raise MemoryError

    made.train = fail  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        run(made, tmp_path, threads=threads)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("subsample", [0.0, 1e-12])
def test_nothing_to_learn_is_said(subsample: float, tmp_path: Path) -> None:
    """Lines of one word, or of words that are nearly always left out."""
    made = trainee(subsample=subsample)
    ids = encoded([[0]] * 50) if subsample == 0 else text()
    with pytest.raises(UserError, match="no line has two words left"):
        train(made, ids, threads=1, snapshot=tmp_path / "epoch")
    assert list(tmp_path.iterdir()) == []
