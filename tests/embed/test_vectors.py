"""A table of word vectors as a Python programmer meets it."""

import numpy as np
import pytest

from lmkit.embed.vectors import FirstWords, ListedWords, Vectors, row_norms

ROWS = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.0]], dtype=np.float32)


def test_words_are_found_and_lacking_ones_are_key_errors() -> None:
    vectors = Vectors.of(["the", "of", "king"], ROWS)
    assert "king" in vectors and "queen" not in vectors
    assert vectors["king"].tolist() == [1.0, 0.0]
    with pytest.raises(KeyError, match="queen"):
        vectors["queen"]
    assert (len(vectors), vectors.size) == (3, 2)
    assert repr(vectors) == "<Vectors: 3 words, 2 numbers each>"


def test_norms() -> None:
    assert row_norms(ROWS).tolist() == [5.0, 0.0, 1.0]


def test_the_first_words_of_others() -> None:
    words = FirstWords(ListedWords([b"the", b"of", b"king"]), 2)
    assert (len(words), words.words()) == (2, [b"the", b"of"])
    assert (words.find(b"of"), words.find(b"king"), words.find(b"zebra")) == (1, -1, -1)
