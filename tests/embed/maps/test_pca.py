"""Principal axes against numpy's SVD and scikit-learn, and by what defines them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from lmkit.embed.maps.pca import principal_axes


def random_rows(number: int, size: int, seed: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(number, size)) * generator.uniform(0.1, 3.0, size) + 5.0


@pytest.mark.parametrize(("number", "size"), [(50, 8), (7, 30), (200, 3)])
def test_axes_are_those_of_scikit_learn(number: int, size: int) -> None:
    rows = random_rows(number, size)
    found = principal_axes(rows, 3)
    reference = PCA(n_components=3, svd_solver="full").fit(rows)
    signs = np.sign((found.axes * reference.components_).sum(axis=1))
    assert found.axes == pytest.approx(reference.components_ * signs[:, None], abs=1e-9)
    assert found.shares == pytest.approx(reference.explained_variance_ratio_)
    assert found.project(rows) == pytest.approx(reference.transform(rows) * signs, abs=1e-9)


def test_axes_are_singular_vectors() -> None:
    rows = random_rows(20, 6)
    _, spread, directions = np.linalg.svd(rows - rows.mean(0), full_matrices=False)
    found = principal_axes(rows)
    for axis, direction in zip(found.axes, directions, strict=False):
        assert abs(axis @ direction) == pytest.approx(1.0)
        assert axis[np.argmax(np.abs(axis))] > 0
    assert found.shares == pytest.approx((spread**2 / (spread**2).sum())[:2])


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 50))
def test_projection_keeps_variance(number: int, size: int, seed: int) -> None:
    rows = random_rows(number, size, seed)
    found = principal_axes(rows, size)
    points = found.project(rows)
    assert np.ptp(points.mean(axis=0)) < 1e-8
    assert (points**2).sum() == pytest.approx(((rows - rows.mean(0)) ** 2).sum(), abs=1e-9)
    assert (np.diff(found.shares) <= 1e-12).all()
    assert found.shares.sum() == pytest.approx(1.0 if number > 1 else 0.0)


def test_points_on_a_line_have_one_axis() -> None:
    rows = np.outer(np.arange(5.0), [3.0, -4.0])
    found = principal_axes(rows)
    assert found.axes == pytest.approx(np.array([[-0.6, 0.8], [0.0, 0.0]]))
    assert found.shares == pytest.approx([1.0, 0.0])
    assert np.diff(found.project(rows)[:, 0]) == pytest.approx(np.full(4, -5.0))


def test_one_dimension_will_do() -> None:
    points = principal_axes(np.array([[1.0], [3.0]])).project(np.array([[1.0], [3.0]]))
    assert points == pytest.approx(np.array([[-1.0, 0.0], [1.0, 0.0]]))


def test_bad_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        principal_axes(np.empty((0, 3)))
    with pytest.raises(ValueError, match="finite"):
        principal_axes(np.array([[1.0, np.nan], [0.0, 1.0]]))
