"""A word that was moved on purpose moves most, whatever the axes."""

import numpy as np
import pytest

from lmkit.embed.align import fit_alignment
from lmkit.embed.drift import Drift
from lmkit.embed.vectors import Vectors
from lmkit.errors import UserError

WORDS = [f"w{row}" for row in range(80)]


def tables(moved: int | None) -> tuple[Vectors, Vectors]:
    """Return two tables, the second rotated, in another order and with words of its own."""
    random = np.random.default_rng(1)
    matrix = random.standard_normal((80, 12))
    turned = matrix @ np.linalg.qr(random.standard_normal((12, 12)))[0]
    turned += 0.01 * random.standard_normal(turned.shape)
    if moved is not None:
        turned[moved] *= -1
    order = random.permutation(80)
    after = np.concatenate([turned[order], random.standard_normal((5, 12))])
    words = [WORDS[row] for row in order.tolist()] + ["</s>", "new1", "new2", "new3", "new4"]
    before = np.concatenate([matrix, matrix[:2]])
    return (
        Vectors.of([*WORDS, "</s>", "old"], before.astype(np.float32)),
        Vectors.of(words, after.astype(np.float32)),
    )


def test_the_word_that_moved_is_found() -> None:
    drift = Drift(*tables(17))
    assert len(drift) == 80 and drift.find("</s>") == drift.find("old") == drift.find("new1") == -1
    assert drift.farthest(3)[0] == drift.find("w17")
    moved, still = drift.of(drift.find("w17")), drift.of(drift.find("w3"))
    assert moved.distance > 1.9 and still.distance < 0.05
    assert moved.local > 1.0 > 0.1 > still.local
    assert moved.before != moved.after and still.before == still.after


def test_measures_are_those_of_the_papers() -> None:
    before, after = tables(5)
    drift = Drift(before, after)
    rows = np.array([after.index(word) for word in WORDS])
    a, b = before.matrix[:80].astype(np.float64), after.matrix[rows].astype(np.float64)
    a, b = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (a, b))
    turned = a @ fit_alignment(a, b).rotation
    assert drift.distances == pytest.approx(1 - (turned * b).sum(axis=1), abs=1e-5)
    for word in (5, 40):
        near = [np.argsort(-(side @ side[word]))[1:26] for side in (a, b)]
        either = np.union1d(*near)
        s, t = a[either] @ a[word], b[either] @ b[word]
        local = 1 - s @ t / np.linalg.norm(s) / np.linalg.norm(t)
        found = drift.of(word)
        assert found.local == pytest.approx(local, abs=1e-5)
        assert found.before == [WORDS[row] for row in near[0][:5]]


def test_a_table_does_not_move_against_itself() -> None:
    before, _ = tables(None)
    drift = Drift(before, before)
    assert drift.distances.max() < 1e-6 and drift.distances.min() >= 0
    assert drift.of(0).local == pytest.approx(0, abs=1e-9)


def test_rare_words_may_be_left_out() -> None:
    before, after = tables(None)
    drift = Drift(before, after, limit=40)
    first = [set(table.word(row) for row in range(40)) for table in (before, after)]
    assert len(drift) == len(first[0] & first[1]) < 40


def test_what_cannot_be_compared() -> None:
    one = Vectors.of(["a", "b"], np.eye(2, dtype=np.float32))
    other = Vectors.of(["b", "c"], np.eye(2, dtype=np.float32))
    with pytest.raises(UserError, match="the two models have 1 words in common"):
        Drift(one, other)
    wide = Vectors.of(["a", "b"], np.eye(2, 3, dtype=np.float32))
    with pytest.raises(UserError, match="vectors of 2 and of 3 dimensions"):
        Drift(one, wide)


@pytest.mark.parametrize("side", [0, 1])
def test_vectors_of_length_0_do_not_move(side: int) -> None:
    both = tables(17)
    both[side].matrix[both[side].index("w3")] = 0
    sides = [Vectors.of(table.words, table.matrix) for table in both]
    drift = Drift(*sides)
    assert len(drift) == 79 and drift.find("w3") == -1
    assert drift.farthest(1) == [drift.find("w17")]
