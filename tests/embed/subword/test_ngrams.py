"""The kernel that lists the n-grams of a vocabulary, its twin in Python, and fastText."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared

from lmkit.embed.subword.ngrams import NgramRows, mean_of_rows, word_ngrams
from lmkit.embed.subwords import Subwords, ngram_buckets, ngrams
from lmkit.text.vocab import WordTable

WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\0"), min_size=1),
                 max_size=5, unique=True)  # fmt: skip


def table(*words: str) -> WordTable:
    return WordTable.of([word.encode() for word in words])


def buckets_of(found: NgramRows, word: int) -> list[int]:
    rows = found.rows[found.starts[word] : found.starts[word + 1]]
    return [int(bucket) for bucket in found.buckets[rows]]


@settings(deadline=None)
@given(WORDS, st.integers(1, 4), st.integers(0, 3), st.integers(1, 1000))
def test_kernel_lists_what_python_lists(
    words: list[str], minimum: int, more: int, num_buckets: int
) -> None:
    found = word_ngrams(table(*words), minimum, minimum + more, num_buckets)
    assert len(found.starts) == len(words) + 1
    for number, word in enumerate(words):
        expected = ngram_buckets(word, minimum, minimum + more, num_buckets)
        assert buckets_of(found, number) == expected.tolist()
    assert np.all(np.diff(found.buckets) > 0)
    assert set(found.rows.tolist()) == set(range(len(found.buckets)))
    assert found.longest == max((len(ngrams(w, minimum, minimum + more)) for w in words), default=0)


def test_ngrams_of_where() -> None:
    """The example of Bojanowski et al. 2017, section 3.2."""
    assert ngrams("where", 3, 3) == ["<wh", "whe", "her", "ere", "re>"]
    assert ngrams("é数", 1, 2) == ["<é", "é", "é数", "数", "数>"]


def test_all_words_as_one_by_one() -> None:
    words = [f"word{number}é" for number in range(300)]
    found = word_ngrams(table(*words), 3, 6, 2_000_000)
    for number, word in enumerate(words):
        assert buckets_of(found, number) == ngram_buckets(word, 3, 6, 2_000_000).tolist()


def test_fasttext_ngrams() -> None:
    """Every n-gram that fastText prints has the row that its hash names.

    But for numbers beyond 10, which are none of the model's: print-ngrams adds the row to memory
    that it did not clear.
    """
    from lmkit.embed.formats.reading import read

    model = read(shared("golden", "embed", "ft.bin"))
    printed = shared("golden", "embed", "ft_ngrams_kingdoms.txt").read_bytes().decode()
    lines = [line.split() for line in printed.split("\n")[:-1]]
    assert model.subwords is not None
    subwords = model.subwords
    limits = subwords.minimum, subwords.maximum
    assert ngrams("kingdoms", *limits) == [line[0] for line in lines]
    found = word_ngrams(table("kingdoms"), *limits, subwords.num_buckets)
    rows = subwords.rows[subwords.rows_of(np.array(buckets_of(found, 0), dtype=np.int32))]
    expected = np.array([line[1:] for line in lines], dtype=np.float64)
    sound = np.abs(expected) < 10
    assert rows[sound] == pytest.approx(expected[sound], rel=1e-4)  # five digits are printed
    assert np.count_nonzero(sound) > 150


def test_mean_of_rows() -> None:
    rng = np.random.default_rng(2)
    words = ["king", "a", "kingdom", "queen"]
    found = word_ngrams(table(*words), 3, 4, 50)
    own = rng.normal(size=(4, 5)).astype(np.float32)
    shared_rows = rng.normal(size=(len(found.buckets), 5)).astype(np.float32)
    vectors = mean_of_rows(own, shared_rows, found)
    for number in range(4):
        rows = shared_rows[found.rows[found.starts[number] : found.starts[number + 1]]]
        assert vectors[number] == pytest.approx(np.vstack([own[number], rows]).mean(0), abs=1e-6)
    unseen = Subwords(3, 4, 50, shared_rows, found.buckets).vector("king")
    kings = shared_rows[found.rows[found.starts[0] : found.starts[1]]]
    assert unseen == pytest.approx(kings.mean(0), abs=1e-6)


def test_words_without_ngrams_are_themselves() -> None:
    found = word_ngrams(table("a", "longer", "b"), 4, 5, 10)
    assert np.diff(found.starts).tolist() == [0, 9, 0]
    own = np.arange(6, dtype=np.float32).reshape(3, 2)
    vectors = mean_of_rows(own, np.ones((len(found.buckets), 2), dtype=np.float32), found)
    assert vectors[[0, 2]].tolist() == own[[0, 2]].tolist()
    assert vectors[1] == pytest.approx((own[1] + 9) / 10)
