"""Suggestions for unknown words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkit.embed.spelling import LONGEST, Spellings, distances_to, dresses
from lmkit.embed.vectors import FirstWords, ListedWords, Words
from lmkit.text.vocab import WordTable

LISTED = ["the", "king", "NASA", "new_york", "kings", "ring", "queen", "naïve", "Москва", "kin",
          "government", "ice-cream", "New_York", "a", "i", "quene"]  # fmt: skip


def words_of(words: list[str]) -> list[Words]:
    raw = [word.encode() for word in words]
    return [WordTable.of(raw), ListedWords(raw), FirstWords(ListedWords([*raw, b"kign"]), len(raw))]


@pytest.mark.parametrize("words", words_of(LISTED), ids=["table", "list", "first"])
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("nasa", ["NASA"]),
        ("new-york", ["new_york", "New_York"]),
        ("new york", ["new_york", "New_York"]),
        ("NewYork", ["new_york", "New_York"]),
        ("ice_cream", ["ice-cream"]),
        ("icecream", ["ice-cream"]),
        ("kign", ["king", "kin", "kings"]),
        ("King", ["king", "kings", "ring"]),
        ("KIGN", ["king", "kin", "kings"]),
        ("queeen", ["queen", "quene"]),
        ("naive", ["naïve"]),
        ("москва", ["Москва"]),
        ("маскава", ["Москва"]),
        ("goverment", ["government"]),
        ("tha", ["the"]),
        ("x", []),
        ("", []),
        ("zebra", []),
        ("z" * (LONGEST + 1), []),
    ],
)
def test_suggestions(words: Words, word: str, expected: list[str]) -> None:
    assert Spellings(words).suggest(word) == expected


def test_suggestions_stop_and_never_repeat_the_word() -> None:
    spellings = Spellings(ListedWords(word.encode() for word in LISTED))
    assert spellings.suggest("king", 2) == ["kings", "ring"]
    assert spellings.suggest("kign", 1) == ["king"]
    assert Spellings(ListedWords([])).suggest("king") == []


def test_words_that_are_not_utf8_do_no_harm() -> None:
    spellings = Spellings(ListedWords([b"ki\xffng", b"caf\xc3", b"king"]))
    assert spellings.suggest("kings") == ["king", "ki\ufffdng"]
    assert spellings.suggest("ki\ufffdn") == ["ki\ufffdng", "king"]


def test_dresses_have_the_letters_of_the_word() -> None:
    found = list(dresses("New-york"))
    assert {"new_york", "NEW YORK", "New York", "newyork", "New-york"} <= set(found)
    assert {"".join(c for c in dress.lower() if c.isalpha()) for dress in found} == {"newyork"}


def distance(a: str, b: str) -> int:
    """Return the optimal string alignment distance, by its recurrence."""
    table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, table[i - 2][j - 2] + 1)
            table[i][j] = best
    return table[-1][-1]


TEXTS = st.text("abé", min_size=1, max_size=6)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=8), st.integers(1, 3))
def test_distances_are_those_of_the_recurrence(word: str, others: list[str], most: int) -> None:
    for length in {len(other) for other in others}:
        same = [other for other in others if len(other) == length]
        characters = np.array([[ord(c) for c in other] for other in same], dtype=np.uint32)
        found = distances_to(word, characters, most)
        for other, far in zip(same, found.tolist(), strict=True):
            expected = distance(word, other)
            assert far == expected if expected <= most else far > most
