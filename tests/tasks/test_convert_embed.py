"""Vectors files to models and back: nothing is lost but what a format cannot hold."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import Heard, fasttext, table

from lmkit.embed.formats import read, sniff, write
from lmkit.embed.model import save_vectors
from lmkit.embed.vectors import Vectors, row_norms
from lmkit.errors import ModelError, TextError, UserError
from lmkit.store.artifact import ArtifactWriter, open_artifact
from lmkit.tasks.convert_embed import ConvertEmbedConfig, convert_embed
from lmkit.tasks.open_vectors import open_vectors
from lmkit.text.encoding import Normalizer

WORDS = ["king", "queen", "naïve", "東京"]
MATRIX = np.array([[1, 0.1, -3], [0.5, 2, 1e-5], [7, 8, 9], [0, 0, 0.25]], dtype=np.float32)
DEFAULTS = ConvertEmbedConfig()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write(tmp_path / "given.txt", Vectors.of(WORDS, MATRIX))
    return tmp_path / "given.txt"


def convert(source: Path | str, target: Path | str, **settings: object) -> tuple[Path, Heard]:
    listener = Heard()
    config = replace(DEFAULTS, **settings)  # type: ignore[arg-type]
    return convert_embed(str(source), str(target), config, listener=listener), listener


@pytest.mark.parametrize("name", ["out.txt", "out.vec", "out.bin", "out.txt.gz", "out.bin.gz"])
def test_file_to_model_to_file(tmp_path: Path, home: Path, file: Path, name: str) -> None:
    path, heard = convert(file, "words")
    assert path == home / "models" / "words" and heard.warnings == []
    vectors = open_vectors("words")
    assert table(vectors) == table(read(file))
    assert (vectors.norms == row_norms(MATRIX)).all()
    path, heard = convert("words", tmp_path / name)
    assert path == tmp_path / name and heard.warnings == []
    assert table(read(path)) == table(read(file))


def test_file_to_file_and_limit(tmp_path: Path, file: Path) -> None:
    convert(file, tmp_path / "out.bin", limit=2)
    assert read(tmp_path / "out.bin").words.words() == [b"king", b"queen"]
    convert(file, tmp_path / "limited.model", limit=3)
    assert len(open_vectors(str(tmp_path / "limited.model"))) == 3
    convert(tmp_path / "limited.model", tmp_path / "out.txt", limit=1)
    assert read(tmp_path / "out.txt").words.words() == [b"king"]


def test_a_format_by_name(tmp_path: Path, file: Path) -> None:
    for kind in ("word2vec", "glove", "binary"):
        convert(file, tmp_path / kind, kind=kind)
        assert sniff(tmp_path / kind) == kind
        assert table(read(tmp_path / kind)) == table(read(file))
    convert(file, tmp_path / "out.txt", kind="glove")
    assert (tmp_path / "out.txt").read_bytes().startswith(b"king 1.0 0.1 -3.0\n")


def test_what_the_card_says(tmp_path: Path, file: Path) -> None:
    path, _ = convert(file, tmp_path / "m.model", limit=3)
    artifact = open_artifact(path)
    assert artifact.family == "embed"
    expected = {"arch": "file", "format": "word2vec", "size": 3, "words": 3, "dtype": "float32"}
    assert artifact.config == expected
    assert str(tmp_path) not in (path / "card.json").read_bytes().decode()


def test_subwords_come_along_into_a_model_and_not_into_a_file(tmp_path: Path) -> None:
    matrix = np.random.default_rng(1).normal(size=(14, 5)).astype(np.float32)
    model = fasttext([word.encode() for word in WORDS], matrix, buckets=10)
    (tmp_path / "ft.bin").write_bytes(model)
    given = read(tmp_path / "ft.bin")
    convert(tmp_path / "ft.bin", "ft")
    kept = open_vectors("ft")
    for word in (*WORDS, "kingdom", "unseen"):
        ours, theirs = kept.vector(word), given.vector(word)
        assert ours is not None and theirs is not None and np.allclose(ours, theirs, atol=1e-6)
    assert kept.counts is not None and kept.counts.tolist() == [1, 2, 3, 4]
    _, heard = convert("ft", tmp_path / "out.bin")
    assert len(heard.warnings) == 1 and "keeps no subwords" in heard.warnings[0]


def test_half_precision(tmp_path: Path, file: Path) -> None:
    convert(file, "full")
    convert(file, "half", dtype="float16")
    half = open_vectors("half")
    assert half.matrix.dtype == np.float32
    assert (half.matrix == MATRIX.astype(np.float16)).all()
    assert np.allclose(half.norms, row_norms(half.matrix), rtol=1e-6)
    assert open_artifact(tmp_path / "home/models/half").array("vectors").dtype == np.float16
    write(tmp_path / "large.txt", Vectors.of(["a"], np.array([[70000.0]], dtype=np.float32)))
    with pytest.raises(UserError, match="70000 is too large for float16"):
        convert(tmp_path / "large.txt", "large", dtype="float16")
    assert not (tmp_path / "home/models/large").exists()


def test_model_to_model_keeps_what_is_known(tmp_path: Path) -> None:
    vectors = Vectors.of(WORDS, MATRIX, normalizer=Normalizer(lower=True))
    vectors.counts = np.array([9, 5, 3, 1])
    with ArtifactWriter(tmp_path / "m") as writer:
        extra = {"outputs": MATRIX}
        data = [{"name": "text", "lines": 1, "tokens": 18, "sha256": "0"}]
        save_vectors(writer, vectors, config={"arch": "cbow"}, extra=extra, data=data)
    path, heard = convert(tmp_path / "m", tmp_path / "n", dtype="float16", limit=2)
    assert heard.notes == ["what m needs to train on is not taken along"]
    artifact = open_artifact(path)
    assert artifact.config["arch"] == "cbow" and artifact.card["data"] == data
    assert "outputs" not in artifact.arrays
    kept = open_vectors(str(path))
    assert kept.index("KING") == 0
    assert kept.counts is not None and kept.counts.tolist() == [9, 5]


def test_words_with_blanks(tmp_path: Path) -> None:
    (tmp_path / "given").write_bytes(b"New York 0.5 1.5\nking 2.5 3.5\n")
    convert(tmp_path / "given", "spaced")
    assert open_vectors("spaced").index("New York") == 0
    with pytest.raises(UserError, match="'New York'"):
        convert("spaced", tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()
    _, heard = convert("spaced", tmp_path / "out.txt", escape=True)
    assert read(tmp_path / "out.txt").index("New_York") == 0
    assert len(heard.warnings) == 1


def test_what_exists_is_refused_before_anything_is_read(tmp_path: Path, file: Path) -> None:
    convert(file, "taken")
    (tmp_path / "taken.txt").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "bad.txt").write_bytes(b"a 1.5 nan\n")
    for target in ("taken", tmp_path / "taken.txt"):
        with pytest.raises(UserError, match="exists"):
            convert(tmp_path / "bad.txt", target)
        convert(file, target, force=True)
    with pytest.raises(ModelError, match="is not a model, so it stays"):
        convert(tmp_path / "bad.txt", tmp_path / "folder", force=True)


@pytest.mark.parametrize(
    ("source", "target", "settings", "part"),
    [
        ("given.txt", "out.txt", {"dtype": "float16"}, "--dtype is for models"),
        ("given.txt", "./out", {"escape": True}, "--escape is for files"),
        ("given.txt", "out.gz", {}, "the suffix names no format"),
        ("given.txt", "./no/such/out.txt", {}, "no such directory"),
        ("missing.txt", "./out", {}, "missing.txt: no such file"),
        ("missing", "./out", {}, "no model 'missing'"),
        ("given.txt", "b@d", {}, "cannot be the name of a model"),
    ],
)
def test_what_cannot_be(
    tmp_path: Path,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    target: str,
    settings: dict[str, object],
    part: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        convert(source, target, **settings)
    assert part in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given.txt"]


def test_a_bad_file_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"2 2\na 1.5 2.5\nb 1.5 nan\n")
    for target in (tmp_path / "out.bin", tmp_path / "out.model"):
        with pytest.raises(TextError, match=r"bad\.txt:3: nan is not a finite number"):
            convert(tmp_path / "bad.txt", target)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]
