"""A corpus as ids: one flat uint32 array, with the size of every line.

``read_corpus`` encodes text with a given tokenizer; ``learn_words`` learns a word vocabulary and
encodes in the same pass: blocks of text go to threads that each keep a word table of their own,
the tables are merged, and words get their final ids by falling count (ties: first occurrence),
so that the result does not depend on the number of threads.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import TextError, UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS, Errors, Ids, Mode
from lmkit.text.encoding import Encoded, Normalizer
from lmkit.text.lines import Block, read_blocks, total_size
from lmkit.text.sources import STDIN_NAME
from lmkit.text.vocab import VocabularyConfig, WordTable, WordTokenizer
from lmkit.text.words import LocalWords, merge_words

SMALL = 1 << 20
"""Bytes of text up to which one pass in Python is quicker than loading the kernels."""


class BlockTokenizer(Protocol):
    """What a corpus needs of a tokenizer."""

    @property
    def unit(self) -> str:
        """What the tokens are."""

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary."""

    def encode_block(self, block: Block, mode: Mode) -> Encoded:
        """Encode the lines of a block."""

    def spec(self) -> dict[str, Any]:
        """Describe the tokenizer."""

    def fingerprint(self) -> str:
        """Return the SHA-256 of everything that decides the ids."""


@dataclass(slots=True)
class Corpus:
    """Encoded text.

    In sentence mode every sentence is closed by id 2; in document mode id 2 stands only where
    the text itself marks a break.
    """

    ids: Ids
    """[T] token ids."""
    line_sizes: NDArray[np.int64]
    """[L] tokens of each line, its ends of sentences counted."""
    num_bytes: int
    """Bytes of the text, line ends counted."""
    sha256: str
    """SHA-256 (hex) of the text as read (decompressed, BOM removed)."""
    mode: Mode

    @property
    def num_sentences(self) -> int:
        """Number of sentences (sentence mode) or of breaks (document mode)."""
        return int(np.count_nonzero(self.ids == EOS))

    @property
    def num_tokens(self) -> int:
        """Number of tokens of the text, ends of sentences not counted."""
        return len(self.ids) - self.num_sentences

    def release(self) -> Ids:
        """Return the ids and keep them no longer, so that the caller can free them."""
        ids, self.ids = self.ids, np.empty(0, dtype=np.uint32)
        return ids

    def line_offsets(self) -> NDArray[np.int64]:
        """Return [L + 1]: line i is ``ids[offsets[i]:offsets[i + 1]]``."""
        offsets = np.zeros(len(self.line_sizes) + 1, dtype=np.int64)
        np.cumsum(self.line_sizes, out=offsets[1:])
        return offsets

    def save(self, directory: Path) -> None:
        """Write the corpus to a new directory, by rename, for :meth:`open` to map.

        What another process saved there meanwhile stays.
        """
        staging = directory.with_name(f".{directory.name}.tmp-{os.getpid()}")
        try:
            staging.mkdir(parents=True, exist_ok=True)
            np.save(staging / "ids.npy", self.ids)
            np.save(staging / "line_sizes.npy", self.line_sizes)
            facts = {"num_bytes": self.num_bytes, "sha256": self.sha256, "mode": self.mode}
            text = json.dumps(facts, sort_keys=True)
            (staging / "corpus.json").write_text(text, encoding="utf-8")
            staging.rename(directory)
        except OSError:
            if not (directory / "corpus.json").exists():
                raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    @classmethod
    def open(cls, directory: Path) -> Corpus:
        """Map a saved corpus; nothing is copied."""
        facts = json.loads((directory / "corpus.json").read_text(encoding="utf-8"))
        ids = np.load(directory / "ids.npy", mmap_mode="r", allow_pickle=False)
        sizes = np.load(directory / "line_sizes.npy", mmap_mode="r", allow_pickle=False)
        return cls(ids, sizes, facts["num_bytes"], facts["sha256"], facts["mode"])


def cached_corpus(
    sources: Sequence[str],
    tokenizer: BlockTokenizer,
    cache: Path,
    *,
    mode: Mode,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> Corpus:
    """Return the corpus of files from ``cache``, encoding and keeping it on the first call.

    The key is the content of the files, the tokenizer's fingerprint and the mode: a changed
    file or tokenizer never meets a stale corpus.
    """
    if total_size(sources) is None:
        raise UserError("only files can be kept in the cache, for they are read twice")
    digest = hashlib.sha256(f"{tokenizer.fingerprint()} {mode} {errors}".encode())
    for _ in read_blocks(sources, errors=errors, digest=digest):
        pass
    directory = cache / digest.hexdigest()
    if not directory.exists():
        corpus = read_corpus(
            sources, tokenizer, mode=mode, errors=errors, threads=threads, listener=listener
        )
        corpus.save(directory)
    return Corpus.open(directory)


def read_corpus(
    sources: Sequence[str],
    tokenizer: BlockTokenizer,
    *,
    mode: Mode,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> Corpus:
    """Encode the text of ``sources`` with a tokenizer that exists already."""
    listener.phase("reading", total_size(sources), "B")
    digest = hashlib.sha256()
    ids: list[Ids] = []
    sizes: list[NDArray[np.int64]] = []
    num_bytes = 0
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Encoded]] = deque()

        def collect() -> None:
            encoded = pending.popleft().result()
            ids.append(encoded.ids)
            sizes.append(encoded.line_sizes)

        for block in read_blocks(sources, errors=errors, listener=listener, digest=digest):
            num_bytes += block.size
            pending.append(pool.submit(tokenizer.encode_block, block, mode))
            if len(pending) > 2 * threads:
                collect()
        while pending:
            collect()
    joined = _join(ids, np.uint32), _join(sizes, np.int64)
    return Corpus(*joined, num_bytes, digest.hexdigest(), mode)


def learn_words(
    sources: Sequence[str],
    config: VocabularyConfig,
    normalizer: Normalizer,
    *,
    mode: Mode,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> tuple[Corpus, WordTokenizer]:
    """Learn a word vocabulary from text and encode the text with it, in one pass.

    Raises:
        TextError: the text cannot be read, or holds no words at all.
    """
    listener.phase("reading", total_size(sources), "B")
    digest = hashlib.sha256()
    blocks = read_blocks(sources, errors=errors, listener=listener, digest=digest)
    parts, num_bytes, used = _encode_blocks(blocks, normalizer, mode, threads)
    if config.words is not None and not normalizer.identity:
        words = (normalizer(word.decode()).encode() for word in config.words)
        config = replace(config, words=tuple(dict.fromkeys(words)))
    table, counts, rank_of = merge_words(used)
    keep, ranks = _select(table, counts, config)
    tokenizer = WordTokenizer(keep, normalizer, _kept_counts(counts, ranks, len(keep)))
    ids = np.empty(sum(len(part.ids) for _, part in parts), dtype=np.uint32)
    jobs: list[tuple[int, Ids, NDArray[np.uint32]]] = []
    begin = 0
    for owner, part in parts:
        jobs.append((begin, part.ids, ranks[rank_of[owner]]))
        begin += len(part.ids)
    _translate(jobs, ids, threads)
    sizes = _join([part.line_sizes for _, part in parts], np.int64)
    if len(ids) == 0 or tokenizer.counts is None or not tokenizer.counts.any():
        names = ", ".join(STDIN_NAME if source == "-" else str(source) for source in sources)
        raise TextError(f"{names}: no words in the text", "Give a text with at least one word")
    return Corpus(ids, sizes, num_bytes, digest.hexdigest(), mode), tokenizer


Part = tuple[int, Encoded]


def _encode_blocks(
    blocks: Iterator[Block], normalizer: Normalizer, mode: Mode, threads: int
) -> tuple[list[Part], int, list[LocalWords]]:
    """Encode blocks by local ids; return (owner, Encoded) in order, the bytes, the tables."""
    head, is_small = _first_blocks(blocks)
    tables = [LocalWords(compiled=not is_small) for _ in range(1 if is_small else threads)]
    idle: SimpleQueue[int] = SimpleQueue()
    for owner in range(len(tables)):
        idle.put(owner)

    def encode(block: Block, base: int) -> Part:
        owner = idle.get()
        try:
            return owner, tables[owner].encode(normalizer.block(block), mode, base)
        finally:
            idle.put(owner)

    parts: list[Part] = []
    num_bytes = 0
    with ThreadPoolExecutor(len(tables)) as pool:
        pending: deque[Future[Part]] = deque()
        for number, block in enumerate(chain(head, blocks)):
            pending.append(pool.submit(encode, block, number << 40))
            num_bytes += block.size
            if len(pending) > 2 * threads:
                parts.append(pending.popleft().result())
        parts.extend(future.result() for future in pending)
    return parts, num_bytes, tables


def _first_blocks(blocks: Iterator[Block]) -> tuple[list[Block], bool]:
    """Read blocks until the text is known to be small or not; return them and whether it is."""
    head: list[Block] = []
    size = 0
    for block in blocks:
        head.append(block)
        size += block.size
        if size > SMALL:
            return head, False
    return head, True


def _select(
    table: WordTable, counts: NDArray[np.int64], config: VocabularyConfig
) -> tuple[WordTable, NDArray[np.uint32]]:
    """Return the words that stay, the specials first, and the new id of each old one."""
    ranks = np.zeros(len(table), dtype=np.uint32)
    ranks[:3] = np.arange(3)
    if config.words is not None:
        kept = WordTokenizer.from_words(config.words).table
        places = {word: index for index, word in enumerate(kept.words())}
        ranks[3:] = [places.get(word, 0) for word in table.words()[3:]]
        return kept, ranks
    stay = counts[3:] >= config.min_count
    last = 3 + int(np.count_nonzero(stay))  # counts fall, so the words that stay come first
    if config.max_size is not None:
        last = min(last, 3 + config.max_size)
    ranks[3:last] = np.arange(3, last)
    if last == len(table):
        return table, ranks
    offsets = table.offsets[: last + 1].copy()
    arena = np.concatenate([table.arena[: offsets[-1]], np.zeros(64, dtype=np.uint8)])
    return WordTable.from_arena(arena, offsets), ranks


def _kept_counts(
    counts: NDArray[np.int64], ranks: NDArray[np.uint32], size: int
) -> NDArray[np.int64]:
    kept = np.zeros(size, dtype=np.int64)
    np.add.at(kept, ranks, counts)
    kept[1:3] = 0
    return kept


def _translate(jobs: list[tuple[int, Ids, NDArray[np.uint32]]], out: Ids, threads: int) -> None:
    """Write ``ranks[ids]`` of every job to its place in ``out``."""

    def run(job: tuple[int, Ids, NDArray[np.uint32]]) -> None:
        begin, ids, ranks = job
        np.take(ranks, ids, out=out[begin : begin + len(ids)], mode="clip")

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, jobs))


def _join(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
