"""What is written comes back the same, in every format; what a format cannot hold is refused."""

import sys
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import Heard, heard, table
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.embed.formats import read, sniff, write
from lmkit.embed.formats.writing import SMALL
from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import ListedWords, Vectors
from lmkit.errors import UserError

NAMES = ["v.txt", "v.vec", "v.bin", "v.txt.gz", "v.bin.gz", "v.vec.bz2", "v.txt.xz"]
KINDS = ["word2vec", "glove", "binary"]


@pytest.fixture(params=["python", "compiled"])
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a test with Python's writer and with the kernels."""
    if request.param == "python":
        monkeypatch.delitem(sys.modules, "lmkit.embed.formats.kernels", raising=False)
        return SMALL
    return -1


def of(words: list[bytes], matrix: np.ndarray) -> Vectors:
    return Vectors.of(ListedWords(words), matrix)


@pytest.mark.parametrize("name", NAMES)
def test_the_suffix_says_how(tmp_path: Path, name: str) -> None:
    vectors = Vectors.of(["king", "東京"], np.array([[1, 0.1], [-2, 3e-7]], dtype=np.float32))
    write(tmp_path / name, vectors)
    assert table(read(tmp_path / name)) == table(vectors)
    assert sniff(tmp_path / name) == ("binary" if ".bin" in name else "word2vec")


def test_bytes_of_each_kind(tmp_path: Path, small: int) -> None:
    vectors = Vectors.of(["a", "b"], np.array([[1, 0.1], [-2.5, 1e-5]], dtype=np.float32))
    written = {}
    for kind in KINDS:
        write(tmp_path / kind, vectors, kind, small=small)
        written[kind] = (tmp_path / kind).read_bytes()
    rows = vectors.matrix.astype("<f4")
    assert written == {
        "word2vec": b"2 2\na 1.0 0.1\nb -2.5 1e-05\n",
        "glove": b"a 1.0 0.1\nb -2.5 1e-05\n",
        "binary": b"2 2\na %b\nb %b\n" % (rows[0].tobytes(), rows[1].tobytes()),
    }


WORD = st.text(min_size=1, max_size=8).filter(lambda word: not set(word) & set(" \t\r\n\0"))
FLOAT = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("number", [1e30, -1e-7, 3.0])
def test_one_number_a_word(tmp_path: Path, number: float, small: int) -> None:
    vectors = of([b"0"], np.array([[number]], dtype=np.float32))
    write(tmp_path / "v", vectors, "glove", small=small)
    assert table(read(tmp_path / "v")) == table(vectors)


@settings(max_examples=200)
@given(
    words=st.lists(WORD, min_size=1, max_size=6, unique=True),
    size=st.integers(1, 5),
    kind=st.sampled_from(KINDS),
    compiled=st.booleans(),
    data=st.data(),
)
def test_reading_is_the_inverse_of_writing(
    tmp_path_factory: pytest.TempPathFactory,
    words: list[str],
    size: int,
    kind: str,
    compiled: bool,
    data: st.DataObject,
) -> None:
    row = st.lists(FLOAT, min_size=size, max_size=size)
    rows = data.draw(st.lists(row, min_size=len(words), max_size=len(words)))
    matrix = np.array(rows, dtype=np.float32)
    path = tmp_path_factory.mktemp("written") / "v"
    if kind == "glove" and words[0].startswith("\ufeff"):
        words[0] = "word" + words[0]
    write(
        path, of([word.encode() for word in words], matrix), kind, small=-1 if compiled else SMALL
    )
    vectors, warnings = heard(path)
    assert [word.decode() for word in vectors.words.words()] == words
    assert vectors.matrix.tobytes() == matrix.tobytes()
    assert warnings == [] and sniff(path) == kind


def test_the_kernel_spells_numbers_as_python_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    values = [
        rng.normal(0, 0.3, 20_000),
        10.0 ** rng.uniform(-12, 20, 20_000) * rng.choice([-1, 1], 20_000),
        rng.integers(-(10**6), 10**6, 20_000) / 10.0 ** rng.integers(0, 7, 20_000),
        [10.0**k for k in range(-30, 30)], [2.0**k for k in range(-149, 128)],
        [0.0, -0.0, 9.999999e-5, 1e-4, 99999.99, 1e16, 9.999999e15, 16777216, 33554432, 3.4e38],
    ]  # fmt: skip
    numbers = np.concatenate(values).astype(np.float32)
    matrix = np.resize(numbers, (len(numbers) // 10 + 1, 10))
    words = [b"w%d" % i for i in range(len(matrix))]
    write(tmp_path / "v", of(words, matrix), "glove", small=-1)
    lines = (tmp_path / "v").read_bytes().decode().removesuffix("\n").split("\n")
    found = [field for line in lines for field in line.split(" ")[1:]]
    expected = (np.format_float_scientific(number) for number in matrix.reshape(-1))
    assert found == [repr(float(digits)) for digits in expected]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", ["New York", "", "a\tb", "a\nb", "a\rb", "a\0b", " ", "x "])
def test_words_that_do_not_fit(tmp_path: Path, kind: str, word: str) -> None:
    vectors = Vectors.of(["a_b", word, "New_York"], np.eye(3, 2, dtype=np.float32))
    with pytest.raises(UserError) as error:
        write(tmp_path / "v", vectors, kind)
    assert "1 of 3 words are empty or hold blanks" in str(error.value)
    assert repr(word) in str(error.value) and "--escape" in str(error.value)
    assert list(tmp_path.iterdir()) == []
    listener = Heard()
    write(tmp_path / "v", vectors, kind, escape=True, listener=listener)
    escaped = {"New York": "New_York_", "": "_", " ": "_", "x ": "x_"}.get(word, "a_b_")
    assert read(tmp_path / "v").words.words() == [b"a_b", escaped.encode(), b"New_York"]
    assert len(listener.warnings) == 1 and f"is '{escaped}'" in listener.warnings[0]


def test_a_byte_order_mark_cannot_begin_a_file_without_header(tmp_path: Path) -> None:
    vectors = Vectors.of(["\ufeffa", "b"], np.eye(2, dtype=np.float32))
    with pytest.raises(UserError, match="1 of 2 words"):
        write(tmp_path / "v", vectors, "glove")
    write(tmp_path / "v", vectors, "word2vec")
    assert read(tmp_path / "v").words.words() == vectors.words.words()
    write(tmp_path / "v", vectors, "glove", escape=True, force=True)
    assert read(tmp_path / "v").words.words() == ["_\ufeffa".encode(), b"b"]


def test_what_exists_stays_unless_forced(tmp_path: Path) -> None:
    vectors = Vectors.of(["a"], np.eye(1, dtype=np.float32))
    (tmp_path / "v.txt").write_bytes(b"mine")
    with pytest.raises(UserError, match="exists"):
        write(tmp_path / "v.txt", vectors)
    assert (tmp_path / "v.txt").read_bytes() == b"mine"
    write(tmp_path / "v.txt", vectors, force=True)
    assert (tmp_path / "v.txt").read_bytes() == b"1 1\na 1.0\n"


def test_formats_that_are_not_written(tmp_path: Path) -> None:
    vectors = Vectors.of(["a"], np.eye(1, dtype=np.float32))
    with pytest.raises(UserError, match="the suffix names no format"):
        write(tmp_path / "v.csv", vectors)
    with pytest.raises(UserError, match="no format 'fasttext' is written"):
        write(tmp_path / "v.bin", vectors, "fasttext")
    assert list(tmp_path.iterdir()) == []


def test_subwords_are_said_to_be_lost(tmp_path: Path) -> None:
    vectors = Vectors.of(["a"], np.eye(1, dtype=np.float32))
    vectors.subwords = Subwords(3, 6, 10, np.ones((10, 1), dtype=np.float32))
    listener = Heard()
    write(tmp_path / "v.bin", vectors, listener=listener)
    assert len(listener.warnings) == 1 and "keeps no subwords" in listener.warnings[0]


def test_many_rows_go_through_many_blocks(tmp_path: Path, small: int) -> None:
    matrix = np.random.default_rng(2).normal(size=(900, 300)).astype(np.float32)
    matrix[234, 7] = 1e-40
    words = [b"w%d" % i for i in range(900)]
    for kind in KINDS:
        write(tmp_path / kind, of(words, matrix), kind, small=max(small, 0) * 1000)
        vectors = read(tmp_path / kind)
        assert vectors.words.words() == words
        assert vectors.matrix.tobytes() == matrix.tobytes()
