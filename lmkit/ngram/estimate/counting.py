"""Suffix sorting: all n-grams of all orders of a text in one order of its positions.

Positions are sorted by the words that end there, read backwards: a counting sort by the last
word, then group by group by the word before, and so on: insertion sort for small groups, radix
sort for large ones, in ranges that stay in the processor's cache. (numpy's own sort is five times
slower on some processors with AVX-512 than on others, so it is not used.) One byte a position,
the number of words shared with its predecessor, then holds the groups of all orders.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.events import Listener
from lmkit.language_model import BOS, EOS, Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate import kernels
from lmkit.ngram.layout import NONE

CHUNK = 1 << 18


@dataclass(slots=True)
class SuffixOrder:
    """The positions of a text in suffix order; see ``kernels.py`` for the legend."""

    stream: NDArray[np.uint32]
    suffixes: NDArray[np.uint32]
    shared: NDArray[np.uint8]
    reach: NDArray[np.uint8]

    def split(self, parts: int) -> list[tuple[int, int]]:
        """Cut the places into ranges of about equal size at starts of words' groups."""
        size = len(self.suffixes)
        cuts = [0]
        for part in range(1, parts):
            begin = max(size * part // parts, cuts[-1] + 1)
            window = 1 << 16
            while begin < size:
                found = np.flatnonzero(self.shared[begin : begin + window] == 0)
                if len(found):
                    cuts.append(begin + int(found[0]))
                    break
                begin += window
        cuts.append(size)
        return [(a, b) for a, b in pairwise(cuts) if b > a]

    def left_words(self, num_words: int) -> NDArray[np.int64]:
        """Return how many distinct words stand before each word [V]."""
        heads = np.flatnonzero(self.shared == 0)
        counts = np.zeros(num_words, dtype=np.int64)
        words = self.stream[self.suffixes[heads]]
        counts[words] = np.add.reduceat(self.shared <= 1, heads, dtype=np.int64)
        return counts


def padded_stream(ids: Ids, config: NgramConfig) -> NDArray[np.uint32]:
    """Return ``ids`` with N - 1 barriers before every sentence."""
    sentences = config.mode == "sentence"
    barriers = config.order - 1
    ends = int(np.count_nonzero(ids == EOS))
    size = len(ids) + (ends + 1) * barriers
    if size >= NONE:
        raise UserError(f"a text of more than {NONE:,} positions", "Fit it in parts")
    stream = np.empty(size, dtype=np.uint32)
    return stream[: kernels.pad_stream(ids, barriers, sentences, stream)]


def sort_suffixes(
    stream: NDArray[np.uint32],
    num_words: int,
    config: NgramConfig,
    pool: Executor,
    listener: Listener,
) -> SuffixOrder:
    """Return the positions of a padded stream in suffix order up to the model's order."""
    order = config.order
    histogram = np.bincount(stream, minlength=num_words)
    histogram[BOS] = 0
    tokens = int(histogram.sum())
    listener.phase("sorting", tokens, "tokens")
    offsets = np.zeros(num_words + 1, dtype=np.int64)
    np.cumsum(histogram, out=offsets[1:])
    suffixes = np.empty(tokens, dtype=np.uint32)
    shared = np.full(tokens, kernels.ALONE, dtype=np.uint8)
    shared[offsets[:-1][histogram > 0]] = 0
    kernels.place_by_word(stream, offsets[:-1].copy(), suffixes)
    _sort_groups(stream, suffixes, shared, order, int(num_words - 1).bit_length(), pool, listener)
    by_position = _reach(stream, order)
    if config.mode == "document":
        by_position -= 1
    reach = np.empty(tokens, dtype=np.uint8)
    pieces = [slice(a, a + CHUNK) for a in range(0, tokens, CHUNK)]
    list(pool.map(lambda p: np.take(by_position, suffixes[p], out=reach[p], mode="clip"), pieces))
    return SuffixOrder(stream, suffixes, shared, reach)


def _reach(stream: NDArray[np.uint32], order: int) -> NDArray[np.uint8]:
    """Return min(order, number of tokens since the last barrier) of every position."""
    reach = np.full(len(stream), order, dtype=np.uint8)
    barrier = stream == BOS
    begins = np.flatnonzero(barrier[:-1] & ~barrier[1:]) + 1
    for distance in range(order - 1, 0, -1):  # beyond a short sentence lie barriers
        places = begins + (distance - 1)
        reach[places[places < len(stream)]] = distance
    return reach


def _sort_groups(
    stream: NDArray[np.uint32],
    suffixes: NDArray[np.uint32],
    shared: NDArray[np.uint8],
    order: int,
    word_bits: int,
    pool: Executor,
    listener: Listener,
) -> None:
    """Sort every word's positions by the words before, chunk by chunk, while it is in the cache."""

    def run(chunk: tuple[int, int]) -> int:
        begin, end = chunk
        room = kernels.sorting_room(end - begin, order, word_bits)
        kernels.sort_chunk(suffixes, shared, stream, begin, end, order, word_bits, *room)
        return end - begin

    for size in pool.map(run, _chunks(shared)):
        listener.advance(size)


def _chunks(shared: NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Cut the places at starts of words' groups into chunks of at most CHUNK, or of one group."""
    heads = np.append(np.flatnonzero(shared == 0), len(shared))
    chunks = []
    first = 0
    while first < len(heads) - 1:
        begin = int(heads[first])
        last = int(np.searchsorted(heads, begin + CHUNK, side="right")) - 1
        last = max(last, first + 1)
        chunks.append((begin, int(heads[last])))
        first = last
    return chunks
