"""The text of word vectors: read once, rare words left out, the words of an older model kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.vectors import Vectors
from lmkit.errors import TextError, UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.text.corpus import Corpus, learn_words
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import VocabularyConfig, WordTable, WordTokenizer

_SPECIALS = 3
_BLOCK = 1 << 22
"""Ids that are translated at a time."""


@dataclass(slots=True)
class EmbedText:
    """Encoded text and its words, the frequent ones first."""

    corpus: Corpus
    """Ids: 0 is a word that was left out, 2 the end of a sentence, word w is w + 3."""
    words: WordTable
    counts: NDArray[np.int64]
    """[V] how often each word occurs, in an older model's text too."""
    old: NDArray[np.int64] | None = None
    """[V] the row of each word in the older model, -1 for new ones."""


def encode_text(
    sources: Sequence[str],
    limits: VocabularyConfig,
    normalizer: Normalizer,
    *,
    errors: Errors = "strict",
    threads: int = 1,
    older: Vectors | None = None,
    listener: Listener = SILENT,
) -> EmbedText:
    """Read the text of ``sources``; keep words seen often enough, and those of ``older``.

    Raises:
        TextError: the text cannot be read or holds no words.
        UserError: no word is seen often enough.
    """
    everything = VocabularyConfig()
    corpus, tokenizer = learn_words(
        sources, everything, normalizer, mode="sentence", errors=errors, threads=threads,
        listener=listener,
    )  # fmt: skip
    assert tokenizer.counts is not None
    counts = tokenizer.counts[_SPECIALS:]
    if not len(counts):
        raise TextError(f"{', '.join(sources)}: no words in the text", "Give more text")
    kept = int(np.count_nonzero(counts >= limits.min_count))  # counts fall
    if kept == 0 and older is None:
        raise UserError(
            f"0 of {len(counts):,} words reach min-count {limits.min_count}; the most frequent "
            f"has {counts[0]:,} ({tokenizer.token(_SPECIALS)})",
            "Lower --min-count or give more text",
        )
    if limits.max_size is not None:
        kept = min(kept, limits.max_size)
    if older is None:
        _drop_above(corpus.ids, kept + _SPECIALS)
        return EmbedText(corpus, _first_words(tokenizer.table, kept), counts[:kept].copy())
    return _united(corpus, tokenizer, kept, older)


def _drop_above(ids: NDArray[np.uint32], limit: int) -> None:
    """Make all ids from ``limit`` on 0."""
    for begin in range(0, len(ids), _BLOCK):
        part = ids[begin : begin + _BLOCK]
        part[part >= limit] = 0


def _first_words(table: WordTable, count: int) -> WordTable:
    """Return the table of ``count`` words behind the specials."""
    begin, end = table.offsets[_SPECIALS], table.offsets[_SPECIALS + count]
    arena = np.concatenate([table.arena[begin:end], np.zeros(64, dtype=np.uint8)])
    offsets = table.offsets[_SPECIALS : _SPECIALS + count + 1] - begin
    return WordTable.from_arena(arena, offsets)


def _united(corpus: Corpus, tokenizer: WordTokenizer, kept: int, older: Vectors) -> EmbedText:
    """Return the text with the words of an older model and the new words that are kept."""
    assert tokenizer.counts is not None and older.counts is not None
    found = tokenizer.table.words()[_SPECIALS:]
    rows = np.array([older.words.find(word) for word in found], dtype=np.int64)
    is_new = (rows < 0) & (np.arange(len(found)) < kept)
    new = np.flatnonzero(is_new)
    words = [*older.words.words(), *(found[i] for i in new)]
    places = np.where(rows >= 0, rows, -1)
    places[new] = len(older) + np.arange(len(new))
    counts = np.concatenate([older.counts, np.zeros(len(new), dtype=np.int64)])
    used = places >= 0
    counts[places[used]] += tokenizer.counts[_SPECIALS:][used]
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(words), dtype=np.int64)
    rank[order] = np.arange(len(words))
    codes = np.zeros(len(found) + _SPECIALS, dtype=np.uint32)
    codes[:_SPECIALS] = np.arange(_SPECIALS)
    codes[_SPECIALS:][used] = rank[places[used]] + _SPECIALS
    for begin in range(0, len(corpus.ids), _BLOCK):
        part = corpus.ids[begin : begin + _BLOCK]
        part[:] = codes[part]
    table = WordTable.of([words[i] for i in order.tolist()])
    return EmbedText(corpus, table, counts[order], np.where(order < len(older), order, -1))
