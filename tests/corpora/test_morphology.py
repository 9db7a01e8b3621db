"""Word forms: each rule and the exceptions to it."""

import pytest

from lmkit.corpora.kingdoms import actions, folk, people, qualities, ranks, things
from lmkit.corpora.kingdoms.morphology import (
    IRREGULAR_VERBS,
    adverb,
    article,
    compare,
    conjugate,
    plural,
)


@pytest.mark.parametrize(
    "forms",
    [
        "walk walks walked walked walking",
        "write writes wrote written writing",
        "carry carries carried carried carrying",
        "play plays played played playing",
        "stop stops stopped stopped stopping",
        "tie ties tied tied tying",
        "lie lies lay lain lying",
        "wash washes washed washed washing",
        "have has had had having",
        "do does did done doing",
        "see sees saw seen seeing",
        "begin begins began begun beginning",
        "rescue rescues rescued rescued rescuing",
        "visit visits visited visited visiting",
        "travel travels travelled travelled travelling",
        "moo moos mooed mooed mooing",
        "come comes came come coming",
        "nap naps napped napped napping",
    ],
)
def test_conjugation(forms: str) -> None:
    base = forms.split()[0]
    assert list(conjugate(base)) == forms.split()


@pytest.mark.parametrize(
    ("adjective", "forms"),
    [
        ("big", "bigger biggest"),
        ("tall", "taller tallest"),
        ("wide", "wider widest"),
        ("happy", "happier happiest"),
        ("new", "newer newest"),
        ("good", "better best"),
        ("bad", "worse worst"),
        ("far", "farther farthest"),
        ("deep", "deeper deepest"),
        ("humble", "humbler humblest"),
    ],
)
def test_comparison(adjective: str, forms: str) -> None:
    assert " ".join(compare(adjective)) == forms


@pytest.mark.parametrize(
    ("adjective", "expected"),
    [("quick", "quickly"), ("happy", "happily"), ("gentle", "gently"), ("polite", "politely")],
)
def test_adverbs(adjective: str, expected: str) -> None:
    assert adverb(adjective) == expected


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("dog", "dogs"),
        ("box", "boxes"),
        ("city", "cities"),
        ("boy", "boys"),
        ("church", "churches"),
    ],
)
def test_regular_plurals(noun: str, expected: str) -> None:
    assert plural(noun) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("king", "a"),
        ("emperor", "an"),
        ("honest", "an"),
        ("hero", "a"),
        ("ukrainian", "a"),
        ("uncle", "an"),
        ("ugandan", "a"),
        ("uruguayan", "a"),
    ],
)
def test_articles(word: str, expected: str) -> None:
    assert article(word) == expected


def test_every_irregular_verb_is_used_or_plainly_irregular() -> None:
    for base, (past, participle) in IRREGULAR_VERBS.items():
        regular = base + ("d" if base.endswith("e") else "ed")
        assert (past, participle) != (regular, regular), base


def test_tables_hold_what_the_corpus_promises() -> None:
    pairs = (*ranks.ROYALTY, *ranks.KINSHIP, *folk.FOLK)
    assert len(pairs) == 28
    assert len({word for pair in pairs for word in pair[:2]}) == 56
    assert len(folk.TRADES) >= 20
    assert len(actions.ACTIONS.strip().split("\n")) >= 60
    assert len(things.THINGS.strip().split("\n")) >= 80
    assert len(qualities.AXES.strip().split("\n")) * 2 >= 40
    names = people.MALE_NAMES.split() + people.FEMALE_NAMES.split()
    assert len(set(names)) == len(names) == 80
