"""Fitting: same bytes whatever the threads and the process, settings, units, small texts."""

import json
import math
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ngram.fitting import entries, files_of, fit, fitted, opened, random_lines, settings
from programs import environment

from lmkit.errors import TextError, UserError
from lmkit.events import Listener
from lmkit.language_model import BOS, EOS, Mode
from lmkit.tasks.fit_ngram import fit_ngram
from lmkit.text import corpus
from lmkit.text.lines import read_blocks


class Ear(Listener):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def test_fallback_is_recorded_and_said(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b c\na c b\n")
    ear = Ear()
    out = tmp_path / "model"
    config = settings(order=3, fallback=(0.4, 0.9, 1.3))
    done = fit_ngram([str(tmp_path / "text")], out, config, listener=ear)
    card = json.loads((out / "card.json").read_text())
    recorded = card["config"]["discounts"]
    assert len(recorded) == len(done.discounts) == 3
    assert [entry["estimated"] for entry in recorded] == [False] * 3
    assert recorded[2]["values"] == [0.4, 0.9, 1.3] and recorded[2]["reason"]
    assert len(ear.warnings) == 3
    assert ear.warnings[0].startswith("order 1: no n-gram has an adjusted count of")
    assert ear.warnings[2].endswith("discounts 0.4 0.9 1.3 stand in")


def test_threads_write_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks of text, words in all of them, the compiled path from reading to saving."""
    monkeypatch.setattr(corpus, "read_blocks", partial(read_blocks, block_size=30_000))
    words = [f"{'long' * (k % 4)}word{k}" for k in range(3000)]
    lines = random_lines(4, 6000, 18, words)
    text = "\n".join(lines)
    assert len(text) > 1 << 18 and len(lines) * 9 * 4 > 30_000
    for threads in (1, 2, 3):
        fit(tmp_path / str(threads) / "model", text, order=4, threads=threads, prune=(0, 0, 1))
    first = files_of(tmp_path / "1" / "model")
    assert {"card.json", "config.toml", "weights.safetensors", "vocab.tsv"} == set(first)
    assert files_of(tmp_path / "2" / "model") == first
    assert files_of(tmp_path / "3" / "model") == first


FIT = """
import sys
from lmkit.tasks.fit_ngram import FitNgramConfig, fit_ngram
from pathlib import Path
for unit in ("word", "char", "unigram"):
    from lmkit.text.vocab import VocabularyConfig
    config = FitNgramConfig(unit=unit, vocabulary=VocabularyConfig(max_size=20))
    fit_ngram([sys.argv[1]], Path(sys.argv[2]) / unit, config)
"""


def test_processes_write_the_same_bytes(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("\n".join(random_lines(5, 300, 12, ["king", "queen", "the", "and", "of"])))
    for name, seed in (("one", "1"), ("two", "2")):
        subprocess.run(
            [sys.executable, "-c", FIT, text, tmp_path / name],
            env=environment(PYTHONHASHSEED=seed),
            check=True,
        )
    for unit in ("word", "char", "unigram"):
        one, two = files_of(tmp_path / "one" / unit), files_of(tmp_path / "two" / unit)
        assert one == two and len(one) >= 3


def total(model: Any, line: str) -> float:
    ids = model.tokenizer.encode(line)
    if model.mode == "sentence":
        ids = np.append(ids, np.uint32(EOS))
    return float(np.exp(model.logprobs(ids)).prod())


def test_order_1(tmp_path: Path) -> None:
    model = fitted(tmp_path / "model", "a a a b\n", order=1, fallback=(0.0, 0.0, 0.0))
    probabilities = {gram: 10 ** entry[0] for gram, entry in entries(model).items()}
    expected = {("a",): 0.6, ("b",): 0.2, ("</s>",): 0.2, ("<unk>",): 0.0}
    assert probabilities == pytest.approx(expected)
    assert total(model, "a b") == pytest.approx(0.6 * 0.2 * 0.2)


@pytest.mark.parametrize("order", [7, 12, 200])
def test_high_orders(order: int, tmp_path: Path) -> None:
    line = " ".join(random_lines(6, 40, 16)) + "\n"
    for mode in ("sentence", "document"):
        model = fitted(tmp_path / mode, line, order=order, mode=mode)
        assert len(model.counts) == order and all(model.counts)
        ids = model.tokenizer.encode(line)
        assert model.logprobs(ids)[order:].mean() > math.log(0.5)  # it knows its own text
        context = ids[:order]
        assert np.exp(model.next_logprobs(context)).sum() == pytest.approx(1.0, abs=1e-5)


def test_orders_beyond_the_text(tmp_path: Path) -> None:
    model = fitted(tmp_path / "model", "a b\nb a\n", order=6)
    assert model.counts == [5, 6, 4, 2, 0, 0]
    assert np.exp(model.next_logprobs(model.tokenizer.encode("a b a b"))).sum() == pytest.approx(1)


@pytest.mark.parametrize("mode", ["sentence", "document"])
@pytest.mark.parametrize("order", [1, 2, 5])
def test_one_token(mode: Mode, order: int, tmp_path: Path) -> None:
    model = fitted(tmp_path / "model", "a", order=order, mode=mode)
    for context in ([], [3], [3, 3, 0]):
        p = np.exp(model.next_logprobs(np.array(context, dtype=np.uint32)))
        assert p.sum() == pytest.approx(1.0, abs=1e-6)
        assert p[BOS] == 0.0 and (p[EOS] == 0.0) == (mode == "document")
    assert 0 < total(model, "a") < 1


def test_one_sentence_is_all_there_is(tmp_path: Path) -> None:
    model = fitted(tmp_path / "model", "to be or not to be\n", order=3)
    assert model.counts == [7, 6, 6]
    assert total(model, "to be or not to be") > total(model, "be to or not to be") > 0


def vocabulary(model: Any) -> list[str]:
    return [model.tokenizer.token(index) for index in range(3, model.counts[0])]


COUNTED = "d d d d c c c b b a\na b\n"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ["d", "c", "b", "a"]),
        ({"min_count": 3}, ["d", "c", "b"]),
        ({"min_count": 4}, ["d"]),
        ({"min_count": 5}, []),
        ({"max_size": 2}, ["d", "c"]),
        ({"max_size": 9}, ["d", "c", "b", "a"]),
        ({"min_count": 3, "max_size": 1}, ["d"]),
        ({"words": (b"b", b"zebra")}, ["b", "zebra"]),
    ],
)
def test_limits_of_the_vocabulary(given: dict[str, Any], words: list[str], tmp_path: Path) -> None:
    model = fitted(tmp_path / "model", COUNTED, order=2, **given)
    assert vocabulary(model) == words
    rest = "".join(" <unk>" if w not in {*words, "\n"} else f" {w}" for w in COUNTED if w != " ")
    rewritten = fitted(tmp_path / "rewritten", rest, order=2)
    same, ours = entries(rewritten), entries(model)
    if "zebra" not in words:
        assert ours == same
    assert {gram for gram in ours if len(gram) == 2} == {gram for gram in same if len(gram) == 2}
    assert np.exp(model.next_logprobs(np.array([0], dtype=np.uint32))).sum() == pytest.approx(1)


def test_normalisation_is_part_of_the_model(tmp_path: Path) -> None:
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    text = f"{composed} {decomposed} \ufb01n\n"
    given: list[tuple[dict[str, Any], list[str]]] = [
        ({}, [composed, decomposed, "\ufb01n"]),
        ({"form": "nfc"}, [composed, "\ufb01n"]),
        ({"form": "nfkc"}, [composed, "fin"]),
        ({"form": "nfkc", "lower": True}, [composed.lower(), "fin"]),
    ]
    for number, (options, words) in enumerate(given):
        model = fitted(tmp_path / str(number), text, order=2, **options)
        assert vocabulary(model) == words
        assert model.tokenizer.encode(text.strip()).tolist() == [
            3, 3 if "form" in options else 4, model.counts[0] - 1,
        ]  # fmt: skip
        assert opened(tmp_path / str(number)).tokenizer.fingerprint() == (
            model.tokenizer.fingerprint()
        )


@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_units_of_bytes_and_characters(mode: Mode, tmp_path: Path) -> None:
    text = "né à\nna\n"
    for unit, size, line in (("byte", 259, 6), ("char", 3 + 5 + (mode == "document"), 4)):
        model = fitted(tmp_path / unit, text, order=3, mode=mode, unit=unit)
        assert model.counts[0] == size
        assert model.tokenizer.unit == unit
        ids = model.tokenizer.encode("né à")
        assert len(ids) == line and model.tokenizer.decode(ids) == "né à"
        assert np.exp(model.next_logprobs(ids)).sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("unit", ["unigram", "bpe"])
def test_units_of_sentencepiece(unit: str, tmp_path: Path) -> None:
    lines = random_lines(7, 200, 9, ["king", "queen", "kingdom", "the", "queens"])
    text = "\n".join(lines) + "\n"
    model = fitted(tmp_path / "model", text, order=3, unit=unit, max_size=20)
    assert model.tokenizer.unit == "sentencepiece" and model.counts[0] <= 23
    ids = model.tokenizer.encode("the queens")
    assert model.tokenizer.decode(ids) == "the queens"
    again = fitted(
        tmp_path / "again", text, order=3, unit=str(tmp_path / "model" / "tokenizer.model")
    )
    assert again.tokenizer.fingerprint() == model.tokenizer.fingerprint()
    assert entries(again) == entries(model)


def test_units_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no unit 'wrod'"):
        fit(tmp_path / "a", "a\n", unit="wrod")
    with pytest.raises(UserError, match="list of words"):
        fit(tmp_path / "b", "a\n", unit="char", words=(b"a",))
    with pytest.raises(UserError, match="nosuch"):
        fit(tmp_path / "c", "a\n", unit=str(tmp_path / "nosuch.model"))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".txt"] * 3


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"order": 0}, "--order 0"),
        ({"order": 201}, "--order 201"),
        ({"prune": (1,)}, "must begin with 0"),
        ({"prune": ()}, "must begin with 0"),
        ({"prune": (0, 2, 1)}, "must not fall"),
        ({"order": 2, "prune": (0, 0, 0)}, "3 thresholds"),
        ({"fallback": (1.5, 1.0, 1.0)}, "D1 = 1.5"),
        ({"fallback": (0.5, -0.1, 1.0)}, "D2 = -0.1"),
        ({"fallback": (0.5, math.nan, 1.0)}, "D2 = nan"),
        ({"min_count": 0}, "--min-count 0"),
        ({"max_size": 0}, "--vocab-size 0"),
    ],
)
def test_settings_that_cannot_be(given: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError, match=what):
        settings(**given)


def test_memory_is_checked_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--memory allows 1 MiB") as caught:
        fit(tmp_path / "model", "a b c\n", order=3, memory=1 << 20)
    assert "tokens at order 3 need about" in str(caught.value)
    assert not (tmp_path / "model").exists()
    fit(tmp_path / "model", "a b c\n", order=3, memory=1 << 30)


def test_a_text_without_words(tmp_path: Path) -> None:
    for name, text in (("blank", "\n\n"), ("marks", "<s> </s>\n"), ("none", "")):
        with pytest.raises(TextError, match=f"{name}.txt: no words in the text"):
            fit(tmp_path / name, text)
        assert not (tmp_path / name).exists()
