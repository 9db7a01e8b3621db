"""Analogy counts, against a twin that follows compute-accuracy line by line and its outputs."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from shared_data import shared

from lmkit.embed.formats import read
from lmkit.embed.vectors import Vectors
from lmkit.measures import analogies
from lmkit.measures.analogies import Method, measure_analogies
from lmkit.measures.gold import Question, Questions, Section, read_gold
from lmkit.measures.lookup import fold

Counts = dict[str, tuple[int, int]]


def asked(*sections: tuple[str, list[Question]]) -> Questions:
    return Questions("file", [Section(name, questions) for name, questions in sections])


def twin(
    vectors: Vectors, questions: list[Question], limit: int, method: Method
) -> tuple[int, int]:
    """Return (right, asked), one question and one word at a time, in float64."""
    words = [vectors.word(row).upper() for row in range(limit)]
    matrix = vectors.matrix[:limit].astype(np.float64)
    lengths = np.linalg.norm(matrix, axis=1)
    unit = matrix / np.where(lengths > 0, lengths, 1)[:, None]
    right = count = 0
    for question in questions:
        if any(word.upper() not in words for word in question):
            continue
        count += 1
        a, b, c = (words.index(word.upper()) for word in question[:3])
        if 0 in lengths[[a, b, c]]:
            continue
        if method == "add":
            scores = unit @ (unit[b] - unit[a] + unit[c])
        else:
            scores = (1 + unit @ unit[b]) * (1 + unit @ unit[c]) / (1 + unit @ unit[a] + 2e-6)
        scores[[a, b, c]] = -1
        best = int(scores.argmax())
        right += scores[best] > 0 and words[best] == question[3].upper()
    return right, count


def planted(seed: int, num_words: int, size: int = 8) -> tuple[Vectors, list[Question]]:
    """Return vectors with offsets that questions ask for, noise, case twins and zeros."""
    random = np.random.default_rng(seed)
    matrix = random.standard_normal((num_words, size)).astype(np.float32)
    half = num_words // 2
    matrix[half:] = matrix[: num_words - half] + matrix[0]
    matrix[half:] += 0.5 * random.standard_normal((num_words - half, size)).astype(np.float32)
    matrix[random.choice(num_words, num_words // 50, replace=False)] = 0
    words = [f"w{row}" for row in range(num_words)]
    for row in random.choice(half, num_words // 20, replace=False):
        words[row + half] = f"W{row - 1}"  # another word but for case
    pairs = [(row, row + half) for row in random.choice(half, 24, replace=False).tolist()]
    questions = [
        (words[a].upper(), words[b], words[c], words[d].title())
        for a, b in pairs
        for c, d in pairs
        if a != c
    ]
    return Vectors.of(list(dict.fromkeys(words)), matrix[: len(set(words))]), questions


@pytest.mark.parametrize("method", ["add", "multiply"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("num_words", "limit"), [(1100, 0), (1100, 700), (60, 30_000), (48, 48)])
def test_counts_are_those_of_the_twin(
    method: Method, threads: int, num_words: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analogies, "_BLOCK", 256)
    vectors, questions = planted(num_words, num_words)
    random = np.random.default_rng(1)
    mixed = [questions[i] for i in random.permutation(len(questions))[:200].tolist()]
    gold = asked(("gram-pairs", questions), ("mixed", mixed), ("none", []))
    scores = measure_analogies(vectors, gold, limit=limit, method=method, threads=threads)
    size = min(limit, len(vectors)) or len(vectors)
    assert scores.vocabulary == size
    expected = [twin(vectors, part, size, method) for part in (questions, mixed)]
    assert expected[0][0] > 0
    found = [(tally.correct, tally.questions) for tally in scores.sections]
    assert found == [*expected, (0, 0)]
    assert (scores.syntactic.correct, scores.semantic.correct) == (expected[0][0], expected[1][0])
    assert scores.total.correct == expected[0][0] + expected[1][0]
    assert scores.total.questions + scores.total.skipped == len(questions) + len(mixed)


def test_planted_offsets_are_found_always() -> None:
    random = np.random.default_rng(3)
    left = random.standard_normal((40, 50)).astype(np.float32)
    matrix = np.concatenate([left, left + 0.3 * random.standard_normal(50).astype(np.float32)])
    vectors = Vectors.of([f"w{row}" for row in range(80)], matrix)
    questions = [
        (f"w{i}", f"w{i + 40}", f"w{j}", f"w{j + 40}")
        for i in range(40)
        for j in range(40)
        if i != j
    ]
    for method in ("add", "multiply"):
        total = measure_analogies(vectors, asked(("s", questions)), method=method).total  # type: ignore[arg-type]
        assert (total.correct, total.questions, total.accuracy) == (1560, 1560, 1.0)


def test_the_first_of_words_that_differ_in_case_stands_for_all() -> None:
    matrix = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 1.01]], dtype=np.float32)
    vectors = Vectors.of(["a", "B", "c", "d", "D"], matrix)
    # Nearest to b - a + c is the last row, whose word counts as d.
    scores = measure_analogies(vectors, asked(("s", [("A", "b", "C", "D"), ("a", "B", "c", "d")])))
    assert (scores.total.correct, scores.total.questions) == (2, 2)


def test_inputs_are_no_answers_and_a_score_of_zero_is_none() -> None:
    matrix = np.array([[1, 0], [0, 1], [0, 2], [-1, -1]], dtype=np.float32)
    vectors = Vectors.of(["a", "b", "c", "d"], matrix)
    # The only word left is opposite to b - a + c.
    total = measure_analogies(vectors, asked(("s", [("a", "b", "c", "d")]))).total
    assert (total.correct, total.questions, total.accuracy) == (0, 1, 0.0)


def test_three_words_leave_no_answer() -> None:
    vectors = Vectors.of(["a", "b", "c"], np.eye(3, dtype=np.float32))
    total = measure_analogies(vectors, asked(("s", [("a", "b", "c", "a")]))).total
    assert (total.correct, total.questions) == (0, 1)


@pytest.mark.parametrize("words", [["only"], ["a", "b"]])
def test_nothing_known(words: list[str]) -> None:
    vectors = Vectors.of(words, np.ones((len(words), 4), dtype=np.float32))
    scores = measure_analogies(vectors, asked(("s", [("a", "b", "c", "d")] * 3), ("gram", [])))
    record = scores.record()
    assert (record["questions"], record["skipped"], record["accuracy"]) == (0, 3, None)
    assert record["syntactic"] == {"accuracy": None, "correct": 0, "questions": 0, "skipped": 0}
    assert "NaN" not in json.dumps(record)


@pytest.mark.parametrize(
    ("word", "folded"),
    [("King", "KING"), ("münchen", "MÜNCHEN"), ("straße", "STRAßE"), ("ﬁ", "ﬁ"), ("東京", "東京")],
)
def test_fold(word: str, folded: str) -> None:
    assert fold(word.encode()).decode() == folded


@pytest.fixture(scope="module")
def golden() -> Vectors:
    return read(shared("golden", "embed", "acc.bin"))


@pytest.fixture(scope="module")
def questions_words(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    path = tmp_path_factory.mktemp("gold") / "questions-words.txt"
    path.write_bytes(
        gzip.decompress(shared("golden", "embed", "questions-words.txt.gz").read_bytes())
    )
    gold = read_gold(path)
    assert isinstance(gold, Questions)
    return gold


def told_by_compute_accuracy(path: Path) -> tuple[Counts, tuple[int, int]]:
    """Return the counts of each section, and (questions seen, questions of the file)."""
    text = path.read_text()
    sections = re.findall(r"^(\S+):\nACCURACY TOP1: .*\((\d+) / (\d+)\)", text, re.MULTILINE)
    seen = re.search(r"Questions seen / total: (\d+) (\d+)", text)
    assert seen is not None and len(sections) == 14
    counts = {name: (int(right), int(count)) for name, right, count in sections}
    return counts, (int(seen[1]), int(seen[2]))


@pytest.mark.parametrize(("limit", "right"), [(30_000, 647), (2000, 267)])
@pytest.mark.parametrize("threads", [1, 2])
def test_counts_are_those_of_compute_accuracy(
    golden: Vectors, questions_words: Questions, limit: int, right: int, threads: int
) -> None:
    told, seen = told_by_compute_accuracy(
        shared("golden", "embed", f"acc_compute-accuracy_{limit}.txt")
    )
    scores = measure_analogies(golden, questions_words, limit=limit, threads=threads)
    for tally in scores.sections:
        # It says 0 / 1 where no question of a section was asked.
        assert (tally.correct, tally.questions or 1) == told[tally.name], tally.name
    total = scores.total
    assert (total.questions, total.questions + total.skipped) == seen
    assert total.correct == right
    assert scores.semantic.correct == sum(list(right for right, _ in told.values())[:5])


@pytest.mark.parametrize(("method", "key"), [("add", "3CosAdd"), ("multiply", "3CosMul")])
def test_counts_are_those_of_gensim(
    golden: Vectors, questions_words: Questions, method: Method, key: str
) -> None:
    told = json.loads(shared("golden", "embed", "expected_gensim.json").read_text("utf-8"))["acc"]
    expected = told[f"analogies_{key}"]["sections"]
    expected.pop("Total accuracy", None)
    scores = measure_analogies(golden, questions_words, method=method)
    found = {tally.name: [tally.correct, tally.questions] for tally in scores.sections}
    assert found == expected


def test_half_precision_is_searched_as_well() -> None:
    vectors, questions = planted(5, 600)
    half = vectors.matrix.astype(np.float16)
    wide = measure_analogies(
        Vectors.of(vectors.words, half.astype(np.float32)), asked(("s", questions))
    )
    narrow = measure_analogies(Vectors.of(vectors.words, half), asked(("s", questions)))  # type: ignore[arg-type]
    assert narrow.total == wide.total and wide.total.correct > 0
