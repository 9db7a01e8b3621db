"""lmkit embed phrases as a program: streams, endings, tables."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import LMKIT, environment, run

PLANTED = "in new york city the w{} w{}\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    words = np.random.default_rng(5).integers(0, 40, (300, 6))
    lines = [" ".join(f"w{word}" for word in row) + "\n" for row in words]
    lines += [PLANTED.format(*row[:2]) for row in words[:30]]
    path = tmp_path / "text.txt"
    path.write_text("".join(lines))
    return path


def test_phrases_are_joined_and_nothing_else(text: Path, tmp_path: Path) -> None:
    ended = run("embed", "phrases", "text.txt", "--threshold", "20", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.replace("_", " ") == text.read_text()
    assert ended.stdout.count("in_new york_city the") == 30
    assert ended.stderr.startswith("lmkit: pass 1: ")
    assert "phrases score above 20\n" in ended.stderr
    quiet = run("embed", "phrases", "-q", "--threshold", "20", stdin=text.read_bytes())
    assert (quiet.stdout, quiet.stderr) == (ended.stdout, "")


def test_passes_and_the_table_for_new_text(text: Path, tmp_path: Path) -> None:
    options = ["--passes", "2", "--threshold", "20", "--save", "table.tsv", "-o", "joined.txt"]
    ended = run("embed", "phrases", "text.txt", *options, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr.count("\n") == 2 and "pass 2: " in ended.stderr
    joined = (tmp_path / "joined.txt").read_text()
    assert joined.count("in_new_york_city the") == 30
    again = run("embed", "phrases", "--table", "table.tsv", cwd=tmp_path, stdin=text.read_bytes())
    assert (again.stdout, again.stderr) == (joined, "")
    new = "they live in new york city\r\n\n  in\tnew york"
    ended = run("embed", "phrases", "--table", "table.tsv", cwd=tmp_path, stdin=new.encode())
    assert ended.stdout == "they live in_new_york_city\n\n  in_new york\n"


def test_the_table_may_go_to_standard_output(text: Path, tmp_path: Path) -> None:
    options = ["--threshold", "20", "--save", "-", "-o", "joined.txt"]
    ended = run("embed", "phrases", "-q", "text.txt", *options, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("# lmkit phrases 1\t")
    assert (tmp_path / "joined.txt").read_text().replace("_", " ") == text.read_text()


def test_thresholds_may_be_given_pass_by_pass(text: Path, tmp_path: Path) -> None:
    options = ["--threshold", "40", "--threshold", "20", "--save", "table.tsv.gz", "--delimiter=~"]
    ended = run("embed", "phrases", "text.txt", *options, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "in~new~york~city the" in ended.stdout
    head = gzip.decompress((tmp_path / "table.tsv.gz").read_bytes()).split(b"\n")[0]
    assert head == (
        b"# lmkit phrases 1\tdelimiter=~\tscore=word2vec\tmin_count=5\tthresholds=40.0,20.0"
    )


def test_npmi(text: Path, tmp_path: Path) -> None:
    ended = run("embed", "phrases", "text.txt", "--score", "npmi", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("in_new york_city the") == 30
    assert "score above 0.5\n" in ended.stderr


def test_coprocess_is_answered_before_it_asks_again(text: Path, tmp_path: Path) -> None:
    options = ["--threshold", "20", "--save", "table.tsv"]
    assert run("embed", "phrases", "text.txt", *options, cwd=tmp_path).returncode == 0
    with subprocess.Popen(
        [*LMKIT, "embed", "phrases", "--table", "table.tsv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for line, joined in ((b"in new york\n", b"in_new york\n"), (b"\n", b"\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == joined
        process.stdin.close()
        assert process.wait(30) == 0


def test_broken_pipe_is_silent_success(text: Path, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(text.read_text() * 100)
    script = '"$1" -m lmkit embed phrases -q --threshold 20 long.txt | head -n 1'
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script, "bash", LMKIT[0]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )
    assert (ended.returncode, ended.stdout.count("\n"), ended.stderr) == (0, 1, "")


@pytest.mark.parametrize(
    ("options", "stdin", "message"),
    [
        ([], b"", "<stdin>: no words in the text. Give a text with at least one word."),
        ([], b"the king\nthe \xff\n", "<stdin>:2:5: not UTF-8 (byte 0xff). Try --errors replace."),
        (
            [],
            b"the king\nthe the\n",
            "0 of 2 words reach --min-count 5; the most frequent has 3 (the). Lower --min-count.",
        ),
        (["none.txt"], b"", "none.txt: no such file. Check the path"),
        (["--table", "text.txt"], b"", "text.txt: not a phrase table. Make one with"),
        (["--table", "t", "--passes", "2"], b"", "--passes means nothing with --table"),
        (["--delimiter", " "], b"", "--delimiter ' ' does not join words"),
        (["--threshold", "2", "--score", "npmi"], b"", "--threshold 2 means nothing for --score"),
        (["text.txt", "-o", "text.txt"], b"", "text.txt exists. Choose another name"),
        (["text.txt", "--save", "text.txt"], b"", "text.txt exists. Choose another name"),
        (["text.txt", "-o", "new", "--save", "./new"], b"", "-o and --save are both new. Name two"),
        (["text.txt", "--save", "-"], b"", "--save - would mix the table with the text"),
        (["text.txt", "-o", "-", "--save", "-"], b"", "--save - would mix the table with the text"),
        (["--threshold", "nan"], b"", "--threshold nan means nothing for --score word2vec. Give a"),
    ],
)
def test_errors_are_one_line(
    text: Path, tmp_path: Path, options: list[str], stdin: bytes, message: str
) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    ended = run("embed", "phrases", *options, stdin=stdin, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.startswith(f"lmkit: error: {message}")
    assert ended.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_faulty_bytes_can_be_replaced(tmp_path: Path) -> None:
    stdin = b"a \xff b\n" * 5
    ended = run("embed", "phrases", "--errors", "replace", stdin=stdin, cwd=tmp_path)
    assert ended.returncode == 0
    assert ended.stdout == "a \ufffd b\n" * 5
    assert "no pair of words scores above 100" in ended.stderr


def test_short_texts_load_no_numba(text: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from lmkit.cli.app import app\n"
        "try: app(['embed', 'phrases', '-q', 'text.txt'])\n"
        "except SystemExit: pass\n"
        "print('numba' in sys.modules, 'torch' in sys.modules, file=sys.stderr)"
    )
    ended = run("-c", code, program=[sys.executable], cwd=tmp_path)
    assert ended.stderr.split("\n")[-2] == "False False"
