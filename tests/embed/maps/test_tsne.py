"""t-SNE: groups stay together, few words do no harm, the same words give the same picture."""

import sys

import numpy as np
import pytest

from lmkit.embed.maps import tsne as module
from lmkit.embed.maps.tsne import tsne
from lmkit.errors import UserError


def groups(each: int) -> np.ndarray:
    generator = np.random.default_rng(1)
    centres = np.repeat(10 * np.eye(3, 8), each, axis=0)
    return (centres + generator.normal(size=centres.shape)).astype(np.float32)


def test_neighbours_stay_neighbours() -> None:
    points = tsne(groups(12))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (apart.argmin(axis=1) // 12 == np.arange(36) // 12).all()


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7])
def test_few_words_do_no_harm(number: int) -> None:
    points = tsne(groups(4)[:number])
    assert points.shape == (number, 2)
    assert np.isfinite(points).all()


@pytest.mark.parametrize("rows", [np.ones((5, 3)), np.zeros((4, 1)), np.arange(6.0)[:, None]])
def test_degenerate_vectors_do_no_harm(rows: np.ndarray) -> None:
    assert np.isfinite(tsne(rows)).all()


@pytest.mark.parametrize("exact", [400, 10])
def test_the_same_words_give_the_same_points(exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXACT", exact)
    assert tsne(groups(10), seed=3).tobytes() == tsne(groups(10), seed=3).tobytes()


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "sklearn.manifold", raising=False)
    with pytest.raises(UserError, match=r'scikit-learn.*pip install "lmkit\[plot\]"'):
        tsne(groups(3))
