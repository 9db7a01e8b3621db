"""Estimation: against the formulas in plain Python, the kernels against NumPy, to the bit."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from ngram.fitting import LETTERS, captured, entries, fitted, random_lines
from ngram.reference import ModifiedKneserNey
from numpy.typing import NDArray

from lmkit.language_model import BOS, EOS, Ids, Mode
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate import kneser_ney, result, small
from lmkit.ngram.estimate.discounts import Discounts, estimate_discounts

WORDS = LETTERS
WITH_UNKNOWN = ["the", "<unk>", *LETTERS]
MANY_WORDS = ["".join(pair) for pair in product("abcdefghijkl", repeat=2)]


@st.composite
def encoded_texts(draw: st.DrawFn) -> tuple[Ids, int, NgramConfig]:
    """Return (ids, vocabulary size, settings) for a random text."""
    mode: Mode = draw(st.sampled_from(["sentence", "document"]))
    order = draw(st.integers(1, 7))
    size = draw(st.sampled_from([4, 6, 15]))
    tokens = draw(st.lists(st.sampled_from([0, *range(2, size)]), min_size=1, max_size=120))
    ids = np.array(tokens, dtype=np.uint32)
    if mode == "sentence":
        ids = np.append(ids, np.uint32(EOS))
    elif not (ids != EOS).any():
        ids = np.append(ids, np.uint32(0))
    steps = draw(st.lists(st.integers(0, 2), max_size=order - 1))
    prune = tuple(np.cumsum([0, *steps]).tolist())
    plain = draw(st.booleans())
    config = NgramConfig(order=order, mode=mode, prune=prune, interpolate_unigrams=plain)
    return ids, size, config


def assert_same_estimate(ids: Ids, size: int, config: NgramConfig) -> None:
    twin, expected = captured(small.estimate, ids, size, config, 1)
    for threads in (1, 2, 3):
        estimate, records = captured(kneser_ney.estimate, ids, size, config, threads)
        assert estimate.counts == twin.counts
        assert estimate.discounts == twin.discounts
        assert np.array_equal(estimate.wide_table(), twin.wide_table())
        assert records.keys() == expected.keys() == set(range(1, config.order + 1))
        for n, (of_order, end) in expected.items():
            assert np.array_equal(records[n][0], of_order), (n, threads)
            assert records[n][1] == end


@examples(max_examples=60, deadline=None, derandomize=True)
@given(encoded_texts())
def test_kernels_equal_numpy_to_the_bit(text: tuple[Ids, int, NgramConfig]) -> None:
    assert_same_estimate(*text)


@pytest.mark.parametrize("mode", ["sentence", "document"])
@pytest.mark.parametrize(("order", "prune"), [(3, (0,)), (5, (0, 1, 1, 2))])
def test_kernels_equal_numpy_on_a_larger_text(
    mode: Mode, order: int, prune: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(order)
    size = 3000
    ids = (rng.zipf(1.3, 40_000) % size).astype(
        np.uint32
    )  # rows of all widths, groups of all sizes
    ids[ids == BOS] = EOS
    ids[-1] = EOS
    assert_same_estimate(ids, size, NgramConfig(order=order, mode=mode, prune=prune))


def test_kernels_equal_numpy_on_repeated_text() -> None:
    """One group with thousands of equal suffixes, in documents and in one sentence."""
    for mode in ("sentence", "document"):
        ids = np.append(np.tile(np.uint32([3, 4, 3, 3, 5]), 2500), np.uint32(EOS))
        assert_same_estimate(ids, 6, NgramConfig(order=6, mode=mode))  # type: ignore[arg-type]


def reference(lines: Sequence[str], *, order: int, mode: Mode, **given: Any) -> ModifiedKneserNey:
    document = mode == "document"
    sentences = [line.split() for line in lines]
    if document:
        sentences = [[word for sentence in sentences for word in sentence]]
    words = {word for sentence in sentences for word in sentence}
    predicted = frozenset(words | {"<unk>"} | (set() if document else {"</s>"}))
    return ModifiedKneserNey(sentences, predicted, order, document, **given)


REFERENCE_CASES = [
    (1, 1, (0,), WORDS),
    (20, 2, (0,), MANY_WORDS),
    (3, 3, (0,), WORDS),
    (21, 3, (0, 1), MANY_WORDS),
    (5, 4, (0, 0, 1), WORDS),
    (6, 5, (0, 1, 1, 2, 3), WORDS),
    (7, 7, (0,), WORDS),
    (8, 3, (0, 0, 1), WITH_UNKNOWN),
]


@pytest.mark.parametrize("mode", ["sentence", "document"])
@pytest.mark.parametrize(("seed", "order", "prune", "words"), REFERENCE_CASES)
def test_every_probability_is_that_of_the_formulas(
    seed: int, order: int, prune: tuple[int, ...], words: Sequence[str], mode: Mode, tmp_path: Path
) -> None:
    lines = random_lines(seed, 300 if words is MANY_WORDS else 60, 12, words)
    text = "\n".join(lines) + "\n"
    model = fitted(tmp_path / "model", text, order=order, mode=mode, prune=prune)
    expected = reference(lines, order=order, mode=mode, prune=prune)
    ours = entries(model)
    if mode == "document":
        del ours["</s>",]
    assert set(ours) == set(expected.kept)
    for gram, probability in expected.kept.items():
        backoff = math.log10(expected.backoffs.get(gram, 1.0))
        assert ours[gram] == pytest.approx((math.log10(probability), backoff), abs=2e-6), gram
    for n, discounts in enumerate(model.config["discounts"], start=1):
        assert discounts["values"] == pytest.approx(expected.discounts[n][1:], rel=1e-12)
        assert discounts["estimated"] or words is not MANY_WORDS
    rng = np.random.default_rng(seed)
    vocabulary = [model.tokenizer.token(index) for index in range(model.counts[0])]
    for _ in range(10):
        context = rng.choice(list(words), size=rng.integers(0, order + 2)).tolist()
        logprobs = model.next_logprobs(model.tokenizer.encode(" ".join(context)))
        before = context if mode == "document" else ["<s>", *context]
        for word in expected.vocabulary:
            p = expected.probability(before, word)
            assert math.exp(logprobs[vocabulary.index(word)]) == pytest.approx(p, rel=5e-6)


def test_breaks_in_a_document_are_those_of_separate_documents(tmp_path: Path) -> None:
    lines = random_lines(8, 60, 9)
    documents = [" ".join(lines[:30]).split(), " ".join(lines[30:]).split()]
    text = "\n".join([*lines[:30], "</s>", *lines[30:]])
    model = fitted(tmp_path / "model", text, order=3, mode="document")
    predicted = frozenset({*documents[0], *documents[1], "<unk>"})
    expected = ModifiedKneserNey(documents, predicted, 3, document=True)
    ours = entries(model)
    del ours["</s>",]
    assert set(ours) == set(expected.kept)
    for gram, probability in expected.kept.items():
        assert ours[gram][0] == pytest.approx(math.log10(probability), abs=2e-6)


def corpus_bigrams(lines: Sequence[str]) -> Counter[tuple[str, str]]:
    sentences = [["<s>", *line.split(), "</s>"] for line in lines]
    return Counter(pair for s in sentences for pair in pairwise(s))


def expected_counts(model: Any, bigrams: Counter[tuple[str, str]]) -> NDArray[np.float64]:
    """Return sum_h c(h) p(w | h) for every word."""
    names = [model.tokenizer.token(index) for index in range(model.counts[0])]
    contexts: Counter[str] = Counter()
    for (context, _), count in bigrams.items():
        contexts[context] += count
    total = np.zeros(len(names))
    for context, count in contexts.items():
        ids = np.array([] if context == "<s>" else [names.index(context)], dtype=np.uint32)
        total += count * np.exp(model.next_logprobs(ids))
    return total


def test_marginals_of_single_discount_bigrams_are_those_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sum_h c(h) p(w | h) = c(w): Kneser and Ney's condition, exact with one discount and
    p(w) = N1+(. w) / N1+(. .), unigrams that are not smoothed themselves."""
    monkeypatch.setattr(small, "estimate_discounts", lambda *_: Discounts((0.7, 0.7, 0.7), True))
    monkeypatch.setattr(result, "estimate_discounts", lambda *_: Discounts((0.0, 0.0, 0.0), True))
    lines = random_lines(21, 150, 12)
    model = fitted(tmp_path / "model", "\n".join(lines), order=2)
    bigrams = corpus_bigrams(lines)
    totals = expected_counts(model, bigrams)
    counts: Counter[str] = Counter()
    for (_, word), count in bigrams.items():
        counts[word] += count
    assert len(counts) == len(WORDS) + 1
    for index in range(2, model.counts[0]):
        assert totals[index] == pytest.approx(counts[model.tokenizer.token(index)], rel=1e-5)
    assert totals[0] == 0.0


def test_marginals_of_modified_bigrams_deviate_as_derived(tmp_path: Path) -> None:
    """With three discounts: sum_h c(h) p(w | h) = c(w) - sum_h D(c(h w)) + p(w) sum_h,v D(c(h v)),
    since gamma(h) = sum_v D(c(h v)) / c(h)."""
    lines = random_lines(22, 300, 12, MANY_WORDS)
    model = fitted(tmp_path / "model", "\n".join(lines), order=2)
    assert all(discount["estimated"] for discount in model.config["discounts"])
    discounts = (0.0, *model.config["discounts"][1]["values"])
    assert len(set(discounts)) == 4
    bigrams = corpus_bigrams(lines)
    totals = expected_counts(model, bigrams)
    freed = sum(discounts[min(count, 3)] for count in bigrams.values())
    unigrams = np.exp(model.next_logprobs(np.array([0], dtype=np.uint32)))  # <unk> never seen
    for index in [0, *range(2, model.counts[0])]:
        word = model.tokenizer.token(index)
        own = {pair: count for pair, count in bigrams.items() if pair[1] == word}
        lost = sum(discounts[min(count, 3)] for count in own.values())
        expected = sum(own.values()) - lost + freed * unigrams[index]
        assert totals[index] == pytest.approx(expected, rel=1e-5)


def test_discounts_by_hand() -> None:
    found = estimate_discounts(np.array([9, 10, 5, 3, 2]), (0.5, 1.0, 1.5))
    y = 10 / (10 + 2 * 5)
    expected = (1 - 2 * y * 5 / 10, 2 - 3 * y * 3 / 5, 3 - 4 * y * 2 / 3)
    assert found == Discounts(pytest.approx(expected), True)
    assert expected == pytest.approx((0.5, 1.1, 5 / 3))


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([0, 0, 5, 3, 2], "count of 1"),
        ([0, 10, 0, 3, 2], "count of 2"),
        ([0, 10, 5, 0, 2], "count of 3"),
        ([0, 1, 1, 9, 1], "D2 would be -7"),
        ([0, 10, 5, 1, 9], "D3 would be -15"),
    ],
)
def test_fallback_says_why(counts: list[int], reason: str) -> None:
    found = estimate_discounts(np.array(counts), (0.4, 0.9, 1.3))
    assert found.values == (0.4, 0.9, 1.3) and not found.estimated
    assert reason in found.reason


def test_no_n4_is_an_estimate() -> None:
    assert estimate_discounts(np.array([0, 10, 5, 3, 0]), (0.5, 1.0, 1.5)).values[2] == 3.0


@pytest.mark.parametrize("order", [100, 200])
def test_one_word_over_and_over_at_a_high_order(order: int) -> None:
    """Every order leaves a small piece of the group behind, which has to wait somewhere."""
    ids = np.append(np.full(20_000, 3, dtype=np.uint32), np.uint32(EOS))
    config = NgramConfig(order=order)
    kept: dict[int, int] = {}

    def sink(n: int, records: Any, end: int) -> Callable[[], None]:
        kept[n] = len(records)
        return lambda: None

    kneser_ney.estimate(ids, 4, config, sink)
    assert kept[order] == 3  # all a; <s> before; </s> behind
