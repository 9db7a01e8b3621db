"""fastText models: subwords, old and new layouts, labels, damage."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import fasttext, heard
from hypothesis import given
from hypothesis import strategies as st

from lmkit.embed.formats import read, sniff
from lmkit.embed.formats.fasttext import byte_ngram_buckets
from lmkit.embed.subwords import Subwords, ngram_buckets
from lmkit.errors import TextError

WORDS = ["</s>", "king", "queen", "naïve", "東京タワー", "a", "москва"]
ENCODED = [word.encode() for word in WORDS]
BUCKETS = 50
MATRIX = np.random.default_rng(3).normal(size=(len(WORDS) + BUCKETS, 6)).astype(np.float32)


def expected(word: str, shortest: int = 3, longest: int = 6, bare: str = "</s>") -> np.ndarray:
    """Return the mean of the row of a word and those of its n-grams, in float64."""
    rows = [MATRIX[WORDS.index(word)]] if word in WORDS else []
    if word != bare:
        buckets = ngram_buckets(word, shortest, longest, BUCKETS)
        rows += [MATRIX[len(WORDS) + bucket] for bucket in buckets]
    return np.mean(np.array(rows, dtype=np.float64), axis=0)


@pytest.fixture(params=["python", "compiled"], autouse=True)
def path_taken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run every test with Python and with the kernels."""
    if request.param == "python":
        monkeypatch.delitem(sys.modules, "lmkit.embed.formats.kernels", raising=False)
    else:
        from lmkit.embed.formats import kernels

        monkeypatch.setitem(sys.modules, "lmkit.embed.formats.kernels", kernels)
    return str(request.param)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(("shortest", "longest"), [(3, 6), (1, 3), (2, 2), (5, 4)])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_vectors_are_means_with_ngrams(
    tmp_path: Path, old: bool, shortest: int, longest: int, pack: type[bytes]
) -> None:
    model = fasttext(ENCODED, MATRIX, buckets=BUCKETS, shortest=shortest, longest=longest, old=old)
    (tmp_path / "m").write_bytes(pack(model + b"\0" + b"what training needs"))
    vectors, warnings = heard(tmp_path / "m")
    assert sniff(tmp_path / "m") == "fasttext" and warnings == []
    assert vectors.words.words() == ENCODED
    assert vectors.counts is not None and vectors.counts.tolist() == list(range(1, 8))
    for i, word in enumerate(WORDS):
        mean = expected(word, shortest, longest, bare="" if old else "</s>")
        assert np.allclose(vectors.matrix[i], mean, atol=1e-6), word
    unseen = vectors.vector("kingdom")
    if longest < shortest:
        assert unseen is None
    else:
        assert unseen is not None
        assert np.allclose(unseen, expected("kingdom", shortest, longest), atol=1e-6)


@pytest.mark.parametrize(("version", "none"), [(11, True), (12, False)])
def test_old_models_of_labels_have_no_ngrams(tmp_path: Path, version: int, none: bool) -> None:
    model = bytearray(fasttext(ENCODED, MATRIX, buckets=BUCKETS, version=version))
    model[8 + 4 * 7] = 3
    (tmp_path / "m").write_bytes(model)
    assert (read(tmp_path / "m").subwords is None) == none


def test_limit_takes_the_first_words_and_all_buckets(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(fasttext(ENCODED, MATRIX, buckets=BUCKETS))
    vectors = read(tmp_path / "m", limit=2)
    assert vectors.words.words() == ENCODED[:2] and vectors.counts is not None
    found = vectors.vector("queen")
    assert found is not None
    ngrams_alone = ngram_buckets("queen", 3, 6, BUCKETS) + len(WORDS)
    assert np.allclose(found, MATRIX[ngrams_alone].mean(axis=0), atol=1e-6)


def test_models_without_ngrams_and_with_labels(tmp_path: Path) -> None:
    matrix = MATRIX[: len(WORDS)]
    labels = [b"__label__a", b"__label__b"]
    model = fasttext(ENCODED, matrix, buckets=0, shortest=0, longest=0, labels=labels)
    (tmp_path / "m").write_bytes(model)
    vectors = read(tmp_path / "m")
    assert vectors.subwords is None
    assert vectors.words.words() == ENCODED
    assert (vectors.matrix == matrix).all()


def test_words_that_are_not_utf8_are_hashed_as_they_are(tmp_path: Path, path_taken: str) -> None:
    words = [b"caf\xe9", b"\x80x", b"king"]
    (tmp_path / "m").write_bytes(fasttext(words, MATRIX[: 3 + BUCKETS], buckets=BUCKETS))
    vectors, warnings = heard(tmp_path / "m")
    assert [word.decode() for word in vectors.words.words()] == ["caf\ufffd", "\ufffdx", "king"]
    assert len(warnings) == 1 and "2 words were not UTF-8" in warnings[0]
    for i, word in enumerate(words):
        subwords = Subwords(3, 6, BUCKETS, MATRIX[3:])
        rows = [MATRIX[i], *(MATRIX[3 + bucket] for bucket in byte_ngram_buckets(word, subwords))]
        assert np.allclose(vectors.matrix[i], np.mean(rows, axis=0), atol=1e-6)


@given(
    word=st.text(max_size=12),
    shortest=st.integers(1, 5),
    more=st.integers(0, 4),
)
def test_ngrams_of_bytes_are_those_of_characters(word: str, shortest: int, more: int) -> None:
    subwords = Subwords(shortest, shortest + more, 1 << 21, MATRIX)
    by_character = ngram_buckets(word, shortest, shortest + more, 1 << 21)
    assert byte_ngram_buckets(word.encode(), subwords) == by_character.tolist()


def test_cut_short_anywhere(tmp_path: Path) -> None:
    model = fasttext(ENCODED, MATRIX, buckets=BUCKETS)
    for size in [*range(4, 320), len(model) - 1]:
        (tmp_path / "m").write_bytes(model[:size])
        with pytest.raises(TextError, match="cut short|dictionary cannot be right"):
            read(tmp_path / "m")


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"quantised": True}, "a quantised fastText model"),
        ({"pruned": 5}, "a pruned fastText model"),
        ({"version": 99}, "fastText version 99 is not known"),
        ({"buckets": BUCKETS + 1}, "its matrix cannot be right"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, settings: dict[str, int], part: str) -> None:
    model = fasttext(ENCODED, MATRIX, **{"buckets": BUCKETS, **settings})  # type: ignore[arg-type]
    (tmp_path / "m").write_bytes(model)
    with pytest.raises(TextError, match=part):
        read(tmp_path / "m")


def test_not_finite(tmp_path: Path) -> None:
    matrix = MATRIX.copy()
    matrix[2, 3] = np.nan
    (tmp_path / "m").write_bytes(fasttext(ENCODED, matrix, buckets=BUCKETS))
    with pytest.raises(TextError, match=r"the vector of word 3 \('queen'\) is not finite"):
        read(tmp_path / "m")
