"""Files that word2vec C, gensim, GloVe and fastText wrote, read as those tools read them."""

import json
from pathlib import Path

import numpy as np
import pytest
from embed.formats.vector_files import heard, table
from shared_data import shared

from lmkit.embed.formats import read, sniff, write
from lmkit.embed.subwords import ngram_buckets, ngrams


def golden(name: str) -> Path:
    return shared("golden", "embed", name)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tiny_gensim.txt", "word2vec"),
        ("tiny_gensim.bin", "binary"),
        ("tiny_gensim_noheader.txt", "glove"),
        ("w2vc.txt", "word2vec"),
        ("w2vc.bin", "binary"),
        ("glove.txt", "glove"),
        ("glove_header.txt", "word2vec"),
        ("ft.vec", "word2vec"),
        ("ft.bin", "fasttext"),
        ("acc.bin", "binary"),
    ],
)
def test_the_content_tells_the_format(name: str, kind: str) -> None:
    assert sniff(golden(name)) == kind


@pytest.mark.parametrize("name", ["tiny_gensim.txt", "tiny_gensim.bin", "tiny_gensim_noheader.txt"])
def test_gensim_files_hold_the_exact_values(name: str) -> None:
    exact = json.loads(golden("expected_gensim.json").read_bytes())["tiny"]
    vectors, warnings = heard(golden(name))
    rows = [[float.fromhex(number) for number in row] for row in exact["vectors_hex"]]
    assert [word.decode() for word in vectors.words.words()] == exact["words"]
    assert vectors.matrix.tolist() == rows
    assert warnings == []


def test_word2vec_text_and_binary_are_the_same_to_six_decimals() -> None:
    text, binary = read(golden("w2vc.txt")), read(golden("w2vc.bin"))
    assert text.words.words() == binary.words.words()
    assert text.words.word(0) == b"</s>" and len(text) == 440
    assert np.abs(text.matrix - binary.matrix).max() < 0.6e-6


def test_the_header_of_glove_is_one_short() -> None:
    plain, warnings = heard(golden("glove.txt"))
    assert warnings == [] and len(plain) == 440
    assert plain.words.word(439) == b"<unk>"
    counted, warnings = heard(golden("glove_header.txt"))
    assert table(counted) == table(plain)
    name = golden("glove_header.txt")
    assert warnings == [f"{name}: 440 vectors, though its header says 439; all were read"]


def test_fasttext_text_and_model_are_the_same() -> None:
    text, model = read(golden("ft.vec")), read(golden("ft.bin"))
    assert text.words.words() == model.words.words()
    assert text.subwords is None and model.subwords is not None
    assert np.allclose(text.matrix, model.matrix, rtol=1e-4, atol=1e-6)
    assert model.counts is not None and (np.diff(model.counts) <= 0).all()


def printed(path: Path) -> list[tuple[str, np.ndarray]]:
    lines = path.read_bytes().decode().rstrip("\n").split("\n")
    fields = [line.rstrip(" ").split(" ") for line in lines]
    return [(word, np.array(numbers, dtype=np.float32)) for word, *numbers in fields]


def test_fasttext_vectors_of_known_and_unseen_words() -> None:
    model = read(golden("ft.bin"))
    unseen = 0
    for word, expected in printed(golden("ft_oov_vectors.txt")):
        found = model.vector(word)
        assert found is not None and np.allclose(found, expected, rtol=1e-4, atol=1e-6), word
        unseen += model.index(word) < 0
    assert unseen >= 3


def test_fasttext_ngrams() -> None:
    """Numbers beyond 10 are none of the model's: print-ngrams adds to memory it did not clear."""
    subwords = read(golden("ft.bin")).subwords
    assert subwords is not None
    pairs = printed(golden("ft_ngrams_kingdoms.txt"))
    grams = ngrams("kingdoms", subwords.minimum, subwords.maximum)
    buckets = ngram_buckets("kingdoms", subwords.minimum, subwords.maximum, subwords.num_buckets)
    assert sorted(grams) == sorted(word for word, _ in pairs if word != "kingdoms")
    compared = 0
    for gram, bucket in zip(grams, buckets.tolist(), strict=True):
        expected = dict(pairs)[gram]
        sound = np.abs(expected) < 10
        assert np.allclose(subwords.rows[bucket][sound], expected[sound], rtol=1e-4), gram
        compared += int(sound.sum())
    assert compared > 150


def test_the_binary_of_the_analogy_test() -> None:
    vectors, warnings = heard(golden("acc.bin"))
    assert (len(vectors), vectors.size, warnings) == (6157, 32, [])
    assert vectors.index("king") == 585
    assert len(heard(golden("acc.bin"), limit=100)[0]) == 100


@pytest.mark.parametrize("name", ["w2vc.bin", "acc.bin"])
def test_word2vec_binaries_are_written_as_word2vec_does(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, read(golden(name)))
    assert (tmp_path / name).read_bytes() == golden(name).read_bytes()
