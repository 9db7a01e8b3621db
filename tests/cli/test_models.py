"""lmkit models: list, show, rm, path."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from programs import run

from lmkit.store.artifact import ArtifactWriter
from lmkit.store.parts import add_part


def make(path: Path, family: str = "ngram") -> Path:
    with ArtifactWriter(path) as writer:
        with writer.add_file("vocab.tsv") as file:
            file.write(b"a\n")
        writer.describe(
            family=family,
            config={"order": 3, "counts": [1, 2]},
            data=[{"name": "corpus.txt", "lines": 7}],
        )
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    make(tmp_path / "models" / "brown-5")
    make(tmp_path / "models" / "tiny", "gpt")
    (tmp_path / "models" / "last-ngram").symlink_to("brown-5")
    return tmp_path


def test_list(home: Path) -> None:
    ended = run("models", "list", home=home)
    rows = [line.split("\t") for line in ended.stdout.splitlines()]
    assert [row[:2] for row in rows] == [["brown-5", "ngram"], ["tiny", "gpt"]]
    assert all(int(row[2]) > 100 for row in rows)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_list_json(home: Path) -> None:
    (home / "models" / "tiny" / "card.json").write_text("{")
    ended = run("models", "list", "--json", home=home)
    models = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [model["name"] for model in models] == ["brown-5", "tiny"]
    assert models[0]["path"] == str(home / "models" / "brown-5")
    assert models[1]["family"] == "?"
    assert "damaged" in models[1]["problem"]


def test_list_of_nothing(tmp_path: Path) -> None:
    for option in ([], ["--json"]):
        ended = run("models", "list", *option, home=tmp_path)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_show(home: Path) -> None:
    ended = run("models", "show", "brown-5", home=home)
    facts = dict(line.split("\t") for line in ended.stdout.splitlines())
    assert facts["family"] == "ngram"
    assert facts["config.counts"] == "1 2"
    assert facts["data.0.name"] == "corpus.txt"
    assert facts["path"] == str(home / "models" / "brown-5")
    card = json.loads(run("models", "show", "tiny", "--json", "--verify", home=home).stdout)
    assert card["family"] == "gpt"
    assert card["verified"] is True


def test_show_verifies(home: Path) -> None:
    (home / "models" / "tiny" / "vocab.tsv").write_text("b\n")
    assert run("models", "show", "tiny", home=home).returncode == 0
    ended = run("models", "show", "tiny", "--verify", home=home)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "wrong checksum" in ended.stderr


def mixture(path: Path, source: Path) -> Path:
    with ArtifactWriter(path) as writer:
        digests = [add_part(writer, number, source) for number in range(2)]
        writer.describe(family="mixture", config={"parts": digests})
    return path


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda part: (part / "vocab.tsv").write_text("b\n"), "wrong checksum"),
        (lambda part: shutil.rmtree(part), "parts/1 is not what was written"),
        (lambda part: (part / "card.json").write_text("{}"), "parts/1 is not what was written"),
    ],
)
@pytest.mark.parametrize("depth", [1, 2])
def test_show_verifies_the_models_inside(
    home: Path, harm: Callable[[Path], object], message: str, depth: int
) -> None:
    path = home / "models" / "tiny"
    for level in range(depth):
        path = mixture(home / "models" / f"mix{level}", path)
    card = json.loads(run("models", "show", path.name, "--json", "--verify", home=home).stdout)
    assert card["verified"] is True
    place = path
    for _ in range(depth):
        place = place / "parts" / "1"
    shutil.copytree(place, home / "copy")  # no hard links to the other part
    shutil.rmtree(place)
    shutil.move(home / "copy", place)
    harm(place)
    ended = run("models", "show", path.name, "--verify", home=home)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert message in ended.stderr and ended.stderr.count("\n") == 1


def test_path(home: Path) -> None:
    for words in (["brown-5"], ["last-ngram"], []):
        path = run("models", "path", *words, home=home).stdout.rstrip("\n")
        assert os.path.samefile(path, home / "models" / "brown-5")
    ended = run("models", "path", "brwn-5", home=home)
    assert ended.returncode == 3
    assert ended.stderr == (
        "lmkit: error: no model 'brwn-5'. Did you mean 'brown-5'? See lmkit models list.\n"
    )


def test_remove(home: Path) -> None:
    ended = run("models", "rm", "brown-5", "tiny", home=home)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert ended.stderr == "".join(
        f"lmkit: removed {home / 'models' / name}\n" for name in ("brown-5", "tiny")
    )
    assert os.listdir(home / "models") == []
    ended = run("models", "rm", "tiny", home=home)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (3, 1)


def test_remove_keeps_what_lies_elsewhere(home: Path) -> None:
    make(home / "elsewhere")
    for name in (str(home / "elsewhere"), "../elsewhere", ".", ".."):
        assert run("models", "rm", name, home=home).returncode == 3
    assert (home / "elsewhere" / "card.json").exists()


def test_completion_of_names(home: Path, tmp_path: Path) -> None:
    place = tmp_path / "work"
    make(place / "brown-local")
    ended = run(
        home=home,
        cwd=place,
        _LMKIT_COMPLETE="complete_bash",
        COMP_WORDS="lmkit models show br",
        COMP_CWORD="3",
    )
    assert ended.stdout.split() == ["brown-5", "brown-local"]
