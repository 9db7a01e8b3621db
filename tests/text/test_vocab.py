"""Words: told apart by their bytes, encoded alike by kernels and Python, numbered by frequency."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkit.errors import TextError, UserError
from lmkit.language_model import EOS, SPECIALS, UNK, Mode
from lmkit.text import kernels as kernels  # loaded, so that blocks are encoded by them
from lmkit.text import vocab
from lmkit.text.encoding import Encoded, Normalizer
from lmkit.text.lines import block_of
from lmkit.text.vocab import VocabularyConfig, WordTable, WordTokenizer, read_word_list
from lmkit.text.words import LocalWords, merge_words

MODES = st.sampled_from(["sentence", "document"])
MARKS = ["<s>", "</s>", "<unk>"]
ODD = ["vertical\x0btab", "form\x0cfeed", "unit\x1fmark", "no\u00a0break", "next\x85line", "\u2028"]
SPACES = [" ", "  ", "\t", "\r", "\n", "\n\n", "\r\n", " \n", "\x00", "\n \n"]
WORDS = st.one_of(
    st.sampled_from(["a", "b", *MARKS, *ODD, "é", "<S>", "</s", "abcdefgh", "abcdefghi"]),
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\x00"), min_size=1),
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from(SPACES)), max_size=40).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def colliding_words(count: int) -> list[bytes]:
    """Return words of 16 bytes with the same first 8 bytes, hash tag and slot.

    The hash of a word is a bijection of its last 8 bytes, so they are computed from the hash.
    """
    size = 16
    mask = (1 << 64) - 1
    step = 0xFF51AFD7ED558CCD
    head = b"samehead"
    value = (size * 0x9E3779B97F4A7C15 & mask ^ int.from_bytes(head, "little")) * step & mask
    value ^= value >> 32
    inverse = np.uint64(pow(step, -1, 1 << 64))
    tag = 0x12345678
    low = np.arange(1 << 16, dtype=np.uint64) << np.uint64(16)  # the low half gives the slot
    found: list[bytes] = []
    for tag in range(0x12345678, 0x12345678 + 4000):
        product = np.uint64(tag << 32) | low
        tails = (product * inverse) ^ np.uint64(value)
        as_bytes = tails.view(np.uint8).reshape(-1, 8)
        good = ((as_bytes > 32) & (as_bytes < 127)).all(axis=1)
        found = [head + tail.tobytes() for tail in tails[good]]
        if len(found) >= count:
            return found
    raise AssertionError("no tag with so many words")


def test_the_colliding_words_do_collide() -> None:
    words = colliding_words(20)
    assert len(set(words)) == len(words) >= 20
    assert len({vocab._probe(word, 1 << 12) for word in words}) == 1


@pytest.mark.parametrize("compiled", [False, True])
def test_words_with_equal_hashes_are_told_apart(compiled: bool) -> None:
    words = colliding_words(20)
    known, unknown = words[:15], words[15:]
    tokenizer = WordTokenizer.from_words(known)
    assert [tokenizer.table.find(word) for word in known] == list(range(3, 18))
    assert [tokenizer.table.find(word) for word in unknown] == [-1] * len(unknown)
    text = b" ".join(words)
    expected = [*range(3, 18), *[UNK] * len(unknown), EOS]
    block = block_of(text)
    encode = by_kernel if compiled else by_python
    assert encode(tokenizer, block.text(), "sentence").ids.tolist() == expected
    local = LocalWords(compiled=compiled)
    assert local.encode(block_of(text + b"\n" + text), "sentence", 0).ids.tolist() == 2 * [
        *range(3, 3 + len(words)),
        EOS,
    ]


@pytest.mark.parametrize("compiled", [False, True])
def test_similar_long_words_are_told_apart(compiled: bool) -> None:
    """Words that differ in one byte only, near the ends of the 8 bytes compared at a time."""
    words = [b"x" * size for size in range(1, 40)]
    for size in (7, 8, 9, 15, 16, 17, 24, 25):
        words += [b"x" * k + b"y" + b"x" * (size - k - 1) for k in range(size)]
    table = WordTable.of(words)
    assert [table.find(word) for word in words] == list(range(len(words)))
    local = LocalWords(compiled=compiled)
    encoded = local.encode(block_of(b" ".join(words)), "document", 0)
    assert encoded.ids.tolist() == list(range(3, 3 + len(words)))


def by_python(tokenizer: WordTokenizer, text: str, mode: Mode) -> Encoded:
    return tokenizer._encode_small(block_of(text), mode)


def by_kernel(tokenizer: WordTokenizer, text: str, mode: Mode) -> Encoded:
    return tokenizer.encode_block(block_of(text), mode)  # uses them once they are loaded


@given(TEXTS, MODES, st.booleans())
def test_kernel_equals_python(text: str, mode: Mode, lower: bool) -> None:
    known = [word.encode() for word in ["a", "b", *ODD, "abcdefgh", "abcdefghi"]]
    tokenizer = WordTokenizer.from_words(known, normalizer=Normalizer(lower=lower))
    slow, fast = by_python(tokenizer, text, mode), by_kernel(tokenizer, text, mode)
    assert fast.ids.dtype == slow.ids.dtype == np.uint32
    assert fast.ids.tolist() == slow.ids.tolist()
    assert fast.line_sizes.tolist() == slow.line_sizes.tolist()


@given(st.lists(TEXTS, max_size=3), MODES)
def test_learning_kernel_equals_python(texts: list[str], mode: Mode) -> None:
    fast, slow = LocalWords(compiled=True), LocalWords(compiled=False)
    base = 0
    for text in texts:
        block = block_of(text)
        one, two = fast.encode(block, mode, base), slow.encode(block, mode, base)
        assert one.ids.tolist() == two.ids.tolist()
        assert one.line_sizes.tolist() == two.line_sizes.tolist()
        base += block.size
    tables = [merge_words([fast]), merge_words([slow])]
    assert tables[0][0].words() == tables[1][0].words()
    assert tables[0][1].tolist() == tables[1][1].tolist()
    assert tables[0][2][0].tolist() == tables[1][2][0].tolist()


@given(TEXTS)
def test_a_block_is_its_lines(text: str) -> None:
    tokenizer = WordTokenizer.from_words([b"a", b"b"])
    lines = (text if text.endswith("\n") or not text else text + "\n").split("\n")[:-1]
    encoded = by_kernel(tokenizer, text, "sentence")
    expected = [[*tokenizer.encode(line).tolist(), EOS] for line in lines]
    assert encoded.ids.tolist() == [index for line in expected for index in line]
    assert encoded.line_sizes.tolist() == [len(line) for line in expected]


def test_words_are_separated_as_in_kenlm() -> None:
    tokenizer = WordTokenizer.from_words(word.encode() for word in ODD)
    for mode in ("sentence", "document"):
        text = " ".join(ODD) + "\n"
        for encoded in (by_kernel(tokenizer, text, mode), by_python(tokenizer, text, mode)):  # type: ignore[arg-type]
            ids = [index for index in encoded.ids.tolist() if index != EOS]
            assert ids == list(range(3, 3 + len(ODD)))
    assert tokenizer.encode("a\tb\rc d\x00e").tolist() == [UNK] * 5


@pytest.mark.parametrize(
    ("text", "sentence", "document"),
    [
        ("a <s> b\n", [3, 2, 4, 2], [3, 2, 4]),
        ("a </s> b\n", [3, 2, 4, 2], [3, 2, 4]),
        ("<s> a </s>\n", [3, 2], [2, 3, 2]),
        ("a </s> <s> b\n", [3, 2, 4, 2], [3, 2, 2, 4]),
        ("</s>\n", [2], [2]),
        ("\n", [2], []),
        ("a </s>\nb\n", [3, 2, 4, 2], [3, 2, 4]),
        ("a <unk> zebra\n", [3, 0, 0, 2], [3, 0, 0]),
        ("a </s>b <s>\n", [3, 0, 2], [3, 0, 2]),
    ],
)
def test_marks_separate_and_nothing_is_glued(
    text: str, sentence: list[int], document: list[int]
) -> None:
    tokenizer = WordTokenizer.from_words([b"a", b"b"])
    for encode in (by_kernel, by_python):
        assert encode(tokenizer, text, "sentence").ids.tolist() == sentence
        assert encode(tokenizer, text, "document").ids.tolist() == document


def check_counts(words: Sequence[bytes], counts: Iterable[int], text: bytes) -> None:
    """Check that words are numbered by falling count, ties by first occurrence."""
    seen = Counter(text.split())
    first = {word: place for place, word in reversed(list(enumerate(text.split())))}
    expected = sorted(seen, key=lambda word: (-seen[word], first[word]))
    assert list(words[:3]) == [special.encode() for special in SPECIALS]
    assert list(words[3:]) == expected
    assert list(counts)[3:] == [seen[word] for word in expected]


@pytest.mark.parametrize("compiled", [False, True])
def test_tables_and_arena_grow(compiled: bool) -> None:
    """Past 65,536 words the table grows, past 1 MiB the arena, in the midst of a block."""
    rng = np.random.default_rng(1)
    words = [b"word-number-%d" % k for k in range(90_000)]
    text = b" ".join([words[k] for k in rng.integers(0, 500, 3000)] + words)
    local = LocalWords(compiled=compiled)
    half = text.index(words[45_000])
    for part, base in ((text[:half] + b"\n", 0), (text[half:] + b"\n", half + 1)):
        local.encode(block_of(part), "sentence", base)
    table, counts, _ = merge_words([local])
    assert len(table) == 90_003
    check_counts(table.words(), counts.tolist(), text)
    assert [table.find(word) for word in (words[0], words[89_999], b"none")] == [
        table.words().index(words[0]),
        table.words().index(words[89_999]),
        -1,
    ]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_word_of_a_megabyte(compiled: bool) -> None:
    long = b"long" * (1 << 18)
    text = b"a " + long + b" b " + long + b"\n" + long[:-1] + b"x a\n"
    local = LocalWords(compiled=compiled)
    encoded = local.encode(block_of(text), "sentence", 0)
    assert encoded.ids.tolist() == [3, 4, 5, 4, 2, 6, 3, 2]
    table, _, _ = merge_words([local])
    assert table.words()[3:] == [b"a", long, b"b", long[:-1] + b"x"]
    tokenizer = WordTokenizer(table)
    assert tokenizer.encode(text.decode().replace("\n", " ")).tolist() == [3, 4, 5, 4, 6, 3]


def test_tables_of_threads_become_one() -> None:
    texts = [b"x y x\n", b"z y z z q\n", b"x q new y\n"]
    for compiled in (False, True):
        parts = [LocalWords(compiled=compiled) for _ in texts]
        base = 0
        ids = []
        for part, text in zip(parts, texts, strict=True):
            ids.append(part.encode(block_of(text), "document", base).ids)
            base += len(text)
        table, counts, ranks = merge_words(parts)
        check_counts(table.words(), counts.tolist(), b"".join(texts))
        merged = [rank[part] for part, rank in zip(ids, ranks, strict=True)]
        words = [table.word(index) for part in merged for index in part.tolist()]
        assert words == b"".join(texts).split()
    assert merge_words([])[0].words() == [special.encode() for special in SPECIALS]


def test_large_tables_built_by_kernel_equal_those_by_python() -> None:
    words = [b"w%d" % k for k in range(5000)]  # past 4,000 the kernel builds the table
    built = WordTable.of(words)
    table = np.zeros_like(built.table)
    vocab._enter_in_python(table, built.arena, built.offsets)
    assert np.array_equal(table, built.table)
    assert built.words() == words and built.word(17) == b"w17" and len(built) == 5000


def test_fingerprint_changes_with_any_word() -> None:
    words = [b"king", b"queen", b"man"]
    given = WordTokenizer.from_words(words)
    others = [
        WordTokenizer.from_words([b"king", b"queen", b"man", b"woman"]),
        WordTokenizer.from_words([b"king", b"queem", b"man"]),
        WordTokenizer.from_words([b"queen", b"king", b"man"]),
        WordTokenizer.from_words([b"kingq", b"ueen", b"man"]),
        WordTokenizer.from_words(words, normalizer=Normalizer(lower=True)),
        WordTokenizer.from_words(words, normalizer=Normalizer(form="nfc")),
    ]
    assert len({one.fingerprint() for one in [given, *others]}) == 7
    assert WordTokenizer.from_words(words).fingerprint() == given.fingerprint()
    assert len(given.fingerprint()) == 64


def test_what_is_stored_comes_back() -> None:
    tokenizer = WordTokenizer.from_words(
        [*(special.encode() for special in SPECIALS), b"b", b"\xc3\xa9", b"a"],
        [0, 0, 0, 5, 2, 1],
        Normalizer(lower=True),
    )
    again = WordTokenizer.restore(tokenizer.spec(), tokenizer.arrays())
    assert again.fingerprint() == tokenizer.fingerprint()
    assert again.counts is not None and again.counts.tolist() == [0, 0, 0, 5, 2, 1]
    assert again.encode("É A b z").tolist() == [4, 5, 3, 0]
    assert tokenizer.files() == {
        "vocab.tsv": "<unk>\t0\n<s>\t0\n</s>\t0\nb\t5\né\t2\na\t1\n".encode()
    }
    assert "word_counts" not in WordTokenizer.from_words([b"a"]).arrays()
    assert WordTokenizer.from_words([b"a"]).files()["vocab.tsv"].endswith(b"\na\n")


def test_decode() -> None:
    tokenizer = WordTokenizer.from_words([b"a", b"b"])
    assert tokenizer.decode([3, 4, 2]) == "a b"
    assert tokenizer.decode([3, 2, 4]) == "a\nb"
    assert tokenizer.decode([2, 4, 2, 2]) == "\nb\n"
    assert tokenizer.decode([]) == tokenizer.decode([2]) == ""
    assert tokenizer.decode([0, 3]) == "<unk> a"
    for line in ("a b", "b", ""):
        assert tokenizer.decode(tokenizer.encode(line)) == line


def test_given_words_get_the_specials_and_lose_doubles() -> None:
    tokenizer = WordTokenizer.from_words([b"a", b"</s>", b"b", b"a"], [1, 2, 3, 4])
    assert tokenizer.table.words() == [b"<unk>", b"<s>", b"</s>", b"a", b"b"]
    assert tokenizer.counts is None
    assert tokenizer.num_tokens == 5 and tokenizer.token(4) == "b"
    assert tokenizer.table.word(3) == b"a"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("king queen\n man", [b"king", b"queen", b"man"]),
        ("king\t12\nqueen\t3\n", [b"king", b"queen"]),
        ("<unk>\t0\n<s>\t0\n</s>\t0\na\t1\n", [b"a"]),
        ("a\r\nb\r\na\r\n", [b"a", b"b"]),
        ("\ufeffa\n\n  b  \n", [b"a", b"b"]),
        ("no\u00a0break x\x0cy", ["no\u00a0break".encode(), b"x\x0cy"]),
        ("<unk>\n", []),
    ],
)
def test_word_lists(text: str, words: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(text.encode())
    assert list(read_word_list(str(path))) == words


def test_word_lists_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text(" \n\n")
    (tmp_path / "bad").write_bytes(b"a\n\xff\n")
    with pytest.raises(UserError, match="empty: no words"):
        read_word_list(str(tmp_path / "empty"))
    with pytest.raises(TextError, match="bad:2:1: not UTF-8"):
        read_word_list(str(tmp_path / "bad"))
    with pytest.raises(TextError, match="none"):
        read_word_list(str(tmp_path / "none"))


def test_a_models_own_list_gives_its_vocabulary_back(tmp_path: Path) -> None:
    words = [b"b", "no\u00a0break".encode(), b"a"]
    tokenizer = WordTokenizer.from_words(words)
    (tmp_path / "vocab.tsv").write_bytes(tokenizer.files()["vocab.tsv"])
    again = WordTokenizer.from_words(read_word_list(str(tmp_path / "vocab.tsv")))
    assert again.fingerprint() == tokenizer.fingerprint()


@pytest.mark.parametrize("given", [{"min_count": 0}, {"max_size": 0}, {"min_count": -1}])
def test_limits_that_cannot_be(given: dict[str, int]) -> None:
    with pytest.raises(UserError, match="is below 1"):
        VocabularyConfig(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("few", [0, 1 << 30])
def test_a_table_holds_any_bytes(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [b"New York", b"", b"a\nb", b"<s>", b"\xff\x00", b"a", b"New York City", b" "]
    monkeypatch.setattr(vocab, "_FEW_WORDS_LOADED", few)
    table = WordTable.of(words)
    assert [table.find(word) for word in words] == list(range(len(words)))
    assert table.find(b"New") == -1
