"""The writer of lines: whole files or none, and standard output that can be piped."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.errors import UserError
from lmkit.text.lines import LineWriter, read_lines

CHARACTERS = st.characters(exclude_characters="\0\n\r", exclude_categories=["Cs"])
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
}


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=60)


@pytest.mark.parametrize("suffix", ["txt", "gz", "bz2", "xz"])
@settings(max_examples=20)
@given(lines=st.lists(st.text(CHARACTERS, max_size=9)))
def test_what_is_written_is_read(suffix: str, lines: list[str]) -> None:
    lines = [line.removeprefix("\ufeff") for line in lines]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"out.{suffix}")
        with LineWriter(path) as out:
            for line in lines:
                out.write(line)
            out.write_lines(lines)
        assert list(read_lines([path])) == lines * 2
        assert os.listdir(directory) == [path.name]


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old\n")
    with pytest.raises(UserError, match="exists.*--force"):
        LineWriter(path)
    with LineWriter(path, force=True) as out:
        out.write("new")
        assert path.read_text() == "old\n"
    assert path.read_text() == "new\n"


def test_an_exception_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), LineWriter(tmp_path / "out.gz") as out:
        out.write("half")
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with pytest.raises(UserError, match="exists"), LineWriter(path) as out:
        out.write("mine")
        path.write_text("theirs\n")
    assert path.read_text() == "theirs\n"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_symbolic_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with LineWriter(tmp_path / "link", force=True) as out:
        out.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new\n"


def test_compressed_bytes_repeat(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with LineWriter(tmp_path / name) as out:
            out.write("same")
        time.sleep(0.01)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"), LineWriter(tmp_path / "no" / "x"):
        pass
    with pytest.raises(UserError, match="is a directory"):
        LineWriter(tmp_path)
    with pytest.raises(UserError, match="No space left"), LineWriter("/dev/full") as out:
        out.write_bytes(bytes(100_000))
    with LineWriter("/dev/null") as out:
        out.write("x")


def test_standard_output() -> None:
    code = (
        "from lmkit.text.lines import LineWriter\n"
        "with LineWriter(None) as out:\n"
        "    out.write('ünï')\n    out.write_lines([])\n    out.write_lines(['a', ''])\n"
    )
    result = run_python(code)
    assert result.stdout == "ünï\na\n\n".encode()
    full = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -c "$0" > /dev/full', code],
        capture_output=True, env=ENVIRONMENT, timeout=60,
    )  # fmt: skip
    assert b"UserError" in full.stderr and b"No space left" in full.stderr


def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys\n"
        "from lmkit.text.lines import LineWriter\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "with LineWriter(sys.argv[1]) as out:\n"
        "    out.write('x' * 100_000)\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    result = run_python(code, str(tmp_path / "out.txt"))
    assert b"out.txt: cannot write: File too large" in result.stderr
    assert os.listdir(tmp_path) == []
