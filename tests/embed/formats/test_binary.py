"""word2vec's .bin: newlines or none, words with blanks, and files that are not whole."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import binary, heard

from lmkit.embed.formats import read, sniff
from lmkit.errors import TextError

RNG = np.random.default_rng(7)


def rows(count: int, size: int) -> np.ndarray:
    return RNG.normal(0, 0.3, size=(count, size)).astype(np.float32)


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_with_and_without_newlines(tmp_path: Path, end: bytes, size: int) -> None:
    words = [f"w\u00f6rd{i}".encode() for i in range(700)]
    matrix = rows(700, size)
    matrix.view(np.uint8)[3::5, 0] = 10  # newlines inside of vectors mean nothing
    (tmp_path / "v").write_bytes(binary(words, matrix, end))
    vectors, warnings = heard(tmp_path / "v")
    assert sniff(tmp_path / "v") == "binary"
    assert vectors.words.words() == words and warnings == []
    assert (vectors.matrix == matrix).all()


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("spaced", ["some", "all", "first", "last"])
@pytest.mark.parametrize("size", [4, 50])
def test_words_with_blanks(tmp_path: Path, end: bytes, spaced: str, size: int) -> None:
    number = 600
    chosen = {"some": range(0, number, 7), "all": range(number), "first": [0], "last": [599]}
    words = [f"w{i}".encode() for i in range(number)]
    for i in chosen[spaced]:
        words[i] = [b"New York %d", b"ab cde%d", b"a b c %d", b"x %d"][i % 4] % i
    matrix = rows(number, size)
    (tmp_path / "v").write_bytes(binary(words, matrix, end))
    vectors = read(tmp_path / "v")
    assert vectors.words.words() == words
    assert (vectors.matrix == matrix).all()


def test_numbers_of_any_size_are_taken(tmp_path: Path) -> None:
    matrix = np.array([[1e-30, 1e30], [0, -0.0], [1e-44, 3e38], [5, 6]] * 200, dtype=np.float32)
    words = [b"w%d" % i for i in range(len(matrix))]
    for end in (b"\n", b""):
        (tmp_path / "v").write_bytes(binary(words, matrix, end))
        assert read(tmp_path / "v").matrix.tobytes() == matrix.tobytes()


def test_the_last_newline_may_be_missing_and_more_may_follow(tmp_path: Path) -> None:
    matrix = rows(3, 4)
    data = binary([b"a", b"b", b"c"], matrix)
    for text in (data, data[:-1], data + b"\n", data + b"\r\n\n", data.replace(b"\n", b" \n", 1)):
        (tmp_path / "v").write_bytes(text)
        vectors, warnings = heard(tmp_path / "v")
        assert (vectors.matrix == matrix).all() and warnings == []


def test_one_word(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(binary([b"only"], rows(1, 3), b""))
    assert read(tmp_path / "v").words.words() == [b"only"]


def test_compressed_and_limited(tmp_path: Path) -> None:
    matrix = rows(1000, 8)
    words = [b"w%d" % i for i in range(1000)]
    (tmp_path / "v").write_bytes(gzip.compress(binary(words, matrix)))
    assert (read(tmp_path / "v").matrix == matrix).all()
    vectors, warnings = heard(tmp_path / "v", limit=300)
    assert vectors.words.words() == words[:300] and warnings == []


def test_a_header_that_says_less_is_warned_of(tmp_path: Path) -> None:
    data = binary([b"a", b"b", b"c"], rows(3, 4)).replace(b"3 4", b"2 4")
    (tmp_path / "v").write_bytes(data)
    vectors, warnings = heard(tmp_path / "v")
    assert len(vectors) == 3
    assert warnings == [f"{tmp_path / 'v'}: 3 vectors, though its header says 2; all were read"]
    (tmp_path / "v").write_bytes(data + b"more")
    vectors, warnings = heard(tmp_path / "v")
    assert len(vectors) == 3 and len(warnings) == 2
    assert "behind all that the header promises" in warnings[0]


def test_bad_utf8_and_repeated_words(tmp_path: Path) -> None:
    words = [b"ok", b"\xc5", b"ok", "é".encode()]
    matrix = rows(4, 3)
    (tmp_path / "v").write_bytes(binary(words, matrix))
    vectors, warnings = heard(tmp_path / "v")
    assert [word.decode() for word in vectors.words.words()] == ["ok", "\ufffd", "é"]
    assert (vectors.matrix == matrix[[0, 1, 3]]).all()
    assert len(warnings) == 2 and "1 word was" in warnings[0] and "1 repeated" in warnings[1]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_cut_short_anywhere(tmp_path: Path, end: bytes) -> None:
    words = [b"w%d" % i for i in range(5)]
    matrix = rows(5, 6)
    data = binary(words, matrix, end)
    record = 3 + 24 + len(end)
    for size in range(4 + record, len(data) - len(end)):
        (tmp_path / "v").write_bytes(data[:size])
        whole = (size - 4 + len(end)) // record
        with pytest.raises(TextError, match=f"word {whole + 1} of 5.*--limit {whole} ") as error:
            read(tmp_path / "v")
        assert "cut short" in str(error.value)
        assert (read(tmp_path / "v", limit=whole).matrix == matrix[:whole]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_not_finite(tmp_path: Path, bad: float, end: bytes) -> None:
    matrix = rows(700, 4)
    matrix[600, 2] = bad
    words = [b"w%d" % i for i in range(700)]
    (tmp_path / "v").write_bytes(binary(words, matrix, end))
    with pytest.raises(TextError) as error:
        read(tmp_path / "v")
    assert str(error.value) == f"{tmp_path / 'v'}: the vector of word 601 ('w600') is not finite."


def test_a_header_that_promises_the_moon(tmp_path: Path) -> None:
    data = binary([b"a", b"b"], rows(2, 4)).replace(b"2 4", b"999999999999 4")
    (tmp_path / "v").write_bytes(data)
    with pytest.raises(TextError, match="word 3 of 999,999,999,999"):
        read(tmp_path / "v")
    (tmp_path / "v").write_bytes(gzip.compress(data))
    with pytest.raises(TextError, match="word 3 of 999,999,999,999"):
        read(tmp_path / "v")
    (tmp_path / "v").write_bytes(b"2 99999999999\na \x00\x01\x02")
    with pytest.raises(TextError, match="a header of 99,999,999,999 numbers"):
        read(tmp_path / "v")
