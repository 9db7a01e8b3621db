"""ARPA files that are not as they should be: what is forgiven, and what is said of the rest."""

from __future__ import annotations

import gzip
import io
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from ngram import arpa_files
from ngram.arpa_files import TOY, Heard, arpa_text, encode, grams_of, model_of, read_text

from lmkit.errors import TextError
from lmkit.ngram.arpa import read_arpa, write_arpa

TEXT = arpa_text(TOY)


def without(word: str) -> str:
    return arpa_text({gram: values for gram, values in TOY.items() if word not in gram})


FORGIVEN = {
    "CRLF": TEXT.replace("\n", "\r\n"),
    "spaces for tabs": TEXT.replace("\t", "  "),
    "blanks at both ends": "".join(f" \t{line} \t\n" for line in TEXT.split("\n")[:-1]),
    "tabs between words": TEXT.replace(" ", "\t") .replace("ngram\t", "ngram "),
    "blank lines": TEXT.replace("\n", "\n\n"),
    "blank lines with blanks": TEXT.replace("\n", "\n \t\r\n"),
    "no blank lines": "\n".join(line for line in TEXT.split("\n") if line) + "\n",
    "text before": "made by hand\n# \\data\\ follows\n\\not yet\n" + TEXT,
    "text behind": TEXT + "this is not read\n\\data\\\n",
    "no final newline": TEXT.removesuffix("\n"),
    "a byte order mark": "\ufeff" + TEXT,
    "spaces in counts": TEXT.replace("ngram 1=5", "  ngram  1 = 5 "),
    "capitals": TEXT.replace("\\data\\", "\\DATA\\").replace("-grams:", "-Grams:"),
    "back-offs of 0 left out": TEXT.replace("\t0.0\n", "\n"),
    "a back-off in the highest order": TEXT.replace("a b a\n", "a b a\t-0.1\n"),
    "exponents": TEXT.replace("-0.125", "-1.25e-1").replace("-0.35\t", "-350E-3\t"),
    "plus signs and bare points": TEXT.replace("\t0.2\n", "\t+.2\n").replace("-2.0\t", "-2.\t"),
    "rounding errors": TEXT.replace("0.0\t<s>\t", "0.0000001\t<s>\t"),
    "SRILM's <s>": TEXT.replace("0.0\t<s>\t", "-99\t<s>\t"),
    "an empty highest order": TEXT.replace("ngram 3=2\n", "ngram 3=2\nngram 4=0\n"),
    "its section": TEXT.replace("ngram 3=2\n", "ngram 3=2\nngram 4=0\n").replace(
        "\\end\\", "\\4-grams:\n\n\\end\\"
    ),
    "many digits": TEXT.replace("-0.3\t", "-0.3000000000000000000000000\t"),
}  # fmt: skip


@pytest.mark.parametrize("text", FORGIVEN.values(), ids=FORGIVEN)
def test_what_is_meant_is_read(tmp_path: Path, text: str) -> None:
    arpa, heard = read_text(tmp_path, text)
    plain, _ = read_text(tmp_path, TEXT)
    assert grams_of(arpa) == grams_of(plain)
    assert arpa.counts == [5, 4, 2]
    assert not heard.warnings


FAULTS: dict[str, tuple[str | bytes, str]] = {
    "too few": (
        TEXT.replace("ngram 2=4", "ngram 2=5"),
        "m.arpa:19: here end 4 2-grams, but the header promises 5.",
    ),
    "too many": (
        TEXT.replace("ngram 2=4", "ngram 2=3"),
        "m.arpa:19: here end 4 2-grams, but the header promises 3.",
    ),
    "absurd counts": (
        TEXT.replace("ngram 2=4", "ngram 2=4000000000"),
        "m.arpa:19: here end 4 2-grams, but the header promises 4,000,000,000.",
    ),
    "counts beyond all": (TEXT.replace("=4\n", f"={10**17}\n"), "m.arpa:1: the header promises "),
    "NaN": (TEXT.replace("-0.3\t", "nan\t"), "m.arpa:15: 'nan' is no log probability."),
    "not a number": (TEXT.replace("-0.3\t", "-0,3\t"), "m.arpa:15: '-0,3' is no log probability."),
    "two points": (TEXT.replace("-0.3\t", "-0.3.1\t"), "m.arpa:15: '-0.3.1' is no log prob"),
    "only a sign": (TEXT.replace("-0.3\t", "-\t"), "m.arpa:15: '-' is no log probability."),
    "half an exponent": (TEXT.replace("-0.3\t", "-3e\t"), "m.arpa:15: '-3e' is no log prob"),
    "above 0": (TEXT.replace("-0.3\t", "0.3\t"), "m.arpa:15: the log probability '0.3' is above"),
    "infinite": (TEXT.replace("-0.3\t", "inf\t"), "m.arpa:15: the log probability 'inf' is above"),
    "NaN back-off": (TEXT.replace("\t0.2", "\tNaN"), "m.arpa:15: 'NaN' is no back-off weight."),
    "infinite back-off": (TEXT.replace("\t0.2", "\t-inf"), "m.arpa:15: '-inf' is no back-off"),
    "too few words": (
        TEXT.replace("\ta b\t0.2", "\ta"),
        "m.arpa:15: 2 fields where a 2-gram has a log probability, 2 words and perhaps a back-off.",
    ),
    "too many words": (TEXT.replace("a b a\n", "a b a b a\n"), "m.arpa:21: 6 fields where a 3-g"),
    "a lone number": (TEXT.replace("-0.7\ta\t-0.5", "-0.7"), "m.arpa:10: 1 field where a 1-gram"),
    "an unknown word": (
        TEXT.replace("a b a\n", "a B a\n"), "m.arpa:21: the word 'B' is not among the 1-grams."
    ),
    "the first unknown word": (
        TEXT.replace("<s> a b\n", "<s> a a-long-unknown-word\n").replace("a b a\n", "x b a\n"),
        "m.arpa:20: the word 'a-long-unknown-word' is not among",
    ),
    "an unknown word before a bad line": (
        TEXT.replace("\ta b\t0.2", "\ta y\t0.2").replace("-0.35\t", "nan\t"),
        "m.arpa:15: the word 'y' is not among the 1-grams.",
    ),
    "bytes that are no text": (
        TEXT.encode().replace(b"a b a\n", b"a \xff a\n"), "m.arpa:21: the word '\ufffd' is not"
    ),
    "Latin-1": (TEXT.encode().replace(b"-0.8\tb", b"-0.8\t\xe9"), "m.arpa:11: not UTF-8 (byte 0xe"),
    "a word twice": (
        TEXT.replace("=5", "=6").replace("-0.8\tb", "-0.8\ta\t0\n-0.8\tb"),
        "m.arpa:11: the word 'a' is there before.",
    ),
    "an n-gram twice": (
        TEXT.replace("2=4", "2=5").replace("-0.35\tb a", "-0.4\ta b\t0\n-0.35\tb a"),
        "m.arpa:17: a 2-gram that is there before, ending in 'b'.",
    ),
    "twice among blank lines": (
        TEXT.replace("2=4", "2=5").replace("-0.35\tb a", "\n\n-0.4\ta b\t0\n-0.35\tb a"),
        "m.arpa:19: a 2-gram that is there before, ending in 'b'.",
    ),
    "a section missing": (
        TEXT[: TEXT.index("\\2-")] + TEXT[TEXT.index("\\3-") :],
        "m.arpa:13: \\3-grams: where \\2-grams: belongs.",
    ),
    "sections crossed": (
        TEXT.replace("\\2-grams", "\\4-grams"), "\\4-grams: where \\2-grams: belongs."
    ),
    "no end": (TEXT.replace("\\end\\\n", ""), "m.arpa:23: the file ends without \\end\\."),
    "no last section": (
        TEXT[: TEXT.index("\\3-")], "m.arpa:19: the file ends without \\3-grams:."
    ),
    "cut short": (
        TEXT[: TEXT.index("a b a")].rsplit("\n", 1)[0],
        "m.arpa:21: the file ends in the 3-grams, 1 of 2 are there. Fetch or make it again.",
    ),
    "cut in a line": (TEXT[: TEXT.index(" b a\n")], "m.arpa:21: 2 fields where a 3-gram has"),
    "no counts": (TEXT.replace("ngram", "Ngram"), "m.arpa:2: 'Ngram 1=5' where the line 'ngram 1="),
    "counts out of order": (
        TEXT.replace("ngram 2", "ngram 4"), "m.arpa:3: 'ngram 4=4' where the line 'ngram 2=COUNT'"
    ),
    "a count that is none": (TEXT.replace("2=4", "2=4k"), "m.arpa:3: 'ngram 2=4k' where the line"),
    "counts missing": (TEXT.replace("ngram ", "\n\\x\n"), "m.arpa:1: no line 'ngram 1=COUNT'"),
    "no words": (
        "\\data\\\nngram 1=0\n\n\\1-grams:\n\n\\end\\\n", "m.arpa:6: no 1-grams, so there are no"
    ),
    "n-grams of an empty order": (
        TEXT.replace("3=2\n", "3=2\nngram 4=0\n").replace("\\end", "\\4-grams:\n-1 a b a b\n\\end"),
        "m.arpa:25: n-grams of an order that the header calls empty.",
    ),
    "an empty file": ("", "m.arpa: no line \\data\\, so this is no ARPA file."),
    "a text": ("It is a truth universally acknowledged\n" * 9, "m.arpa: no line \\data\\, so this"),
    "a binary file": (bytes(range(256)) * 9, "m.arpa:1: a NUL byte, so this is no ARPA file."),
    "a NUL byte": (TEXT.replace("a b a", "a \0 a"), "m.arpa:21: a NUL byte, so this is no ARPA"),
    "KenLM's binary": (
        b"mmap lm http://kheafield.com/code format version 5\n\0\0\0" + bytes(99),
        "m.arpa: a binary file of KenLM, not an ARPA file.",
    ),
    "IRSTLM's binary": (b"blmt 3 10 20 30\n" + bytes(99), "m.arpa: a binary file of IRSTLM"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_wrong_is_said_and_where(
    tmp_path: Path, text: str | bytes, message: str, threads: int
) -> None:
    with pytest.raises(TextError) as caught:
        read_text(tmp_path, text, threads)
    said = str(caught.value)
    assert message in said
    assert said.count("\n") == 0


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TextError, match=r"none\.arpa: no such file"):
        read_arpa(tmp_path / "none.arpa")
    with pytest.raises(TextError, match="a directory"):
        read_arpa(tmp_path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    expected, _ = read_text(tmp_path, TEXT)
    assert grams_of(read_arpa("-")) == grams_of(expected)
    wrong = TEXT.replace("-0.3\t", "nan\t").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(wrong)))
    with pytest.raises(TextError, match="^<stdin>:15: 'nan'"):
        read_arpa("-")


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    _, heard = read_text(tmp_path, TEXT)
    assert heard.phases[0] == ("reading", len(TEXT.encode()))
    assert heard.advanced == len(TEXT.encode())


def test_a_model_without_unk_gets_kenlms(tmp_path: Path) -> None:
    arpa, heard = read_text(tmp_path, without("<unk>"))
    (warning,) = heard.warnings
    assert "has no <unk>: unknown words get the log10 probability -100" in warning
    assert arpa.counts[0] == 5
    assert grams_of(arpa)["<unk>",] == pytest.approx((-100.0, 0.0))
    assert {gram: v for gram, v in grams_of(arpa).items() if gram != ("<unk>",)} == pytest.approx(
        {gram: pytest.approx(v) for gram, v in TOY.items() if gram != ("<unk>",)}
    )


@pytest.mark.parametrize("spelling", ["<UNK>", "<Unk>"])
def test_unk_may_be_in_capitals(tmp_path: Path, spelling: str) -> None:
    grams = {**TOY, ("<unk>", "a"): (-0.5, 0.0)}
    expected, _ = read_text(tmp_path, arpa_text(grams))
    arpa, heard = read_text(tmp_path, arpa_text(grams).replace("<unk>", spelling))
    assert grams_of(arpa) == grams_of(expected)
    assert not heard.warnings
    assert heard.notes == [f"{tmp_path / 'm.arpa'}: {spelling} is taken as <unk>"]


def test_beside_unk_the_same_in_capitals_is_a_word(tmp_path: Path) -> None:
    arpa, heard = read_text(tmp_path, arpa_text({("<UNK>",): (-1.0, 0.0), **TOY}))
    assert arpa.tokenizer.table.words() == [b"<unk>", b"<s>", b"</s>", b"<UNK>", b"a", b"b"]
    assert not heard.notes


def test_a_model_without_sentence_start(tmp_path: Path) -> None:
    arpa, heard = read_text(tmp_path, without("<s>"))
    (warning,) = heard.warnings
    assert "has no <s>" in warning
    assert arpa.mode == "sentence"
    assert arpa.tokenizer.table.words() == [b"<unk>", b"<s>", b"</s>", b"a", b"b"]
    ours = model_of(arpa).logprobs(encode(arpa, ["b", "a"])) / math.log(10)
    assert ours == pytest.approx([-0.8, -0.35, -0.6], abs=1e-6)


def test_a_model_without_sentence_end_is_one_of_running_text(tmp_path: Path) -> None:
    arpa, heard = read_text(tmp_path, without("</s>"))
    (warning,) = heard.warnings
    assert "has no </s>" in warning
    assert arpa.mode == "document"
    ids = arpa.tokenizer.encode("b a b")
    ours = model_of(arpa).logprobs(ids) / math.log(10)
    assert ours == pytest.approx([-0.8, -0.35, -0.3], abs=1e-6)


def test_the_logarithm_of_zero(tmp_path: Path) -> None:
    arpa, _ = read_text(tmp_path, TEXT.replace("-0.8\tb", "-inf\tb").replace("-2.0\t", "-99\t"))
    assert grams_of(arpa)["b",][0] == -math.inf
    assert grams_of(arpa)["<unk>",][0] == pytest.approx(-99.0)
    write_arpa(arpa, tmp_path / "out.arpa")
    assert "\n-99\tb\t-0.125\n" in (tmp_path / "out.arpa").read_text()


def test_contexts_that_pruning_left_out_come_back(tmp_path: Path) -> None:
    pruned = {
        gram: values for gram, values in TOY.items() if gram not in [("a", "b"), ("<s>", "a")]
    }
    arpa, heard = read_text(tmp_path, arpa_text(pruned), threads=2)
    assert heard.notes == [
        f"{tmp_path / 'm.arpa'}: 2 n-grams added that 3-grams begin with "
        "and that the file leaves out"
    ]
    assert arpa.counts == [5, 4, 2]
    found = grams_of(arpa)
    assert found["a", "b"] == pytest.approx((-0.5 - 0.8, 0.0))
    assert found["<s>", "a"] == pytest.approx((-0.25 - 0.7, 0.0))
    for sentence in (["a", "b", "a"], ["b", "b"], ["c", "a", "b"]):
        expected = arpa_files.score_words(pruned, sentence)
        ours = model_of(arpa).logprobs(encode(arpa, sentence)) / math.log(10)
        assert ours == pytest.approx(expected, abs=1e-6)


def test_a_repeated_ngram_is_named_among_those_with_lacking_contexts(tmp_path: Path) -> None:
    pruned = {gram: values for gram, values in TOY.items() if gram != ("a", "b")}
    text = arpa_text(pruned).replace("3=2", "3=3").replace("a b a\n", "a b a\n-0.1\ta b a\n")
    with pytest.raises(TextError, match=r"m\.arpa:21: a 3-gram that is there before"):
        read_text(tmp_path, text)


def test_control_characters_belong_to_words(tmp_path: Path) -> None:
    arpa, _ = read_text(tmp_path, TEXT.replace("b", "v\x0bt\x0cf\u00a0n").replace("ngram", "ngram"))
    assert arpa.tokenizer.table.words()[4] == "v\x0bt\x0cf\u00a0n".encode()


def test_a_word_of_a_megabyte(tmp_path: Path) -> None:
    word = "w" * (1 << 20)
    text = (
        TEXT.replace("\tb\t", f"\t{word}\t").replace("a b", f"a {word}").replace("b a", f"{word} a")
    )
    text = text.replace(f"a {word} a", f"a {word} a")
    arpa, _ = read_text(tmp_path, text)
    assert arpa.tokenizer.table.words()[4] == word.encode()
    write_arpa(arpa, tmp_path / "out.arpa")
    again = read_arpa(tmp_path / "out.arpa", listener=Heard())
    assert np.array_equal(again.inner, arpa.inner)


def test_counts_that_no_memory_could_hold(tmp_path: Path) -> None:
    text = gzip.compress(TEXT.replace("2=4", "2=4000000000").encode())
    with pytest.raises(TextError, match=r"m\.arpa:\d+: (no memory for|here end 4 2-grams)"):
        read_text(tmp_path, text)
