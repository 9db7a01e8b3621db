"""What a short command loads, counted in modules and not in seconds."""

import sys

import pytest
from programs import leaf_commands, run

HEAVY = {"numpy", "numba", "torch", "sentencepiece", "safetensors", "scipy", "pandas"}
PROGRAM = """
import sys
from lmkit.cli.app import main
sys.argv[0] = "lmkit"
try:
    main()
finally:
    print("LOADED", *sorted(set(name.split(".")[0] for name in sys.modules)), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    ended = run(*arguments, program=[sys.executable, "-c", PROGRAM])
    line = next(line for line in ended.stderr.splitlines() if line.startswith("LOADED "))
    return set(line.split()[1:])


def test_the_measure_measures() -> None:
    assert {"typer", "lmkit", "sys"} <= loaded("--help")


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_bare_program_loads_nothing_heavy(words: list[str]) -> None:
    assert not loaded(*words) & (HEAVY | {"pydantic"})


@pytest.mark.parametrize(
    "words", [["nosuch"], ["models", "--help"], ["models", "list", "--nosuch"]]
)
def test_groups_and_usage_errors_load_nothing_heavy(words: list[str]) -> None:
    assert not loaded(*words) & HEAVY


@pytest.mark.parametrize("words", leaf_commands(), ids=" ".join)
def test_help_of_a_command_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not loaded(*words, "--help") & HEAVY


@pytest.mark.parametrize(
    "words", [("models", "list"), ("models", "path", "none"), ("models", "show", "none")]
)
def test_looking_up_models_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    assert not loaded(*words) & HEAVY


def test_completion_loads_nothing_heavy() -> None:
    ended = run(
        program=[sys.executable, "-X", "importtime", "-m", "lmkit"],
        _LMKIT_COMPLETE="complete_bash",
        COMP_WORDS="lmkit models show ",
        COMP_CWORD="3",
    )
    names = {line.split("|")[-1].strip().split(".")[0] for line in ended.stderr.splitlines()}
    assert "typer" in names
    assert not names & HEAVY
