"""embed eval, align and drift as commands: what comes out, and how they end."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from programs import commands
from typer.testing import CliRunner, Result

from lmkit.cli import embed_align, embed_eval
from lmkit.cli.shell import Shell
from lmkit.embed.formats import write
from lmkit.embed.vectors import LIMIT, Vectors

app = typer.Typer(cls=Shell, pretty_exceptions_enable=False)
embed_eval.register(app)
embed_align.register(app)

WORDS = ["man", "king", "woman", "queen", "apple"]
ROWS = np.array(
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=np.float32
)
QUESTIONS = ": family\nman king woman queen\nman king woman apple\n: gram1\na b c d\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    write("v.vec", Vectors.of(WORDS, ROWS))
    write("w.vec", Vectors.of([*WORDS[:4], "pear"], -ROWS[:, ::-1].copy()))
    Path("questions").write_text(QUESTIONS)
    Path("similar").write_text("# pairs\nman\tking\t9\r\nman\tapple\t1\r\nking\tapple\t1\r\n")
    Path("pairs").write_text("".join(f"{word} {word}\n" for word in WORDS[:4]))
    return tmp_path


def lmkit(*args: str, stdin: str = "", code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(args), input=stdin)
    assert result.exit_code == code, result.output
    return result


def test_eval_is_a_row_for_each_figure() -> None:
    Path("classes").write_text("man person\nking person\napple fruit\nno fruit\n")
    result = lmkit("eval", "-m", "v.vec", "questions", "similar", "classes")
    assert result.stdout.split("\n") == [
        "questions\tfamily\taccuracy\t0.5000\t2\t2\t1",
        "questions\tgram1\taccuracy\tn/a\t0\t1\t0",
        "questions\tsemantic\taccuracy\t0.5000\t2\t2\t1",
        "questions\tsyntactic\taccuracy\tn/a\t0\t1\t0",
        "questions\ttotal\taccuracy\t0.5000\t2\t3\t1",
        "similar\tall\tspearman\t1.0000\t3\t3",
        "similar\tall\tpearson\t1.0000\t3\t3",
        "classes\tall\tpurity\t1.0000\t3\t4",
        "",
    ]
    assert result.stderr == ""


def test_eval_as_json_is_a_line_for_each_file() -> None:
    result = lmkit("eval", "-m", "v.vec", "--json", "similar", "-", stdin=QUESTIONS)
    first, second = map(json.loads, result.stdout.split("\n")[:-1])
    assert (first["file"], first["kind"], first["spearman"]) == ("similar", "similarity", 1.0)
    assert (second["file"], second["kind"], second["correct"]) == ("-", "questions", 1)
    assert second["syntactic"]["accuracy"] is None
    assert second["sections"][0] == {
        "name": "family",
        "accuracy": 0.5,
        "correct": 1,
        "questions": 2,
        "skipped": 0,
    }


def test_eval_reads_standard_input() -> None:
    result = lmkit("eval", "-m", "v.vec", stdin="man king 9\nman apple 1\n")
    assert result.stdout.startswith("-\tall\tspearman\t1.0000\t2\t2\n")


def test_eval_where_nothing_is_known() -> None:
    result = lmkit("eval", "-m", "v.vec", "--json", stdin=": s\na b c d\n")
    assert "NaN" not in result.stdout
    assert json.loads(result.stdout)["accuracy"] is None
    assert "-: 0 of 1 questions have all four words in the vocabulary" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "<stdin>: nothing to measure by in it. Give four words"),
        ("\nthe king sees the queen\n", "<stdin>:2: 5 columns: not a file to measure vectors by"),
    ],
)
def test_eval_of_what_is_no_gold(text: str, message: str) -> None:
    result = lmkit("eval", "-m", "v.vec", stdin=text, code=3)
    assert result.stdout == ""
    assert result.stderr.startswith(f"lmkit: error: {message}") and result.stderr.count("\n") == 1


def test_eval_options() -> None:
    for options in (["--method", "multiply"], ["--limit", "0"], ["--clustering", "agglomerative"]):
        lmkit("eval", "-m", "v.vec", "questions", *options)
    limited = lmkit("eval", "-m", "v.vec", "questions", "--limit", "4")
    assert "questions\ttotal\taccuracy\t1.0000\t1\t3\t1\n" in limited.stdout
    assert "with the first 4 of 5 words" in limited.stderr
    result = lmkit("eval", "-m", "v.vec", "--oov", "zero", stdin="man king 9\nman no 1\n")
    assert "\t2\t2\n" in result.stdout


def test_align() -> None:
    result = lmkit("align", "v.vec", "w.vec", "--pairs", "pairs", "-o", "mapped", "--test", "pairs")
    rows = dict(row.split("\t") for row in result.stdout.split("\n")[:-1])
    assert (rows["pairs"], rows["fitted_pairs"], rows["test_words"]) == ("4", "4", "4")
    assert rows["fitted_mean_cosine"] == rows["test_csls_precision_at_1"] == "1.0000"
    assert rows["out"].endswith("mapped")
    assert "4 words of pairs are also in pairs" in result.stderr
    assert result.stderr.endswith("mapped\n")
    lmkit("eval", "-m", "mapped", "similar")
    again = lmkit("align", "v.vec", "w.vec", "--pairs", "pairs", "-o", "mapped", code=3)
    assert again.stderr.startswith("lmkit: error: ") and "mapped exists" in again.stderr
    record = json.loads(lmkit("align", "v.vec", "w.vec", "--pairs", "pairs", "--json").stdout)
    assert (record["out"], record["fitted_pairs"], record["test_words"]) == (None, 3, 1)
    nothing = lmkit("align", "v.vec", "w.vec", "--pairs", "pairs", "--held-out", "0")
    assert "test_csls_precision_at_1\tn/a\n" in nothing.stdout


@pytest.mark.parametrize("words", ["eval", "align", "drift"])
def test_limits_are_the_usual_one(words: str) -> None:
    limits = {param.name: param.default for param in commands()["embed", words].params}
    assert limits["limit"] == LIMIT


def test_align_needs_pairs() -> None:
    assert "--pairs" in lmkit("align", "v.vec", "w.vec", code=2).stderr


def test_drift() -> None:
    result = lmkit("drift", "v.vec", "w.vec", "king", "apple", "man")
    rows = [row.split("\t") for row in result.stdout.split("\n")[:-1]]
    assert [row[0] for row in rows] == ["king", "apple", "man"]
    assert rows[1][1:] == ["n/a"] * 4
    assert rows[0][1:3] == ["0.0000", "0.0000"] and rows[0][3] == rows[0][4]
    assert set(rows[0][3].split()) == {"man", "woman", "queen"}
    assert "no word 'apple' in w.vec" in result.stderr
    missing = json.loads(lmkit("drift", "v.vec", "w.vec", "apple", "--json").stdout)
    assert missing == dict.fromkeys(["word", "distance", "local", "before", "after"]) | {
        "word": "apple"
    }
    strict = lmkit("drift", "v.vec", "w.vec", "king", "apple", "--strict", code=1)
    assert strict.stdout == "" and "no word 'apple' in w.vec" in strict.stderr
    top = lmkit("drift", "v.vec", "w.vec", "--top", "2", "--json")
    assert [len(json.loads(row)["before"]) for row in top.stdout.split("\n")[:-1]] == [3, 3]
