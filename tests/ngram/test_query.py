"""Queries: distributions, scores and samples agree with each other, kernels with NumPy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram.fitting import continued, fitted, opened
from numpy.typing import NDArray

from lmkit.language_model import BOS, EOS, Ids, LanguageModel
from lmkit.ngram import model as model_module
from lmkit.ngram.model import NgramModel
from lmkit.ngram.query import draw as draw_module
from lmkit.ngram.query import kernels, lookup
from lmkit.ngram.query.draw import Drawer

SHAPES: dict[str, dict[str, Any]] = {
    "unigram": {"order": 1},
    "bigram": {"order": 2},
    "trigram": {"order": 3, "min_count": 2},
    "five": {"order": 5},
    "pruned": {"order": 4, "prune": (0, 0, 1, 2)},
    "document": {"order": 3, "mode": "document"},
    "document-unigram": {"order": 1, "mode": "document"},
    "document-pruned": {"order": 5, "mode": "document", "prune": (0, 1), "max_size": 50},
    "characters": {"order": 6, "unit": "char"},
    "bytes": {"order": 4, "unit": "byte", "mode": "document"},
}
every_model = pytest.mark.parametrize("name", SHAPES)
few = settings(max_examples=15, deadline=None, derandomize=True)


def corpus(seed: int, lines: int) -> str:
    """Return lines of words that follow each other unevenly; one word has many successors."""
    rng = np.random.default_rng(seed)
    words = [f"w{k}" for k in range(200)]
    chances = 1 / np.arange(1, len(words) + 1)
    text = []
    for _ in range(lines):
        line = rng.choice(words, size=rng.integers(0, 14), p=chances / chances.sum()).tolist()
        text.append(" ".join(word if k % 3 else f"the {word}" for k, word in enumerate(line)))
    return "\n".join(text)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NgramModel]:
    out = tmp_path_factory.mktemp("models")
    text = corpus(1, 500)
    return {name: fitted(out / name, text, **given) for name, given in SHAPES.items()}


def token_ids(model: LanguageModel, *, ends: bool = True) -> st.SearchStrategy[list[int]]:
    """Return sequences a model may meet: <unk> and known words, </s> where ``ends``."""
    size = model.tokenizer.num_tokens
    one = st.one_of(
        st.integers(3, min(size - 1, 12)), st.integers(3, size - 1), st.just(0), st.just(2)
    )
    return st.lists(one if ends else one.filter(lambda index: index != EOS), max_size=30)


def as_ids(numbers: Sequence[int]) -> Ids:
    return np.array(numbers, dtype=np.uint32)


def by_numpy(model: NgramModel, ids: Ids, skip: int = 0, at_start: bool = True) -> Any:
    sentences = model.mode == "sentence"
    return lookup.score_stream(ids, skip, sentences, model.order, model.records, at_start)


@every_model
@given(data=st.data())
@few
def test_probabilities_sum_to_one(
    name: str, models: dict[str, NgramModel], data: st.DataObject
) -> None:
    model = models[name]
    logprobs = model.next_logprobs(as_ids(data.draw(token_ids(model))))
    assert logprobs.shape == (model.tokenizer.num_tokens,) and logprobs.dtype == np.float64
    assert np.exp(logprobs).sum() == pytest.approx(1.0, abs=1e-5)
    never = [BOS, EOS] if model.mode == "document" else [BOS]
    assert np.isneginf(logprobs[never]).all()
    assert np.isfinite(np.delete(logprobs, never)).all()


@every_model
@given(data=st.data())
@few
def test_scores_are_those_of_the_distributions(
    name: str, models: dict[str, NgramModel], data: st.DataObject
) -> None:
    model = models[name]
    ids = as_ids(data.draw(token_ids(model)))
    scores = model.logprobs(ids)
    assert scores.shape == ids.shape
    for place, index in enumerate(ids.tolist()):
        expected = model.next_logprobs(ids[:place])[index]
        if index == EOS and model.mode == "document":
            assert scores[place] == 0.0
        else:
            assert scores[place] == pytest.approx(expected, rel=1e-12)  # sums in another order


@every_model
@given(data=st.data())
@few
def test_kernel_equals_numpy_to_the_bit(
    name: str, models: dict[str, NgramModel], data: st.DataObject
) -> None:
    model = models[name]
    ids = as_ids(data.draw(token_ids(model).filter(len)))
    skip = data.draw(st.integers(0, len(ids) - 1))
    at_start = data.draw(st.booleans())
    expected = by_numpy(model, ids, skip, at_start)
    for threads in (1, 2, 3):
        assert np.array_equal(model._score_compiled(ids, skip, threads, at_start), expected)


def stream(model: NgramModel, seed: int, lines: int) -> Ids:
    """Return text like the training text, with words it never had, as one stream."""
    text = corpus(seed, lines).replace("w7 ", "zebra ")
    sentences = [model.tokenizer.encode(line) for line in text.split("\n")]
    return np.concatenate([np.append(ids, np.uint32(EOS)) for ids in sentences])


@every_model
def test_batches_threads_and_paths_give_the_same_bits(
    name: str, models: dict[str, NgramModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models[name]
    ids = stream(model, 2, 300)
    assert len(ids) > 2000 and (ids == 0).any() == (model.tokenizer.unit != "byte")
    expected = by_numpy(model, ids)
    ends = np.flatnonzero(ids == EOS) + 1
    by_sentence = [model.logprobs(part) for part in np.split(ids, ends[:-1])]
    assert np.array_equal(np.concatenate(by_sentence), expected)
    monkeypatch.setattr(model_module, "SMALL", 0)
    for threads in (1, 2, 3):
        assert np.array_equal(model.batch_logprobs(ids, threads), expected)


def test_little_text_is_scored_without_kernels(
    models: dict[str, NgramModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(model_module.sys.modules, "lmkit.ngram.query.kernels", raising=False)
    monkeypatch.setattr(NgramModel, "_score_compiled", None)
    model = models["trigram"]
    monkeypatch.setattr(model, "_tokens_scored", 0)
    assert model.logprobs(as_ids([3, 4, 2])).shape == (3,)


@every_model
@given(data=st.data())
@few
def test_a_context_is_what_was_read_before(
    name: str, models: dict[str, NgramModel], data: st.DataObject
) -> None:
    model = models[name]
    ids = as_ids(data.draw(token_ids(model, ends=model.mode == "sentence")))
    cut = data.draw(st.integers(0, len(ids)))
    whole = by_numpy(model, ids) if len(ids) else ids
    for context in (ids[:cut], None) if cut == 0 else (ids[:cut],):
        assert np.array_equal(model.batch_logprobs(ids[cut:], context=context), whole[cut:])
    if cut < len(ids):
        short = ids[max(0, cut - model.order) :]
        skip, at_start = min(cut, model.order), cut <= model.order
        assert np.array_equal(model._score_compiled(short, skip, 2, at_start), whole[cut:])


@every_model
def test_stepping_agrees_with_scoring(name: str, models: dict[str, NgramModel]) -> None:
    model = models[name]
    rng = np.random.default_rng(3)
    size = model.tokenizer.num_tokens
    columns = rng.integers(3, min(size, 20), size=(12, 4)).astype(np.uint32)
    columns[rng.random(columns.shape) < 0.1] = 0
    columns[rng.random(columns.shape) < 0.1] = EOS
    scores = np.stack([model.logprobs(column) for column in columns.T], axis=1)
    state = model.start(4)
    logprobs = model.next_from(state)
    for row, expected in zip(columns, scores, strict=True):
        assert logprobs.shape == (4, size)
        stepped = logprobs[np.arange(4), row]
        breaks = (row == EOS) & (model.mode == "document")
        assert np.array_equal(np.where(breaks, 0.0, stepped), expected)
        advanced = model.advance(state, row)
        logprobs, state = model.step(state, row)
        assert np.array_equal(advanced, state)
    for column, final in zip(columns.T, state.tolist(), strict=True):
        assert final == continued(model, column.tolist())
    order = np.array([3, 0, 0, 2, 1])
    assert np.array_equal(model.next_from(model.reorder(state, order)), logprobs[order])
    assert model.next_from(model.start(0)).shape == (0, size)


def test_advance_by_kernel_equals_python(
    models: dict[str, NgramModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in models.values():
        rng = np.random.default_rng(4)
        states = np.full(200, model.start_context, dtype=np.uint32)
        sentences = model.mode == "sentence"
        drawer = Drawer(model.records, model.counts[0], sentences)
        for _ in range(6):
            tokens = rng.integers(2, min(model.counts[0], 30), size=200).astype(np.uint32)
            out = np.empty_like(states)
            records = model.records
            kernels.advance_states(states, tokens, sentences, records.inner, records.top, out)
            states = drawer.advance(states, tokens)
            assert np.array_equal(states, out)


def test_breaks_of_a_document_forget_what_was_before(models: dict[str, NgramModel]) -> None:
    model = models["document"]
    left, right = as_ids([3, 4, 5]), as_ids([4, 3])
    together = np.concatenate([left, as_ids([EOS]), right])
    scores = model.logprobs(together)
    assert np.array_equal(scores[:3], model.logprobs(left))
    assert scores[3] == 0.0
    assert np.array_equal(scores[4:], model.logprobs(right))
    assert not np.array_equal(scores[4:], model.logprobs(np.concatenate([left, right]))[3:])
    start = model.next_logprobs(as_ids([]))
    assert np.array_equal(model.next_logprobs(as_ids([3, 4, EOS])), start)


def drawn(model: NgramModel, context: Sequence[int], count: int, seed: int) -> NDArray[np.int64]:
    """Return how often each word comes in ``count`` draws behind a context, by the kernels."""
    state = np.full(count, continued(model, context), dtype=np.uint32)
    words = model.draw(state, np.random.default_rng(seed).random(count))
    return np.bincount(words, minlength=model.counts[0])


def chi_square(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return how many standard deviations chi-square lies above its mean; rare words as one."""
    expected = probabilities * counts.sum()
    assert counts[expected == 0].sum() == 0
    common, rare = expected >= 5, (expected > 0) & (expected < 5)
    seen, wanted = counts[common], expected[common]
    if rare.any():
        seen = np.append(seen, counts[rare].sum())
        wanted = np.append(wanted, expected[rare].sum())
    freedom = len(seen) - 1
    statistic = ((seen - wanted) ** 2 / wanted).sum()
    return float((statistic - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("bigram", "the"),
        ("bigram", "w3"),
        ("bigram", ""),
        ("trigram", "the w1"),
        ("trigram", "w0 the"),
        ("five", "the w0 w1 the"),
        ("pruned", "the w0"),
        ("document", "the w2"),
        ("document-pruned", "w0"),
        ("unigram", "w4"),
        ("trigram", "nowhere to be"),
    ],
)
def test_samples_pass_chi_square(name: str, context: str, models: dict[str, NgramModel]) -> None:
    model = models[name]
    ids = model.tokenizer.encode(context)
    probabilities = np.exp(model.next_logprobs(ids))
    counts = drawn(model, ids.tolist(), 100_000, seed=5)
    assert abs(chi_square(counts, probabilities)) < 4
    wrong = probabilities.copy()
    top = np.argsort(-probabilities)[:2]
    wrong[top] += np.array([-0.02, 0.02])
    assert chi_square(counts, wrong) > 4, "the test would not see a wrong table"


def test_samples_of_a_known_bigram(tmp_path: Path) -> None:
    """Counts 6, 3, 1 behind a; discounts 0 on request: the maximum likelihood table."""
    text = "a b\n" * 6 + "a c\n" * 3 + "a a d\n"
    model = fitted(tmp_path / "model", text, order=2, fallback=(0.0, 0.0, 0.0))
    assert not model.config["discounts"][1]["estimated"]
    table = {"b": 6 / 11, "c": 3 / 11, "a": 1 / 11, "d": 1 / 11}
    expected = np.zeros(model.counts[0])
    for word, probability in table.items():
        expected[model.tokenizer.encode(word)[0]] = probability
    with np.errstate(divide="ignore"):
        assert np.exp(model.next_logprobs(model.tokenizer.encode("a"))) == pytest.approx(expected)
    a = model.tokenizer.encode("a").tolist()
    assert abs(chi_square(drawn(model, a, 100_000, seed=6), expected)) < 4


@every_model
def test_draws_by_kernel_equal_python(
    name: str, models: dict[str, NgramModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models[name]
    rng = np.random.default_rng(7)
    sentences = model.mode == "sentence"
    contexts = [rng.integers(2, min(model.counts[0], 25), size=4).tolist() for _ in range(150)]
    states = np.array([continued(model, c) for c in [[], *contexts]], dtype=np.uint32)
    uniforms = rng.random(len(states))
    python = Drawer(model.records, model.counts[0], sentences)
    slow = python.draw(states, uniforms)
    monkeypatch.setattr(draw_module, "FEW", 0)
    compiled = Drawer(model.records, model.counts[0], sentences)
    assert np.array_equal(compiled.draw(states, uniforms), slow)
    assert python._wide is None and compiled._wide is not None
    never = [BOS, EOS] if model.mode == "document" else [BOS]
    assert not np.isin(slow, never).any()


@every_model
def test_rows_by_kernel_equal_numpy(name: str, models: dict[str, NgramModel]) -> None:
    model = models[name]
    rng = np.random.default_rng(8)
    contexts = [rng.integers(2, min(model.counts[0], 25), size=4).tolist() for _ in range(30)]
    states = [continued(model, context) for context in [[], *contexts]]
    assert kernels  # loaded, and so used
    rows = model.next_from(np.array(states, dtype=np.uint32))
    sentences = model.mode == "sentence"
    for state, row in zip(states, rows, strict=True):
        expected = lookup.next_logprobs(state, model.records, model.counts[0], sentences)
        assert np.array_equal(row, expected)


@pytest.mark.parametrize("few", [0, 2000], ids=["kernel", "twin"])
@pytest.mark.parametrize("context", ["a", "b", "<unk>", ""])
def test_a_draw_ends_where_every_word_is_a_child(
    context: str, few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probabilities of all words may sum to a little less than the number that is drawn."""
    text = "<unk> a b <unk> b a a b b <unk> <unk> " * 3
    model = fitted(tmp_path / "model", text, order=2, mode="document")
    state = as_ids([continued(model, model.tokenizer.encode(context).tolist())])
    monkeypatch.setattr(draw_module, "FEW", few)
    if few:
        monkeypatch.setattr(draw_module, "PATIENCE", 100)
    (word,) = model.draw(state, np.array([np.nextafter(1.0, 0.0)]))
    assert word in (0, 3, 4)


def test_a_reopened_model_gives_the_same_bits(
    models: dict[str, NgramModel], tmp_path: Path
) -> None:
    again = fitted(tmp_path / "model", corpus(1, 500), **SHAPES["five"])
    ids = stream(again, 9, 40)
    expected = by_numpy(models["five"], ids)
    assert np.array_equal(by_numpy(again, ids), expected)
    assert np.array_equal(by_numpy(opened(tmp_path / "model"), ids), expected)


def test_nothing_in_nothing_out(models: dict[str, NgramModel]) -> None:
    for model in models.values():
        assert model.logprobs(as_ids([])).shape == (0,)
        assert model.batch_logprobs(as_ids([]), 2, context=as_ids([3])).shape == (0,)
        assert model.draw(model.start(0), np.empty(0)).shape == (0,)
