"""Neighbours, similarities and odd ones out of lines, and what is told about unknown words."""

import pytest
from toy_vectors import vectors_of

from lmkit.events import Listener
from lmkit.tasks.analogy import answer
from lmkit.tasks.query_embed import (
    Compared,
    OddOne,
    neighbor_questions,
    odd_ones,
    similarities,
    words_of,
)
from lmkit.tasks.unknown_words import SHOWN, UnknownWordNotes
from lmkit.text.encoding import Normalizer

VECTORS = vectors_of(
    ["east", "north", "northeast", "west", "far east"],
    [[2, 0], [0, 3], [1, 1], [-1, 0], [1, -1]],
    normalizer=Normalizer(lower=True),
)


class Heard(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_words_with_spaces_are_found_first() -> None:
    assert words_of(VECTORS, " far east\r") == ["far east"]
    assert words_of(VECTORS, "east west") == ["east", "west"]
    assert words_of(VECTORS, "far west") == ["far", "west"]
    assert words_of(VECTORS, " \t ") == []


def test_neighbors() -> None:
    lines = ["East", "", "up", "east north", "far east", "up down"]
    found = list(answer(VECTORS, neighbor_questions(VECTORS, lines)))
    assert [result.text for result in found] == lines
    assert [word for word, _ in found[0].answers] == ["northeast", "far east", "north", "west"]
    assert found[3].answers[0] == ("northeast", pytest.approx(1.0))
    assert found[4].answers[0][0] == "east" and len(found[4].answers) == 4
    assert [result.unknown for result in found] == [[], [], ["up"], [], [], ["up", "down"]]
    assert [bool(result.answers) for result in found] == [True, False, False, True, True, False]


def test_similarities() -> None:
    lines = ["east north", "", "far east\teast\t9.5", "east\tnorth west", "east", "a b", "a b c"]
    found = list(similarities(VECTORS, lines))
    assert found[0] == Compared("east north", 0.0)
    assert found[1] == Compared("", None)
    assert found[2].similarity == pytest.approx(0.5**0.5)
    assert found[3].similarity == pytest.approx(-1 / 10**0.5)
    assert found[4] == Compared("east", None, problem="1 word where two should be")
    assert found[5] == Compared("a b", None, ["a", "b"])
    assert found[6] == Compared("a b c", None, problem="3 words where two should be")


def test_odd_ones() -> None:
    lines = ["east northeast west", " ", "east west", "far east\teast\twest", "east up west"]
    found = list(odd_ones(VECTORS, lines))
    assert found[0].words[0][0] == "west" and len(found[0].words) == 3
    assert found[1] == OddOne(" ", [])
    assert found[2] == OddOne("east west", [], problem="2 words where three or more should be")
    assert found[3].words[0][0] == "west"
    assert found[4] == OddOne("east up west", [], ["up"])


def test_unknown_words_are_told_once_with_suggestions() -> None:
    heard = Heard()
    notes = UnknownWordNotes(VECTORS, heard)
    notes.tell(["eats", "Nroth", "zebra"])
    notes.tell(["eats"])
    notes.finish()
    assert heard.notes == [
        "no word 'eats'; did you mean 'east'?",
        "no word 'Nroth'; did you mean 'north'?",
        "no word 'zebra'",
    ]


def test_of_many_unknown_words_the_rest_is_counted() -> None:
    heard = Heard()
    notes = UnknownWordNotes(VECTORS, heard)
    notes.tell_problem(1, "nothing to compare")
    notes.tell(f"unknown{i}" for i in range(SHOWN + 5))
    notes.tell_problem(7, "nothing to compare")
    notes.finish()
    assert heard.notes[0] == "line 1: nothing to compare"
    assert heard.notes[1:SHOWN] == [f"no word 'unknown{i}'" for i in range(SHOWN - 1)]
    assert heard.notes[SHOWN:] == ["such words and lines 7 times more"]
