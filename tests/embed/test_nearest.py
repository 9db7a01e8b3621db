"""Neighbours against all cosines in float64: exact, in order, the same however they are asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from toy_vectors import exact_cosines, vectors_of

from lmkit.embed import nearest as module
from lmkit.embed.nearest import contenders, nearest, widened
from lmkit.embed.vectors import Vectors

tables = st.tuples(st.integers(1, 130), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(-2, 2))
)


def table_of(matrix: NDArray[np.generic]) -> Vectors:
    return vectors_of([f"w{i}" for i in range(len(matrix))], matrix)


@given(tables, st.integers(1, 140), st.integers(1, 140), st.sets(st.integers(0, 129)), st.data())
def test_they_are_the_best_of_all(
    matrix: NDArray[np.int8], top: int, limit: int, hidden: set[int], data: st.DataObject
) -> None:
    queries = data.draw(arrays(np.int8, (2, matrix.shape[1]), elements=st.integers(-2, 2)))
    rows, cosines = nearest(table_of(matrix), queries.astype(float), top, [hidden, ()], limit=limit)
    for query, excluded, found, scores in zip(queries, (hidden, set()), rows, cosines, strict=True):
        exact = exact_cosines(matrix, query)
        allowed = [row for row in range(min(limit, len(matrix))) if row not in excluded]
        # Small whole numbers: cosines that should be equal are, but for the last bit.
        expected = sorted(allowed, key=lambda row: (-round(exact[row], 12), row))[:top]
        kept = found[found >= 0]
        assert np.round(scores[: len(kept)], 12) == pytest.approx(exact[expected], abs=1e-12)
        assert len(found) == min(top, limit, len(matrix))
        assert not set(kept.tolist()) & excluded
        assert np.all(scores[len(kept) :] == -np.inf) and np.all(found[len(kept) :] == -1)


def test_equal_words_come_in_the_order_of_the_table() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((5000, 20)).astype(np.float32)
    matrix[[4000, 70, 900, 333]] = matrix[4000]
    vectors = table_of(matrix)
    rows, cosines = nearest(vectors, matrix[4000:4001], 4)
    assert rows.tolist() == [[70, 333, 900, 4000]]
    assert len(set(cosines[0].tolist())) == 1
    assert nearest(vectors, matrix[4000:4001], 2, [[70]])[0].tolist() == [[333, 900]]


def test_an_answer_is_the_same_alone_and_among_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    vectors = table_of(rng.standard_normal((3000, 17)))
    queries = rng.standard_normal((50, 17))
    together = nearest(vectors, queries, 7)
    monkeypatch.setattr(module, "BLOCK", 1 << 14)
    for other in (nearest(vectors, queries, 7), alone(vectors, queries)):
        assert np.array_equal(together[0], other[0])
        assert np.array_equal(together[1], other[1])


def alone(vectors: Vectors, queries: NDArray[np.float64]) -> tuple[NDArray[np.generic], ...]:
    answers = [nearest(vectors, query[None], 7) for query in queries]
    return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))


def test_rough_errors_do_not_decide() -> None:
    """Words that float32 cannot tell apart are put in order in float64."""
    base = np.array([1.0, 1e-4], dtype=np.float32)
    matrix = np.stack([base * np.float32(1 + 3 * i) for i in range(200)])
    matrix[:, 1] += np.float32(1e-9) * np.arange(200, dtype=np.float32)[::-1]
    query = np.array([[1.0, 0.0]])
    exact = exact_cosines(matrix, query[0])
    rows, _ = nearest(table_of(matrix), query, 200)
    assert np.all(np.diff(exact[rows[0]]) <= 1e-15)


def test_zeros_have_the_cosine_zero() -> None:
    vectors = table_of(np.array([[0, 0], [1, 0], [-1, 0]]))
    rows, cosines = nearest(vectors, np.array([[2.0, 0.0]]), 3)
    assert rows.tolist() == [[1, 0, 2]] and cosines.tolist() == [[1.0, 0.0, -1.0]]


@pytest.mark.parametrize(("queries", "limit"), [(0, None), (2, 0)])
def test_nothing_to_answer(queries: int, limit: int | None) -> None:
    rows, cosines = nearest(table_of(np.eye(3)), np.ones((queries, 3)), 2, limit=limit)
    assert rows.shape == cosines.shape == (queries, 0 if limit == 0 else 2)


def test_every_float16_is_widened_as_numpy_does() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 2)
    assert np.array_equal(widened(finite).view(np.int32), finite.astype(np.float32).view(np.int32))


def test_a_float16_table_is_searched_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((1000, 12)).astype(np.float16)
    vectors = table_of(matrix.astype(np.float32))
    queries = rng.standard_normal((3, 12))
    expected = nearest(vectors, queries, 5)
    vectors.matrix = matrix  # type: ignore[assignment]
    monkeypatch.setattr(module, "_ROWS", 300)
    found = nearest(vectors, queries, 5)
    assert np.array_equal(found[0], expected[0]) and np.array_equal(found[1], expected[1])


def test_rows_that_were_read_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    vectors = table_of(rng.standard_normal((1000, 12)))
    expected = nearest(vectors, vectors.matrix[:2], 3)
    monkeypatch.setattr(module, "_ROWS", 300)
    forgotten: list[int] = []
    vectors.forget = lambda rows: forgotten.append(len(rows))
    assert np.array_equal(nearest(vectors, vectors.matrix[:2], 3)[0], expected[0])
    assert forgotten == [300, 300, 300, 100]


@given(arrays(np.float32, st.integers(1, 300), elements=st.integers(-3, 3)), st.integers(1, 40))
def test_no_contender_is_left_out(scores: NDArray[np.float32], top: int) -> None:
    best = np.sort(scores)[::-1][:top]
    found = contenders(scores, scores, top)
    assert np.array_equal(np.sort(scores[found])[::-1][:top], best)
    assert np.all(np.diff(found) > 0)
