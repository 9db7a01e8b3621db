"""KenLM's own numbers: every n-gram, every back-off, perplexities and matched orders."""

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from ngram.fitting import entries, fitted, matched_orders
from shared_data import shared

from lmkit.ngram.model import NgramModel
from lmkit.tasks.evaluate import evaluate
from lmkit.tasks.score import score

MODELS = {
    "o1": {"order": 1},
    "o2": {"order": 2},
    "o3": {"order": 3},
    "o4": {"order": 4},
    "o5": {"order": 5},
    "o3.prune001": {"order": 3, "prune": (0, 0, 1)},
    "o4.prune0112": {"order": 4, "prune": (0, 1, 1, 2)},
    "o3.nointerp": {"order": 3, "interpolate_unigrams": False},
}
TINY = {
    "tiny3.fallback": {"order": 3},
    "tiny3.fallback_custom": {"order": 3, "fallback": (0.4, 0.9, 1.3)},
}
CLOSE = 3e-6
"""log10; KenLM computes in float32."""

Entries = dict[tuple[str, ...], tuple[float, float]]


def golden(name: str) -> Path:
    return shared("golden", "ngram", name)


def read_arpa(path: Path) -> Entries:
    found: Entries = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                backoff = float(fields[2]) if len(fields) > 2 else 0.0
                found[tuple(fields[1].split(" "))] = float(fields[0]), backoff
    assert found.pop(("<s>",))[0] == 0.0
    return found


def assert_same(ours: Entries, theirs: Entries) -> None:
    assert ours.keys() == theirs.keys()
    off = np.abs(np.array([ours[gram] for gram in theirs]) - np.array(list(theirs.values())))
    worst = list(theirs)[int(off.max(axis=1).argmax())]
    assert off.max() < CLOSE, (worst, ours[worst], theirs[worst])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NgramModel]:
    out = tmp_path_factory.mktemp("golden")
    train = [golden("train.txt")]
    return {name: fitted(out / name, train, threads=2, **given) for name, given in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_every_entry(name: str, models: dict[str, NgramModel]) -> None:
    theirs = read_arpa(golden(f"{name}.arpa.gz"))
    ours = entries(models[name])
    if name == "o1":
        # The back-off of <s> and of every word is 1 in a model without contexts.
        assert {backoff for _, backoff in ours.values()} == {0.0}
    assert_same(ours, theirs)


def test_backoff_of_the_sentence_start(models: dict[str, NgramModel]) -> None:
    with gzip.open(golden("o2.arpa.gz"), "rt", encoding="utf-8") as file:
        line = next(line for line in file if "\t<s>\t" in line)
    backoff = models["o2"].records.inner[1, 2:3].view(np.float32)[0] / math.log(10)
    assert backoff == pytest.approx(float(line.split("\t")[2]), abs=CLOSE)


@pytest.mark.parametrize("name", TINY)
def test_discounts_that_cannot_be_estimated(name: str, tmp_path: Path) -> None:
    model = fitted(tmp_path / "model", [golden("tiny.txt")], **TINY[name])
    assert not all(discount["estimated"] for discount in model.config["discounts"])
    assert_same(entries(model), read_arpa(golden(f"{name}.arpa.gz")))


def test_a_last_line_without_newline_counts_like_any_other(tmp_path: Path) -> None:
    """KenLM gives such a line no </s>: one bigram and some counts fewer."""
    text = golden("edge.txt").read_bytes()
    assert not text.endswith(b"\n")
    as_it_is = fitted(tmp_path / "bare", [golden("edge.txt")], order=2)
    closed = fitted(tmp_path / "closed", text + b"\n", order=2)
    ours, theirs = entries(as_it_is), read_arpa(golden("edge2.arpa.gz"))
    assert ours == entries(closed)
    last = text.split()[-1].decode()
    assert set(ours) - set(theirs) == {(last, "</s>")}
    assert set(theirs) <= set(ours)
    assert any("\u00a0" in word for (word, *_) in theirs), "no space of KenLM's, none of ours"


def test_markers_in_the_text_separate_sentences(tmp_path: Path) -> None:
    """KenLM aborts at <s>, </s> and <unk>, or drops them and joins what they separate."""
    text = golden("markers.txt").read_text()
    assert "the <s> and </s> markers" in text and "<unk>" in text
    model = fitted(tmp_path / "model", [golden("markers.txt")], order=2)
    ours = entries(model)
    assert ("the", "and") not in ours and ("with", "inside") not in ours
    assert {("the", "</s>"), ("<s>", "and"), ("with", "<unk>"), ("<unk>", "inside")} <= set(ours)
    rewritten = text.replace(" <s> ", "\n").replace(" </s> ", "\n")
    assert rewritten != text
    assert ours == entries(fitted(tmp_path / "rewritten", rewritten, order=2))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "o1"])
def test_perplexity(name: str, models: dict[str, NgramModel]) -> None:
    lines = golden(f"{name}.ppl").read_text().splitlines()
    including, excluding, oovs, tokens = (float(line.split("\t")[1]) for line in lines)
    result = evaluate(models[name], [golden("test.txt")])
    assert f"{result.perplexity:.5g}" == f"{including:.5g}"
    assert f"{result.perplexity_excluding_oov:.5g}" == f"{excluding:.5g}"
    assert (result.oov, result.tokens) == (oovs, tokens)


def test_every_word_of_a_query(models: dict[str, NgramModel]) -> None:
    model = models["o4"]
    with gzip.open(golden("o4.query_word.gz"), "rt", encoding="utf-8") as file:
        answers = [line.rstrip("\n").split("\t") for line in file if "Total:" in line]
    chunks = list(score(model, [golden("test.txt")]))
    ids = np.concatenate([chunk.ids for chunk in chunks])
    logprobs = np.concatenate([chunk.token_logprobs for chunk in chunks]) / math.log(10)
    fields = [field for line in answers for field in line if not field.startswith("Total:")]
    assert len(fields) == len(ids) == 1936
    words, orders, numbers = zip(*(field.rsplit(" ", 2) for field in fields), strict=True)
    known = [word.rsplit("=", 1) for word in words]
    for index, (word, number) in zip(ids.tolist(), known, strict=True):
        assert model.tokenizer.token(index) == (word if number != "0" else "<unk>")
    assert matched_orders(model, ids) == [int(order) for order in orders]
    assert np.abs(logprobs - np.array(numbers, dtype=float)).max() < CLOSE
    totals = np.concatenate([chunk.logprobs for chunk in chunks]) / math.log(10)
    theirs = [float(line[-1].split()[1]) for line in answers]
    assert totals == pytest.approx(theirs, abs=2e-4)  # KenLM sums a line in float32
