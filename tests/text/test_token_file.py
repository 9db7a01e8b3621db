"""Text as a flat file of ids: what it holds, when it is made again, where it is cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lmkit.errors import UserError
from lmkit.language_model import EOS, Mode
from lmkit.text import token_file
from lmkit.text.byte_tokenizer import ByteTokenizer
from lmkit.text.corpus import read_corpus
from lmkit.text.encoding import Normalizer
from lmkit.text.token_file import TokenFile, cached_tokens, id_type, split_tokens, write_tokens


def text(folder: Path, content: str = "one two\nthree\n\nvier fünf\n") -> list[str]:
    (folder / "text.txt").write_text(content, encoding="utf-8")
    return [str(folder / "text.txt")]


@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_the_ids_are_those_of_the_corpus(tmp_path: Path, mode: Mode) -> None:
    sources = text(tmp_path, "one two\nthree\n" * 3000)
    written = write_tokens(sources, ByteTokenizer(), tmp_path / "tokens", mode=mode, threads=2)
    corpus = read_corpus(sources, ByteTokenizer(), mode=mode)
    assert np.array_equal(written.ids, corpus.ids)
    assert written.ids.dtype == np.uint16
    assert written.facts.num_tokens == corpus.num_tokens
    assert written.facts.num_lines == len(corpus.line_sizes)
    assert written.facts.sha256 == corpus.sha256
    assert written.facts.num_bytes == corpus.num_bytes


def test_large_vocabularies_take_wider_ids() -> None:
    assert id_type(1 << 16) == np.uint16
    assert id_type((1 << 16) + 1) == np.uint32


def test_what_has_been_read_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, cache = text(tmp_path), tmp_path / "cache"
    first = cached_tokens(sources, ByteTokenizer(), cache, mode="sentence")
    with monkeypatch.context() as patch:
        patch.setattr(token_file, "write_tokens", lambda *a, **k: pytest.fail("made again"))
        again = cached_tokens(sources, ByteTokenizer(), cache, mode="sentence")
    assert np.array_equal(first.ids, again.ids)
    assert len(list(cache.iterdir())) == 1


def test_another_text_tokenizer_or_mode_is_another_file(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    lower = ByteTokenizer(Normalizer(lower=True))
    cached_tokens(text(tmp_path), ByteTokenizer(), cache, mode="sentence")
    cached_tokens(text(tmp_path), ByteTokenizer(), cache, mode="document")
    cached_tokens(text(tmp_path), lower, cache, mode="sentence")
    cached_tokens(text(tmp_path, "other\n"), ByteTokenizer(), cache, mode="sentence")
    assert len(list(cache.iterdir())) == 4


@pytest.mark.parametrize("name", ["ids.bin", "facts.json"])
def test_a_damaged_file_is_made_again(tmp_path: Path, name: str) -> None:
    sources, cache = text(tmp_path), tmp_path / "cache"
    first = np.array(cached_tokens(sources, ByteTokenizer(), cache, mode="sentence").ids)
    (directory,) = cache.iterdir()
    (directory / name).write_bytes(b"{")
    assert TokenFile.open(directory) is None
    again = cached_tokens(sources, ByteTokenizer(), cache, mode="sentence")
    assert np.array_equal(first, again.ids)


def test_a_full_disk_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(token_file.os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        cached_tokens(text(tmp_path), ByteTokenizer(), tmp_path / "cache", mode="sentence")
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_end_is_held_out_at_the_end_of_a_sentence() -> None:
    ids = np.array([5, 6, EOS, 7, EOS, 8, 9, 9, EOS, 4, EOS])
    kept, held_out = split_tokens(ids, "sentence", 0.3)
    assert held_out.tolist() == [4, EOS]
    assert np.array_equal(np.concatenate([kept, held_out]), ids)
    assert [len(part) for part in split_tokens(ids, "document", 0.3)] == [8, 3]


@pytest.mark.parametrize(
    ("ids", "mode"), [([], "document"), ([5], "document"), ([5, EOS], "sentence")]
)
def test_too_small_to_be_cut(ids: list[int], mode: Mode) -> None:
    with pytest.raises(UserError, match="too small"):
        split_tokens(np.array(ids), mode, 0.1)
