"""lmkit embed plot as a command: what it writes, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from programs import LMKIT, environment
from typer.testing import CliRunner, Result

from lmkit.cli import embed_plot
from lmkit.cli.command import group
from lmkit.cli.shell import Shell
from lmkit.embed.model import save_vectors
from lmkit.embed.vectors import Vectors
from lmkit.store.artifact import ArtifactWriter

WORDS = ["king", "queen", "man", "woman", "uncle", "aunt", "água"]
PAIRS = "man:woman king:queen uncle:aunt"

embed = group("embed", "Word vectors.")
embed_plot.register(embed)
app = typer.Typer(cls=Shell, pretty_exceptions_enable=False)
app.add_typer(embed)
app.command("other")(lambda: None)


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(1).normal(size=(7, 4)).astype(np.float32)
    with ArtifactWriter(tmp_path / "home" / "models" / "words") as writer:
        save_vectors(writer, Vectors.of(WORDS, rows), config={"arch": "skipgram"})


def plot(*args: str, stdin: str = "", code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["embed", "plot", *args], input=stdin)
    assert result.exit_code == code, result.output
    return result


def test_the_most_frequent_words_in_characters() -> None:
    result = plot()
    lines = result.stdout.split("\n")[:-1]
    assert len(lines) == 24 + 1 and max(map(len, lines)) <= 80
    assert all(f"•{word}" in result.stdout or f"{word}•" in result.stdout for word in WORDS)
    assert lines[-1].startswith("variance: ")
    assert result.stderr == "lmkit: using words, the newest model: embed\n"
    assert "•" in plot("--top", "3").stdout and "aunt" not in plot("--top", "3").stdout
    assert plot("-q").stderr == ""


@pytest.mark.parametrize("kind", ["pca", "tsne"])
def test_coordinates_in_json(kind: str) -> None:
    result = plot("king", "água", "man", "aunt", "--json", "--kind", kind, "--seed", "2")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["word"] for record in records] == ["king", "água", "man", "aunt"]
    assert all(set(record) == {"word", "x", "y"} for record in records)
    assert plot("king", "água", "man", "aunt", "--json", "--kind", kind, "--seed", "2").stdout == (
        result.stdout
    )


def test_a_map() -> None:
    shown = plot("--kind", "som", "--grid", "3x4").stdout
    assert "map of 3 x 4 cells: quantisation error " in shown
    assert all(word in shown for word in WORDS)
    records = [json.loads(line) for line in plot("--kind", "som", "--json").stdout.splitlines()]
    assert all(set(record) == {"word", "row", "column", "distance"} for record in records)


def test_pairs() -> None:
    shown = plot("--pairs", PAIRS, "--pairs", "king:man queen:woman").stdout
    assert "man:woman: 3 pairs, mean cosine of the offsets " in shown
    assert "mean cosine across relations " in shown
    records = [json.loads(x) for x in plot("--pairs", PAIRS, "--json").stdout.splitlines()]
    assert [record["word"] for record in records] == [
        w for p in PAIRS.split() for w in p.split(":")
    ]
    assert set(records[0]["arrows"][0]) == {"to", "relation", "cosine"}


def test_words_from_standard_input() -> None:
    result = plot("man", "-", "--json", stdin="king\n\nqueen\n")
    assert [json.loads(line)["word"] for line in result.stdout.splitlines()] == [
        *("man", "king", "queen")
    ]


@pytest.mark.parametrize("options", [[], ["--kind", "som"], ["--pairs", PAIRS]])
def test_figures_go_to_a_file(options: list[str]) -> None:
    result = plot(*options, "-o", "figure.svg")
    assert result.stdout == ""
    assert result.stderr.endswith("wrote figure.svg\n")
    svg = Path("figure.svg").read_text()
    assert "água" in svg or options[:1] == ["--pairs"]
    if options[:1] == ["--pairs"]:
        assert "man:woman: 3 pairs, mean cosine of the offsets " in result.stderr
    assert "figure.svg exists" in plot(*options, "-o", "figure.svg", code=3).stderr
    assert plot(*options, "-o", "figure.svg", "--force", "--json").stdout.count("\n") >= 6
    assert Path("figure.svg").read_text() == svg


def test_unknown_words() -> None:
    result = plot("king", "quen", "man", "--json")
    assert result.stdout.count("\n") == 2
    assert "no word 'quen'; did you mean 'queen'?" in result.stderr
    result = plot("king", "quen", "man", "--json", "--strict", code=1)
    assert (result.stdout, "no word 'quen'" in result.stderr) == ("", True)
    assert "a picture needs two" in plot("king", "quen", code=3).stderr
    assert not Path("figure.svg").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--grid 3x4", "--grid: means nothing for --kind pca"),
        ("--kind som --grid 3", "--grid: '3' is not a size such as 10x15"),
        ("--kind som --pairs a:b", "--pairs: means nothing for --kind som"),
        ("--kind parallelogram", "--pairs: a parallelogram needs pairs"),
        ("--pairs a:b king", "WORD: a parallelogram takes --pairs, no words"),
        ("--pairs a:b --top 5", "--top: means nothing when words are named"),
        ("king man --top 5", "--top: means nothing when words are named"),
        ("--top 1", "greater than or equal to 2"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: str, why: str) -> None:
    result = plot(*options.split(), code=2)
    assert result.stdout == ""
    assert why in " ".join(result.stderr.replace("│", " ").split())


def test_what_is_wrong_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "figures are .svg, .png or .pdf" in plot("-o", "figure.gif", code=3).stderr
    assert "is no pair of two words" in plot("--pairs", "man:", code=3).stderr
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = plot("-o", "figure.svg", code=3)
    assert result.stderr == (
        'lmkit: error: this needs matplotlib, which is not installed. pip install "lmkit[plot]".\n'
    )
    assert plot("--top", "3").exit_code == 0, "characters need no matplotlib"


def test_tsne_by_the_program_itself(tmp_path: Path) -> None:
    """The program spares itself modules of the standard library that scikit-learn looks for."""
    command = [*LMKIT, "embed", "plot", "-m", "words", "--kind", "tsne", "king", "queen", "man"]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=environment(tmp_path / "home"), check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "queen" in ended.stdout
