"""Every ending of a run has its exit code, and says at most one line on stderr."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import LMKIT, environment, run

PROGRAM = '''
import pathlib, signal, sys, tempfile, time
import typer
from lmkit.cli import shell
from lmkit.cli.command import command
from lmkit.cli.options import Verbose
from lmkit.errors import NegativeResult, TextError

app = typer.Typer(cls=shell.Shell, pretty_exceptions_enable=False)

@command(app, "ends", examples=["x", "y"])
def ends(how: str, verbose: Verbose = 0) -> None:
    """Ends as told."""
    if how == "well":
        print("done")
    elif how == "lines":
        for number in range(200_000):
            print(number)
    elif how == "user":
        raise TextError("corpus.txt:41:7: not UTF-8 (byte 0xff)", "Try --errors replace")
    elif how == "negative":
        raise NegativeResult("not in the vocabulary: 'xyzzy'")
    elif how == "quietly-negative":
        raise NegativeResult
    elif how == "bug":
        print("partial")
        [][1]
    elif how == "memory":
        raise MemoryError
    elif how == "no-file":
        open("/no/such/file")
    elif how == "interrupt":
        raise KeyboardInterrupt
    elif how == "exit":
        raise typer.Exit(1)

@command(app, "works", examples=["x", "y"])
def works(place: pathlib.Path) -> None:
    """Works in a temporary directory until it is stopped."""
    with tempfile.TemporaryDirectory(dir=place):
        print("working", flush=True)
        time.sleep(60)

shell.main(app)
'''


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return [sys.executable, str(path)]


@pytest.mark.parametrize(
    ("how", "code", "out", "err"),
    [
        ("well", 0, "done\n", ""),
        (
            "user",
            3,
            "",
            "lmkit: error: corpus.txt:41:7: not UTF-8 (byte 0xff). Try --errors replace.\n",
        ),
        ("negative", 1, "", "lmkit: not in the vocabulary: 'xyzzy'\n"),
        ("quietly-negative", 1, "", ""),
        ("memory", 3, "", "lmkit: error: not enough memory. Use less text or a smaller model.\n"),
        ("no-file", 3, "", "lmkit: error: /no/such/file: No such file or directory.\n"),
        ("interrupt", 130, "", ""),
        ("exit", 1, "", ""),
    ],
)
def test_ending(program: list[str], how: str, code: int, out: str, err: str) -> None:
    ended = run("ends", how, program=program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, out, err)


def test_bug_keeps_its_traceback(program: list[str]) -> None:
    ended = run("ends", "bug", program=program)
    assert ended.returncode == 70
    assert ended.stdout == "partial\n"
    assert "Traceback" in ended.stderr and "IndexError" in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("lmkit: this is a bug in lmkit 0.")


@pytest.mark.parametrize(("option", "variable"), [("-vv", "0"), ("-v", "1")])
def test_traceback_on_request(program: list[str], option: str, variable: str) -> None:
    ended = run("ends", "user", option, program=program, LMKIT_TRACEBACK=variable)
    assert ended.returncode == 3
    assert "Traceback" in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("lmkit: error: corpus.txt:41:7")


def test_no_traceback_unasked(program: list[str]) -> None:
    ended = run("ends", "user", "-v", program=program, LMKIT_TRACEBACK="0")
    assert "Traceback" not in ended.stderr


def test_usage(program: list[str]) -> None:
    ended = run("ends", "well", "--verbos", program=program)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--verbose" in ended.stderr


def shell_line(line: str, program: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line, "bash", *program],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )


@pytest.mark.parametrize("reader", ["true", "head -n 1"])
@pytest.mark.parametrize("how", ["well", "lines"])
def test_broken_pipe_is_silent_success(program: list[str], how: str, reader: str) -> None:
    ended = shell_line(f'"$@" ends {how} | {reader}', program)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("words", ["--help", "--version", "models list --help", "models --help"])
def test_broken_pipe_of_help(words: str) -> None:
    ended = shell_line(f'"$@" {words} | true', list(LMKIT))
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("how", ["well", "lines"])
def test_full_disk(program: list[str], how: str) -> None:
    ended = shell_line(f'"$@" ends {how} > /dev/full', program)
    assert ended.returncode == 3
    assert len(ended.stderr.splitlines()) == 1
    assert "No space left on device" in ended.stderr


def test_closed_stdout(program: list[str]) -> None:
    ended = shell_line('"$@" ends negative >&-', program)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (1, 1)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_signals_leave_no_temporary_directory(
    program: list[str], tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = [*program, "works", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"working\n"
        assert len(os.listdir(tmp_path)) == 1
        time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(10) == code
        assert process.stderr.read() == b""
    assert len(os.listdir(tmp_path)) == (1 if number == signal.SIGKILL else 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command",
    [
        "embed convert v.txt -",
        "corpora generate --sentences 20",
        "analogy -m v.txt king man woman",
        "analogy -m v.txt --line-buffered <<< 'king man woman'",
        "embed eval -m v.txt questions",
        "embed phrases -q --min-count 1 --threshold=-1 v.txt",
    ],
)
def test_full_disk_of_commands(command: str, tmp_path: Path) -> None:
    words = ["king", "man", "woman", "queen", "apple"]
    rows = [f"{word} 1 0.{place} {place}" for place, word in enumerate(words)]
    (tmp_path / "v.txt").write_text("\n".join(["5 3", *rows, ""]))
    (tmp_path / "questions").write_text(": family\nman king woman queen\n")
    ended = shell_line(f'cd {tmp_path} && "$@" {command} > /dev/full', list(LMKIT))
    assert ended.returncode == 3, ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert "No space left on device" in ended.stderr
