"""Corpora of ids: the same for any number of threads and blocks, limited as asked, cached."""

import errno
import gzip
import hashlib
import os
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkit.errors import TextError
from lmkit.events import Listener
from lmkit.language_model import EOS, UNK, Mode
from lmkit.text import corpus as corpus_module
from lmkit.text.byte_tokenizer import ByteTokenizer
from lmkit.text.corpus import Corpus, cached_corpus, learn_words, read_corpus
from lmkit.text.encoding import Normalizer
from lmkit.text.lines import read_blocks
from lmkit.text.vocab import VocabularyConfig, WordTokenizer

PLAIN = Normalizer()


def zipfian(seed: int, lines: int) -> str:
    rng = np.random.default_rng(seed)
    numbers = [rng.zipf(1.4, rng.integers(0, 15)) % 20_000 for _ in range(lines)]
    text = [" ".join(f"{'long-' * (k % 3)}w{k}" for k in line.tolist()) for line in numbers]
    text[::97] = ["a <s> b </s> c <unk> d"] * len(text[::97])
    return "\n".join(text)


def write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def learn(
    *sources: str, mode: Mode = "sentence", threads: int = 1, **limits: object
) -> tuple[Corpus, WordTokenizer]:
    config = VocabularyConfig(**limits)  # type: ignore[arg-type]
    return learn_words(sources, config, PLAIN, mode=mode, threads=threads)


def words_of(corpus: Corpus, tokenizer: WordTokenizer) -> list[list[str]]:
    """Return the tokens of every line."""
    offsets = corpus.line_offsets()
    ids = [corpus.ids[a:b] for a, b in pairwise(offsets)]
    return [[tokenizer.token(int(index)) for index in line] for line in ids]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "read_blocks", partial(read_blocks, block_size=10_000))
    monkeypatch.setattr(corpus_module, "SMALL", 20_000)  # then the kernels take over


@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_learning_depends_neither_on_threads_nor_on_blocks(
    mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = zipfian(1, 3000)
    path = write(tmp_path / "text", text)
    whole, expected = learn(path, mode=mode)
    counts = Counter(word for word in text.split() if word not in ("<s>", "</s>", "<unk>"))
    first = {word: place for place, word in reversed(list(enumerate(text.split())))}
    ranked = sorted(counts, key=lambda word: (-counts[word], first[word]))
    assert [word.decode() for word in expected.table.words()[3:]] == ranked
    assert expected.counts is not None
    assert expected.counts[3:].tolist() == [counts[word] for word in ranked]
    assert expected.counts[:3].tolist() == [text.split().count("<unk>"), 0, 0]
    for small in (0, 20_000, 1 << 30):
        monkeypatch.setattr(corpus_module, "SMALL", small)
        for size in (3_000, 50_000, 1 << 22):
            blocks = partial(read_blocks, block_size=size)
            monkeypatch.setattr(corpus_module, "read_blocks", blocks)
            for threads in (1, 3):
                corpus, tokenizer = learn(path, mode=mode, threads=threads)
                assert tokenizer.fingerprint() == expected.fingerprint()
                assert np.array_equal(corpus.ids, whole.ids)
                assert np.array_equal(corpus.line_sizes, whole.line_sizes)
                for name, array in tokenizer.arrays().items():
                    assert np.array_equal(array, expected.arrays()[name]), name


def test_reading_gives_what_learning_gave(tmp_path: Path, small_blocks: None) -> None:
    path = write(tmp_path / "text", zipfian(2, 2000))
    for mode in ("sentence", "document"):
        learnt, tokenizer = learn(path, mode=mode)  # type: ignore[arg-type]
        for threads in (1, 2):
            read = read_corpus([path], tokenizer, mode=mode, threads=threads)  # type: ignore[arg-type]
            assert np.array_equal(read.ids, learnt.ids)
            assert np.array_equal(read.line_sizes, learnt.line_sizes)
            assert (read.sha256, read.num_bytes, read.mode) == (
                learnt.sha256, learnt.num_bytes, mode,
            )  # fmt: skip


@given(st.lists(st.sampled_from(["a", "b", "<s>", "</s>", "<unk>", "\n", " ", "é\x0b"])))
def test_counts_of_a_corpus(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    path = write(tmp_path_factory.getbasetemp() / "counted", " ".join([*parts, "end"]))
    text = Path(path).read_bytes().decode() + "\n"
    words = [word for word in text.split(" ") for word in word.split("\n")]
    words = [word for word in words if word not in ("", "<s>", "</s>")]
    for mode in ("sentence", "document"):
        corpus, tokenizer = learn(path, mode=mode)  # type: ignore[arg-type]
        assert corpus.num_tokens == len(words)
        assert len(corpus.line_sizes) == text.count("\n")
        assert corpus.line_sizes.sum() == len(corpus.ids)
        assert corpus.num_bytes == len(text.encode())
        assert corpus.sha256 == hashlib.sha256(text.encode()).hexdigest()
        ends = int((corpus.ids == EOS).sum())
        assert corpus.num_sentences == ends
        if mode == "sentence":
            assert corpus.ids[-1] == EOS and (corpus.line_sizes > 0).all()
        else:
            assert ends == text.count("<s>") + text.count("</s>")
        seen = [word for line in words_of(corpus, tokenizer) for word in line if word != "</s>"]
        assert seen == words


def test_files_follow_each_other_and_never_glue(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", "a b"), write(tmp_path / "two", "c\n")
    corpus, tokenizer = learn(one, two)
    assert words_of(corpus, tokenizer) == [["a", "b", "</s>"], ["c", "</s>"]]
    packed = write(tmp_path / "packed.gz", gzip.compress(b"a b\nc\n"))
    again, _ = learn(packed)
    assert np.array_equal(again.ids, corpus.ids) and again.sha256 == corpus.sha256


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({}, ["c", "b", "d", "a"]),
        ({"min_count": 2}, ["c", "b", "d"]),
        ({"max_size": 1}, ["c"]),
        ({"max_size": 100}, ["c", "b", "d", "a"]),
        ({"min_count": 9}, []),
        ({"words": (b"d", b"new", b"c")}, ["d", "new", "c"]),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_limits(limits: dict[str, object], kept: list[str], threads: int, tmp_path: Path) -> None:
    text = "c b c d\na b c d\n"
    corpus, tokenizer = learn(write(tmp_path / "text", text), threads=threads, **limits)
    assert [word.decode() for word in tokenizer.table.words()[3:]] == kept
    expected = [
        [*(word if word in kept else "<unk>" for word in line.split()), "</s>"]
        for line in text.split("\n")[:-1]
    ]
    assert words_of(corpus, tokenizer) == expected
    counts = Counter(word for line in expected for word in line if word != "</s>")
    assert tokenizer.counts is not None
    assert tokenizer.counts.tolist() == [counts["<unk>"], 0, 0, *(counts[word] for word in kept)]
    assert tokenizer.encode("a b c d").tolist() == [
        3 + kept.index(word) if word in kept else UNK for word in "abcd"
    ]


def test_limits_of_a_large_vocabulary(tmp_path: Path, small_blocks: None) -> None:
    text = zipfian(3, 6000)
    path = write(tmp_path / "text", text)
    full, everything = learn(path)
    corpus, tokenizer = learn(path, max_size=500, threads=2)
    assert len(everything.table) > 1000
    expected = np.where(full.ids < 503, full.ids, UNK)
    assert np.array_equal(corpus.ids, expected)
    assert tokenizer.table.words() == everything.table.words()[:503]


@pytest.mark.parametrize("small", [0, 1 << 20])
@pytest.mark.parametrize("text", ["", "\n\n", " \t \r\n", "<s> </s>\n"])
def test_no_words(text: str, small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "SMALL", small)
    path = write(tmp_path / "text", text)
    with pytest.raises(TextError, match="text: no words in the text"):
        learn(path)


def test_bad_text_is_named_whichever_thread_met_it(tmp_path: Path, small_blocks: None) -> None:
    good = zipfian(4, 3000).encode()
    place = good.count(b"\n") + 1
    path = write(tmp_path / "text", good + b"\nbad \xff\n" + good)
    for threads in (1, 3):
        with pytest.raises(TextError, match=f"text:{place + 1}:5: not UTF-8"):
            learn(path, threads=threads)
    corpus, tokenizer = learn_words(
        [path], VocabularyConfig(), PLAIN, mode="sentence", errors="replace", threads=3
    )
    assert tokenizer.table.find("\ufffd".encode()) > 0
    assert len(corpus.line_sizes) == 2 * place + 1


class Counting(Listener):
    def __init__(self) -> None:
        self.phases: list[tuple[str, int | None, str]] = []
        self.done = 0

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        self.phases.append((name, total, unit))

    def advance(self, amount: int) -> None:
        self.done += amount


def test_progress_is_in_bytes(tmp_path: Path, small_blocks: None) -> None:
    path = write(tmp_path / "text", zipfian(5, 2000))
    size = os.stat(path).st_size
    listener = Counting()
    _, tokenizer = learn_words(
        [path], VocabularyConfig(), PLAIN, mode="sentence", threads=2, listener=listener
    )
    assert (listener.phases, listener.done) == ([("reading", size, "B")], size)
    again = Counting()
    read_corpus([path], tokenizer, mode="sentence", listener=again)
    assert (again.phases, again.done) == ([("reading", size, "B")], size)


def test_a_saved_corpus_is_mapped(tmp_path: Path) -> None:
    corpus, _ = learn(write(tmp_path / "text", "a b\n\nc a <s> a\n"))
    corpus.save(tmp_path / "saved")
    again = Corpus.open(tmp_path / "saved")
    assert isinstance(again.ids, np.memmap) and not again.ids.flags.writeable
    assert again.ids.tolist() == corpus.ids.tolist()
    assert again.line_sizes.tolist() == corpus.line_sizes.tolist() == [3, 1, 5]
    assert again.line_offsets().tolist() == [0, 3, 4, 9]
    assert (again.num_bytes, again.sha256, again.mode) == (
        corpus.num_bytes, corpus.sha256, corpus.mode,
    )  # fmt: skip
    assert (again.num_sentences, again.num_tokens) == (4, 5)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_release_lets_go_of_the_ids(tmp_path: Path) -> None:
    corpus, _ = learn(write(tmp_path / "text", "a b\n"))
    ids = corpus.ids
    assert corpus.release() is ids and len(corpus.ids) == 0


def test_the_cache_knows_what_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "a b\n")
    cache = tmp_path / "cache"
    words = WordTokenizer.from_words([b"a", b"b", b"c"])

    def cached(tokenizer: WordTokenizer | ByteTokenizer = words, mode: Mode = "sentence") -> Corpus:
        return cached_corpus([path], tokenizer, cache, mode=mode)

    def entries() -> list[str]:
        return sorted(entry.name for entry in cache.iterdir())

    assert cached().ids.tolist() == [3, 4, 2]
    first = entries()
    assert len(first) == 1
    stamp = (cache / first[0] / "ids.npy").stat().st_mtime_ns
    assert cached().ids.tolist() == [3, 4, 2]
    assert entries() == first and (cache / first[0] / "ids.npy").stat().st_mtime_ns == stamp
    write(tmp_path / "text", "a c\n")
    assert cached().ids.tolist() == [3, 5, 2]
    assert cached(mode="document").ids.tolist() == [3, 5]
    assert cached(WordTokenizer.from_words([b"c", b"a"])).ids.tolist() == [4, 3, 2]
    assert cached(ByteTokenizer()).ids.tolist() == [100, 35, 102, 2]
    assert len(entries()) == 5
    write(tmp_path / "text", "a b\n")
    assert cached().ids.tolist() == [3, 4, 2] and len(entries()) == 5


def test_a_corpus_saved_meanwhile_by_another_process_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "text", "a b\n")
    tokenizer = WordTokenizer.from_words([b"a", b"b"])
    cache = tmp_path / "cache"

    def read_while_another_does(*args: object, **kwargs: object) -> Corpus:
        corpus = read_corpus(*args, **kwargs)  # type: ignore[arg-type]
        monkeypatch.undo()
        cached_corpus([path], tokenizer, cache, mode="sentence")
        return corpus

    monkeypatch.setattr(corpus_module, "read_corpus", read_while_another_does)
    corpus = cached_corpus([path], tokenizer, cache, mode="sentence")
    assert corpus.ids.tolist() == [3, 4, 2]
    assert len(list(cache.iterdir())) == 1


def test_a_save_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "text", "a b\n")
    tokenizer = WordTokenizer.from_words([b"a", b"b"])
    cache = tmp_path / "cache"

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(corpus_module.np, "save", full)
    with pytest.raises(OSError, match="No space"):
        cached_corpus([path], tokenizer, cache, mode="sentence")
    assert list(cache.iterdir()) == []
    monkeypatch.undo()
    assert cached_corpus([path], tokenizer, cache, mode="sentence").ids.tolist() == [3, 4, 2]
