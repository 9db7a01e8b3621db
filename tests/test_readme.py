"""The pages for people are true: their commands run and print what the page shows.

In a block ``console`` a line ``$ command`` is run by bash, in an empty folder and with an empty
home that all blocks of a page share; the lines below it are its standard output, in which a line
``...`` stands for any lines and numbers may differ in the eighth digit. Then the ``python`` blocks
are run; their ``print`` lines say in a comment what they print. A block behind a comment
``<!-- help: lmkit ... -->`` is the help of that command; ``pytest --update-golden`` writes it.
"""

import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from programs import environment, run

from lmkit.cli import shell

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HELP = re.compile(r"(<!-- help: lmkit(.*?) -->\n```text\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
RUNNING = [page for page in PAGES if CONSOLE.search(page.read_text("utf-8"))]
LINK = re.compile(r"\]\(([^)#]+)")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
ACTIVATION = ["python3 -m venv .venv", ". .venv/bin/activate"]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands in the console blocks of a page, each with the output shown."""
    for block in CONSOLE.findall(text):
        assert block.startswith("$ "), block
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def python_of(text: str) -> tuple[str, str]:
    """Return the Python code of a page as a command, and what its comments say it prints."""
    code = "".join(PYTHON.findall(text))
    printed = "".join(f"{line}\n" for line in PRINTED.findall(code))
    return f"\"{sys.executable}\" - <<'END'\n{code}END", printed


def same_line(shown: str, printed: str) -> bool:
    """Tell whether two lines agree, numbers up to rounding."""
    if NUMBER.sub("0", shown) != NUMBER.sub("0", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    values = ([float(number.replace(",", "")) for number in pair] for pair in pairs)
    return all(math.isclose(a, b, rel_tol=1e-7) for a, b in values)


def same_output(shown: list[str], printed: list[str]) -> bool:
    """Tell whether the lines agree; ``...`` among those shown stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(same_output(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0]) and same_output(shown[1:], printed[1:])


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n1.00000000", "a\n1.00000001", True),
        ("a\n1.00000000", "a\n1.00001", False),
        ("a\n2 b", "a\n2 c", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...\nz", "a\nb", False),
        ("...", "", True),
        ("a", "a\nb", False),
        ("", "a", False),
    ],
)
def test_outputs_are_compared(shown: str, printed: str, same: bool) -> None:
    assert same_output(shown.splitlines(), printed.splitlines()) == same


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if CONSOLE.search(page.read_text("utf-8"))],
    ids=lambda p: p.name,
)
def test_commands_run_and_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    expected = [*commands_of(text), python_of(text)]
    folder, outputs = tmp_path / "folder", tmp_path / "outputs"
    folder.mkdir()
    outputs.mkdir()
    lines = [f'lmkit() {{ "{sys.executable}" -m lmkit "$@"; }}']
    for number, (command, _) in enumerate(expected):
        lines.append(f"{{ {command}\n}} > '{outputs}/{number}' || exit {100 + number}")
    ended = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(tmp_path / "home"),
        check=False,
    )
    for number, (command, output) in enumerate(expected):
        assert ended.returncode != 100 + number, f"{command}\n{ended.stderr.decode('utf-8')}"
        printed = (outputs / str(number)).read_text("utf-8")
        assert same_output(output.splitlines(), printed.splitlines()), f"{command}\n{printed}"
    assert ended.returncode == 0
    assert b"lmkit: error" not in ended.stderr and b"Traceback" not in ended.stderr


@each_page
def test_help_is_that_of_the_program(page: Path, golden: Callable[[Path, str], None]) -> None:
    def renew(block: re.Match[str]) -> str:
        shown = run(*block[2].split(), "--help")
        assert shown.returncode == 0, shown.stderr
        lines = [line.rstrip() for line in shown.stdout.strip("\n").split("\n")]
        return block[1] + "\n".join(lines).strip("\n") + "\n" + block[4]

    golden(page, HELP.sub(renew, page.read_text("utf-8")))


def test_the_help_of_lmkit_is_shown() -> None:
    assert len(HELP.findall(README.read_text("utf-8"))) >= 1


def test_set_up_is_two_commands_that_the_checks_run_too() -> None:
    first, *_ = SHELL.findall(README.read_text("utf-8"))
    install, test = first.splitlines()
    steps = install.split(" && ")
    assert steps[:2] == ACTIVATION
    checks = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert [line for line in checks if line in (*steps, test)] == [*steps[2:], test]


def test_exit_codes_are_those_of_the_program() -> None:
    listed = re.findall(r"^\| (\d+) \|", README.read_text("utf-8"), re.MULTILINE)
    assert listed == re.findall(r"\d+", shell.EXIT_CODES)


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        assert "://" in target or (page.parent / target).exists(), target
