"""The text of word vectors: which words stay, and where those of an older model go."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_vectors import vectors_of

from lmkit.embed.vectors import Vectors
from lmkit.errors import TextError, UserError
from lmkit.tasks.embed_text import EmbedText, encode_text
from lmkit.tasks.text_facts import text_facts
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import VocabularyConfig, WordTable

LINES = ["the king sees the queen", "the queen sees a king", "", "the dog"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


def read(folder: Path, lines: list[str], **given: Any) -> EmbedText:
    (folder / "text").write_text("".join(line + "\n" for line in lines))
    limits = {key: given.pop(key) for key in ("min_count", "max_size") if key in given}
    return encode_text(
        [str(folder / "text")], VocabularyConfig(**limits), given.pop("normalizer", Normalizer()),
        **given,
    )  # fmt: skip


def decoded(text: EmbedText) -> list[list[str]]:
    """Return the sentences of a text; a word that was left out is ``?``."""
    words = ["?", "<s>", "\n", *(word.decode() for word in text.words.words())]
    joined = " ".join(words[index] for index in text.corpus.ids)
    return [sentence.split() for sentence in joined.split("\n")[:-1]]


def older_model(counts: dict[str, int]) -> Vectors:
    matrix = np.arange(len(counts) * 2).reshape(-1, 2)
    made = vectors_of(list(counts), matrix, counts=np.array(list(counts.values())))
    made.words = WordTable.of([word.encode() for word in counts])
    return made


def test_words_by_falling_count(folder: Path) -> None:
    text = read(folder, LINES)
    assert text.words.words() == [b"the", b"king", b"sees", b"queen", b"a", b"dog"]
    assert text.counts.tolist() == [4, 2, 2, 2, 1, 1]
    assert decoded(text) == [line.split() for line in LINES]
    assert text.old is None


def test_rare_words_are_left_out(folder: Path) -> None:
    text = read(folder, LINES, min_count=2)
    assert text.words.words() == [b"the", b"king", b"sees", b"queen"]
    assert decoded(text)[1::2] == [["the", "queen", "sees", "?", "king"], ["the", "?"]]
    few = read(folder, LINES, max_size=2)
    assert (few.words.words(), few.counts.tolist()) == ([b"the", b"king"], [4, 2])
    assert few.words.find(b"sees") == -1 and few.words.find(b"king") == 1


def test_no_word_is_frequent_enough(folder: Path) -> None:
    with pytest.raises(UserError) as caught:
        read(folder, ["the cat and the dog and the end"], min_count=50)
    assert str(caught.value).startswith(
        "0 of 5 words reach min-count 50; the most frequent has 3 (the)"
    )


@pytest.mark.parametrize("lines", [[], [""], ["", "  ", "\t", ""]])
def test_texts_without_words(lines: list[str], folder: Path) -> None:
    with pytest.raises(TextError, match="text: no words in the text"):
        read(folder, lines)


def test_text_is_normalised(folder: Path) -> None:
    text = read(folder, ["The KING the king"], normalizer=Normalizer(lower=True))
    assert text.words.words() == [b"the", b"king"]


def test_words_of_an_older_model_stay(folder: Path) -> None:
    older = older_model({"king": 10, "castle": 4, "the": 1})
    text = read(folder, LINES, min_count=2, older=older)
    assert text.words.words() == [b"king", b"the", b"castle", b"sees", b"queen"]
    assert text.counts.tolist() == [12, 5, 4, 2, 2]
    assert text.old is not None and text.old.tolist() == [0, 2, 1, -1, -1]
    assert decoded(text)[1::2] == [["the", "queen", "sees", "?", "king"], ["the", "?"]]
    none = read(folder, LINES, min_count=50, older=older)
    assert none.words.words() == [b"king", b"the", b"castle"]
    assert decoded(none)[0] == ["the", "king", "?", "the", "?"]


words = st.sampled_from("abcdefgh")


@settings(max_examples=40)
@given(
    st.lists(st.lists(words, max_size=9), min_size=1, max_size=12).filter(any),
    st.integers(1, 3),
    st.one_of(st.none(), st.integers(1, 8)),
    st.dictionaries(st.sampled_from("abcxyz"), st.integers(1, 9), min_size=1),
    st.booleans(),
)
def test_ids_are_the_words_that_stay(
    folder: Path, lines: list[list[str]], least: int, most: int | None, before: dict[str, int],
    goes_on: bool,
) -> None:  # fmt: skip
    seen = Counter(word for line in lines for word in line)
    kept = [word for word, count in seen.most_common() if count >= least][:most]
    if not kept and not goes_on:
        return
    older = older_model(dict(Counter(before).most_common())) if goes_on else None
    joined = [" ".join(line) for line in lines]
    text = read(folder, joined, min_count=least, max_size=most, older=older)
    expected = set(kept) | (set(before) if goes_on else set())
    found = [word.decode() for word in text.words.words()]
    assert len(found) == len(expected) and set(found) == expected
    assert decoded(text) == [[word if word in expected else "?" for word in line] for line in lines]
    totals = seen + Counter(before) if goes_on else seen
    assert text.counts.tolist() == [totals[word] for word in found]
    assert text.counts.tolist() == sorted(text.counts.tolist(), reverse=True)
    if older is not None and text.old is not None:
        assert text.old.tolist() == [older.index(word) for word in found]


def test_facts(folder: Path) -> None:
    text = read(folder, LINES)
    facts = text_facts(["folder/one.txt", "-"], text.corpus)
    assert facts["name"] == "one.txt, <stdin>"
    assert (facts["lines"], facts["tokens"]) == (4, 12)
    assert facts["bytes"] == sum(len(line) + 1 for line in LINES)
