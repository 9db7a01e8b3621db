"""The truncated SVD against numpy's, and what is done to sparse matrices before it."""

from __future__ import annotations

import numpy as np
import pytest
from embed.count.texts import dense, sparse
from numpy.typing import NDArray

from lmkit.embed.count.sparse import (
    column_sums,
    product,
    ratios,
    row_sums,
    stacked,
    transposed,
)
from lmkit.embed.count.svd import Shift, Svd, truncated_svd
from lmkit.embed.count.workers import Workers
from lmkit.errors import UserError


def random_matrix(
    rows: int, columns: int, share: float = 0.2, seed: int = 0
) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    full = rng.exponential(1.0, (rows, columns)) * (rng.random((rows, columns)) < share)
    full[rows // 2] = 0
    return full.astype(np.float32)


def svd_of(
    full: NDArray[np.float32],
    size: int,
    *,
    shift: Shift | None = None,
    threads: int = 1,
    **given: int,
) -> Svd:
    with Workers(threads) as workers:
        return truncated_svd(sparse(full), size, shift=shift, workers=workers, **given)


@pytest.mark.parametrize("shape", [(90, 70), (70, 90), (40, 40)])
def test_as_numpy(shape: tuple[int, int]) -> None:
    full = random_matrix(*shape)
    size = 12
    found = svd_of(full, size, iterations=40)
    left, values, right = np.linalg.svd(full.astype(np.float64), full_matrices=False)
    np.testing.assert_allclose(found.values, values[:size], rtol=1e-5)
    for mine, theirs in ((found.left, left[:, :size]), (found.right, right[:size].T)):
        np.testing.assert_allclose(mine.T @ mine, np.eye(size), atol=1e-5)
        np.testing.assert_allclose(np.abs(np.sum(mine * theirs, axis=0)), 1, atol=1e-4)
    nearest = (left[:, :size] * values[:size]) @ right[:size]
    np.testing.assert_allclose((found.left * found.values) @ found.right.T, nearest, atol=2e-3)
    assert (found.left.max(axis=0) >= -found.left.min(axis=0)).all()


def test_few_iterations_are_enough_where_values_fall() -> None:
    rng = np.random.default_rng(2)
    left, right = (np.linalg.qr(rng.normal(size=(n, 60)))[0] for n in (300, 200))
    values = 100 / np.arange(1, 61)
    full = ((left * values) @ right.T).astype(np.float32)
    np.testing.assert_allclose(svd_of(full, 20).values, values[:20], rtol=1e-4)


def test_a_shift_is_subtracted() -> None:
    full = random_matrix(60, 50)
    rng = np.random.default_rng(1)
    column, row = rng.random(60, np.float32), rng.random(50, np.float32)
    found = svd_of(full, 8, shift=Shift(column, row), iterations=40)
    oracle = np.linalg.svd(full - np.outer(column, row), compute_uv=False)
    np.testing.assert_allclose(found.values, oracle[:8], rtol=1e-5)


def test_beyond_the_rank_all_is_zero() -> None:
    full = np.outer(np.arange(1, 41), np.arange(1, 31)).astype(np.float32)
    found = svd_of(full, 5)
    assert found.values[0] == pytest.approx(np.linalg.norm(full), rel=1e-5)
    assert not found.values[1:].any() and not found.left[:, 1:].any()
    assert found.left.shape == (40, 5) and found.right.shape == (30, 5)
    assert not svd_of(np.zeros((4, 4), np.float32), 2).left.any()


def test_neither_threads_nor_repetition_change_a_byte() -> None:
    full = random_matrix(400, 300)
    first = svd_of(full, 10, seed=3)
    for again in (svd_of(full, 10, seed=3), svd_of(full, 10, seed=3, threads=2)):
        for name in ("left", "values", "right"):
            assert getattr(first, name).tobytes() == getattr(again, name).tobytes()
    assert svd_of(full, 10, seed=4).left.tobytes() != first.left.tobytes()


def test_more_coordinates_than_words() -> None:
    with pytest.raises(UserError, match="--size 9 is above the number of words, 8"):
        svd_of(random_matrix(8, 8), 9)


def test_sparse_matrices() -> None:
    full = random_matrix(50, 30)
    matrix = sparse(full)
    np.testing.assert_array_equal(dense(transposed(matrix)), full.T)
    np.testing.assert_allclose(row_sums(matrix), full.sum(axis=1, dtype=np.float64), rtol=1e-12)
    np.testing.assert_allclose(
        row_sums(matrix, 7), full[:, :7].sum(1, dtype=np.float64), rtol=1e-12
    )
    np.testing.assert_allclose(column_sums(matrix), full.sum(0, dtype=np.float64), rtol=1e-12)
    assert column_sums(matrix, 7).shape == (7,)
    np.testing.assert_array_equal(dense(stacked(matrix, matrix)), np.concatenate([full, full]))
    with Workers(2) as workers:
        other = np.random.default_rng(1).random((30, 9), np.float32)
        np.testing.assert_allclose(product(matrix, other, workers), full @ other, rtol=1e-5)


@pytest.mark.parametrize("power", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("above", [0.0, 0.7])
def test_ratios(power: float, above: float) -> None:
    full = random_matrix(50, 30)
    rng = np.random.default_rng(4)
    rows, columns = rng.uniform(0.5, 2, 50), rng.uniform(0.5, 2, 20)
    with Workers(2) as workers:
        found = ratios(sparse(full), rows, columns, power=power, above=above, workers=workers)
    ratio = full[:, :20] / (rows[:, None] * columns)
    kept = (full[:, :20] > 0) & (ratio > above)
    with np.errstate(divide="ignore"):
        expected = np.where(kept, np.log(ratio) if power == 0 else ratio**power, 0)
    assert found.num_columns == 20 and len(found) == kept.sum()
    np.testing.assert_allclose(dense(found), expected, rtol=1e-6, atol=1e-7)
