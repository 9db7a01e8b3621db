"""Files that are no vectors, and damage of every kind: one clear error, never anything else."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import binary, fasttext
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.embed.formats import kind_of_suffix, read, sniff
from lmkit.errors import TextError, UserError

ROWS = np.random.default_rng(11).normal(0, 0.3, size=(30, 4)).astype(np.float32)
WORDS = [f"w\u00f6rd{i}".encode() for i in range(30)]
LINES = b"".join(
    word + " {} {} {} {}\n".format(*row).encode() for word, row in zip(WORDS, ROWS, strict=True)
)
FILES = {
    "word2vec": b"30 4\n" + LINES,
    "glove": LINES,
    "binary": binary(WORDS, ROWS),
    "binary without newlines": binary(WORDS, ROWS, b""),
    "fasttext": fasttext(WORDS[:10], ROWS, buckets=20),
    "old fasttext": fasttext(WORDS[:10], ROWS, buckets=20, old=True),
    "gzip": gzip.compress(b"30 4\n" + LINES),
}


@pytest.mark.parametrize("name", FILES)
def test_the_files_are_sound_before_they_are_damaged(tmp_path: Path, name: str) -> None:
    (tmp_path / "v").write_bytes(FILES[name])
    assert len(read(tmp_path / "v")) in (10, 30)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"", "the file is empty"),
        (b"\n \r\n\n", "the file is empty"),
        (b"king", "not a file of word vectors"),
        (b"the king sees the queen\nthe queen sleeps\n", "not a file of word vectors"),
        (b"the 5000\nof 300\nking 12\n", "not a file of word vectors"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0", "not a file of word vectors"),
        (b"PK\x03\x04\x14\0\0\0", "not a file of word vectors"),
        (b"5 3\n", "no vectors, only the header '5 3'"),
        (b"5 3\n\n", "no vectors, only the header '5 3'"),
        (b"0 3\n", "no vectors, only the header '0 3'"),
        (b"5 0\na\nb\n", "no vectors, only the header '5 0'"),
        (b"5 3", "not a file of word vectors"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", "cut short in its header"),
        (b"\xba\x16\x4f\x2f", "cut short in its header"),
        (FILES["gzip"][:-9], "the gzip data is cut short"),
        (FILES["gzip"][:-8] + b"12345678", "the gzip data is corrupt"),
    ],
)
def test_no_vectors(tmp_path: Path, text: bytes, part: str) -> None:
    (tmp_path / "v").write_bytes(text)
    with pytest.raises(TextError) as error:
        read(tmp_path / "v")
    assert part in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'v'}:")


def test_missing_files_and_directories(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="no such file"):
        read(tmp_path / "none")
    with pytest.raises(TextError, match="a directory"):
        sniff(tmp_path)


def test_more_than_there_is_memory_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object, **__: object) -> np.ndarray:
        raise MemoryError

    monkeypatch.setattr("lmkit.embed.formats.table.np.empty", no_memory)
    (tmp_path / "v").write_bytes(FILES["word2vec"])
    with pytest.raises(UserError, match="30 vectors of 4 numbers take 0 MiB.*--limit N"):
        read(tmp_path / "v")


@settings(max_examples=300)
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_damage_is_an_error_or_goes_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    damaged = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        if data.draw(st.booleans()):
            damaged[place : place + 1] = data.draw(st.binary(max_size=3))
        else:
            del damaged[place : place + data.draw(st.integers(1, 200))]
    path = tmp_path_factory.mktemp("damaged") / "v"
    path.write_bytes(damaged)
    limit = data.draw(st.none() | st.integers(1, 20))
    try:
        vectors = read(path, limit=limit)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert len(vectors) == len(vectors.matrix) == len(vectors.norms) > 0
        assert np.isfinite(vectors.matrix).all()
        assert all(word.decode() is not None for word in vectors.words.words())
        assert limit is None or len(vectors) <= limit


@settings(max_examples=100)
@given(data=st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "v"
    path.write_bytes(data)
    try:
        assert len(read(path)) > 0
    except UserError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "word2vec"), ("a.vec", "word2vec"), ("a.bin", "binary"),
        ("a.txt.gz", "word2vec"), ("a.bin.xz", "binary"), ("a.vec.bz2", "word2vec"),
        ("a", None), ("a.gz", None), ("txt", None), ("a.csv", None),
    ],
)  # fmt: skip
def test_suffixes(name: str, kind: str | None) -> None:
    assert kind_of_suffix(name) == kind
