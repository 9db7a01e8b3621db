"""lmkit embed convert as a program: spellings, streams and endings."""

import gzip
import sys
from pathlib import Path

import pytest
from programs import run

TEXT = b"2 3\nking 1.0 0.1 -3.0\nqueen 0.5 2.0 1e-05\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "v.txt").write_bytes(TEXT)
    return tmp_path


def convert(folder: Path, *arguments: str, code: int = 0, stdin: bytes = b"") -> tuple[str, str]:
    ended = run("embed", "convert", *arguments, home=folder / "home", cwd=folder, stdin=stdin)
    assert ended.returncode == code, ended.stderr
    return ended.stdout, ended.stderr


def test_there_and_back(folder: Path) -> None:
    out, err = convert(folder, "v.txt", "words")
    assert out == "" and err == f"lmkit: wrote {folder / 'home' / 'models' / 'words'}\n"
    assert (folder / "home" / "models" / "last-embed").resolve().name == "words"
    assert convert(folder, "words", "back.txt.gz") == ("", "lmkit: wrote back.txt.gz\n")
    assert gzip.decompress((folder / "back.txt.gz").read_bytes()) == TEXT
    assert convert(folder, "back.txt.gz", "./again", "-q") == ("", "")
    assert (folder / "again/card.json").exists()


def test_standard_input_and_output(folder: Path) -> None:
    assert convert(folder, "-", "-", stdin=TEXT) == (TEXT.decode(), "")
    out, _ = convert(folder, "-", "-", "--format", "glove", stdin=gzip.compress(TEXT))
    assert out == TEXT[4:].decode()
    out, _ = convert(folder, "v.txt", "-", "--limit", "1")
    assert out == "1 3\nking 1.0 0.1 -3.0\n"


def test_half_precision(folder: Path) -> None:
    convert(folder, "v.txt", "half", "--dtype", "float16")
    out, _ = convert(folder, "half", "-", "--limit", "1", "-q")
    assert out == "1 3\nking 1.0 0.099975586 -3.0\n"


def test_warnings_are_shown_even_when_quiet(folder: Path) -> None:
    (folder / "odd.txt").write_bytes(b"2 1\na 1.5\na 2.5\nb\xff 3.5\n")
    _, err = convert(folder, "odd.txt", "./odd", "-q")
    lines = err.split("\n")
    assert len(lines) == 4 and all(
        line.startswith("lmkit: warning: odd.txt: ") for line in lines[:3]
    )
    assert "3 vectors, though its header says 2" in lines[0]
    assert "1 word was not UTF-8" in lines[1] and "1 repeated word" in lines[2]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["v.txt"], 2, "OUT"),
        (["v.txt", "out", "--format", "csv"], 2, "--format"),
        (["v.txt", "out", "--dtype", "int8"], 2, "--dtype"),
        (["v.txt", "out", "--limit", "0"], 2, "--limit"),
        (["v.txt", "out.bin", "--dtype", "float16"], 3, "--dtype is for models"),
        (["none.bin", "out"], 3, "none.bin: no such file"),
        (["none", "out"], 3, "no model 'none'"),
        (["v.txt", "v.txt"], 3, "v.txt exists. Choose another name, or --force"),
        (["bad.txt", "out"], 3, "bad.txt:2: 2 numbers instead of 3"),
        (["empty", "out"], 3, "empty: the file is empty"),
    ],
)
def test_endings(folder: Path, arguments: list[str], code: int, part: str) -> None:
    (folder / "bad.txt").write_bytes(b"a 1.5 2.5 3.5\nb 1.5 2.5\nc 1.5 2.5 3.5\n")
    (folder / "empty").touch()
    out, err = convert(folder, *arguments, code=code)
    assert out == "" and part in err
    if code == 3:
        assert err.startswith("lmkit: error: ") and err.count("\n") == 1
    assert not (folder / "home").exists() and not (folder / "out.bin").exists()


def test_a_short_conversion_loads_neither_numba_nor_torch(folder: Path) -> None:
    program = (
        "import sys; sys.argv[1:] = ['embed', 'convert', 'v.txt', 'v.bin', '-q']\n"
        "from lmkit.cli.app import main\n"
        "try: main()\n"
        "finally: print(*{'numba', 'torch', 'numpy'} & set(sys.modules), file=sys.stderr)"
    )
    ended = run(program=[sys.executable, "-c", program], cwd=folder)
    assert ended.stderr == "numpy\n"
