"""Cosines of words and sets, and odd ones out."""

import json

import pytest
from shared_data import shared
from toy_vectors import vectors_of

from lmkit.embed.analogy import UnknownWords
from lmkit.embed.formats import read
from lmkit.embed.similarity import odd_one_out, similarity

VECTORS = vectors_of(
    ["east", "north", "northeast", "west", "nil"], [[2, 0], [0, 3], [1, 1], [-1, 0], [0, 0]]
)


def test_cosines() -> None:
    assert similarity(VECTORS, ["east"], ["north"]) == 0.0
    assert similarity(VECTORS, ["east"], ["west"]) == -1.0
    assert similarity(VECTORS, ["east"], ["northeast"]) == pytest.approx(0.5**0.5)
    assert similarity(VECTORS, ["east"], ["nil"]) == 0.0
    assert similarity(VECTORS, ["east", "north"], ["north", "east"]) == pytest.approx(1.0)
    assert similarity(VECTORS, ["east", "west"], ["east"]) == pytest.approx(1.0)


def test_the_odd_one_comes_first() -> None:
    words = [word for word, _ in odd_one_out(VECTORS, ["east", "west", "northeast"])]
    assert words[0] == "west" and set(words) == {"east", "west", "northeast"}
    assert odd_one_out(VECTORS, ["east", "east", "east"])[0] == ("east", pytest.approx(1.0))


def test_of_equally_odd_ones_the_first_is_taken() -> None:
    assert odd_one_out(VECTORS, ["north", "east"])[0][0] == "north"
    assert odd_one_out(VECTORS, ["east", "north"])[0][0] == "east"


def test_unknown_words_are_named() -> None:
    with pytest.raises(UnknownWords) as caught:
        similarity(VECTORS, ["up", "east"], ["down", "up"])
    assert caught.value.words == ["up", "down"]
    with pytest.raises(UnknownWords, match="'up'"):
        odd_one_out(VECTORS, ["east", "up", "west"])


def test_gensim_says_the_same() -> None:
    golden = json.loads(shared("golden", "embed", "expected_gensim.json").read_bytes())
    tiny = golden["tiny"]
    vectors = read(shared("golden", "embed", "tiny_gensim.bin"))
    found = similarity(vectors, ["king"], ["queen"])
    assert found == pytest.approx(tiny["similarity king queen"], abs=1e-6)
    found = similarity(vectors, ["king", "queen"], ["man", "woman"])
    assert found == pytest.approx(tiny["n_similarity [king,queen] [man,woman]"], abs=1e-6)
    asked = [(["king", "queen", "man", "apple"], tiny["doesnt_match king queen man apple"])]
    for words, odd in asked:
        assert odd_one_out(vectors, words)[0][0] == odd
    vectors = read(shared("golden", "embed", "acc.bin"))
    assert len(golden["acc"]["doesnt_match"]) == 4
    for words, odd in golden["acc"]["doesnt_match"]:
        assert odd_one_out(vectors, words)[0][0] == odd
