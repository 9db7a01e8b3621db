"""--config and --print-config: which setting wins, and what is refused."""

import sys
import tomllib
from pathlib import Path

import pytest
from programs import run

PROGRAM = '''
import json
from typing import Annotated, Literal
import typer
from lmkit.cli import shell
from lmkit.cli.command import command, group
from lmkit.cli.options import Config, Files, PrintConfig, Quiet, Seed

app = typer.Typer(cls=shell.Shell, pretty_exceptions_enable=False,
                  context_settings={"auto_envvar_prefix": "LMKIT"})
ngram = group("ngram", "Count.")
app.add_typer(ngram)

@command(ngram, "fit", examples=["x", "y"])
def fit(files: Files = None, min_count: Annotated[int, typer.Option("--min-count")] = 1,
        prune: Annotated[list[int] | None, typer.Option("--prune")] = None,
        unit: Annotated[Literal["word", "char"], typer.Option("--unit")] = "word",
        rate: Annotated[float, typer.Option("--rate")] = 0.5,
        lower: Annotated[bool, typer.Option("--lower/--no-lower")] = False,
        seed: Seed = 1, quiet: Quiet = False,
        config: Config = None, print_config: PrintConfig = False) -> None:
    """Fit."""
    print(json.dumps([files, min_count, prune, unit, rate, lower, seed]))

shell.main(app)
'''


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return [sys.executable, str(path), "ngram", "fit"]


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text('min-count = 2\nprune = [0, 1]\nunit = "char"\nlower = true\nseed = 4\n')
    return path


def resolved(program: list[str], *arguments: str, **variables: str) -> dict[str, object]:
    ended = run(*arguments, "--print-config", program=program, **variables)
    assert ended.stderr == ""
    return tomllib.loads(ended.stdout)


def test_defaults(program: list[str]) -> None:
    assert resolved(program) == {
        "min_count": 1,
        "unit": "word",
        "rate": 0.5,
        "lower": False,
        "seed": 1,
    }


def test_flag_wins_over_variable_over_file_over_default(program: list[str], settings: Path) -> None:
    found = resolved(
        program,
        "a.txt",
        "--config",
        str(settings),
        "--seed",
        "9",
        LMKIT_NGRAM_FIT_SEED="8",
        LMKIT_NGRAM_FIT_MIN_COUNT="7",
    )
    assert found == {
        "files": ["a.txt"],
        "min_count": 7,
        "prune": [0, 1],
        "unit": "char",
        "rate": 0.5,
        "lower": True,
        "seed": 9,
    }


def test_printed_settings_repeat_the_run(
    program: list[str], settings: Path, tmp_path: Path
) -> None:
    first = run("a.txt", "--config", str(settings), "--rate", "2", program=program)
    printed = run(
        "a.txt", "--config", str(settings), "--rate", "2", "--print-config", program=program
    )
    (tmp_path / "again.toml").write_text(printed.stdout)
    again = run("--config", str(tmp_path / "again.toml"), program=program)
    assert again.stdout == first.stdout == '[["a.txt"], 2, [0, 1], "char", 2.0, true, 4]\n'


def test_table_of_the_command_wins(program: list[str], tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("seed = 2\n[ngram.fit]\nseed = 3\n[ngram.score]\nwhatever = 1\n")
    assert resolved(program, "--config", str(path))["seed"] == 3


def test_files_beside_the_settings_are_meant(tmp_path: Path) -> None:
    model, work = tmp_path / "model", tmp_path / "work"
    model.mkdir()
    work.mkdir()
    for file in ("vocab.tsv", "tokenizer.model", "elsewhere"):
        (model / file).touch()
    (model / "config.toml").write_text(
        'vocab = "vocab.tsv"\nunit = "tokenizer.model"\nout = "elsewhere"\n'
    )
    words = ["ngram", "fit", "--config", "../model/config.toml", "--print-config"]
    settings = tomllib.loads(run(*words, cwd=work).stdout)
    assert settings["vocab"] == "../model/vocab.tsv"
    assert settings["unit"] == "../model/tokenizer.model"
    assert settings["out"] == "elsewhere"
    (model / "vocab.tsv").unlink()
    (model / "tokenizer.model").unlink()
    settings = tomllib.loads(run(*words, "--vocab", "mine", cwd=work).stdout)
    assert (settings["vocab"], settings["unit"]) == ("mine", "tokenizer.model")
    assert tomllib.loads(run(*words, cwd=work).stdout)["vocab"] == "vocab.tsv"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("min_cuont = 2\n", "unknown setting 'min_cuont'. Did you mean 'min_count'?"),
        ("quiet = true\n", "unknown setting 'quiet'"),
        ("zzz = 2\n", "It may set: files, min_count, prune, unit, rate, lower, seed."),
        ("[ngarm.fit]\nseed = 2\n", "unknown setting 'ngarm'"),
        ("[ngram.fit]\nsed = 2\n", "unknown setting 'sed'. Did you mean 'seed'?"),
        ("seed = \n", "is not TOML"),
        ("unit = 'wrod'\n", "'wrod'"),
        ("min_count = 'two'\n", "Invalid value for '--min-count'"),
        (None, "No such file or directory"),
    ],
)
def test_bad_files_are_usage_errors(
    program: list[str], tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "s.toml"
    if content is not None:
        path.write_text(content)
    ended = run("--config", str(path), program=program, COLUMNS="400")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert message in ended.stderr
