"""ARPA files read and written: KenLM's own, random ones, and our own back again."""

from __future__ import annotations

import gzip
import math
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ngram import arpa_files
from ngram.arpa_files import TOY, Grams, arpa_text, encode, grams_of, model_of, parse_arpa
from ngram.fitting import fitted, opened, random_lines
from shared_data import shared

from lmkit.errors import UserError
from lmkit.ngram.arpa import ArpaModel, read_arpa, save_arpa, walk, write_arpa
from lmkit.ngram.arpa.scanner import scan
from lmkit.ngram.arpa.sections import NgramParser
from lmkit.ngram.model import SMALL
from lmkit.text.lines import read_blocks

GOLDEN = [
    "edge2", "interp_loglinear.o3", "markers2.skip", "o1", "o2", "o3", "o3.limitvocab",
    "o3.nointerp", "o3.prune001", "o4", "o4.prune0112", "o5", "tiny3.fallback",
    "tiny3.fallback_custom",
]  # fmt: skip
REUSED = HealthCheck.function_scoped_fixture
SCORED = ["o2", "o3", "o3.nointerp", "o3.prune001", "o4", "o4.prune0112", "o5"]


def golden(name: str) -> Path:
    return shared("golden", "ngram", name)


def same(one: ArpaModel, other: ArpaModel) -> bool:
    """Whether two models are the same to the last bit."""
    arrays = [(one.inner, other.inner), (one.top, other.top), (one.wide, other.wide)]
    return (
        all(np.array_equal(a, b) for a, b in arrays)
        and one.tokenizer.fingerprint() == other.tokenizer.fingerprint()
        and (one.order, one.counts, one.mode) == (other.order, other.counts, other.mode)
    )


def assert_close(ours: Grams, theirs: Grams, most: float = 1.5e-7) -> None:
    """Compare up to the rounding to float32, with log10 p(<s>) as 0."""
    assert ours.keys() == theirs.keys()
    theirs = {**theirs, ("<s>",): (0.0, theirs["<s>",][1])}
    off = np.abs(np.array([ours[gram] for gram in theirs]) - np.array(list(theirs.values())))
    size = np.maximum(np.abs(np.array(list(theirs.values()))), 1.0)
    assert (off / size).max() < most


@pytest.mark.parametrize("name", GOLDEN)
def test_every_ngram_of_kenlm_is_read(name: str) -> None:
    path = golden(f"{name}.arpa.gz")
    arpa = read_arpa(path, threads=2)
    theirs = parse_arpa(path)
    assert_close(grams_of(arpa), theirs)
    for gram, link in arpa_files.suffix_links(arpa):
        suffixes = (gram[start:] for start in range(1, len(gram)))
        assert link == next((suffix for suffix in suffixes if suffix in theirs), None)


@pytest.mark.parametrize("name", SCORED)
def test_perplexities_are_those_of_kenlm(name: str) -> None:
    arpa = read_arpa(golden(f"{name}.arpa.gz"))
    blocks = read_blocks([golden("test.txt")])
    ids = np.concatenate([arpa.tokenizer.encode_block(b, "sentence").ids for b in blocks])
    logprobs = model_of(arpa).batch_logprobs(ids)
    lines = golden(f"{name}.ppl").read_text().splitlines()
    with_oovs, without_oovs, oovs, tokens = (float(line.split("\t")[1]) for line in lines)
    assert (int(oovs), int(tokens)) == (np.count_nonzero(ids == 0), len(ids))
    assert math.exp(-logprobs.mean()) == pytest.approx(with_oovs, rel=1e-6)
    assert math.exp(-logprobs[ids != 0].mean()) == pytest.approx(without_oovs, rel=1e-6)


def test_each_word_is_scored_as_by_kenlm() -> None:
    arpa = read_arpa(golden("o4.arpa.gz"))
    model = model_of(arpa)
    lines = golden("test.txt").read_text().splitlines()
    with gzip.open(golden("o4.query_word.gz"), "rt", encoding="utf-8") as file:
        theirs = [line for line in file if "=" in line]
    assert len(lines) == len(theirs)
    for line, words in zip(lines, theirs, strict=True):
        scores = [float(word.rsplit(" ", 1)[1]) for word in words.split("\t") if "=" in word]
        ours = model.logprobs(encode(arpa, line.split())) / math.log(10)
        assert ours == pytest.approx(scores, abs=2e-6)


@pytest.mark.parametrize("name", GOLDEN)
def test_what_is_written_reads_back_the_same(name: str, tmp_path: Path) -> None:
    arpa = read_arpa(golden(f"{name}.arpa.gz"))
    write_arpa(arpa, tmp_path / "again.arpa", threads=2)
    assert same(read_arpa(tmp_path / "again.arpa"), arpa)
    assert_close(parse_arpa(tmp_path / "again.arpa"), parse_arpa(golden(f"{name}.arpa.gz")))


@pytest.mark.parametrize("name", ["o1", "o3", "o5"])
def test_threads_and_blocks_change_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arpa = read_arpa(golden(f"{name}.arpa.gz"))
    assert same(read_arpa(golden(f"{name}.arpa.gz"), threads=3), arpa)
    for threads in (1, 3):
        write_arpa(arpa, tmp_path / f"{threads}.arpa", threads=threads)
    assert (tmp_path / "1.arpa").read_bytes() == (tmp_path / "3.arpa").read_bytes()
    monkeypatch.setattr(walk, "scan", partial(scan, block_size=1000))
    assert same(read_arpa(tmp_path / "1.arpa", threads=3), arpa)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_compressed_files(suffix: str, tmp_path: Path) -> None:
    arpa = read_arpa(golden("o3.arpa.gz"))
    path = tmp_path / f"m.arpa.{suffix}"
    write_arpa(arpa, path)
    first = path.read_bytes()
    write_arpa(arpa, path, force=True)
    assert path.read_bytes() == first
    path.rename(tmp_path / "unnamed")
    assert same(read_arpa(tmp_path / "unnamed"), arpa)


def test_ngrams_may_come_in_any_order(tmp_path: Path) -> None:
    text = gzip.decompress(golden("o4.arpa.gz").read_bytes()).decode()
    shuffled = []
    for section in text.split("\n\n"):
        head, *lines = section.split("\n")
        if head.startswith("\\") and head not in ("\\data\\", "\\1-grams:"):
            random.Random(5).shuffle(lines)
        shuffled.append("\n".join([head, *lines]))
    (tmp_path / "m.arpa").write_text("\n\n".join(shuffled), "utf-8", newline="\n")
    assert same(read_arpa(tmp_path / "m.arpa", threads=2), read_arpa(golden("o4.arpa.gz")))


@pytest.mark.parametrize("settings", [{"order": 1}, {"order": 3}, {"order": 4, "prune": (0, 1)}])
@pytest.mark.parametrize("unit", ["word", "char", "byte"])
def test_our_own_models_read_back_the_same(
    settings: dict[str, object], unit: str, tmp_path: Path
) -> None:
    text = "\n".join(random_lines(seed=3, lines=400, longest=12))
    model = fitted(tmp_path / "m", text, unit=unit, **settings)
    write_arpa(model, tmp_path / "m.arpa")
    arpa = read_arpa(tmp_path / "m.arpa")
    assert np.array_equal(arpa.inner, model.records.inner)
    assert np.array_equal(arpa.top, model.records.top)
    assert np.array_equal(arpa.wide, model.records.wide)
    tokens = [model.tokenizer.token(index) for index in range(model.tokenizer.num_tokens)]
    assert [word.decode() for word in arpa.tokenizer.table.words()] == tokens
    assert arpa.mode == model.mode == "sentence"


def test_a_model_of_running_text_is_known_by_its_unpredicted_sentence_end(tmp_path: Path) -> None:
    text = "\n".join(random_lines(seed=4, lines=200, longest=12))
    model = fitted(tmp_path / "m", text, order=3, mode="document")
    write_arpa(model, tmp_path / "m.arpa")
    assert "\n-99\t</s>\t" in (tmp_path / "m.arpa").read_text()
    arpa = read_arpa(tmp_path / "m.arpa")
    assert arpa.mode == "document"
    ids = np.array([3, 4, 3, 5], dtype=np.uint32)
    assert np.array_equal(model_of(arpa).logprobs(ids), model.logprobs(ids))


def test_what_was_read_is_saved_as_a_model(tmp_path: Path) -> None:
    for grams in (TOY, {gram: TOY[gram] for gram in TOY if len(gram) == 1}):
        arpa, _ = arpa_files.read_text(tmp_path, arpa_text(grams))
        save_arpa(arpa, tmp_path / "model", force=True)
        model = opened(tmp_path / "model")
        for sentence in (["a", "b", "a"], ["b", "c"], []):
            expected = arpa_files.score_words(grams, sentence)
            ours = model.logprobs(encode(arpa, sentence)) / math.log(10)
            assert ours == pytest.approx(expected, abs=1e-6)


def test_an_existing_file_stays_without_force(tmp_path: Path) -> None:
    arpa, _ = arpa_files.read_text(tmp_path, arpa_text(TOY))
    before = (tmp_path / "m.arpa").read_bytes()
    with pytest.raises(UserError, match="exists"):
        write_arpa(arpa, tmp_path / "m.arpa")
    assert (tmp_path / "m.arpa").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.arpa"]


def test_the_file_is_as_strict_as_kenlms(tmp_path: Path) -> None:
    arpa, _ = arpa_files.read_text(tmp_path, arpa_text(TOY))
    write_arpa(arpa, tmp_path / "out.arpa")
    assert (tmp_path / "out.arpa").read_text() == (
        "\\data\\\nngram 1=5\nngram 2=4\nngram 3=2\n\n"
        "\\1-grams:\n-2\t<unk>\t0\n0\t<s>\t-0.25\n-0.9\t</s>\t0\n-0.7\ta\t-0.5\n-0.8\tb\t-0.125\n\n"
        "\\2-grams:\n-0.4\t<s> a\t-0.1\n-0.6\ta </s>\t0\n-0.3\ta b\t0.2\n-0.35\tb a\t0\n\n"
        "\\3-grams:\n-0.15\t<s> a b\n-0.2\ta b a\n\n\\end\\\n"
    )


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.floats(-300, 0, width=32), min_size=1, max_size=50))
def test_numbers_come_back_as_the_same_float32(tmp_path: Path, numbers: list[float]) -> None:
    values = np.array([*numbers, -1e-20, -1e-7, -99.5, 0.0, -3e-5], dtype=np.float32) + 0
    grams: Grams = {("<unk>",): (-1.0, 0.0), ("<s>",): (0.0, 0.0), ("</s>",): (-1.0, 0.0)}
    grams |= {(f"w{i}",): (-1.0, 0.0) for i in range(len(values))}
    arpa, _ = arpa_files.read_text(tmp_path, arpa_text(grams))
    arpa.inner[3:-1, 1] = values.view(np.uint32)
    write_arpa(arpa, tmp_path / "out.arpa", force=True)
    assert same(read_arpa(tmp_path / "out.arpa"), arpa)
    lines = (tmp_path / "out.arpa").read_text().split("\n")
    texts = [line.split("\t")[0] for line in lines if "\tw" in line]
    digits = [text.split("e")[0].replace(".", "").lstrip("-0") for text in texts]
    assert max(map(len, digits)) <= 9
    exact = values.astype(np.float64) / math.log(10.0)
    assert np.array([float(text) for text in texts]) == pytest.approx(exact, rel=6.1e-8)


WORDS = [
    "a",
    "b",
    "c",
    "ab",
    "longer-than-sixteen-bytes-1",
    "longer-than-sixteen-bytes-2",
    "日本語",
]
LOG10 = st.floats(-6, 0).map(lambda x: round(x, 4))
GRAM = st.lists(st.sampled_from(WORDS), min_size=2, max_size=4).map(tuple)


@st.composite
def models(draw: st.DrawFn) -> Grams:
    """N-grams with all words, but not all their beginnings and endings, in a random order."""
    words = ["<unk>", "<s>", "</s>", *WORDS]
    grams: Grams = {(w,): (draw(LOG10), draw(LOG10)) for w in draw(st.permutations(words))}
    grams["<s>",] = 0.0, draw(LOG10)
    for gram in draw(st.lists(GRAM, unique=True, max_size=30)):
        place = draw(st.sampled_from(["inside", "first", "last"]))
        if place == "first":
            gram = ("<s>", *gram[1:])
        elif place == "last":
            gram = (*gram[:-1], "</s>")
        grams[gram] = draw(LOG10), draw(st.floats(-2, 1).map(lambda x: round(x, 4)))
    highest = max(map(len, grams))
    return {g: (p, b if len(g) < highest else 0.0) for g, (p, b) in grams.items()}


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(models(), st.lists(st.lists(st.sampled_from([*WORDS, "x"]), max_size=8), max_size=5))
def test_random_models_give_the_probabilities_of_the_definition(
    tmp_path: Path, grams: Grams, sentences: list[list[str]]
) -> None:
    arpa, _ = arpa_files.read_text(tmp_path, arpa_text(grams), threads=2)
    read = grams_of(arpa)
    assert_close({gram: read[gram] for gram in grams}, grams)
    assert all(gram[:-1] in read for gram in read if len(gram) > 1)
    for gram in read.keys() - grams.keys():  # added: says what the model says without it
        assert read[gram][1] == 0.0
        expected = arpa_files.backed_off(grams, gram[:-1], gram[-1])
        assert read[gram][0] == pytest.approx(expected, abs=1e-5)
    for gram, link in arpa_files.suffix_links(arpa):
        suffixes = (gram[start:] for start in range(1, len(gram)))
        assert link == next((suffix for suffix in suffixes if suffix in read), None)
    model = model_of(arpa)
    for sentence in sentences:
        ids = encode(arpa, sentence)
        expected = np.array(arpa_files.score_words(grams, sentence)) * math.log(10)
        assert model.logprobs(ids) == pytest.approx(expected, abs=1e-4)
    assume(all(logprob <= 0 for logprob, _ in read.values()))  # else no ARPA file can say it
    (tmp_path / "again.arpa").unlink(missing_ok=True)
    write_arpa(arpa, tmp_path / "again.arpa")
    assert same(read_arpa(tmp_path / "again.arpa"), arpa)


def test_wide_contexts_are_found_by_the_compiled_queries(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(3000)]
    grams: Grams = {("<unk>",): (-4.0, 0.0), ("<s>",): (0.0, -0.1), ("</s>",): (-1.0, 0.0)}
    grams |= {(word,): (-3.0, -0.2) for word in words}
    grams |= {("w7", word): (-1.0 - i / 3000, 0.0) for i, word in enumerate(reversed(words))}
    arpa, _ = arpa_files.read_text(tmp_path, arpa_text(grams), threads=2)
    sentence = ["w7", "w0", "w7", "w2999", "w7", "w1234"]
    ids = np.tile(encode(arpa, sentence), 1 + SMALL // 7)
    ours = model_of(arpa).batch_logprobs(ids, threads=2) / math.log(10)
    expected = np.tile(arpa_files.score_words(grams, sentence), 1 + SMALL // 7)
    assert ours == pytest.approx(expected, abs=1e-5)


class Emptied(list[Any]):
    """A list that seems to hold something until one takes it, as when threads race."""

    def __bool__(self) -> bool:
        return True


def test_parsers_in_threads_may_take_the_last_scratch_from_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing: Any = None
    parser = NgramParser(2, nothing, nothing, nothing)
    given: list[Any] = []
    monkeypatch.setattr(parser, "_free", Emptied())
    monkeypatch.setattr(parser, "_parse", lambda piece, scratch: given.append(scratch))
    parser(nothing)
    parser(nothing)
    assert len(given) == 2 and given[0] is given[1] is not None
