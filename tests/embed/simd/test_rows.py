"""The instructions on rows against NumPy."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lmkit.embed.predict.matrices import zeros
from lmkit.embed.simd import kernels
from lmkit.embed.simd.kernels import NODES, OUTPUTS

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
SCORE, UPDATE, MEAN, DIFFERENCE = range(4)
FEW = settings(max_examples=60)
counts, chunks = st.integers(0, 14), st.integers(1, 9)
each_width = pytest.mark.parametrize("width", [OUTPUTS, NODES])


@numba.njit  # type: ignore[untyped-decorator]
def call(what, width, rows, count, others, floats, scale, chunks):  # type: ignore[no-untyped-def]
    """Call an instruction, which only compiled code can do; all but ``scale`` are integers."""
    if what == 0 and width == 6:
        kernels.score6(rows, count, others, floats, chunks)
    elif what == 0:
        kernels.score4(rows, count, others, floats, chunks)
    elif what == 1 and width == 6:
        kernels.update6(rows, count, others, floats, chunks)
    elif what == 1:
        kernels.update4(rows, count, others, floats, chunks)
    elif what == 2:
        kernels.mean_rows(rows, count, others, floats, scale, chunks)
    else:
        kernels.add_difference(rows, count, others, floats, scale, chunks)


@numba.njit  # type: ignore[untyped-decorator]
def call_gradients(scores, positives, totals, count, rate, bound):  # type: ignore[no-untyped-def]
    kernels.logistic_gradients(scores, positives, totals, count, rate, bound)


def at(array: NDArray[Any]) -> np.int64:
    return np.int64(array.ctypes.data)


def addresses(matrix: Floats, rows: Any) -> Integers:
    """Return where ``rows`` of a matrix lie."""
    return (at(matrix) + np.asarray(rows, dtype=np.int64) * matrix.strides[0]).astype(np.int64)


class Rows:
    """A matrix of random rows and another one, each between rows that nobody may touch."""

    def __init__(self, seed: int, count: int, width: int, chunks: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.left, self.right = zeros(count + 2, 16 * chunks), zeros(width + 2, 16 * chunks)
        for matrix in (self.left, self.right):
            matrix[:] = self.rng.normal(0, 1, matrix.shape)
        self.left_at = addresses(self.left, range(1, count + 1))
        self.right_at = addresses(self.right, range(1, width + 1))
        self.count, self.width, self.chunks = count, width, chunks

    def call(self, what: int, floats: Floats) -> None:
        call(
            np.int64(what), np.int64(self.width), at(self.left_at), np.int64(self.count),
            at(self.right_at), at(floats), np.float32(0), np.int64(self.chunks),
        )  # fmt: skip


@each_width
@given(st.integers(0, 99), counts, chunks)
@FEW
def test_scores(width: int, seed: int, count: int, chunks: int) -> None:
    rows = Rows(seed, count, width, chunks)
    before = rows.left.copy(), rows.right.copy()
    out = np.full(count * width + 16, 7.5, dtype=np.float32)
    rows.call(SCORE, out)
    expected = rows.left[1:-1].astype(np.float64) @ rows.right[1:-1].T.astype(np.float64)
    assert out[: count * width] == pytest.approx(expected.reshape(-1), abs=1e-4)
    assert np.all(out[count * width :] == 7.5)
    assert np.array_equal(rows.left, before[0]) and np.array_equal(rows.right, before[1])


@each_width
@given(st.integers(0, 99), counts, chunks)
@FEW
def test_updates(width: int, seed: int, count: int, chunks: int) -> None:
    rows = Rows(seed, count, width, chunks)
    left, right = rows.left.astype(np.float64), rows.right.astype(np.float64)
    rates = rows.rng.normal(0, 1, (count, width)).astype(np.float32)
    rows.call(UPDATE, rates)
    grown = left.copy(), right.copy()
    grown[0][1:-1] += rates @ right[1:-1]
    grown[1][1:-1] += rates.T @ left[1:-1]
    assert rows.left == pytest.approx(grown[0], abs=1e-4)
    assert rows.right == pytest.approx(grown[1], abs=1e-4)


@each_width
def test_a_row_that_comes_twice_is_updated_twice(width: int) -> None:
    """The second time it has moved already."""
    rows = Rows(3, 2, width, 2)
    rows.left_at[1] = rows.left_at[0]
    row, right = rows.left[1].astype(np.float64), rows.right[1:-1].astype(np.float64)
    rates = rows.rng.normal(0, 1, (2, width)).astype(np.float32)
    rows.call(UPDATE, rates)
    once = row + rates[0] @ right
    assert rows.left[1] == pytest.approx(once + rates[1] @ right, abs=1e-4)
    expected = right + np.outer(rates[0], row) + np.outer(rates[1], once)
    assert rows.right[1:-1] == pytest.approx(expected, abs=1e-4)


@each_width
def test_the_row_that_fills_up_stays_zero(width: int) -> None:
    """Several columns may be the same row of zeros, at rate 0."""
    rows = Rows(4, 5, width, 1)
    rows.right[1] = 0.0
    rows.right_at[: width - 1] = rows.right_at[0]
    rates = np.zeros((5, width), dtype=np.float32)
    rates[:, -1] = 0.5
    left = rows.left[1:-1].astype(np.float64)
    rows.call(UPDATE, rates)
    assert not rows.right[1].any()
    assert rows.left[1:-1] != pytest.approx(left)


@given(st.integers(0, 99), st.integers(1, 14), chunks)
@FEW
def test_means(seed: int, count: int, chunks: int) -> None:
    rows = Rows(seed, count, 2, chunks)
    before = rows.left.copy()
    call(
        np.int64(MEAN), np.int64(0), at(rows.left_at), np.int64(count), rows.right_at[0],
        rows.right_at[1], np.float32(1 / count), np.int64(chunks),
    )  # fmt: skip
    expected = rows.left[1:-1].astype(np.float64).mean(axis=0)
    assert rows.right[1] == pytest.approx(expected, abs=1e-5)
    assert np.array_equal(rows.right[1], rows.right[2])
    assert np.array_equal(rows.left, before)
    assert rows.right[0].all() and rows.right[3].all()


@given(st.integers(0, 99), counts, chunks, st.sampled_from([1.0, 0.25]))
@FEW
def test_differences(seed: int, count: int, chunks: int, scale: float) -> None:
    rows = Rows(seed, count, 2, chunks)
    left, right = rows.left.astype(np.float64), rows.right.astype(np.float64)
    if count:
        rows.left_at[-1] = rows.left_at[0]  # counts twice
    call(
        np.int64(DIFFERENCE), np.int64(0), at(rows.left_at), np.int64(count), rows.right_at[0],
        rows.right_at[1], np.float32(scale), np.int64(chunks),
    )  # fmt: skip
    np.add.at(left, [*range(1, count), 1][:count], scale * (right[1] - right[2]))
    assert rows.left == pytest.approx(left, abs=1e-5)
    assert np.array_equal(rows.right, right)


def gradients(
    scores: Any, positives: Any, totals: Any, rate: float, bound: float = np.inf
) -> Floats:
    count = len(scores)
    padded = [np.zeros(count + 16, dtype=np.float32) for _ in range(3)]
    for array, values in zip(padded, (scores, positives, totals), strict=True):
        array[:count] = values
    call_gradients(*map(at, padded), np.int64(count), np.float32(rate), np.float32(bound))
    return padded[0][:count]


@given(st.integers(0, 99), st.integers(0, 70), st.sampled_from([np.inf, 6.0, 0.5]))
@FEW
def test_gradients(seed: int, count: int, bound: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 4, count).astype(np.float32)
    totals = rng.integers(0, 5, count)
    positives = rng.integers(0, totals + 1)
    sigmoids = 1 / (1 + np.exp(-scores.astype(np.float64)))
    expected = np.where(np.abs(scores) <= bound, 0.03 * (positives - totals * sigmoids), 0)
    found = gradients(scores, positives, totals, 0.03, bound)
    assert found == pytest.approx(expected, abs=1e-7)


def test_sigmoids_are_exact_to_float32() -> None:
    scores = np.linspace(-30, 30, 20_001).astype(np.float32)
    exact = 1 / (1 + np.exp(-scores.astype(np.float64)))
    found = gradients(scores, np.zeros(len(scores)), np.ones(len(scores)), -1.0)
    assert found == pytest.approx(exact, abs=2e-7)
    assert found.min() >= 0 and found.max() <= 1


def test_scores_at_and_beyond_the_bound() -> None:
    beyond = np.nextafter(np.float32(6), np.float32(7))
    found = gradients([6.0, -6.0, beyond, -beyond], [1, 0, 1, 0], [1, 1, 1, 1], 1.0, 6.0)
    assert found == pytest.approx([0.0024726, -0.0024726, 0, 0], abs=1e-6)


def test_infinite_scores_and_those_that_are_no_numbers() -> None:
    """Infinity is far beyond every score; what is no number moves nothing."""
    inf, nan = np.inf, np.nan
    scores = [inf, -inf, inf, -inf, 1e38, -1e38, nan, nan]
    found = gradients(scores, [1, 1, 0, 0, 0, 1, 1, 0], np.ones(8), 2.0)
    assert found == pytest.approx([0, 2, -2, 0, -2, 2, 0, 0], abs=1e-6)
    assert not gradients(scores, [1, 1, 0, 0, 0, 1, 1, 0], np.ones(8), 2.0, 6.0).any()
