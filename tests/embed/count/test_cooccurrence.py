"""Co-occurrence counts: against plain Python, by hand, in memory and on disk."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embed.count.texts import END, FIRST, Ids, dense, encoded, ids_of, random_ids
from hypothesis import given
from hypothesis import strategies as st

from lmkit.embed.count.cells import Grower, SparseMatrix
from lmkit.embed.count.config import Weighting
from lmkit.embed.count.cooccurrence import cooccurrences, pair_weights
from lmkit.errors import UserError

WEIGHTINGS: tuple[Weighting, ...] = ("inverse", "linear", "flat")
TINY = 1 << 13
"""Bytes so few that every text of some length is counted in segments, on disk."""


def twin(ids: Ids, num_words: int, window: int, weighting: str, symmetric: bool) -> np.ndarray:
    """Count by the definition, in fractions."""
    totals: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    sentence: list[int] = []
    for token in [*ids.tolist(), END]:
        if token >= FIRST:
            sentence.append(token - FIRST)
        elif token == END:
            for i, word in enumerate(sentence):
                for distance in range(1, min(window, i) + 1):
                    amount = {
                        "inverse": Fraction(1, distance),
                        "linear": Fraction(window - distance + 1, window),
                        "flat": Fraction(1),
                    }[weighting]
                    totals[word, sentence[i - distance]] += amount
                    if symmetric:
                        totals[sentence[i - distance], word] += amount
            sentence = []
    full = np.zeros((num_words, num_words), dtype=np.float32)
    for cell, total in totals.items():
        full[cell] = np.float32(float(total))
    return full


@given(
    ids=ids_of(7),
    window=st.integers(1, 12),
    weighting=st.sampled_from(WEIGHTINGS),
    symmetric=st.booleans(),
)
def test_counts_as_defined(ids: Ids, window: int, weighting: Weighting, symmetric: bool) -> None:
    counts = cooccurrences(ids, 7, window=window, weighting=weighting, symmetric=symmetric)
    np.testing.assert_array_equal(dense(counts), twin(ids, 7, window, weighting, symmetric))
    assert (counts.values > 0).all()
    for row in range(7):
        assert (np.diff(counts.columns[counts.offsets[row] : counts.offsets[row + 1]]) > 0).all()


def test_by_hand() -> None:
    """The authors' cooccur prints the same for this text with -window-size 3 -max-product 2.

    (Without the latter it adds the first cell twice, as it does whenever nothing overflows.)
    """
    ids = encoded("a b c a\nb zebra b\nc", ["a", "b", "c"])
    counts = dense(cooccurrences(ids, 3, window=3))
    third, half = np.float32(1 / 3), np.float32(0.5)
    np.testing.assert_allclose(
        counts,
        [
            [2 * third, 1 + half, half + 1],  # a: b at 1 and 2, c at 2 and 1, a at 3 twice
            [1 + half, 2, 1],  # b: zebra is passed over, so b and b are neighbours
            [1 + half, 1, 0],
        ],
        rtol=1e-7,
    )


def assert_same(left: SparseMatrix, right: SparseMatrix) -> None:
    for name in ("offsets", "columns", "values"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), strict=True)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_neither_memory_nor_threads_change_a_byte(weighting: Weighting, symmetric: bool) -> None:
    ids = random_ids(20_000, 300)
    settings: dict[str, Any] = {"window": 6, "weighting": weighting, "symmetric": symmetric}
    whole = cooccurrences(ids, 300, **settings)
    np.testing.assert_array_equal(dense(whole), twin(ids, 300, 6, weighting, symmetric))
    for threads, memory in [(2, 1 << 30), (1, TINY), (2, TINY), (3, 1 << 18)]:
        part = cooccurrences(ids, 300, threads=threads, memory=memory, **settings)
        assert_same(whole, part)
    spilled = cooccurrences(ids, 300, memory=TINY, **settings)
    assert not spilled.columns.flags.owndata and spilled.values.nbytes > TINY


def test_a_sentence_longer_than_many_segments() -> None:
    ids = random_ids(9_000, 40, ends=0.0)
    ids[1000:3000] = 0  # as many words outside the vocabulary as fill a segment and more
    whole = cooccurrences(ids, 40, window=15)
    assert_same(whole, cooccurrences(ids, 40, window=15, memory=TINY))


@pytest.mark.parametrize("ids", [[], [2], [0, 0], [3], [3, 2, 3, 2]])
def test_texts_without_pairs(ids: list[int]) -> None:
    counts = cooccurrences(np.array(ids, dtype=np.uint32), 2, window=3)
    assert len(counts) == 0 and counts.offsets.tolist() == [0, 0, 0]


def test_nothing_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    counts = cooccurrences(random_ids(20_000, 300), 300, window=5, memory=TINY)
    assert len(counts) and not list(tmp_path.iterdir())

    def fail(*_: object) -> None:
        assert not list(tmp_path.iterdir())
        raise RuntimeError("the work breaks off")

    monkeypatch.setattr("lmkit.embed.count.kernels.merge_rows", fail)
    with pytest.raises(RuntimeError, match="breaks off"):
        cooccurrences(random_ids(20_000, 300), 300, window=5, memory=TINY, threads=2)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _: object) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(UserError, match=r"No space left.*TMPDIR"):
        cooccurrences(random_ids(20_000, 300), 300, window=5, memory=TINY)


def test_bad_settings() -> None:
    with pytest.raises(UserError, match="--window 0"):
        cooccurrences(random_ids(10, 3), 3, window=0)
    with pytest.raises(UserError, match="unknown weighting"):
        pair_weights(3, "cubic")  # type: ignore[arg-type]


@pytest.mark.parametrize("window", [1, 5, 10, 22])
def test_weights_are_exact(window: int) -> None:
    for weighting in WEIGHTINGS:
        weights, unit = pair_weights(window, weighting)
        exact = {"inverse": lambda d: Fraction(1, d), "flat": lambda d: Fraction(1)}
        exact["linear"] = lambda d: Fraction(window - d + 1, window)
        for distance in range(1, window + 1):
            assert Fraction(int(weights[distance]), unit) == exact[weighting](distance)


def test_windows_without_end_take_no_time() -> None:
    weights, unit = pair_weights(1 << 20, "inverse")  # their common multiple takes minutes
    assert unit == 1 << 31 and weights[1] == unit and weights[-1] == 1 << 11


def test_wide_windows_are_nearly_exact() -> None:
    weights, unit = pair_weights(1000, "inverse")
    np.testing.assert_allclose(weights[1:] / unit, 1 / np.arange(1, 1001), rtol=3e-7)


@given(st.lists(st.lists(st.integers(-5, 5), max_size=30), max_size=8), st.integers(0, 200))
def test_what_grows_is_what_was_appended(blocks: list[list[int]], limit: int) -> None:
    grower = Grower(np.int64, limit)
    for block in blocks:
        grower.append(np.array(block, dtype=np.int64))
    whole = grower.finish()
    assert whole.dtype == np.int64 and whole.tolist() == [
        value for block in blocks for value in block
    ]
