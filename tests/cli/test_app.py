"""The program itself: help, version, suggestions, two ways to start it."""

import sys
from pathlib import Path

from programs import run

from lmkit import __version__
from lmkit.cli import panels


def test_help_names_exit_codes_and_goes_to_stdout() -> None:
    ended = run("--help")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\x1b" not in ended.stdout
    assert "130 Ctrl-C, 143 SIGTERM" in " ".join(ended.stdout.split())
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert run("-h").stdout == ended.stdout


def test_no_arguments_show_the_help() -> None:
    ended = run()
    assert (ended.returncode, ended.stderr) == (2, "")
    assert ended.stdout.split() == run("--help").stdout.split()


def test_version() -> None:
    ended = run("--version")
    assert (ended.returncode, ended.stderr) == (0, "")
    python = sys.version.split()[0]
    assert ended.stdout.startswith(f"lmkit {__version__}, Python {python}, torch ")
    assert run("-V", LMKIT_VERSION="0").stdout == ended.stdout


def test_variables_do_not_trigger_the_version() -> None:
    assert __version__ not in run("--help", LMKIT_VERSION="1").stdout


def test_misspelt_command() -> None:
    ended = run("modls")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Did you mean 'models'?" in ended.stderr


def test_installed_program_is_the_module() -> None:
    program = Path(sys.executable).with_name("lmkit")
    if program.exists():
        assert run("--help", program=[str(program)]).stdout == run("--help").stdout


def test_panels_follow_the_history() -> None:
    help_text = run("--help").stdout
    places = [help_text.index(f"─ {panel[:40]}") for panel in panels.COMMANDS if panel in help_text]
    assert len(places) >= 2
    assert places == sorted(places)
