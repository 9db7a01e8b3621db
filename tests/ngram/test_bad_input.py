"""Texts as people have them: either they work, or one line says what is wrong and nothing is left.

What works is checked by scoring the text with the model made from it.
"""

import bz2
import gzip
import lzma
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ngram.fitting import Ended, entries, files_of, lmkit, opened
from shared_data import ROOT, shared

MESSY = ROOT / "data" / "messy"
FILES = [str(path.relative_to(MESSY)) for path in sorted(MESSY.rglob("*.*")) if path.is_file()]
NO_WORDS = {"empty.txt", "only_newlines.txt"}
NOT_TEXT = {"invalid_utf8.txt": "not UTF-8", "nul_bytes.txt": "NUL", "utf16le_bom.txt": "iconv"}
NOT_TEXT |= {name: "not UTF-8" for name in FILES if name.startswith("legacy_encodings/")}


def lines_of(data: bytes) -> list[bytes]:
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def check_fit_and_score(
    folder: Path, *arguments: str, text: bytes, options: tuple[str, ...] = ()
) -> list[float]:
    """Fit a model to a file and score the file with it; return the scores of its lines."""
    done = lmkit("ngram", "fit", *arguments, "-q", "-o", "./model", "--force", cwd=folder)
    assert done.stdout == ""
    scored = lmkit("score", "-q", "-m", "./model", "--column", "0", *options, cwd=folder)
    rows = scored.stdout.encode().split(b"\n")
    assert rows.pop() == b"" and len(rows) == len(lines_of(text))
    scores = [float(row.split(b"\t", 1)[0]) for row in rows]
    assert all(math.isfinite(number) and number <= 0 for number in scores)
    return scores


def refused(folder: Path, *arguments: str, what: str) -> Ended:
    """Check that a fit is refused in one line and leaves nothing."""
    before = sorted(path.name for path in folder.iterdir())
    done = lmkit("ngram", "fit", *arguments, "-o", "./refused", cwd=folder, code=3)
    assert done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("lmkit: error: ") and what in done.stderr, done.stderr
    assert sorted(path.name for path in folder.iterdir() if path.name != "home") == [
        name for name in before if name != "home"
    ]
    return done


@pytest.mark.parametrize("name", FILES or [None], ids=str)
def test_messy_files(name: str | None, tmp_path: Path) -> None:
    path = str(shared("data", "messy", name or "empty.txt"))
    text = Path(path).read_bytes()
    fit = ["--order", "3"]
    if name in NO_WORDS:
        refused(tmp_path, path, what="no words in the text")
        return
    if name in NOT_TEXT:
        done = refused(tmp_path, path, what=NOT_TEXT[name])
        assert done.stderr.startswith(f"lmkit: error: {path}:")
        replacing = ["--errors", "replace"]
        check_fit_and_score(tmp_path, path, *fit, *replacing, text=text, options=(path, *replacing))
        return
    check_fit_and_score(tmp_path, path, *fit, text=text, options=(path,))
    check_fit_and_score(tmp_path, path, *fit, "--unit", "char", text=text, options=(path,))


Models = Callable[[bytes], dict[str, bytes]]


@pytest.fixture
def weights(tmp_path: Path) -> Models:
    """Return a function that fits a model to a text and returns the files of numbers and words."""

    def fit(text: bytes) -> dict[str, bytes]:
        (tmp_path / "text").write_bytes(text)
        lmkit("ngram", "fit", "text", "--order=2", "-q", "--force", "-o", "./it", cwd=tmp_path)
        files = files_of(tmp_path / "it")
        return {name: files[name] for name in ("weights.safetensors", "vocab.tsv")}

    return fit


def test_marks_of_other_systems_change_nothing(weights: Models) -> None:
    plain = weights(b"a b\n\nc d e\n")
    assert weights(b"\xef\xbb\xbfa b\n\nc d e\n") == plain
    assert weights(b"a b\r\n\r\nc d e\r\n") == plain
    assert weights(b"a b\n\nc d e") == plain
    assert weights(b" a\tb \n \t\nc  d e\n") == plain
    assert weights(gzip.compress(b"a b\n\nc d e\n")) == plain
    assert weights(bz2.compress(b"a b\n\nc d e\n")) == plain
    assert weights(lzma.compress(b"a b\n\nc d e\n")) == plain
    assert weights(b"a b\n\nc d e\n\n") != plain  # a blank line is a sentence
    assert weights("a b\n\nc d \u00a0e\n".encode()) != plain  # no-break space is part of a word


def test_marks_of_our_own_are_never_glued_or_dropped(weights: Models, tmp_path: Path) -> None:
    separated = weights(b"a b\nc d\n")
    assert weights(b"a b </s> c d\n") == separated
    assert weights(b"<s> a b </s> <s> c d </s>\n") == separated
    assert weights(b"a b <s> c d\n") == separated
    assert weights(b"a bc d\n") != separated
    with_unknown = weights(b"a <unk> b\n")
    assert with_unknown != weights(b"a b\n")
    ours = entries(opened(tmp_path / "it"))
    assert ("a", "b") in ours and ("a", "<unk>") not in ours
    weights(b"a <unk> b\n")
    ours = entries(opened(tmp_path / "it"))
    assert ("a", "b") not in ours and {("a", "<unk>"), ("<unk>", "b")} <= set(ours)
    scored = lmkit("score", "-m", "./it", "--json", cwd=tmp_path, stdin=b"a </s> b\n<unk>\n<s>\n")
    assert [line.count('"oov": 1') for line in scored.stdout.splitlines()] == [0, 1, 0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "text: no words in the text"),
        (b"\n\n\n", "text: no words in the text"),
        (b" \t\r\n \r\n", "text: no words in the text"),
        (b"<s>\n</s>\n", "text: no words in the text"),
        (b"\xef\xbb\xbf", "text: no words in the text"),
        (b"good\nbad\x00bad\n", "text:2:4: a NUL byte"),
        (b"good\nn\xc3\xa9 \xff\n", "text:2:4: not UTF-8 (byte 0xff)"),
        (b"good\ncut \xe2\x82", "text:2:5: not UTF-8 (byte 0xe2)"),
        (b"surrogate \xed\xa0\x80\n", "text:1:11: not UTF-8 (byte 0xed)"),
        (b"overlong \xc0\xaf\n", "text:1:10: not UTF-8 (byte 0xc0)"),
        ("a b\n".encode("utf-16"), "text:1:1: UTF-16, not UTF-8. Convert it first: iconv"),
        (gzip.compress(b"a b c\n" * 1000, mtime=0)[:-9], "text"),
        (gzip.compress(b"a b c\n" * 1000, mtime=0)[:20], "text"),
        (bz2.compress(b"a b c\n" * 1000)[:-9], "text"),
        (lzma.compress(b"a b c\n" * 1000)[:-9], "text"),
        (gzip.compress(b"\x00\x01binary", mtime=0), "text:1:1: a NUL byte"),
    ],
)
def test_texts_that_are_none(text: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(text)
    refused(tmp_path, "text", what=what)
    if "no words" not in what:
        refused(tmp_path, "text", "--unit", "char", what=what)


@pytest.mark.parametrize("unit", ["char", "byte", "unigram", "bpe"])
def test_nothing_is_no_text_in_any_unit(unit: str, tmp_path: Path) -> None:
    (tmp_path / "text").touch()
    refused(tmp_path, "text", "--unit", unit, what="tex")


def test_blank_lines_are_sentences_of_characters(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n\n\n")
    done = lmkit(
        "ngram", "fit", "text", "--unit", "char", "--order=2", "-o", "./model", cwd=tmp_path
    )
    assert "only blank lines" in done.stderr
    (score,) = check_scores(tmp_path, b"\n")
    assert math.exp(score) > 0.5


def check_scores(folder: Path, text: bytes) -> list[float]:
    done = lmkit("score", "-q", "-m", "./model", cwd=folder, stdin=text)
    return [float(line.split("\t")[0]) for line in done.stdout.splitlines()]


def test_binary_files(tmp_path: Path) -> None:
    refused(tmp_path, sys.executable, what="NUL byte" if os.name == "posix" else "")
    (tmp_path / "text").write_text("a b\n")
    lmkit("ngram", "fit", "text", "-q", "--order=2", "-o", "./model", cwd=tmp_path)
    refused(tmp_path, "model/weights.safetensors", what="model/weights.safetensors:1:")
    refused(tmp_path, "model", what="model")
    noise = np.random.default_rng(1).integers(0, 256, 100_000).astype(np.uint8).tobytes()
    (tmp_path / "noise").write_bytes(noise)
    refused(tmp_path, "noise", what="noise:")
    check_fit_and_score(
        tmp_path, "noise", "--errors", "replace", "--order=2", text=noise,
        options=("noise", "--errors", "replace"),
    )  # fmt: skip


def test_a_bad_file_among_good_ones_is_the_one_named(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).write_text("a b\nc\n")
    (tmp_path / "two").write_bytes(b"a b\nc \xff\n")
    refused(tmp_path, "one", "two", "three", what="two:2:3: not UTF-8")
    refused(tmp_path, "one", "nosuch", what="nosuch: no such file")


def test_one_token(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("word")
    (score,) = check_fit_and_score(tmp_path, "text", text=b"word", options=("text",))
    assert math.log(0.01) < score < 0


@pytest.mark.parametrize("unit", ["word", "char", "byte"])
def test_a_token_of_a_megabyte(unit: str, tmp_path: Path) -> None:
    long = b"longword" * (1 << 17)
    text = b"a " + long + b" b\nb " + long + b"x\n"
    (tmp_path / "text").write_bytes(text)
    check_fit_and_score(tmp_path, "text", "--order=2", "--unit", unit, text=text, options=("text",))
    if unit == "word":
        vocabulary = (tmp_path / "model" / "vocab.tsv").read_bytes()
        assert long + b"\t1\n" in vocabulary and long + b"x\t1\n" in vocabulary
        done = lmkit("score", "-q", "-m", "./model", "--per-token", "text", cwd=tmp_path)
        assert [row.split("\t")[2] for row in done.stdout.splitlines()] == ["0"] * 7


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes(tmp_path: Path) -> None:
    words = b" ".join(b"w%d" % (k * k % 9973) for k in range(20_000))
    line = b" ".join([words] * (100_000_000 // len(words) + 1))
    assert len(line) > 100_000_000 and b"\n" not in line
    (tmp_path / "text").write_bytes(line)
    for mode in ("sentence", "document"):
        done = lmkit(
            "ngram", "fit", "text", "--order=2", "-o", "./model", "--force", "--mode", mode,
            cwd=tmp_path,
        )  # fmt: skip
        assert "in 1 lines" in done.stderr
    done = lmkit("eval", "-m", "./model", "text", cwd=tmp_path)
    rows = dict(row.split("\t") for row in done.stdout.splitlines())
    assert int(rows["tokens"]) == len(line.split()) and rows["oov"] == "0"
