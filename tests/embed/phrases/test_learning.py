"""Learning phrases: counts, scores, passes, limits."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from embed.phrases.phrase_texts import TEXTS, blocks_of
from hypothesis import given, settings

from lmkit.embed.phrases.config import PhrasesConfig, pass_thresholds
from lmkit.embed.phrases.counting import FIRST_WORD, Neighbours, PairTable
from lmkit.embed.phrases.joining import Joiner
from lmkit.embed.phrases.learning import SMALL, learn
from lmkit.embed.phrases.scores import score_pairs
from lmkit.errors import TextError, UserError
from lmkit.events import Listener
from lmkit.text.lines import Block, block_of
from lmkit.text.vocab import SEPARATORS

Pair = tuple[bytes, bytes]


def counted(texts: list[list[str]], *, compiled: bool) -> Counter[Pair]:
    neighbours = Neighbours(1000, compiled=compiled)
    for number, lines in enumerate(texts):
        neighbours.add(neighbours.encode(block_of("".join(f"{x}\n" for x in lines)), number))
    words = neighbours.words.result()[0].words()
    keys, counts = neighbours.pairs()
    assert np.all(np.diff(keys.astype(np.int64)) > 0)
    pairs = zip(keys.tolist(), counts.tolist(), strict=True)
    return Counter({(words[key >> 32], words[key & 0xFFFFFFFF]): n for key, n in pairs})


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_pairs_are_neighbours_within_a_line(first: list[str], second: list[str]) -> None:
    expected: Counter[Pair] = Counter()
    for line in [*first, *second]:
        words = [word for word in SEPARATORS.split(line.encode()) if word]
        expected.update(pairwise(words))
    assert counted([first, second], compiled=False) == expected
    assert counted([first, second], compiled=True) == expected


def test_marks_of_sentences_are_in_no_pair() -> None:
    for compiled in (False, True):
        pairs = counted([["<s> a b </s> a <unk> b"]], compiled=compiled)
        assert pairs == {(b"a", b"b"): 1}


def test_the_table_of_pairs_grows() -> None:
    ids = np.random.default_rng(1).integers(FIRST_WORD, 2000, 300_000).astype(np.uint32)
    table = PairTable(1 << 30)
    for part in np.split(ids, [10, 200_000]):
        table.add(part)
    keys, counts = table.result()
    joined = ids.astype(np.uint64)
    expected = joined[:-1] << 32 | joined[1:]
    expected = np.delete(expected, [9, 199_999])  # from one part to the next
    wanted, times = np.unique(expected, return_counts=True)
    assert np.array_equal(keys, wanted) and np.array_equal(counts, times)


class Heard(Listener):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def test_the_rarest_pairs_are_forgotten() -> None:
    heard = Heard()
    table = PairTable(100, heard)
    frequent = np.array([3, 4] * 50, dtype=np.uint32)
    table.add(frequent)
    table.add(np.arange(10, 1000, dtype=np.uint32))
    keys, counts = table.result()
    assert len(keys) <= 100
    found = dict(zip(keys.tolist(), counts.tolist(), strict=True))
    assert found[3 << 32 | 4] == 50 and found[4 << 32 | 3] == 49
    assert heard.warnings[0].startswith("more than 100 different pairs: those seen fewer than 2")


def test_scores() -> None:
    pairs, left, right = np.array([8]), np.array([10]), np.array([16])
    word2vec = score_pairs("word2vec", pairs, left, right, min_count=3, num_words=1000)
    assert word2vec.tolist() == [(8 - 3) / 10 / 16 * 1000]
    npmi = score_pairs("npmi", pairs, left, right, min_count=3, num_words=1000)
    assert npmi == pytest.approx(np.log(0.008 / (0.01 * 0.016)) / -np.log(0.008))
    always = score_pairs("npmi", left, left, left, min_count=3, num_words=1000)
    assert always == pytest.approx(1.0)


def planted_text() -> list[str]:
    """Return lines of random words with "new york" 40 times among them, half before "times"."""
    filler = np.random.default_rng(3).integers(0, 30, (400, 8))
    lines = [" ".join(f"w{word}" for word in row) for row in filler]
    for number in range(20):
        lines[number] += " new york times w1"
        lines[100 + number] = f"w2 new york {lines[100 + number]}"
        lines[200 + number] += " times w3"
    return lines


def test_a_planted_phrase_is_found_then_a_longer_one() -> None:
    config = PhrasesConfig(thresholds=(40.0, 20.0), min_count=5)
    table = learn(lambda: blocks_of(*planted_text()), config)
    assert [list(zip(one.left, one.right, strict=True)) for one in table.passes] == [
        [("new", "york")],
        [("new_york", "times")],
    ]
    assert [list(one.counts) for one in table.passes] == [[40], [20]]
    assert Joiner(table).line("the new york times is new york") == "the new_york_times is new_york"


def test_min_count_is_of_the_pair() -> None:
    for min_count, found in ((5, 1), (6, 0)):
        config = PhrasesConfig(score="npmi", thresholds=(0.6,), min_count=min_count)
        lines = [*["new york"] * 5, *["a b", "b a", "a a"] * 10]
        table = learn(lambda lines=lines: blocks_of(*lines), config)
        assert len(table.passes[0]) == found


def long_text() -> Iterator[Block]:
    rng = np.random.default_rng(7)
    for number in range(3):
        words = rng.zipf(1.3, (30_000, 8)) % 5000
        lines = (" ".join(f"w{w} y{w}" if w % 97 == 3 else f"w{w}" for w in row) for row in words)
        yield block_of("\n".join(lines), line=1 + 30_000 * number)


def test_threads_and_kernels_change_nothing() -> None:
    assert sum(block.size for block in long_text()) > SMALL
    config = PhrasesConfig(thresholds=(200.0, 100.0))
    one, two = (learn(long_text, config, threads=threads) for threads in (1, 2))
    assert one == two
    assert ("w100", "y100") in zip(one.passes[0].left, one.passes[0].right, strict=True)
    assert one.passes[0].scores == sorted(one.passes[0].scores, reverse=True)


@pytest.mark.parametrize(
    ("given_", "passes", "expected"),
    [
        ((), None, (100.0,)),
        ((), 2, (200.0, 100.0)),
        ((50.0,), 3, (200.0, 100.0, 50.0)),
        ((90.0, 30.0), None, (90.0, 30.0)),
        ((90.0, 30.0), 2, (90.0, 30.0)),
    ],
)
def test_thresholds_of_passes(
    given_: tuple[float, ...], passes: int | None, expected: tuple[float, ...]
) -> None:
    assert pass_thresholds("word2vec", given_, passes) == expected


def test_thresholds_of_npmi_stay() -> None:
    assert pass_thresholds("npmi", (), 3) == (0.5, 0.5, 0.5)
    with pytest.raises(UserError, match="given 2 times, for 3 passes"):
        pass_thresholds("npmi", (0.5, 0.4), 3)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"min_count": 0}, "--min-count 0 is below 1"),
        ({"max_pairs": 0}, "--max-pairs 0 is below 1"),
        ({"thresholds": ()}, "--threshold gives no number"),
        ({"thresholds": (float("nan"),)}, "--threshold nan means nothing"),
        ({"thresholds": (1.0,), "score": "npmi"}, "--threshold 1 means nothing for --score npmi"),
        ({"delimiter": ""}, "--delimiter '' does not join words"),
        ({"delimiter": "a b"}, "--delimiter 'a b' does not join words"),
    ],
)
def test_settings_that_mean_nothing(settings_: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as caught:
        PhrasesConfig(**settings_)  # type: ignore[arg-type]
    assert str(caught.value).startswith(message)


def test_texts_without_phrases() -> None:
    for lines in ([], [""], ["<unk> <s>"]):
        with pytest.raises(TextError, match="no words in the text"):
            learn(lambda lines=lines: blocks_of(*lines), PhrasesConfig())
    with pytest.raises(UserError, match="0 of 2 words reach --min-count 5; the most"):
        learn(lambda: blocks_of("the king", "the", "the"), PhrasesConfig())
    heard = Heard()
    table = learn(lambda: blocks_of(*["a", "b"] * 9), PhrasesConfig(), listener=heard)
    assert len(table.passes[0]) == 0
    assert heard.warnings == ["no pair of words is seen 5 times (--min-count): no phrases"]
    learn(lambda: blocks_of(*["a b"] * 9), PhrasesConfig(), listener=heard)
    assert heard.warnings[1].startswith("no pair of words scores above 100; the best has 0.88")
