"""Choosing input and output."""

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from programs import environment

from lmkit.cli.streams import answers_at_once, choose_sources, json_line, open_output


def test_files_are_taken_as_they_are() -> None:
    assert choose_sources(["a", "-"]) == ["a", "-"]
    assert choose_sources("a") == ["a"]


def test_no_file_is_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose_sources(None) == choose_sources([]) == ["-"]
    assert capsys.readouterr().err == ""


def test_people_are_told_that_they_are_waited_for() -> None:
    leader, follower = pty.openpty()
    code = "from lmkit.cli.streams import *; print(choose_sources([]))"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        stdin=follower,
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    os.close(leader)
    os.close(follower)
    assert ended.stdout == "['-']\n"
    assert ended.stderr == "reading standard input; Ctrl-D ends\n"


def test_pipes_are_answered_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read, write = os.pipe()
    with open(read) as pipe, open(write, "w"):
        monkeypatch.setattr(sys, "stdin", pipe)
        assert answers_at_once(["-"], False)
        assert not answers_at_once(["a.txt"], False)
        assert answers_at_once(["a.txt"], True)
    (tmp_path / "a.txt").touch()
    with (tmp_path / "a.txt").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert not answers_at_once(["-"], False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert answers_at_once(["-"], False)


def test_json_is_ascii_and_has_no_nan() -> None:
    result = {"text": "é\u2028", "logprob": float("-inf"), "rows": [float("nan"), 0.1, 1]}
    line = json_line(result)
    assert line.isascii() and "\n" not in line
    assert json.loads(line) == {"text": "é\u2028", "logprob": None, "rows": [None, 0.1, 1]}


def test_output_file_appears_whole(tmp_path: Path) -> None:
    with open_output(tmp_path / "out.txt") as out:
        out.write("one")
        assert not (tmp_path / "out.txt").exists()
    assert (tmp_path / "out.txt").read_text() == "one\n"
