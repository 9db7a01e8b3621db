"""House rules that ruff and mypy do not know: sizes, one reader of text, no traces of a machine."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "lmkit").rglob("*.py"))
EVERYTHING = [
    path
    for path in sorted(ROOT.rglob("*"))
    if path.suffix in {".py", ".md", ".toml", ".txt"} or path.parent.name == ".ci"
    if not any(part.startswith(".") and part != ".ci" for part in path.relative_to(ROOT).parts)
]
FUNCTION_LINES = 60
KERNEL_LINES = 125
"""A kernel is one loop over its input; what that holds in registers is slow to pass around."""
FORBIDDEN_NAMES = {"utils.py", "helpers.py", "common.py", "base.py", "misc.py"}

every_source = pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _docstring_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    return (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) else 0


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls in a file with the last part of the name that is called."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.func.id if isinstance(node.func, ast.Name) else node.func.attr, node


def opens_text(call: ast.Call) -> bool:
    """Tell whether ``open(path, mode)`` or ``path.open(mode)`` opens a file as text."""
    place = 1 if isinstance(call.func, ast.Name) else 0
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    modes += call.args[place : place + 1]
    if not modes:
        return place == 1 or not (call.args or call.keywords)
    mode = modes[0].value if isinstance(modes[0], ast.Constant) else None
    return isinstance(mode, str) and "b" not in mode


@every_source
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text("utf-8").split("\n")) <= 401


@every_source
def test_functions_are_short(path: Path) -> None:
    for function in functions(path):
        assert function.end_lineno is not None
        length = function.end_lineno - function.lineno + 1 - _docstring_lines(function)
        cap = KERNEL_LINES if path.name == "kernels.py" else FUNCTION_LINES
        assert length <= cap, f"{function.name} has {length} lines"


@every_source
def test_names(path: Path) -> None:
    assert path.name not in FORBIDDEN_NAMES


@every_source
def test_text_is_read_in_one_room(path: Path) -> None:
    if path.is_relative_to(ROOT / "lmkit" / "text"):
        return
    for name, call in calls(path):
        where = f"{path}:{call.lineno}"
        assert name != "splitlines", f"{where}: splits at more than \\n"
        assert name not in ("read_text", "write_text"), f"{where}: splits at \\r too"
        assert name != "open" or not opens_text(call), f"{where}: opens text"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("open(p)", True),
        ("open(p, 'r', encoding='utf-8')", True),
        ("open(p, mode='rt')", True),
        ("open(p, 'rb')", False),
        ("p.open()", True),
        ("p.open('w')", True),
        ("p.open('xb', buffering=0)", False),
        ("Model.open(artifact, open_model)", False),
    ],
)
def test_opening_text_is_recognised(code: str, text: bool) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    assert opens_text(call) == text


def test_test_trees_mirror_the_rooms() -> None:
    rooms = {path.name for path in (ROOT / "lmkit").iterdir() if path.is_dir()}
    allowed = rooms | {"contracts", "golden", "history", "properties", "__pycache__"}
    assert {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} <= allowed


MACHINE = re.compile(
    r"/(?:home|root|work|mnt)/\w|/tmp/\w|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"
)


@pytest.mark.parametrize("path", EVERYTHING, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_machine_is_named(path: Path) -> None:
    if path == Path(__file__):
        return
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        assert not MACHINE.search(line), f"{path}:{number}: {line.strip()}"
