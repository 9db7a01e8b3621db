"""analogy, embed neighbors, similarity and odd-one-out as commands: in, out, and how they end."""

import json
from pathlib import Path

import pytest
import typer
from programs import LMKIT, environment, run
from toy_vectors import planted, save_model, vectors_of
from typer.testing import CliRunner, Result

from lmkit.cli import analogy, embed_query
from lmkit.cli.command import group
from lmkit.cli.shell import Shell
from lmkit.embed.formats import write

app = typer.Typer(cls=Shell, pretty_exceptions_enable=False)
analogy.register(app)
embed = group("embed", "Word vectors.")
embed_query.register(embed)
app.add_typer(embed)

WORDS = ["king", "queen", "man", "woman", "river", "new york"]
MATRIX = [[3, 1, 0], [3, -1, 0], [1, 1, 0], [1, -1, 0], [0, 0, 5], [0, 1, 1]]
VECTORS = vectors_of(WORDS, MATRIX)


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "home" / "models" / "court"
    save_model(VECTORS, path, newest=True)
    return path


def lmkit(*args: str, stdin: str | bytes = "", code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(args), input=stdin)
    assert result.exit_code == code, result.output
    return result


USING = "lmkit: using court, the newest model: embed\n"


def test_an_analogy_is_answered_row_by_row() -> None:
    result = lmkit("analogy", "king", "man", "woman", "--top", "2")
    first, second = (row.split("\t") for row in result.stdout.splitlines())
    assert first == ["queen", "0.859519"] and second[0] == "river"
    assert result.stderr == USING
    assert lmkit("analogy", "-q", "king", "man", "woman").stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["king - man + woman"],
        ["king", "-", "man", "+", "woman"],
        ["--", "king", "-man", "+woman"],
        ["1*king - 1.0 * man + woman"],
    ],
)
def test_sums_are_answered_too(arguments: list[str]) -> None:
    plain = lmkit("analogy", "-q", "king", "man", "woman").stdout
    assert lmkit("analogy", "-q", *arguments).stdout == plain


def test_an_analogy_in_json() -> None:
    result = lmkit("analogy", "king", "man", "woman", "--json", "-n", "1")
    assert result.stdout.count("\n") == 1
    record = json.loads(result.stdout)
    assert list(record) == ["text", "answers", "unknown"]
    assert record["text"] == "king man woman" and record["unknown"] == []
    (best,) = record["answers"]
    assert best["word"] == "queen" and best["score"] == pytest.approx(0.8595194, abs=1e-6)


def test_options_of_analogy() -> None:
    question = ["analogy", "-q", "king", "man", "woman"]

    def words(*options: str) -> list[str]:
        rows = lmkit(*question, *options).stdout.splitlines()
        return [row.split("\t")[0] for row in rows]

    assert words() == ["queen", "river", "new york"]
    assert set(words("--include-inputs")) == set(WORDS)
    assert words("--limit", "2") == ["queen"]
    for method in ("add", "multiply", "direction"):
        assert words("--method", method)[0] == "queen"


LINES = [
    "king man woman",
    "",
    "king man wamon",
    "river king",
    "river",
    "king - king",
    "queen + man",
]


def test_one_line_for_each_line(tmp_path: Path) -> None:
    text = "\n".join(LINES)
    piped = lmkit("analogy", "-n", "2", stdin=text)
    rows = piped.stdout.split("\n")
    assert rows.pop() == "" and len(rows) == len(LINES)
    assert rows[0].split("\t")[::2] == ["queen", "river"]
    assert [bool(row) for row in rows] == [True, False, False, False, True, False, True]
    notes = piped.stderr.removeprefix(USING).splitlines()
    assert notes[0] == "lmkit: no word 'wamon'; did you mean 'woman'?"
    assert notes[1].startswith("lmkit: line 4: 'river king' is no sum of words")
    assert notes[2] == "lmkit: line 6: the vectors add up to zero" and len(notes) == 3


def test_one_object_for_each_line() -> None:
    result = lmkit("analogy", "-n", "2", "--json", "-q", stdin="\n".join(LINES))
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["text"] for record in records] == LINES
    assert records[1] == {"text": "", "answers": [], "unknown": []}
    assert records[2] == {"text": LINES[2], "answers": [], "unknown": ["wamon"]}
    assert records[5]["problem"] == "the vectors add up to zero"
    assert [len(record["answers"]) for record in records] == [2, 0, 0, 0, 2, 0, 2]
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "line", "record"),
    [
        (["analogy", "kign", "man", "woman"], "", {"answers": []}),
        (["embed", "neighbors", "kign"], "", {"answers": []}),
        (["embed", "similarity", "king", "kign"], "nan", {"similarity": None}),
        (["embed", "odd-one-out", "king", "kign", "man"], "", {"word": None, "words": []}),
    ],
)
def test_unknown_words(arguments: list[str], line: str, record: dict[str, object]) -> None:
    hint = "lmkit: no word 'kign'; did you mean 'king'?\n"
    result = lmkit(*arguments, "-m", "court")
    assert (result.stdout, result.stderr) == (f"{line}\n", hint)
    words = arguments[1:] if arguments[0] == "analogy" else arguments[2:]
    answered = json.loads(lmkit(*arguments, "--json").stdout)
    assert answered == {"text": " ".join(words), **record, "unknown": ["kign"]}
    strict = lmkit(*arguments, "-m", "court", "--strict", code=1)
    assert (strict.stdout, strict.stderr) == ("", hint)


def test_many_unknown_words_are_counted() -> None:
    words = [f"none{number}" for number in range(14)]
    for result in (
        lmkit("embed", "neighbors", "-m", "court", *words),
        lmkit("embed", "neighbors", "-m", "court", stdin="\n".join(words)),
    ):
        notes = result.stderr.splitlines()
        assert len(notes) == 11 and notes[-1] == "lmkit: such words and lines 4 times more"


def test_strict_with_lines_answers_all_and_then_complains() -> None:
    result = lmkit("analogy", "-q", "--strict", stdin="king man woman\nkign\nriver\nx y\n", code=1)
    assert result.stdout.count("\n") == 4
    assert result.stderr == "lmkit: 2 of 4 questions have no answer\n"
    assert lmkit("analogy", "-q", "--strict", stdin="king man woman\n\n").stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["analogy", "king", "man"], "'king man' is no sum of words"),
        (["analogy", "king - king"], "the vectors add up to zero"),
        (["analogy", "--method", "direction", "king + man"], "direction needs three words"),
        (["embed", "similarity", "king"], "1 word where two should be"),
        (["embed", "similarity", "king", "man", "river"], "3 words where two should be"),
        (["embed", "odd-one-out", "king", "man"], "2 words where three or more should be"),
    ],
)
def test_what_is_no_question_is_an_error(arguments: list[str], message: str) -> None:
    result = lmkit(*arguments, "-q", code=3)
    assert result.stdout == "" and result.stderr.count("\n") == 1
    assert result.stderr.startswith("lmkit: error: ") and message in result.stderr


def test_neighbors_of_one_word_and_of_several() -> None:
    one = lmkit("embed", "neighbors", "king", "-n", "2").stdout
    assert [row.split("\t")[0] for row in one.splitlines()] == ["man", "queen"]
    several = lmkit("embed", "neighbors", "king", "new york", "king man", "-n", "1").stdout
    rows = [row.split("\t") for row in several.splitlines()]
    assert [row[:2] for row in rows] == [
        ["king", "man"],
        ["new york", "river"],
        ["king man", "queen"],
    ]
    assert one.startswith(several.split("\t", 1)[1].split("\n")[0])
    lines = lmkit("embed", "neighbors", "-n", "1", stdin="king\n\nnew york\nking man\n").stdout
    assert lines.split("\n") == [*["\t".join(r[1:]) for r in rows[:1]], "",
                                 *["\t".join(r[1:]) for r in rows[1:]], ""]  # fmt: skip


def test_similarity_of_words_and_of_sets() -> None:
    assert lmkit("embed", "similarity", "king", "queen").stdout == "0.800000\n"
    assert lmkit("embed", "similarity", "king queen", "man woman").stdout == "1.000000\n"
    assert lmkit("embed", "similarity", "new york", "river").stdout == "0.707107\n"
    lines = "king queen\nking queen\tman woman\nnew york\triver\t7.5\n\n"
    assert lmkit("embed", "similarity", stdin=lines).stdout == (
        "0.800000\tking queen\n1.000000\tking queen\tman woman\n"
        "0.707107\tnew york\triver\t7.5\nnan\t\n"
    )
    records = [json.loads(line) for line in
               lmkit("embed", "similarity", "--json", stdin=lines).stdout.splitlines()]  # fmt: skip
    assert records[0]["similarity"] == pytest.approx(0.8) and records[3]["similarity"] is None
    assert list(records[0]) == ["text", "similarity", "unknown"]


def test_odd_one_out() -> None:
    asked = ["king", "queen", "river", "man"]
    assert lmkit("embed", "odd-one-out", *asked).stdout.split("\t")[0] == "river"
    lines = lmkit("embed", "odd-one-out", stdin="\t".join(asked) + "\n\nking man new york river\n")
    rows = [row.split("\t")[0] for row in lines.stdout.split("\n")]
    assert rows == ["river", "", "", ""] and "no word 'new'" in lines.stderr
    record = json.loads(lmkit("embed", "odd-one-out", "--json", *asked).stdout)
    assert list(record) == ["text", "word", "words", "unknown"]
    assert record["word"] == record["words"][0]["word"] == "river"
    assert {item["word"] for item in record["words"]} == set(asked)


@pytest.mark.parametrize("name", ["vectors.bin", "vectors.txt", "vectors.vec.gz"])
def test_files_of_vectors_are_asked_alike(name: str, tmp_path: Path) -> None:
    plain = vectors_of(WORDS[:5], MATRIX[:5])
    save_model(plain, tmp_path / "model")
    write(tmp_path / name, plain)
    expected = lmkit("analogy", "king", "man", "woman", "-m", "./model").stdout
    found = lmkit("analogy", "king", "man", "woman", "-m", name)
    assert (found.stdout, found.stderr) == (expected, "")


@pytest.mark.parametrize("name", ["vectors.bin", "vectors.txt", "vectors.vec.gz"])
def test_files_of_vectors_may_come_through_pipes(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, vectors_of(WORDS[:5], MATRIX[:5]))
    expected = lmkit("analogy", "king", "man", "woman", "-m", name).stdout
    script = f'"$@" analogy king man woman -m <(cat {name}); "$@" embed convert <(cat {name}) -'
    bash = ["bash", "-c", script, "bash"]
    piped = run(program=[*bash, *LMKIT], cwd=tmp_path)
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout.startswith(f"{expected}5 3\nking ")


def test_a_model_is_made_of_a_pipe(tmp_path: Path) -> None:
    write(tmp_path / "v.txt", vectors_of(WORDS[:5], MATRIX[:5]))
    script = '"$@" embed convert -q <(cat v.txt) ./made'
    bash = ["bash", "-c", script, "bash", *LMKIT]
    made = run(program=bash, cwd=tmp_path, home=tmp_path / "home")
    assert made.returncode == 0, made.stderr
    expected = lmkit("analogy", "king", "man", "woman", "-m", "v.txt").stdout
    assert lmkit("analogy", "king", "man", "woman", "-m", "./made").stdout == expected


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_models_of_either_width_answer_arguments_and_lines_alike(
    dtype: str, tmp_path: Path
) -> None:
    save_model(planted(50, 20, 1), tmp_path / "model", dtype)
    arguments = lmkit("analogy", "t1s1", "t1s0", "t2s0", "-m", "./model", "--json").stdout
    lines = lmkit("analogy", "-m", "./model", "--json", stdin="t1s1 t1s0 t2s0").stdout
    assert arguments == lines and '"t2s1"' in lines


def test_a_model_of_another_family_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n")
    fit = ["ngram", "fit", "text", "-o", "./ngram", "--order", "2"]
    made = run(*fit, cwd=tmp_path, home=tmp_path / "home")
    assert made.returncode == 0, made.stderr
    result = lmkit("analogy", "a", "b", "c", "-m", "./ngram", code=3)
    assert result.stderr.count("\n") == 1 and "ngram" in result.stderr


def test_without_a_model_it_says_how_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMKIT_HOME", "/nonexistent")
    result = lmkit("analogy", "king", "man", "woman", code=3)
    assert result.stderr == (
        "lmkit: error: there is no embed model yet. Make one with lmkit embed fit FILE.\n"
    )


PROBE = """
import sys
from lmkit.cli.app import main
sys.argv = ["lmkit", *sys.argv[1:]]
try:
    main()
finally:
    print("LOADED", *sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize("stdin", [b"", b"king man woman\n"])
def test_questions_load_neither_torch_nor_numba(stdin: bytes, tmp_path: Path) -> None:
    import sys

    words = [] if stdin else ["king", "man", "woman"]
    home = tmp_path / "home"
    program = [sys.executable, "-c", PROBE]
    ended = run("analogy", "-q", *words, program=program, home=home, stdin=stdin)
    assert ended.stdout.startswith("queen\t"), ended.stderr
    loaded = set(ended.stderr.split("LOADED ")[1].split())
    assert "numpy" in loaded
    assert not loaded & {"torch", "numba", "llvmlite", "sentencepiece", "scipy", "email"}
    assert environment(home)["LMKIT_HOME"] == str(home)
