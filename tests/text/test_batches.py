"""Batches: every token once, behind what stands before it, and the same again for a step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.language_model import BOS, EOS, Mode
from lmkit.text.batches import NOTHING, Batch, Contexts, Lanes, Sentences, Windows

texts = st.lists(st.integers(2, 9), min_size=1, max_size=60).map(np.array)
modes = st.sampled_from(["sentence", "document"])
sizes = st.integers(1, 7)


def pairs(batches: Iterable[Batch]) -> Counter[tuple[int, int]]:
    """Count what is predicted behind what."""
    counts: Counter[tuple[int, int]] = Counter()
    for batch in batches:
        kept = batch["targets"] != NOTHING
        counts.update(
            zip(batch["ids"][kept].tolist(), batch["targets"][kept].tolist(), strict=True)
        )
    return counts


def expected(ids: NDArray[Any], mode: Mode) -> Counter[tuple[int, int]]:
    before = [BOS, *(BOS if index == EOS else index for index in ids[:-1].tolist())]
    both = zip(before, ids.tolist(), strict=True)
    return Counter(pair for pair in both if mode == "sentence" or pair[1] != EOS)


def same(first: Batch, second: Batch) -> bool:
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


@given(texts, sizes, sizes, modes)
@settings(deadline=None)
def test_windows_and_lanes_predict_everything_once(
    ids: NDArray[Any], size: int, rows: int, mode: Mode
) -> None:
    if len(ids) >= size:
        windows = Windows(ids, size, rows, seed=1, mode=mode)
        assert pairs(windows.everything(rows)) == expected(ids, mode)
    lanes = Lanes(ids, size, 1, mode=mode)
    assert pairs(lanes.everything(1)) == expected(ids, mode)


@given(texts, sizes, sizes)
@settings(deadline=None)
def test_sentences_predict_everything_once(ids: NDArray[Any], size: int, rows: int) -> None:
    sentences = Sentences(ids, size, rows, seed=1)
    assert pairs(sentences.everything(rows)) == expected(ids, "sentence")
    for epoch in range(2):
        steps = range(epoch * sentences.steps_per_epoch, (epoch + 1) * sentences.steps_per_epoch)
        assert pairs(map(sentences.batch, steps)) == expected(ids, "sentence")


@given(texts, st.integers(2, 5), sizes, modes)
@settings(deadline=None)
def test_contexts_are_what_stands_before(
    ids: NDArray[Any], order: int, rows: int, mode: Mode
) -> None:
    if mode == "document" and np.all(ids == EOS):
        return
    got = []
    for batch in Contexts(ids, order, rows, seed=1, mode=mode).everything(rows):
        got += zip(batch["ids"].tolist(), batch["targets"].tolist(), strict=True)
    wanted = []
    for place, target in enumerate(ids.tolist()):
        before = ids[:place].tolist()
        if EOS in before:
            before = before[len(before) - before[::-1].index(EOS) :]
        context = ([BOS] * (order - 1) + before)[-(order - 1) :]
        if mode == "sentence" or target != EOS:
            wanted.append((context, target))
    assert got == wanted


@given(texts, sizes, sizes, modes, st.integers(0, 30))
@settings(deadline=None)
def test_a_step_has_one_batch(
    ids: NDArray[Any], size: int, rows: int, mode: Mode, step: int
) -> None:
    def sources(seed: int) -> list[Any]:
        found: list[Any] = [Sentences(ids, size, rows, seed=seed)]
        if len(ids) >= size:
            found.append(Windows(ids, size, rows, seed=seed, mode=mode))
        if len(ids) >= rows:
            found.append(Lanes(ids, size, rows, mode=mode))
        return found

    for used, fresh in zip(sources(3), sources(3), strict=True):
        for earlier in (0, step + 1, step // 2):
            used.batch(earlier)
        assert same(used.batch(step), fresh.batch(step))


def test_an_epoch_of_windows_meets_no_token_twice() -> None:
    ids = np.arange(3, 203)
    windows = Windows(ids, 7, 4, seed=1, mode="document")
    epochs = []
    for epoch in range(2):
        steps = range(epoch * windows.steps_per_epoch, (epoch + 1) * windows.steps_per_epoch)
        rows = np.concatenate([windows.batch(step)["targets"] for step in steps])
        distinct = {tuple(row) for row in rows.tolist()}
        targets = [target for row in distinct for target in row]
        assert len(targets) == len(set(targets)) >= 200 - 2 * 7
        epochs.append(rows)
    assert not np.array_equal(epochs[0], epochs[1])


def test_lanes_go_on_where_they_were() -> None:
    ids = np.arange(3, 3 + 23)
    lanes = Lanes(ids, 4, 2, mode="document")
    batches = [lanes.batch(step) for step in range(lanes.steps_per_epoch)]
    targets = np.concatenate([batch["targets"] for batch in batches], axis=1)
    assert targets[:, :11].tolist() == [ids[:11].tolist(), ids[11:22].tolist()]
    assert np.all(targets[:, 11:] == NOTHING)
    assert [batch["fresh"].tolist() for batch in batches] == [[True] * 2, *[[False] * 2] * 2]


def test_sentences_are_padded_little() -> None:
    rng = np.random.default_rng(1)
    ids = rng.integers(3, 99, 20_000)
    ids[rng.random(20_000) < 0.05] = EOS
    sentences = Sentences(ids, 100, 16, seed=1)
    batches = [sentences.batch(step)["targets"] for step in range(sentences.steps_per_epoch)]
    padded = sum(int((targets == NOTHING).sum()) for targets in batches)
    assert padded < 0.15 * sum(targets.size for targets in batches)


def test_too_little_text() -> None:
    with pytest.raises(UserError, match="has 3 tokens, a window takes 8"):
        Windows(np.array([3, 4, 5]), 8, 2, seed=1, mode="document")
    with pytest.raises(UserError, match="too few for 4 rows"):
        Lanes(np.array([3, 4, 5]), 8, 4, mode="document")
    with pytest.raises(UserError, match="no sentences"):
        Sentences(np.array([], dtype=np.uint16), 8, 4, seed=1)
    with pytest.raises(UserError, match="no tokens"):
        Contexts(np.array([EOS]), 3, 4, seed=1, mode="document")
