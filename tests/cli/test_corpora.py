"""lmkit corpora: list, path, generate."""

import json
from pathlib import Path

from programs import run

from lmkit.corpora.catalogue import CORPORA


def test_list() -> None:
    rows = [line.split("\t") for line in run("corpora", "list").stdout.splitlines()]
    assert [row[0] for row in rows] == list(CORPORA)
    assert all(len(row) == 3 and int(row[1]) > 0 for row in rows)
    objects = [json.loads(line) for line in run("corpora", "list", "--json").stdout.splitlines()]
    assert [item["name"] for item in objects] == list(CORPORA)


def test_path() -> None:
    ended = run("corpora", "path", "prose.train", "prose.test")
    assert (ended.returncode, ended.stderr) == (0, "")
    for name, line in zip(("prose.train", "prose.test"), ended.stdout.splitlines(), strict=True):
        text = Path(line).read_text("utf-8")
        assert text.count("\n") == CORPORA[name].num_lines


def test_unknown_name() -> None:
    ended = run("corpora", "path", "prose.train", "prose.tset")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == (
        "lmkit: error: no corpus 'prose.tset'. Did you mean 'prose.test'? See lmkit corpora list.\n"
    )


def test_generate_is_repeatable_and_goes_to_a_file(tmp_path: Path) -> None:
    out = tmp_path / "text.txt"
    words = ("corpora", "generate", "--sentences", "1200", "--seed")
    first = run(*words, "3")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.count("\n") == 1200
    assert run(*words, "3", "-o", str(out)).stdout == ""
    assert out.read_text("utf-8") == first.stdout
    assert run(*words, "4", "-o", str(out)).returncode == 3
    assert run(*words, "4", "-o", str(out), "--force").returncode == 0
    assert out.read_text("utf-8") != first.stdout


def test_completion_of_names() -> None:
    ended = run(
        _LMKIT_COMPLETE="complete_bash", COMP_WORDS="lmkit corpora path prose.t", COMP_CWORD="3"
    )
    assert ended.stdout.split() == ["prose.train", "prose.test"]
