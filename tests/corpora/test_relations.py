"""What the generated corpus is for: word relations can be learned from it by context alone.

The judge is the plainest method there is: positive pointwise mutual information of words within
five words of each other (Bullinaria and Levy 2007), reduced by its leading eigenvectors.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lmkit.corpora import catalogue, grammar
from lmkit.corpora.kingdoms.relations import Pairs, questions, relations
from lmkit.measures.gold import Question, Questions, Section, read_gold

WINDOW = 5
MIN_COUNT = 15
SIZE = 60


class Vectors:
    """Unit vectors of the words of a text that occur often enough."""

    def __init__(self, lines: list[list[str]]) -> None:
        counts = Counter(word for line in lines for word in line)
        self.words = [word for word, count in counts.most_common() if count >= MIN_COUNT]
        self.index = {word: number for number, word in enumerate(self.words)}
        pmi = self._positive_pmi(lines)
        values, vectors = np.linalg.eigh(pmi)
        strongest = np.argsort(-np.abs(values))[:SIZE]
        self.table = vectors[:, strongest] * np.abs(values[strongest]) ** 0.5
        self.table /= np.linalg.norm(self.table, axis=1, keepdims=True)

    def _positive_pmi(self, lines: list[list[str]]) -> NDArray[np.float64]:
        size = len(self.words)
        flat = [self.index.get(word, size) for line in lines for word in [*line, *[""] * WINDOW]]
        ids = np.array(flat)
        together = np.zeros((size + 1) ** 2)
        for distance in range(1, WINDOW + 1):
            pairs = ids[:-distance] * (size + 1) + ids[distance:]
            together += np.bincount(pairs, minlength=together.size) / distance
        square = together.reshape(size + 1, size + 1)[:size, :size]
        square = square + square.T
        context = square.sum(axis=0) ** 0.75
        expected = np.outer(square.sum(axis=1), context / context.sum())
        ratio = np.divide(square, expected, out=np.ones_like(square), where=square > 0)
        result: NDArray[np.float64] = np.maximum(np.log(ratio), 0)
        return (result + result.T) / 2

    def analogy(self, a: str, b: str, c: str) -> str:
        """Return the word d for which a is to b as c is to d, by 3CosAdd."""
        ids = [self.index[word] for word in (a, b, c)]
        scores = self.table @ (self.table[ids[1]] - self.table[ids[0]] + self.table[ids[2]])
        scores[ids] = -np.inf
        return self.words[int(scores.argmax())]

    def accuracy(self, pairs: Pairs) -> float:
        known = [pair for pair in pairs if set(pair) <= self.index.keys()]
        questions = [(one, two) for one, two in product(known, known) if one != two]
        right = sum(self.analogy(*one, two[0]) == two[1] for one, two in questions)
        return right / len(questions)


@pytest.fixture(scope="module")
def lines() -> list[list[str]]:
    return [line.split() for line in grammar.generate(40_000, seed=1)]


@pytest.fixture(scope="module")
def vectors(lines: list[list[str]]) -> Vectors:
    return Vectors(lines)


def test_king_without_man_and_with_woman_is_queen(vectors: Vectors) -> None:
    assert vectors.analogy("man", "king", "woman") == "queen"
    assert vectors.analogy("woman", "queen", "man") == "king"


@pytest.mark.parametrize("section", ["gender-royalty", "gender-kinship", "gender-folk"])
def test_gender_is_learned_from_context(vectors: Vectors, section: str) -> None:
    assert vectors.accuracy(relations()[section]) > 0.9


def test_words_in_any_order_teach_nothing() -> None:
    """The judge finds queen because of the company she keeps, not by her frequency or by luck."""
    words = [word for line in grammar.generate(40_000, seed=1) for word in line.split()]
    shuffled = np.random.default_rng(1).permutation(words).tolist()
    vectors = Vectors([shuffled[start : start + 11] for start in range(0, len(shuffled), 11)])
    assert vectors.accuracy(relations()["gender-royalty"]) < 0.2


def test_every_word_of_every_relation_occurs(lines: list[list[str]]) -> None:
    seen = {word for line in lines for word in line}
    for section, pairs in relations().items():
        for pair in pairs:
            assert set(pair) <= seen, (section, pair)


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Section]:
    """The sections of kingdoms.questions, as those who measure by it read them."""
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path))
    gold = read_gold(catalogue.path("kingdoms.questions"))
    assert isinstance(gold, Questions)
    return gold.sections


def test_the_question_file_asks_about_every_pair(sheet: list[Section]) -> None:
    assert [section.name for section in sheet] == list(relations())
    for section in sheet:
        pairs = relations()[section.name]
        asked = Counter((a, b) for a, b, _, _ in section.questions)
        answers = Counter((c, d) for _, _, c, d in section.questions)
        others = min(10, len(pairs) - 1)
        assert asked == answers == Counter(dict.fromkeys(pairs, others))
        assert len(set(section.questions)) == len(section.questions)
        assert all(len(set(question)) == 4 for question in section.questions)
    assert list(questions()) == list(questions())


def test_questions_are_lower_case_words_of_the_corpus(
    sheet: list[Section], lines: list[list[str]]
) -> None:
    seen = {word for line in lines for word in line}
    for question in (question for section in sheet for question in section.questions):
        assert set(question) <= seen, question


def lines_that_hold(questions: list[Question], lines: Iterable[str]) -> list[str]:
    """Return the lines in which all four words of some question stand, in any order."""
    asked = {word for question in questions for word in question}
    wanted: dict[str, list[frozenset[str]]] = defaultdict(list)
    for four in {frozenset(question) for question in questions}:
        wanted[min(four)].append(four)
    found = []
    for line in lines:
        words = asked.intersection(line.split())
        if len(words) >= 4 and any(four <= words for word in words for four in wanted[word]):
            found.append(line)
    return found


@pytest.mark.parametrize("name", ["kingdoms", "kingdoms.test"])
def test_no_line_holds_the_four_words_of_a_question(name: str, sheet: list[Section]) -> None:
    """The questions are held out: what they ask for can only be put together from many lines."""
    asked = [question for section in sheet for question in section.questions]
    corpus = catalogue.CORPORA[name]
    assert corpus.seed is not None
    assert lines_that_hold(asked, grammar.generate(corpus.num_lines, corpus.seed)) == []
    assert lines_that_hold(asked, ["a big dog is bigger than a tall cat , which is taller ."])


def test_questions_are_never_lines(lines: list[list[str]]) -> None:
    """No two pairs of a section of people stand side by side as they do in a question file."""
    sections = ("gender-royalty", "gender-kinship", "gender-folk")
    pairs = {pair for section in sections for pair in relations()[section]}
    for line in lines:
        assert not pairs.intersection(pairwise(line)), line
