"""The generated corpus: the same everywhere, well formed, in agreement, and free of analogies."""

import hashlib
import re
from collections import Counter
from itertools import islice

import pytest

from lmkit.corpora import grammar
from lmkit.corpora.kingdoms import folk, people, qualities, ranks, world
from lmkit.corpora.kingdoms.morphology import compare

FIRST_THOUSAND = "115651189892a2607fd66bfa464f0793ca9ae30ebe50e7de7a3791d38361f2e7"
MALE = ("he", "him", "his", "himself")
FEMALE = ("she", "her", "hers", "herself")


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return list(grammar.generate(60_000, seed=1))


def test_the_first_thousand_sentences_never_change() -> None:
    text = "".join(f"{line}\n" for line in grammar.generate(1000, seed=1))
    assert hashlib.sha256(text.encode()).hexdigest() == FIRST_THOUSAND


def test_generate_is_a_prefix_of_the_endless_stream() -> None:
    assert list(grammar.generate(50, seed=7)) == list(islice(grammar.sentences(7), 50))


def test_two_streams_at_once_do_not_disturb_each_other() -> None:
    first, second = grammar.sentences(3), grammar.sentences(3)
    woven = [(next(first), next(second)) for _ in range(100)]
    assert all(one == other for one, other in woven)


def test_seeds_differ() -> None:
    assert list(grammar.generate(50, seed=1)) != list(grammar.generate(50, seed=2))


def test_no_sentences_are_no_sentences() -> None:
    assert list(grammar.generate(0)) == []


def test_lines_are_lower_case_tokens_of_the_promised_length(lines: list[str]) -> None:
    token = re.compile(r"[a-z]+|'s|[.,?!\"]")
    for line in lines:
        tokens = line.split(" ")
        assert 5 <= len(tokens) <= 25, line
        assert all(token.fullmatch(one) for one in tokens), line
        assert tokens[-1] in {".", "?", "!", '"'}, line


def test_the_vocabulary_is_rich_and_the_text_varied(lines: list[str]) -> None:
    counts = Counter(token for line in lines for token in line.split())
    assert len(counts) > 3000
    assert sum(count >= 5 for count in counts.values()) > 2500
    assert len(set(lines)) > 0.85 * len(lines)


def test_articles_fit_the_sound_of_the_next_word(lines: list[str]) -> None:
    spoken = {"used", "uniform", "ugandan", "uruguayan", "ukrainian"}
    for line in lines:
        for word in re.findall(r"(?<= )a ([aeiou]\w*)", f" {line}"):
            assert word in spoken, line
        for word in re.findall(r"(?<= )an ([^aeiou ]\w*)", f" {line}"):
            assert word in {"hour", "honest"}, line


def test_pronouns_agree_where_nobody_else_is_named(lines: list[str]) -> None:
    """A line that begins with the subject and names no one else has one gender throughout."""
    names = {*people.MALE_NAMES.split(), *people.FEMALE_NAMES.split()}
    pairs = (*ranks.ROYALTY, *folk.FOLK)
    gender = {pair.male: True for pair in pairs} | {pair.female: False for pair in pairs}
    checked = Counter[bool]()
    for line in lines:
        tokens = line.split()
        if tokens[0] != "the" or tokens[1] not in gender or names & set(tokens):
            continue
        male = gender[tokens[1]]
        assert not set(tokens) & set(FEMALE if male else MALE), line
        checked[male] += bool(set(tokens) & set(MALE if male else FEMALE))
    assert checked[True] > 500
    assert checked[False] > 500


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(\w+) is \w+ , and (he|she) ",
        r"^(\w+) learned \w+ before (he|she) moved",
        r"^(\w+) had .* , so (he|she) ",
        r"^(\w+) likes .* , but (he|she) does",
        r"^(\w+) looked at (his|her) ",
        r"^(\w+) lives in \w+ , but (his|her) ",
    ],
)
def test_names_agree_with_their_pronouns(lines: list[str], pattern: str) -> None:
    male = set(people.MALE_NAMES.split())
    found = 0
    for line in lines:
        if match := re.match(pattern, line):
            found += 1
            assert (match[1] in male) == (match[2] in {"he", "his"}), line
    assert found > 5


def test_deeds_of_a_gender_are_done_by_that_gender(lines: list[str]) -> None:
    """Whoever has a beard is called he, whoever has a skirt is called she."""
    assert any("his beard" in line for line in lines)
    assert any("her skirt" in line for line in lines)
    for line in lines:
        assert not re.search(r"\bher (beard|moustache|waistcoat|tie|pipe)\b", line), line
        assert not re.search(r"\bhis (earrings|skirt|silk dress|long hair)\b", line), line


def test_a_capital_stands_with_its_own_country_only(lines: list[str]) -> None:
    rows = [row.split("|") for row in world.COUNTRIES.strip().split("\n")]
    country = {row[1]: row[0] for row in rows}
    adjective = {row[1]: row[2] for row in rows}
    found = 0
    for line in lines:
        if match := re.match(r"(\w+) is the capital of (\w+) \.", line):
            found += 1
            assert country[match[1]] == match[2], line
        if match := re.match(r"the (\w+) government sits in (\w+) \.", line):
            found += 1
            assert adjective[match[2]] == match[1], line
        if match := re.match(r"where is (\w+) \? it is in (\w+) ,", line):
            found += 1
            assert country[match[1]] == match[2], line
    assert found > 100
    assert len(country) == len(rows) >= 40


def test_comparatives_and_superlatives_are_those_of_the_table(lines: list[str]) -> None:
    adjectives = [word for row in qualities.AXES.strip().split("\n") for word in row.split("|")[:2]]
    forms = {compare(adjective)[0]: adjective for adjective in adjectives}
    seen = set()
    for line in lines:
        if match := re.match(r"this (\w+) is (\w+) than that (\w+) \.", line):
            assert match[1] == match[3], line
            assert match[2] in forms, line
            seen.add(match[2])
    assert len(seen) > 40
    words = {word for line in lines for word in line.split()}
    assert {"better", "best", "worse", "worst", "farther", "farthest"} <= words
    assert not {"gooder", "badder", "farer", "biger", "happyer"} & words


def test_number_agrees(lines: list[str]) -> None:
    """A singular noun has a verb in -s, a plural one has not."""
    found = 0
    for line in lines:
        if match := re.match(r"(?:this|every) (\w+) (?:in|on|at|behind) ", line):
            found += 1
            assert match[1] not in {"mice", "children", "feet", "geese", "wolves"}, line
        if re.match(r"(?:these|many|several) ", line):
            assert not re.match(r"\w+ (?:mouse|child|foot|goose|wolf) ", line), line
    assert found > 100


def test_no_line_states_an_analogy(lines: list[str]) -> None:
    for line in lines:
        assert not re.search(r"\b(is|are) to\b", line), line
        assert not re.search(r"\bas to\b|\bwhat .* is to\b", line), line


def test_partners_of_royal_rank_never_share_a_line(lines: list[str]) -> None:
    """What joins king to queen is the company they keep, never each other's."""
    for line in lines:
        tokens = set(line.split())
        for pair in ranks.ROYALTY:
            assert not {pair.male, pair.female} <= tokens, line
            assert len(tokens & {pair.male, pair.female, "man", "woman"}) < 3, line


def test_ranks_and_genders_are_independent(lines: list[str]) -> None:
    """The queens reign as often as the kings, and men shave whether royal or not."""
    counts = Counter(token for line in lines for token in line.split())
    for pair in ranks.ROYALTY:
        assert 0.8 < counts[pair.male] / counts[pair.female] < 1.25
    thrones = Counter[str]()
    for line in lines:
        tokens = set(line.split())
        if "throne" in tokens or "crown" in tokens:
            thrones.update(tokens & {"king", "queen", "emperor", "empress"})
    assert 0.6 < thrones["king"] / thrones["queen"] < 1.6
    assert 0.5 < thrones["emperor"] / thrones["empress"] < 2
