"""Pairs: how they are read, and how parallel their offsets are."""

import numpy as np
import pytest

from lmkit.embed.maps.picture import Arrow, Scatter, parallelograms
from lmkit.embed.maps.relations import Relation, offset_cosines, parse_pair, parse_relations
from lmkit.errors import UserError


def test_pairs_are_read() -> None:
    lines = [": family", "man:woman", "king\tqueen", "", "king queen", ": time", "10:30 noon"]
    assert parse_relations(lines, "pairs") == [
        Relation("family", (("man", "woman"), ("king", "queen"))),
        Relation("time", (("10:30", "noon"),)),
    ]
    assert parse_relations(["a b"], "pairs") == [Relation("", (("a", "b"),))]
    assert parse_relations([": empty"], "pairs") == []


@pytest.mark.parametrize("text", ["man", "man:woman:child", ":woman", "a b c", "a:a", "a a"])
def test_what_is_no_pair_is_named(text: str) -> None:
    with pytest.raises(UserError, match=r"pairs:2: .* is no pair of two words"):
        parse_relations(["x y", " " + text], "pairs")
    with pytest.raises(UserError):
        parse_pair(text, "--pairs")


def planted(seed: int = 1) -> tuple[np.ndarray, list[Arrow]]:
    """Return vectors of two relations, each an offset of its own, and their arrows."""
    generator = np.random.default_rng(seed)
    bases = generator.normal(size=(6, 20))
    offsets = np.repeat(generator.normal(size=(2, 20)), 3, axis=0)
    arrows = [Arrow(start=i, end=6 + i, relation=i // 3) for i in range(6)]
    return np.concatenate([bases, bases + offsets]), arrows


def test_planted_offsets_are_parallelograms() -> None:
    rows, arrows = planted()
    words = [f"w{number}" for number in range(12)]
    picture = parallelograms(words, rows, arrows, ["first", "second"])
    assert isinstance(picture, Scatter) and picture.cosines is not None
    drawn = np.array([picture.points[arrow.end] - picture.points[arrow.start] for arrow in arrows])
    assert drawn[:3] == pytest.approx(np.tile(drawn[0], (3, 1)))
    assert drawn[3:] == pytest.approx(np.tile(drawn[3], (3, 1)))
    assert np.linalg.norm(drawn, axis=1).min() > 0.1
    assert picture.cosines.relations == pytest.approx([1.0, 1.0])
    expected = rows[6] - rows[0], rows[9] - rows[3]
    across = expected[0] @ expected[1] / np.prod([np.linalg.norm(one) for one in expected])
    assert picture.cosines.across == pytest.approx(across)


def test_cosines_are_means_over_pairs() -> None:
    starts = np.zeros((4, 2))
    ends = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, 0.0]])
    found = offset_cosines(starts, ends, np.array([0, 0, 0, 1]))
    half = np.sqrt(0.5)
    assert found.pairs[:3] == pytest.approx([half / 2, half / 2, half])
    assert np.isnan(found.pairs[3]) and np.isnan(found.relations[1])
    assert found.relations[0] == pytest.approx(found.pairs[:3].mean())
    assert found.relations[0] == pytest.approx(2 * half / 3)
    assert found.across == pytest.approx((-1.0 - half) / 3)


def test_an_offset_without_length_has_no_direction() -> None:
    found = offset_cosines(np.ones((2, 3)), np.ones((2, 3)), np.array([0, 0]))
    assert found.relations.tolist() == [0.0]
    assert np.isnan(found.across)


def test_records_hold_the_arrows() -> None:
    rows, arrows = planted()
    picture = parallelograms([f"w{n}" for n in range(12)], rows, arrows, ["first", "second"])
    records = list(picture.records())
    assert [record["word"] for record in records] == picture.words
    assert records[0]["arrows"] == [{"to": "w6", "relation": "first", "cosine": pytest.approx(1.0)}]
    assert records[6]["arrows"] == []
    facts = "\n".join(picture.facts())
    assert "first: 3 pairs, mean cosine of the offsets 1.000" in facts
    assert "mean cosine across relations" in facts
