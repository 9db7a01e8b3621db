"""Reads ARPA files into the records of an n-gram model.

The format is the text between ``\\data\\`` and ``\\end\\`` with log10 probabilities that SRILM,
KenLM and IRSTLM write. What readers trip over is taken as it is meant: CRLF, any blanks between
fields, empty lines, text before ``\\data\\``, absent back-offs, n-grams in any order, a missing
``<unk>``, ``<s>`` or ``</s>``, contexts that pruning left out. What cannot be meant is an error
that names FILE:LINE.

Numbers are kept as natural logarithms in float32. -99, which tools write for the logarithm of 0,
is taken as the number it is, as KenLM does. Log probabilities above 0 by up to 1e-5 are rounding
errors and become 0.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmkit.events import SILENT, Listener
from lmkit.language_model import Mode
from lmkit.ngram.arpa.lexicon.index import Lexicon, RepeatedWord
from lmkit.ngram.arpa.sections import NgramParser, UnigramParser
from lmkit.ngram.arpa.trie.completion import adopt_orphans
from lmkit.ngram.arpa.trie.levels import Chunk, RawNgrams, Repeated, Trie
from lmkit.ngram.arpa.unigrams import Unigrams, Vocabulary, make_vocabulary
from lmkit.ngram.arpa.walk import Walk
from lmkit.ngram.query.lookup import Records
from lmkit.text.lines import total_size
from lmkit.text.sources import ByteSource
from lmkit.text.vocab import WordTokenizer


@dataclass(slots=True)
class ArpaModel:
    """A model as read from an ARPA file; arrays as in ``lmkit.ngram.query.kernels``."""

    inner: NDArray[np.uint32]
    """[I + 1, 5]: orders 1 to N - 1 (order 1 of a 1-gram model) and the sentinel."""
    top: NDArray[np.uint32]
    """[T, 3]: order N; empty in a 1-gram model."""
    wide: NDArray[np.uint32]
    tokenizer: WordTokenizer
    order: int
    counts: list[int]
    mode: Mode
    """document where </s> is never predicted, else sentence; the format itself does not say."""

    @property
    def records(self) -> Records:
        """The arrays as :class:`lmkit.ngram.model.NgramModel` takes them."""
        return Records(self.inner, self.top, self.wide)


def read_arpa(source: str | Path, *, threads: int = 1, listener: Listener = SILENT) -> ArpaModel:
    """Read an ARPA file, plain or compressed; ``"-"`` is standard input.

    Args:
        source: the file; gzip, bzip2 and xz are known by their content.
        threads: how many threads parse and sort.
        listener: is told of the progress, and warned of what the file lacks.

    Raises:
        TextError: it cannot be read or is no sound ARPA file; the message names FILE:LINE.
    """
    with ByteSource(source) as stream, ThreadPoolExecutor(threads) as pool:
        listener.phase("reading", total_size([source]), "B")
        vocabulary, trie = _Reading(stream, pool, threads, listener).run()
        wide = trie.wide_table()
    listener.finish()
    mode: Mode = "sentence" if vocabulary.has_sentences else "document"
    counts = [trie.size(n) for n in range(1, trie.order + 1)]
    return ArpaModel(trie.inner, trie.top, wide, vocabulary.tokenizer, trie.order, counts, mode)


class _Reading:
    """Reads the orders of one file."""

    def __init__(
        self, stream: ByteSource, pool: Executor, threads: int, listener: Listener
    ) -> None:
        self.walk = Walk(stream, pool, threads, listener)
        self.file_size = stream.size
        self.pool = pool
        self.threads = threads
        self.listener = listener

    def run(self) -> tuple[Vocabulary, Trie]:
        """Read all orders."""
        walk = self.walk
        counts = walk.read_counts()
        vocabulary = self.read_vocabulary(counts[0])
        if len(counts) == 1:
            vocabulary.backoffs[:] = 0.0  # nothing is longer, so nothing backs off
        room = [self.possible(n, count) for n, count in enumerate(counts, 1)]
        try:
            raw = np.empty((max(room[1:], default=0), 5), dtype=np.uint32)
            trie = Trie(vocabulary.logprobs, vocabulary.backoffs, room, self.pool, self.threads)
        except MemoryError:
            raise walk.error(
                walk.header_line, f"no memory for the {sum(counts):,} n-grams of the header"
            ) from None
        for n, count in enumerate(counts[1:], 2):
            ngrams = RawNgrams(raw[: room[n - 1]], trie.size(n - 1), trie.size(1))
            parsed = walk.read_section(NgramParser(n, vocabulary.lexicon, trie, ngrams), count)
            chunks = [part.ngrams for part in parsed if isinstance(part.ngrams, Chunk)]
            trie = self.add_order(n, trie, ngrams, chunks, room, vocabulary.lexicon)
        walk.expect_end()
        return vocabulary, trie

    def possible(self, n: int, promised: int) -> int:
        """Return how many of the ``n``-grams that the header promises the file can hold."""
        if self.file_size is None:
            return promised
        return min(promised, self.file_size // (2 * n + 2) + 1)

    def read_vocabulary(self, promised: int) -> Vocabulary:
        """Read the 1-grams."""
        parsed = self.walk.read_section(UnigramParser(), promised)
        parts = [part.ngrams for part in parsed if isinstance(part.ngrams, Unigrams)]
        if not sum(map(len, parts)):
            raise self.walk.error(self.walk.header_line, "no 1-grams, so there are no words")
        unigrams = Unigrams.join(parts)
        try:
            return make_vocabulary(unigrams, self.walk.name, self.listener)
        except RepeatedWord as error:
            shown = unigrams.word(error.index).decode()
            line = int(unigrams.lines[error.index])
            raise self.walk.error(line, f"the word {shown!r} is there before") from None

    def add_order(
        self,
        n: int,
        trie: Trie,
        ngrams: RawNgrams,
        chunks: list[Chunk],
        room: list[int],
        words: Lexicon,
    ) -> Trie:
        """Add the ``n``-grams, from 2 up, and contexts that they lack; return the trie."""
        if any(chunk.orphans for chunk in chunks):
            before = trie.bases[-1]
            trie, ngrams, chunks = adopt_orphans(trie, ngrams, chunks, room)
            self.listener.note(
                f"{self.walk.name}: {trie.bases[-1] - before:,} n-grams added that {n}-grams "
                "begin with and that the file leaves out"
            )
        try:
            trie.add_order(ngrams, chunks)
        except Repeated as error:
            line, word = _find_repeated(ngrams, chunks, error), words.word(error.word).decode()
            raise self.walk.error(
                line, f"a {n}-gram that is there before, ending in {word!r}"
            ) from None
        return trie


def _find_repeated(ngrams: RawNgrams, chunks: list[Chunk], error: Repeated) -> int:
    """Return the line of the second of two equal n-grams."""
    lines: list[int] = []
    for chunk in chunks:
        raw = ngrams.raw[chunk.begin : chunk.begin + chunk.size]
        same = (raw[:, 1] == error.context) & (raw[:, 0] == error.word)
        lines += (raw[same, 4].astype(np.int64) + chunk.first_line).tolist()
    return sorted(lines)[1]
