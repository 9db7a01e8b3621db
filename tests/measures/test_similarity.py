"""Correlations with ties, coverage, and what becomes of unknown words."""

import json

import numpy as np
import pytest
from shared_data import shared

from lmkit.embed.formats import read
from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Vectors
from lmkit.measures.gold import Similarities, read_gold
from lmkit.measures.lookup import find_word
from lmkit.measures.similarity import (
    average_ranks,
    cosine,
    measure_similarity,
    pearson,
    spearman,
)


def judged(*pairs: tuple[str, str, float]) -> Similarities:
    scores = np.array([score for _, _, score in pairs])
    return Similarities("file", [(a, b) for a, b, _ in pairs], scores)


def test_ranks_of_equal_values_are_their_mean() -> None:
    ranks = average_ranks(np.array([3.0, 1.0, 3.0, 7.0, 3.0, 1.0]))
    assert ranks.tolist() == [4.0, 1.5, 4.0, 6.0, 4.0, 1.5]


def test_spearman_with_ties_by_hand() -> None:
    # Ranks 1 2.5 2.5 4 and 1 3 2 4; less their mean 2.5: -1.5 0 0 1.5 and -1.5 .5 -.5 1.5.
    # Products add up to 4.5, squares to 4.5 and 5.
    x, y = np.array([0.1, 0.4, 0.4, 0.9]), np.array([1.0, 7.0, 3.0, 8.0])
    assert spearman(x, y) == pytest.approx(4.5 / np.sqrt(4.5 * 5))


def test_correlations_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(1)
    for size in (2, 5, 400):
        x, y = random.standard_normal(size), random.integers(0, 4, size).astype(float)
        y[0], y[-1] = -1.0, 9.0
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y)[0])
        assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y)[0])


@pytest.mark.parametrize("values", [[], [1.0], [0.1, 0.1, 0.1]])
def test_no_correlation_where_there_is_none(values: list[float]) -> None:
    x, y = np.array(values), np.arange(len(values), dtype=float)
    assert pearson(x, y) is spearman(x, y) is pearson(y, x) is None


def test_cosine() -> None:
    a = np.array([3.0, 4.0], dtype=np.float32)
    assert cosine(a, 2 * a) == pytest.approx(1.0)
    assert cosine(a, 0 * a) == 0.0


VECTORS = Vectors.of(
    ["a", "b", "c", "New", "zero"],
    np.array([[1, 0], [1, 1], [0, 1], [-1, 0], [0, 0]], dtype=np.float32),
)


def test_unknown_pairs_are_skipped_or_count_as_zero() -> None:
    gold = judged(("a", "b", 9), ("a", "c", 5), ("a", "NEW", 1), ("a", "no", 3), ("no", "no", 9))
    skipped = measure_similarity(VECTORS, gold)
    assert (skipped.pairs, skipped.used, skipped.unknown, skipped.policy) == (5, 3, 2, "skip")
    assert skipped.spearman == pytest.approx(1.0)
    zero = measure_similarity(VECTORS, gold, unknown="zero")
    assert (zero.used, zero.unknown) == (5, 2)
    # Cosines .7 0 -1 0 0 against 9 5 1 3 9.
    assert zero.spearman == pytest.approx(
        spearman(np.array([0.7, 0, -1, 0, 0]), np.array([9.0, 5, 1, 3, 9]))
    )
    subwords = measure_similarity(VECTORS, gold, unknown="subwords")
    assert (subwords.used, subwords.unknown) == (3, 2), "a table without subwords has none to give"


def test_unknown_words_get_vectors_from_subwords() -> None:
    rows = np.random.default_rng(1).standard_normal((10, 2)).astype(np.float32)
    table = Vectors.of(["a", "b"], np.eye(2, dtype=np.float32), subwords=Subwords(3, 4, 10, rows))
    gold = judged(("a", "b", 1), ("a", "unseen", 2))
    assert measure_similarity(table, gold).used == 1
    scores = measure_similarity(table, gold, unknown="subwords")
    assert (scores.used, scores.unknown) == (2, 0)
    assert scores.pearson in (pytest.approx(1.0), pytest.approx(-1.0))


def test_nothing_known_is_null() -> None:
    record = measure_similarity(VECTORS, judged(("x", "y", 1), ("x", "z", 2))).record()
    assert record == {
        "file": "file",
        "kind": "similarity",
        "spearman": None,
        "pearson": None,
        "pairs": 2,
        "used": 0,
        "oov_pairs": 2,
        "oov": "skip",
    }


def test_words_are_found_as_written_first_then_in_another_case() -> None:
    table = Vectors.of(["us", "US", "Paris", "old-Town"], np.ones((4, 2), dtype=np.float32))
    rows = {word: find_word(table, word) for word in ("US", "us", "Us", "paris", "PARIS", "oslo")}
    assert rows == {"US": 1, "us": 0, "Us": 0, "paris": 2, "PARIS": 2, "oslo": -1}


@pytest.mark.parametrize("name", ["wordsim353.tsv", "simlex999.txt"])
def test_figures_are_those_of_gensim(name: str) -> None:
    told = json.loads(shared("golden", "embed", "expected_gensim.json").read_text("utf-8"))
    expected = told["acc"][name]
    gold = read_gold(shared("golden", "embed", name))
    assert isinstance(gold, Similarities)
    scores = measure_similarity(read(shared("golden", "embed", "acc.bin")), gold)
    assert scores.spearman == pytest.approx(expected["spearman"], abs=1e-9)
    assert scores.pearson == pytest.approx(expected["pearson"], abs=1e-6)
    assert 100 * scores.unknown / scores.pairs == pytest.approx(expected["oov_percent"])
