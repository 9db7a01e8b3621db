"""What holds for every command that answers line by line; found by its option --line-buffered."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import LMKIT, commands, environment, run
from toy_vectors import save_model, vectors_of

COMMANDS = [
    words
    for words, command in commands().items()
    if {"--model", "--line-buffered"} <= {option for p in command.params for option in p.opts}
]
each_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)

QUESTIONS = {
    ("analogy",): "the queen sees",
    ("embed", "neighbors"): "queen",
    ("embed", "similarity"): "king queen",
    ("embed", "odd-one-out"): "king the queen",
}
"""What is asked of models of words; language models are given a sentence. All answers name king."""

LINES = ["the king", "", "the \x0b\x1c\x85\u2028 queen", "a lone \r inside", "crlf\r", "  ", "né"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    corpus = "the king sees the queen\nthe queen sees the king\nthe king sleeps\n" * 3
    ended = run("ngram", "fit", "-o", "tiny", "--order", "2", home=home, stdin=corpus.encode())
    assert ended.returncode == 0, ended.stderr
    words = ["the", "king", "queen", "sees", "sleeps"]
    matrix = [[1, 0], [-1, 0.5], [1, 0.5], [0, 1], [0.5, 1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMKIT_HOME", str(home))
        save_model(vectors_of(words, matrix), home / "models" / "small", newest=True)
    yield home


def question_of(words: tuple[str, ...]) -> bytes:
    """Return a line that the command can answer, without its end."""
    return QUESTIONS.get(words, "the king").encode()


def model_of(words: tuple[str, ...]) -> tuple[str, str]:
    """Return the name and the family of the model that the command takes."""
    return ("small", "embed") if words in QUESTIONS else ("tiny", "ngram")


def test_questions_are_put_to_commands() -> None:
    assert set(QUESTIONS) <= set(COMMANDS)


def test_commands_are_found() -> None:
    assert ("score",) in COMMANDS


@each_command
@pytest.mark.parametrize("end", ["\n", ""])
def test_one_line_in_one_line_out(home: Path, words: tuple[str, ...], end: str) -> None:
    text = "\n".join(LINES) + end
    for options in ([], ["--json"]):
        ended = run(*words, *options, home=home, stdin=text.encode())
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.count("\n") == len(LINES)
        assert ended.stdout.endswith("\n")
        if options:
            assert all(isinstance(json.loads(line), dict) for line in ended.stdout.splitlines())


@each_command
def test_nothing_in_nothing_out(home: Path, words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with (tmp_path / "empty").open("rb") as empty:
        ended = subprocess.run(
            [*LMKIT, *words], stdin=empty, capture_output=True, env=environment(home), check=True
        )
    assert ended.stdout == b""


@each_command
def test_results_go_to_stdout_and_the_rest_to_stderr(home: Path, words: tuple[str, ...]) -> None:
    line, (name, family) = question_of(words) + b"\n", model_of(words)
    ended = run(*words, home=home, stdin=line)
    assert "king" in ended.stdout
    assert ended.stderr == f"lmkit: using {name}, the newest model: {family}\n"
    assert run(*words, "-q", home=home, stdin=line).stderr == ""


@each_command
def test_bad_text_is_named(home: Path, words: tuple[str, ...]) -> None:
    text = question_of(words) + b"\nthe \xff queen\n"
    ended = run(*words, "-m", model_of(words)[0], home=home, stdin=text)
    assert ended.returncode == 3
    assert ended.stderr.startswith("lmkit: error: <stdin>:2:5: not UTF-8 (byte 0xff). Try --errors")
    assert ended.stderr.count("\n") == 1
    ended = run(*words, "--errors", "replace", home=home, stdin=b"the \xff queen\n")
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 1)


@each_command
@pytest.mark.parametrize("num_lines", [1, 50_000])
def test_broken_pipe_is_silent_success(
    home: Path, words: tuple[str, ...], num_lines: int, tmp_path: Path
) -> None:
    (tmp_path / "text").write_bytes((question_of(words) + b"\n") * num_lines)
    script = '"$1" -m lmkit "${@:3}" -q < "$2" | head -n 1'
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script, "bash", LMKIT[0], tmp_path / "text", *words],
        capture_output=True,
        text=True,
        env=environment(home),
        check=False,
    )
    assert (ended.returncode, ended.stdout.count("\n"), ended.stderr) == (0, 1, "")


@each_command
def test_coprocess_is_answered_before_it_asks_again(home: Path, words: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [*LMKIT, *words, "-m", model_of(words)[0]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(home),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in (question_of(words) + b"\n", b"\n", b"the queen\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(30) == 0
