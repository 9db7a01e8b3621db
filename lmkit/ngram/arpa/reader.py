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
from lmkit.ngram.arpa.sections import Parsed, SectionParser
from lmkit.ngram.arpa.trie.assembly import assemble
from lmkit.ngram.arpa.trie.completion import add_contexts
from lmkit.ngram.arpa.trie.levels import Ngrams, Repeated, Trie, build_level
from lmkit.ngram.arpa.unigrams import RepeatedWord, Unigrams, Vocabulary, make_vocabulary
from lmkit.ngram.arpa.walk import Walk
from lmkit.ngram.query.lookup import Records
from lmkit.text.lines import total_size
from lmkit.text.sources import ByteSource
from lmkit.text.vocab import WordTable, WordTokenizer


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


def read_arpa(
    source: str | Path, *, threads: int = 1, listener: Listener = SILENT
) -> ArpaModel:
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
        walk = Walk(stream, pool, threads, listener)
        vocabulary, trie = _read(walk, pool, threads, listener)
        sizes = [trie.size(n) for n in range(1, len(trie.levels) + 2)]
        inner, top, wide = assemble(trie, pool, threads, listener)
    listener.finish()
    mode: Mode = "sentence" if vocabulary.has_sentences else "document"
    return ArpaModel(inner, top, wide, vocabulary.tokenizer, len(sizes), sizes, mode)


def _read(
    walk: Walk, pool: Executor, threads: int, listener: Listener
) -> tuple[Vocabulary, Trie]:
    """Read all orders."""
    counts = walk.read_counts()
    vocabulary = _read_vocabulary(walk, counts[0], listener)
    trie = Trie(vocabulary.logprobs, vocabulary.backoffs)
    for n in range(2, len(counts) + 1):
        parsed = walk.read_section(SectionParser(n, vocabulary.spelled, trie), counts[n - 1])
        chunks = [part.ngrams for part in parsed if isinstance(part.ngrams, Ngrams)]
        if any(chunk.missing.shape[1] for chunk in chunks):
            added = add_contexts(trie, chunks, pool, threads)
            listener.note(
                f"{walk.name}: {added:,} n-grams added that {n}-grams begin with "
                "and that the file leaves out"
            )
        try:
            level = build_level(
                chunks, trie.size(n - 1), pool, threads, searched=n < len(counts)
            )
        except Repeated as error:
            line, text = _find_repeated(parsed, vocabulary.spelled, error)
            raise walk.error(line, f"a {n}-gram that is there before, ending in {text!r}") from None
        trie.levels.append(level)
    if walk.at_section(len(counts) + 1):  # one that the counts say is empty
        walk.read_section(SectionParser(len(counts) + 1, vocabulary.spelled, trie), 0)
    walk.expect_end()
    return vocabulary, trie


def _read_vocabulary(walk: Walk, promised: int, listener: Listener) -> Vocabulary:
    parsed = walk.read_section(SectionParser(1, None, None), promised)
    parts = [part.ngrams for part in parsed if isinstance(part.ngrams, Unigrams)]
    if not parts:
        raise walk.error(walk.header_line, "no 1-grams, so there are no words")
    unigrams = Unigrams.join(parts)
    try:
        return make_vocabulary(unigrams, walk.name, listener)
    except RepeatedWord as error:
        begin = int(unigrams.sizes[: error.index].sum())
        word = unigrams.arena[begin : begin + unigrams.sizes[error.index]].tobytes().decode()
        index = error.index
        for part in parsed:
            if index < len(part):
                raise walk.error(part.line(index), f"the word {word!r} is there before") from None
            index -= len(part)
        raise


def _find_repeated(parsed: list[Parsed], words: WordTable, error: Repeated) -> tuple[int, str]:
    """Return the line of the second of two equal n-grams, and the last word of them."""
    lines = []
    for part in parsed:
        if isinstance(part.ngrams, Ngrams):
            same = (part.ngrams.contexts == error.context) & (part.ngrams.words == error.word)
            lines += [part.line(index) for index in np.flatnonzero(same).tolist()]
    return lines[1], words.word(error.word).decode()
