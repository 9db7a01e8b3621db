"""Analogies: planted ones are all found, every method agrees with its formula and with gensim."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from shared_data import shared
from toy_vectors import RELATIONS, planted, vectors_of

from lmkit.embed.analogy import (
    EPSILON,
    Method,
    UnknownWords,
    operands,
    rank,
    scoring,
)
from lmkit.embed.expression import Term, parse
from lmkit.embed.formats import read
from lmkit.embed.nearest import unit_rows
from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Vectors
from lmkit.errors import UserError

METHODS: tuple[Method, ...] = ("add", "multiply", "direction")


def ask(
    vectors: Vectors, text: str, method: Method = "add", top: int = 10, inputs: bool = False
) -> list[tuple[str, float]]:
    question = operands(vectors, parse(text))
    hidden = [] if inputs else question.rows
    ((rows, scores),) = rank(vectors, [scoring(question, method)], top, [hidden])
    return [(vectors.word(row), score) for row, score in zip(rows, scores.tolist(), strict=True)]


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 1000), st.integers(0, RELATIONS - 1), st.integers(1, RELATIONS - 1))
def test_planted_offsets_are_all_found(method: Method, seed: int, side: int, step: int) -> None:
    things, other = 8, (side + step) % RELATIONS
    vectors = planted(things, 64, seed)
    asked = [
        (f"t{a}s{other} t{a}s{side} t{b}s{side}", f"t{b}s{other}")
        for a in range(things)
        for b in range(things)
        if a != b
    ]
    scorings = [scoring(operands(vectors, parse(text)), method) for text, _ in asked]
    inputs = [operands(vectors, parse(text)).rows for text, _ in asked]
    found = [vectors.word(int(rows[0])) for rows, _ in rank(vectors, scorings, 1, inputs)]
    assert found == [word for _, word in asked]


def by_formula(
    method: Method, matrix: NDArray[Any], weights: Sequence[float], inputs: Sequence[int]
) -> NDArray[np.float64]:
    """Return the scores of all rows by the published formula, word for word."""
    units = unit_rows(matrix)
    terms = list(zip(weights, units[list(inputs)], strict=True))
    if method == "add":
        total = sum(weight * unit for weight, unit in terms)
        return np.array(units @ (total / np.linalg.norm(total)))
    if method == "multiply":
        above, below = np.ones(len(units)), np.ones(len(units))
        for weight, unit in terms:
            shifted = np.clip((units @ unit + 1) / 2, 0, 1) ** abs(weight)
            above, below = (above * shifted, below) if weight > 0 else (above, below * shifted)
        return np.array(above / (below + EPSILON))
    a, b, c = (unit for _, unit in terms)
    difference = units - c
    lengths = np.linalg.norm(difference, axis=1)
    along = difference @ (a - b) / np.linalg.norm(a - b)
    return np.divide(along, lengths, out=np.zeros(len(units)), where=lengths > 1e-7)


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 10_000), st.integers(3, 200), st.integers(2, 30), st.integers(1, 20))
def test_the_best_by_the_formula_are_found(
    method: Method, seed: int, words: int, size: int, top: int
) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((words, size)).astype(np.float32)
    vectors = vectors_of([f"w{i}" for i in range(words)], matrix)
    inputs = rng.choice(words, 3, replace=False).tolist()
    weights = [1.0, -1.0, 1.0] if method == "direction" else rng.normal(size=3).round(2).tolist()
    terms = [Term(f"w{i}", weight) for i, weight in zip(inputs, weights, strict=True)]
    expected = by_formula(method, matrix, weights, inputs)
    for hidden in (inputs, []):
        ((rows, scores),) = rank(
            vectors, [scoring(operands(vectors, terms), method)], top, [hidden]
        )
        left = np.delete(expected, hidden)
        assert scores == pytest.approx(np.sort(left)[::-1][:top], rel=1e-9, abs=1e-9)
        assert scores == pytest.approx(expected[rows], rel=1e-9, abs=1e-9)
        assert not set(rows.tolist()) & set(hidden)


@pytest.mark.parametrize("method", METHODS)
def test_answers_do_not_depend_on_other_questions(method: Method) -> None:
    vectors = planted(60, 20, 3, noise=0.3)
    texts = [f"t{i}s1 t{i}s0 t{(i * 7 + 1) % 60}s0" for i in range(60)]
    found = [operands(vectors, parse(text)) for text in texts]
    scorings = [scoring(question, method) for question in found]
    together = rank(vectors, scorings, 5, [question.rows for question in found], limit=200)
    for question, one, (rows, scores) in zip(found, scorings, together, strict=True):
        ((alone, alone_scores),) = rank(vectors, [one], 5, [question.rows], limit=200)
        assert rows.tolist() == alone.tolist() and max(rows) < 200
        assert scores.tolist() == alone_scores.tolist()


def test_inputs_would_be_the_best() -> None:
    vectors = planted(20, 30, 5, noise=0.4)
    best = ask(vectors, "0.2*t1s1 - 0.2*t1s0 + t2s0", inputs=True)[0][0]
    assert best == "t2s0"
    assert ask(vectors, "0.2*t1s1 - 0.2*t1s0 + t2s0")[0][0] != "t2s0"


def test_weights_scale_vectors() -> None:
    vectors = vectors_of(["x", "y", "mostly_x", "mostly_y"], [[1, 0], [0, 2], [3, 1], [1, 3]])
    assert ask(vectors, "3*x + y")[0] == ("mostly_x", pytest.approx(1.0))
    assert ask(vectors, "x + 3*y")[0] == ("mostly_y", pytest.approx(1.0))
    assert ask(vectors, "2*x + 2*y") == ask(vectors, "x + y")


def test_words_without_rows_are_made_of_subwords() -> None:
    rows = np.array([[0.0, 1.0]] * 10, dtype=np.float32)
    vectors = vectors_of(["up", "right"], [[0, 5], [1, 0]], subwords=Subwords(3, 4, 10, rows))
    found = operands(vectors, [Term("upward")])
    assert found.rows == (-1,) and found.units.tolist() == [[0.0, 1.0]]
    assert ask(vectors, "upward")[0] == ("up", 1.0)


def test_unknown_words_are_named_once() -> None:
    with pytest.raises(UnknownWords, match="'a', 'b'") as caught:
        operands(vectors_of(["x"], [[1]]), [Term("a"), Term("x"), Term("b"), Term("a")])
    assert caught.value.words == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "method", "message"),
    [
        ("x - x", "add", "add up to zero"),
        ("nil", "add", "add up to zero"),
        ("0*x", "add", "add up to zero"),
        ("x - nil", "multiply", "vector of a word is zero"),
        ("x + y", "direction", "needs three words"),
        ("2*x - y + z", "direction", "needs three words"),
        ("x y nil", "direction", "vector of a word is zero"),
        ("x x y", "direction", "no direction"),
    ],
)
def test_what_has_no_answer_is_said(text: str, method: Method, message: str) -> None:
    vectors = vectors_of(["x", "y", "z", "nil"], [[1, 0], [0, 1], [1, 1], [0, 0]])
    with pytest.raises(UserError, match=message):
        scoring(operands(vectors, parse(text)), method)


def test_direction_ignores_where_the_answer_is_the_third_word() -> None:
    vectors = vectors_of(["a", "b", "c", "twin", "far"], [[1, 1], [1, 0], [1, 2], [2, 4], [0, 1]])
    answers = dict(ask(vectors, "a b c", "direction"))
    assert answers["twin"] == 0.0 and answers["far"] > 0.5


def read_golden() -> tuple[dict[str, Any], dict[str, Vectors]]:
    expected = json.loads(shared("golden", "embed", "expected_gensim.json").read_bytes())
    tables = {
        "tiny": read(shared("golden", "embed", "tiny_gensim.bin")),
        "acc": read(shared("golden", "embed", "acc.bin")),
    }
    return expected, tables


@pytest.mark.parametrize("table", ["tiny", "acc"])
@pytest.mark.parametrize(
    ("key", "text", "method"),
    [
        ("most_similar king", "king", "add"),
        ("3CosAdd +king +woman -man", "king man woman", "add"),
        ("3CosMul +king +woman -man", "king - man + woman", "multiply"),
    ],
)
def test_gensim_says_the_same(table: str, key: str, text: str, method: Method) -> None:
    golden, tables = read_golden()
    expected = golden[table][key]
    found = ask(tables[table], text, method, len(expected))
    assert [word for word, _ in found] == [word for word, _ in expected]
    for (_, score), (_, theirs) in zip(found, expected, strict=True):
        assert score == pytest.approx(theirs, rel=2e-6)


def questions_of(path: Path) -> list[tuple[list[str], list[tuple[str, float]]]]:
    """Return the words that were asked and the answers, from what word2vec's programs print."""
    asked: list[tuple[list[str], list[tuple[str, float]]]] = []
    for line in path.read_bytes().decode().split("\n"):
        if word := re.match(r"Word: (\S+)  Position", line):
            if not asked or asked[-1][1]:
                asked.append(([], []))
            asked[-1][0].append(word[1])
        elif answer := re.fullmatch(r"\s*(\S+)\t\t(-?\d\.\d+)", line):
            asked[-1][1].append((answer[1], float(answer[2])))
    return asked


@pytest.mark.parametrize("name", ["acc_distance.txt", "acc_word-analogy.txt"])
def test_word2vec_says_the_same_to_six_decimals(name: str) -> None:
    asked = questions_of(shared("golden", "embed", name))
    assert len(asked) in (2, 3)
    for words, expected in asked:
        first, *rest = words  # word2vec's A B C is B - A + C
        text = f"{rest[0]} - {first} + {rest[1]}" if rest else first
        found = ask(read(shared("golden", "embed", "acc.bin")), text, "add", 40)
        assert len(expected) == 40
        assert [score for _, score in found] == pytest.approx([s for _, s in expected], abs=1.5e-6)
        assert {word for word, _ in found} == {word for word, _ in expected}
        # Where two are equal in six decimals, float32 may have put them the other way round.
        for (word, score), (theirs, _) in zip(found, expected, strict=True):
            assert word == theirs or dict(found)[theirs] == pytest.approx(score, abs=2e-6)


@pytest.mark.parametrize(
    ("name", "text"), [("ft_nn_king.txt", "king"), ("ft_analogy.txt", "man - king + woman")]
)
def test_fasttext_says_the_same(name: str, text: str) -> None:
    lines = shared("golden", "embed", name).read_bytes().decode().strip().split("\n")
    expected = [(line.split(" ")[0], float(line.split(" ")[1])) for line in lines]
    found = ask(read(shared("golden", "embed", "ft.bin")), text, "add", len(expected))
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [score for _, score in found] == pytest.approx([s for _, s in expected], abs=2e-6)
