"""Patterns fill their slots from one row each and differ where two draws are asked for."""

import random

import pytest

from lmkit.corpora.patterns import Choice, Pattern, Table, Words

PEOPLE = Table(("name", "his"), [("john", "his"), ("mary", "her")])
HATS = Words(["red", "blue"])


def filled(text: str, count: int = 200) -> set[str]:
    uniform = random.Random(1).random
    pattern = Pattern(text, {"person": PEOPLE, "person2": PEOPLE, "hat": HATS})
    return {pattern.fill(uniform) for _ in range(count)}


def test_slots_of_one_source_agree() -> None:
    assert filled("{person.name} lost {person.his} hat .") == {
        "john lost his hat .",
        "mary lost her hat .",
    }


def test_two_draws_from_one_source_differ() -> None:
    assert filled("{person.name} met {person2.name}") == {"john met mary", "mary met john"}


def test_all_combinations_of_independent_slots_appear() -> None:
    assert len(filled("{person.name} {hat}")) == 4


def test_pattern_without_slots_is_itself() -> None:
    assert filled("nothing to fill") == {"nothing to fill"}


def test_subject_columns_reach_nested_patterns() -> None:
    deed = Choice([([Pattern("shook {s.his} head", {}, ("n", "his"))], 1)])
    pattern = Pattern("the {s.n} {deed}", {"deed": deed}, ("n", "his"))
    assert pattern.fill(random.Random(1).random, ("queen", "her")) == "the queen shook her head"


@pytest.mark.parametrize("text", ["{nobody.name}", "{person.age}"])
def test_unknown_source_or_column_is_refused_when_compiled(text: str) -> None:
    with pytest.raises((KeyError, ValueError)):
        Pattern(text, {"person": PEOPLE})


def test_earlier_rows_are_drawn_more_often_and_all_are_drawn() -> None:
    words = Words([str(rank) for rank in range(40)])
    uniform = random.Random(2).random
    counts = dict.fromkeys(range(40), 0)
    for _ in range(40_000):
        counts[int(words.draw(uniform, ())[0])] += 1
    assert min(counts.values()) > 0
    assert 3 < counts[0] / counts[39] < 8


def test_shares_of_a_choice_are_kept_whatever_the_sizes_of_the_groups() -> None:
    small = [Pattern("small", {})]
    large = [Pattern(f"large {number}", {}) for number in range(30)]
    choice = Choice([(small, 3), (large, 1)])
    uniform = random.Random(3).random
    drawn = [choice.draw(uniform, ())[0] for _ in range(20_000)]
    assert drawn.count("small") / len(drawn) == pytest.approx(0.75, abs=0.02)
