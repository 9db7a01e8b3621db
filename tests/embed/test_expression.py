"""Sums of words as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkit.embed.expression import Term, parse, parse_arguments, split_words
from lmkit.errors import UserError


def terms(text: str) -> list[tuple[str, float]]:
    return [(term.word, term.weight) for term in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("king man woman", [("king", 1), ("man", -1), ("woman", 1)]),
        ("  king\u2028s man   woman\r", [("king\u2028s", 1), ("man", -1), ("woman", 1)]),
        ("king - man + woman", [("king", 1), ("man", -1), ("woman", 1)]),
        ("king -man +woman", [("king", 1), ("man", -1), ("woman", 1)]),
        ("king \u2212 man", [("king", 1), ("man", -1)]),
        ("russia + river", [("russia", 1), ("river", 1)]),
        ("0.5 * paris - 2*france", [("paris", 0.5), ("france", -2)]),
        ("-2*king + .5\u00d7queen + 1e-1 * x", [("king", -2), ("queen", 0.5), ("x", 0.1)]),
        ("0*king", [("king", 0)]),
        ("river", [("river", 1)]),
        ("- river", [("river", -1)]),
        ("1984 - 3 + 5*7", [("1984", 1), ("3", -1), ("7", 5)]),
        ("1984 1985 1986", [("1984", 1), ("1985", -1), ("1986", 1)]),
        ("ice-cream + c++ - u.s.", [("ice-cream", 1), ("c++", 1), ("u.s.", -1)]),
        (
            '"new york" - usa + 2*"south africa"',
            [("new york", 1), ("usa", -1), ("south africa", 2)],
        ),
        ('"new york" usa france', [("new york", 1), ("usa", -1), ("france", 1)]),
        ('the " and', [("the", 1), ('"', -1), ("and", 1)]),
        ("new york\tusa\tfrance", [("new york", 1), ("usa", -1), ("france", 1)]),
        ("a\t+\tb\t-\tc", [("a", 1), ("b", 1), ("c", -1)]),
        ("", []),
        (" \t \r", []),
    ],
)
def test_sums(text: str, expected: list[tuple[str, float]]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("king queen", "no + or - before 'queen'"),
        ("a b c d", "no + or - before 'b'"),
        ("a b - c", "no + or - before 'b'"),
        ("a - b c", "no + or - before 'c'"),
        ("a +", "+ where a word should be"),
        ("a + - b", "- where a word should be"),
        ("+", "+ where a word should be"),
        ("a * b", "* where a word should be"),
        ("2 *", "* where a word should be"),
        ("1e999*a", "the weight 1e999 is too large"),
    ],
)
def test_what_is_no_sum(text: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text)
    assert str(caught.value) == (
        f"{text!r} is no sum of words: {why}. Write A B C, or a sum such as king - man + woman."
    )


def test_a_long_line_is_quoted_in_part() -> None:
    with pytest.raises(UserError) as caught:
        parse("word " * 10_000)
    assert len(str(caught.value)) < 250


def test_arguments() -> None:
    assert parse_arguments(["king", "man", "woman"]) == parse("king man woman")
    spaces = [Term("new york"), Term("ny", -1.0), Term("los angeles")]
    assert parse_arguments(["new york", "ny", "los angeles"]) == spaces
    assert parse_arguments(["king - man + woman"]) == parse("king - man + woman")
    assert parse_arguments(["king", "-", "man"]) == parse("king - man")
    assert parse_arguments(["2", "*", "man"]) == parse("2 * man")
    assert parse_arguments(["king", "-man", "+woman"]) == parse("king - man + woman")
    assert parse_arguments(["2*king", "- man", "+ woman"]) == parse("2*king - man + woman")
    assert parse_arguments([""]) == []


WORDS = st.text(
    st.characters(exclude_characters=' \t\r\n\0"+-*\u2212\u00d7'), min_size=1, max_size=6
)
WEIGHTS = st.floats(0, 1e6, allow_subnormal=False).map(lambda weight: round(weight, 4))
TERMS = st.tuples(WORDS, st.sampled_from("+-"), WEIGHTS)


@given(st.lists(TERMS, min_size=1, max_size=5))
def test_what_is_written_is_read(written: list[tuple[str, str, float]]) -> None:
    text = " ".join(f"{sign} {weight!r} * {word}" for word, sign, weight in written)
    assert terms(text) == [(word, weight if sign == "+" else -weight)
                           for word, sign, weight in written]  # fmt: skip


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_words_of_a_line(words: list[str]) -> None:
    assert split_words(" ".join(words)) == words
    assert split_words("\t".join([*words, "two words"])) == [*words, "two words"]
