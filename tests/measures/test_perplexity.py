"""The figures of an evaluation, against values worked out by hand."""

import json
import math

import numpy as np
import pytest

from lmkit.measures.perplexity import Accumulator, Evaluation, count_words

LN10 = math.log(10.0)


def by_hand() -> Evaluation:
    """Return the figures of two sentences: ``a b </s>`` and ``a UNKNOWN </s>``.

    log10 probabilities -1, -2, -.5 and -1, -4, -1.5: together -10, without the OOV -6.
    """
    total = Accumulator(num_tokens=5, unit="word", mode="sentence")
    first = np.array([3, 4, 2], dtype=np.uint32)
    second = np.array([3, 0, 2], dtype=np.uint32)
    total.add(first, np.array([-1.0, -2.0, -0.5]) * LN10, lines=1, num_bytes=4)
    total.add(second, np.array([-1.0, -4.0, -1.5]) * LN10, lines=1, num_bytes=10)
    return total.result()


def test_counts_are_those_of_the_text() -> None:
    result = by_hand()
    assert (result.tokens, result.oov, result.sentences, result.words) == (6, 1, 2, 4)
    assert (result.lines, result.bytes, result.vocabulary) == (2, 14, 4)
    assert result.oov_rate == 0.25


def test_figures_of_kenlm_and_srilm() -> None:
    result = by_hand()
    assert result.logprob == pytest.approx(-10 * LN10)
    assert result.logprob_excluding_oov == pytest.approx(-6 * LN10)
    assert result.perplexity == pytest.approx(10 ** (10 / 6))
    assert result.perplexity_excluding_oov == pytest.approx(10 ** (6 / 5))
    # SRILM: ppl = 10^(-logprob / (words - OOVs + sentences)), ppl1 without the sentences.
    assert result.srilm_ppl == pytest.approx(10 ** (6 / (4 - 1 + 2)))
    assert result.srilm_ppl1 == pytest.approx(10 ** (6 / (4 - 1)))
    assert result.perplexity_per_word == pytest.approx(10 ** (10 / 4))
    assert result.bits_per_byte == pytest.approx(10 / math.log10(2) / 14)


def test_record_begins_with_the_documented_keys() -> None:
    assert list(by_hand().record())[:9] == [
        "logprob",
        "tokens",
        "oov",
        "sentences",
        "bytes",
        "perplexity",
        "perplexity_excluding_oov",
        "perplexity_per_word",
        "bits_per_byte",
    ]


def test_other_units_have_no_srilm_figures() -> None:
    total = Accumulator(num_tokens=259, unit="byte", mode="sentence")
    ids = np.array([100, 101, 2], dtype=np.uint32)
    total.add(ids, np.full(3, -1.0), words=1, lines=1, num_bytes=3)
    record = total.result().record()
    assert record["srilm_ppl"] is None and record["srilm_ppl1"] is None
    assert record["perplexity_per_word"] == pytest.approx(math.exp(3))


def test_breaks_of_documents_are_no_tokens() -> None:
    total = Accumulator(num_tokens=5, unit="word", mode="document")
    total.add(np.array([3, 2, 4], dtype=np.uint32), np.array([-1.0, 0, -1]), lines=1, num_bytes=9)
    result = total.result()
    assert (result.tokens, result.sentences, result.words, result.vocabulary) == (2, 0, 2, 3)
    assert result.perplexity == pytest.approx(math.e)


def test_nothing_is_null_not_nan() -> None:
    record = Accumulator(num_tokens=5, unit="word", mode="sentence").result().record()
    assert record["logprob"] == 0.0 and record["perplexity"] is None
    json.dumps(record, allow_nan=False)


def test_impossible_text_is_null_but_known_tokens_keep_their_figures() -> None:
    total = Accumulator(num_tokens=5, unit="word", mode="sentence")
    ids = np.array([0, 3, 2], dtype=np.uint32)
    total.add(ids, np.array([-np.inf, -1.0, -1.0]), lines=1, num_bytes=6)
    record = total.result().record()
    assert record["logprob"] is None and record["perplexity"] is None
    assert record["perplexity_excluding_oov"] == pytest.approx(math.e)


def test_a_perplexity_beyond_floating_point_is_null() -> None:
    total = Accumulator(num_tokens=5, unit="word", mode="sentence")
    total.add(np.array([3, 2], dtype=np.uint32), np.array([-1e6, -1.0]), lines=1, num_bytes=2)
    assert total.result().record()["perplexity"] is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", 0),
        (b"\n", 0),
        (b"a", 1),
        (b" a  b\t c\r\n\nd\n", 4),
        ("a\u00a0b c\x0bd\n".encode(), 2),
    ],
)
def test_words_are_counted_between_white_space(text: bytes, words: int) -> None:
    assert count_words(np.frombuffer(text, dtype=np.uint8)) == words
