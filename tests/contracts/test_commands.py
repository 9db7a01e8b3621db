"""What holds for every command, whoever wrote it; new commands are found by themselves."""

import re
import shlex
from typing import Any

import pytest
from programs import commands, leaf_commands, run
from typer.testing import CliRunner

from lmkit.cli import panels
from lmkit.cli.app import app

COMMANDS = leaf_commands()
PANELS = {panels.DATA, panels.MODEL, panels.TRAINING, panels.SAMPLING, panels.RUN}
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
RUNNER = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "LMKIT_HOME": "/nonexistent"})


def params(words: tuple[str, ...]) -> list[Any]:
    return list(commands()[words].params)


def spelled(words: tuple[str, ...]) -> set[str]:
    return {option for param in params(words) for option in param.opts}


def test_commands_are_found() -> None:
    assert ("models", "list") in COMMANDS


@every_command
def test_help(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    result = RUNNER.invoke(app, [*words, "--help"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    lines = result.stdout.split("\n")
    assert max(map(len, lines)) <= 80
    assert "…" not in result.stdout, "a name or default is too long for the panel"
    examples = [line.strip() for line in lines if line.strip().startswith("$ ")]
    assert len(examples) == 2
    assert all(f"lmkit {' '.join(words)}" in example for example in examples)
    assert RUNNER.invoke(app, [*words, "-h"]).stdout == result.stdout


@every_command
def test_summary_is_one_sentence(words: tuple[str, ...]) -> None:
    summary = commands()[words].help.split("\n\n")[0].replace("\n", " ")
    assert re.fullmatch(r"[A-Z].*\.", summary), summary
    assert not re.search(r"[.!?] [A-Z]", summary), summary


@every_command
def test_examples_use_options_that_exist(words: tuple[str, ...]) -> None:
    for line in re.findall(r"\$ (.*)", commands()[words].epilog.replace(r"\[", "[")):
        inner = re.findall(r"\$\(([^)]*)\)", line)
        for part in [*re.split(r"\||&&", re.sub(r"\$\([^)]*\)", "X", line)), *inner]:
            tokens = shlex.split(part)
            if tokens[:1] != ["lmkit"]:
                continue
            command = next(c for c in COMMANDS if tuple(tokens[1 : 1 + len(c)]) == c)
            used = {token for token in tokens[1 + len(command) :] if re.match("--?[a-z]", token)}
            assert used <= spelled(command) | {"-h", "--help"}, part


@every_command
def test_options_stand_in_panels_and_have_help(words: tuple[str, ...]) -> None:
    for param in params(words):
        assert param.help, f"{param.name} has no help"
        if param.param_type_name == "option":
            assert param.rich_help_panel in PANELS, f"{param.name} is in no panel"


@every_command
def test_unknown_option_is_a_usage_error(words: tuple[str, ...]) -> None:
    result = RUNNER.invoke(app, [*words, "--no-such-option"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--no-such-option" in result.stderr


WITH_MODEL = [words for words in COMMANDS if "--model" in spelled(words)]
REQUIRED = {"--tune": __file__}


@pytest.mark.parametrize("words", WITH_MODEL or [None], ids=str)
def test_unknown_model_is_one_line_and_exit_3(words: tuple[str, ...] | None) -> None:
    if words is None:
        pytest.skip("no command takes a model yet")
    needed = [f"{option}={value}" for option, value in REQUIRED.items() if option in spelled(words)]
    models = [param for param in params(words) if "--model" in param.opts]
    named = ["-m", "no-such-model"] * (2 if models[0].multiple else 1)
    ended = run(*words, *named, *needed, stdin=b"a b c\n")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.startswith("lmkit: error: no model 'no-such-model'")
    assert ended.stderr.count("\n") == 1
