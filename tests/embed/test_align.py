"""Rotations that were planted, and CSLS against a twin."""

import numpy as np
import pytest

from lmkit.embed.align import fit_alignment, neighbor_means, procrustes, retrieve
from lmkit.errors import UserError


def rotation(random: np.random.Generator, size: int) -> np.ndarray:  # type: ignore[type-arg]
    q, r = np.linalg.qr(random.standard_normal((size, size)))
    return q * np.sign(np.diag(r))


def unit(rows: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_planted_rotation_is_recovered(normalize: bool, center: bool) -> None:
    random = np.random.default_rng(1)
    planted = rotation(random, 10)
    source = random.standard_normal((50, 10))
    alignment = fit_alignment(source, source @ planted, normalize=normalize, center=center)
    assert alignment.rotation == pytest.approx(planted, abs=1e-10)
    assert alignment(source) == pytest.approx(source @ planted, abs=1e-5)


def test_planted_shift_needs_centring() -> None:
    random = np.random.default_rng(2)
    planted, shift = rotation(random, 6), 3 * random.standard_normal(6)
    source = random.standard_normal((40, 6)) + 2
    target = source @ planted + shift
    centred = fit_alignment(source, target, normalize=False, center=True)
    assert centred.rotation == pytest.approx(planted, abs=1e-10)
    assert centred(source) == pytest.approx(target, abs=1e-5)
    plain = fit_alignment(source, target, normalize=False)
    assert np.abs(plain(source) - target).max() > 0.1


def test_lengths_and_inner_cosines_stay_without_centring() -> None:
    random = np.random.default_rng(3)
    source, target = random.standard_normal((2, 30, 5))
    source[0] = 0
    mapped = fit_alignment(source, target)(source)
    assert mapped @ mapped.T == pytest.approx(source @ source.T, abs=1e-4)


def test_lengths_do_not_matter_where_rows_are_normalised() -> None:
    random = np.random.default_rng(4)
    source, target = random.standard_normal((2, 30, 5))
    stretched = source * random.uniform(0.1, 9, (30, 1))
    plain = fit_alignment(source, target).rotation
    assert fit_alignment(stretched, target).rotation == pytest.approx(plain, abs=1e-10)
    assert np.abs(fit_alignment(stretched, target, normalize=False).rotation - plain).max() > 0.01


def test_no_other_orthogonal_matrix_is_better() -> None:
    random = np.random.default_rng(5)
    x, y = random.standard_normal((2, 40, 4))
    best = procrustes(x, y)
    assert best @ best.T == pytest.approx(np.eye(4), abs=1e-12)
    error = np.linalg.norm(x @ best - y)
    for _ in range(200):
        near = best @ np.linalg.qr(np.eye(4) + 0.1 * random.standard_normal((4, 4)))[0]
        assert np.linalg.norm(x @ near - y) > error
    assert best == pytest.approx(
        pytest.importorskip("scipy.linalg").orthogonal_procrustes(x, y)[0], abs=1e-10
    )


def test_what_cannot_be_aligned() -> None:
    with pytest.raises(UserError, match=r"vectors of 3 and of 4 dimensions\. Fit both"):
        fit_alignment(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(UserError, match="no pair to align by"):
        fit_alignment(np.ones((0, 3)), np.ones((0, 3)))


@pytest.mark.parametrize(
    ("num_queries", "num_rows", "count"), [(5, 4, 10), (30, 700, 10), (9, 999, 3)]
)
def test_neighbor_means_are_those_of_sorting(num_queries: int, num_rows: int, count: int) -> None:
    random = np.random.default_rng(num_rows)
    queries = unit(random.standard_normal((num_queries, 8))).astype(np.float32)
    table = unit(random.standard_normal((num_rows, 8))).astype(np.float32)
    expected = np.sort(queries @ table.T, axis=1)[:, -count:].mean(axis=1)
    assert neighbor_means(queries, table, count) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("top", [1, 5, 40, 99])
def test_csls_is_that_of_the_twin(top: int) -> None:
    random = np.random.default_rng(top)
    queries = unit(random.standard_normal((60, 5))).astype(np.float32)
    table = unit(random.standard_normal((40, 5))).astype(np.float32)
    cosines = queries.astype(np.float64) @ table.astype(np.float64).T
    near_table = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)  # r of each query
    near_query = np.sort(cosines, axis=0)[-10:].mean(axis=0)  # r of each row
    csls = 2 * cosines - near_table[:, None] - near_query
    found = retrieve(queries, table, top, neighbor_means(table, queries))
    assert np.array_equal(found, np.argsort(-csls, axis=1)[:, :top])
    assert np.array_equal(retrieve(queries, table, top), np.argsort(-cosines, axis=1)[:, :top])


def test_equal_scores_come_in_the_order_of_the_table() -> None:
    table = np.ones((7, 1), dtype=np.float32)
    assert retrieve(table[:1], table, 9).tolist() == [[0, 1, 2, 3, 4, 5, 6]]
