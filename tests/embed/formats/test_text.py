"""Text: what is a line, what is a word, and that numbers are exactly those of strtod."""

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import Heard, heard, table
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.embed.formats import read, sniff
from lmkit.embed.formats.sniffing import look_at
from lmkit.embed.formats.source import VectorSource
from lmkit.embed.formats.text import SMALL, read_text_file

PLAIN = b"2 3\nking 1 -2.5 3e-1\nqueen .5 +7. 0\n"
EXPECTED = {b"king": [1, -2.5, float(np.float32(0.3))], b"queen": [0.5, 7, 0]}


@pytest.fixture(params=["python", "compiled"], autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run every test with Python's parser and with the kernels."""
    size = SMALL if request.param == "python" else 0
    monkeypatch.setattr("lmkit.embed.formats.text.read_text_file.__kwdefaults__", {"small": size})
    return size


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b" \n"),
        PLAIN.replace(b"\n", b" \r\n"),
        PLAIN.replace(b" ", b"\t"),
        PLAIN.replace(b" ", b"  "),
        PLAIN.replace(b"\n", b"\n\n"),
        PLAIN.replace(b"\nqueen", b"\n \t\n  queen"),
        PLAIN[:-1],
        PLAIN + b"\n\n",
        PLAIN[4:],
        PLAIN[4:-1],
        b"\xef\xbb\xbf" + PLAIN,
        b" 2  3 \n" + PLAIN[4:],
    ],
)
def test_ways_to_write_the_same(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "v").write_bytes(text)
    vectors, warnings = heard(tmp_path / "v")
    assert table(vectors) == EXPECTED
    assert warnings == []


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(tmp_path: Path, pack: object) -> None:
    (tmp_path / "v").write_bytes(pack(PLAIN))  # type: ignore[operator]
    assert table(read(tmp_path / "v")) == EXPECTED
    assert sniff(tmp_path / "v") == "word2vec"


def test_words_may_hold_blanks(tmp_path: Path) -> None:
    words = [b"New York", b"a", b". . .", b"at name@domain.com", b"windows 95", b"5", b"1 000"]
    words += ["no\u00a0break\u2028line\x0bfeed\x85".encode(), b"two  blanks", b"a\rb"]
    lines = [b"%b %d.25 -0.5\n" % (word, i) for i, word in enumerate(words)]
    expected = {word: [i + 0.25, -0.5] for i, word in enumerate(words)}
    for header in (b"", b"%d 2\n" % len(words)):
        (tmp_path / "v").write_bytes(header + b"".join(lines))
        assert table(read(tmp_path / "v")) == expected


def test_a_word_that_is_a_number(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"0.5 1.5 2.5\n7 1.25 2.25\n")
    assert table(read(tmp_path / "v")) == {b"0.5": [1.5, 2.5], b"7": [1.25, 2.25]}


def test_bad_utf8_is_replaced_and_counted(tmp_path: Path) -> None:
    lines = [b"ok 1.5", b"caf\xe9 2.5", b"\xe6\x9d 3.5", "東京 4.5".encode(), b"x\x80y 5.5"]
    (tmp_path / "v").write_bytes(b"\n".join(lines))
    vectors, warnings = heard(tmp_path / "v")
    words = [word.decode() for word in vectors.words.words()]
    assert words == ["ok", "caf\ufffd", "\ufffd", "東京", "x\ufffdy"]
    assert warnings == [
        f"{tmp_path / 'v'}: 3 words were not UTF-8; U+FFFD stands for the bad bytes"
    ]
    assert vectors.index("caf\ufffd") == 1
    (tmp_path / "v").write_bytes(b"\xff 1.5\nok 2.5")
    assert "1 word was not UTF-8" in heard(tmp_path / "v")[1][0]


def test_of_repeated_words_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"5 1\na 1.5\nb 2.5\na 3.5\nc 4.5\na 5.5\n")
    vectors, warnings = heard(tmp_path / "v")
    assert table(vectors) == {b"a": [1.5], b"b": [2.5], b"c": [4.5]}
    assert vectors.norms.tolist() == [1.5, 2.5, 4.5]
    assert len(warnings) == 1 and "2 repeated words were left out" in warnings[0]


def test_limit_stops_reading(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"5 1\na 1.5\n\nb 2.5\nc no number\n")
    vectors, warnings = heard(tmp_path / "v", limit=2)
    assert table(vectors) == {b"a": [1.5], b"b": [2.5]}
    assert warnings == []


def test_many_blocks_and_long_lines(tmp_path: Path, small: int) -> None:
    rows = np.random.default_rng(1).normal(size=(50, 40)).astype(np.float32)
    words = [f"word{i}" * (i % 5 + 1) for i in range(50)]
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(words, rows, strict=True)]
    (tmp_path / "v").write_bytes("\n".join(lines).encode())
    with VectorSource(tmp_path / "v") as source:
        pieces = source.read_lines

        def read_small_blocks():  # type: ignore[no-untyped-def]
            return pieces(100)

        source.read_lines = read_small_blocks  # type: ignore[method-assign, assignment]
        vectors = read_text_file(source, look_at(source), None, Heard(), small=small)
    assert [word.decode() for word in vectors.words.words()] == words
    assert (vectors.matrix == rows).all()


def test_the_matrix_grows_where_the_size_is_not_known(tmp_path: Path) -> None:
    rows = np.arange(2000, dtype=np.float32).reshape(1000, 2) + 0.5
    text = "".join(f"w{i} {a} {b}\n" for i, (a, b) in enumerate(rows.tolist()))
    (tmp_path / "v").write_bytes(gzip.compress(b"3 2\n" + text.encode()))
    vectors, warnings = heard(tmp_path / "v")
    assert (vectors.matrix == rows).all() and len(warnings) == 1
    assert vectors.index("w999") == 999


DECIMALS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: str(np.float32(x))),
    st.floats(-10, 10).map("{:.6f}".format),
    st.decimals(-(10**6), 10**6, allow_nan=False, places=25).map("{:f}".format),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,25}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


def fits(text: str) -> bool:
    return abs(float(text)) < 3.4e38


@settings(max_examples=300)
@given(rows=st.lists(st.tuples(DECIMALS.filter(fits), DECIMALS.filter(fits)), min_size=1))
def test_numbers_are_those_of_strtod(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("numbers") / "v"
    lines = [f"w{i} {a} {b}" for i, (a, b) in enumerate(rows)]
    path.write_bytes(f"{len(rows)} 2\n".encode() + "\n".join(lines).encode())
    expected = np.array([[float(a), float(b)] for a, b in rows]).astype(np.float32)
    found = read(path).matrix
    assert (found.view(np.int32) == expected.view(np.int32)).all()


@pytest.mark.parametrize(
    "number",
    [
        "1.00000005960464477539062500000000000001",  # just above halfway between two float32
        "1.000000059604644775390625",
        "1.0000001788139343",
        "16777217", "16777219", "9007199254740993", "0.1e-44", "1e-45", "3.4028235e38",
        "1.17549435e-38", "0.000000000000000000000000000000000000000000001", "-0.0", "-0",
        "00000000000000000000000000000001.5", "0.30000000000000000000000000000000001e1", "1E5",
        "123456789012345678901234567890", "5e-324", "1e-400", "0e999",
    ],
)  # fmt: skip
def test_hard_numbers(tmp_path: Path, number: str) -> None:
    (tmp_path / "v").write_bytes(f"1 2\nw {number} {number}\n".encode())
    found = read(tmp_path / "v").matrix
    expected = np.array([[float(number)] * 2]).astype(np.float32)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"2 3\na 1 2 3\nb 1 2\n", "v:3: 2 numbers instead of 3"),
        (b"2 3\na 1 2 3\nb 1 2 3 4\n", "v:3: 4 numbers instead of 3"),
        (b"2 3\na 1.5 2.5 3.5\nb 1.5 2.5 3.5 4.5\n", "v:3: 4 numbers instead of 3"),
        (b"a 1.5 2.5 3.5\n\nb 1.5\nc 1.5 2.5 3.5\n", "v:3: 1 number instead of 3"),
        (b"2 8\na 1.5 2.5 3.5\nb 1.5 2.5 4.5\n", "v:2: 3 numbers instead of 8"),
        (b"2 2\na 1.5 2.5 3.5\nb 1.5 2.5 4.5\n", "v:2: 3 numbers instead of 2"),
        (b"2 2\na 1.5 2.5\nb 1.5 nan\n", "v:3: nan is not a finite number"),
        (b"a 1.5 2.5\nb -Inf 1.5\n", "v:2: -Inf is not a finite number"),
        (b"a 1.5 2.5\nb 1.5 infinity\n", "v:2: infinity is not a finite number"),
        (b"a 1.5 2.5\nb 1e39 1.5\n", "v:2: 1e39 is too large for float32"),
        (b"a 1.5 2.5\nb 1.5 1e999\n", "v:2: 1e999 is too large for float32"),
        (b"a 1.5 2.5\nb 1.5 1_0\n", "v:2: '1_0' is not a number"),
        (b"a 1.5 2.5\nb 1.5 1e\n", "v:2: '1e' is not a number"),
        (b"a 1.5 2.5\nb 1.5 \x0c2\n", "v:2: '\\x0c2' is not a number"),
        (b"a 1.5 2.5\nb 1,5 2,5\n", "v:2: '1,5' is not a number"),
        (b"a 1.5 2.5\nb 1.5 \xff\n", "v:2: '\ufffd' is not a number"),
        (b"a 1.5 2.5\n1.5 2.5\n", "v:2: 1 number instead of 2"),
        (b"a 1.5 2.5\nb\n", "v:2: 0 numbers instead of 2"),
        (b"3 2\na 1.5 2.5\nb 1.5 2.5\n", "v: 2 vectors, but its header promises 3"),
    ],
)
def test_bad_lines(tmp_path: Path, text: bytes, part: str) -> None:
    from lmkit.errors import TextError

    (tmp_path / "v").write_bytes(text)
    with pytest.raises(TextError) as error:
        read(tmp_path / "v")
    assert part in str(error.value)


def test_a_limit_reads_what_a_broken_download_has(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(b"3 2\na 1.5 2.5\nb 1.5 2.5\n")
    assert len(read(tmp_path / "v", limit=2)) == 2
