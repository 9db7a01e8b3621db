"""Suffix sorting: all n-grams of all orders of a text in one order of its positions.

Positions are sorted by the words that end there, read backwards: a counting sort by the last
word, then group by group by the word before, and so on, insertion sort for small groups and radix
sort for large ones, in ranges that stay in the processor's cache (numpy's own sort is five times
slower on some processors with AVX-512 than on others, so it is not used). One byte a position, the number of words shared with its predecessor, then holds the
groups of all orders.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.events import Listener
from lmkit.language_model import BOS, EOS, Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate import kernels

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
        return [(a, b) for a, b in zip(cuts, cuts[1:], strict=False) if b > a]


def padded_stream(ids: Ids, config: NgramConfig) -> NDArray[np.uint32]:
    """Return ``ids`` with N - 1 barriers before every sentence."""
    sentences = config.mode == "sentence"
    barriers = config.order - 1
    ends = int(np.count_nonzero(ids == EOS))
    stream = np.empty(len(ids) + (ends + 1) * barriers, dtype=np.uint32)
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
    by_position = np.empty(len(stream), dtype=np.uint8)
    kernels.reach_of(stream, order, 0 if config.mode == "sentence" else 1, by_position)
    reach = np.empty(tokens, dtype=np.uint8)
    pieces = [(a, min(a + CHUNK, tokens)) for a in range(0, tokens, CHUNK)]
    list(pool.map(lambda p: kernels.gather(by_position, suffixes, p[0], p[1], reach), pieces))
    return SuffixOrder(stream, suffixes, shared, reach)


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
    bounds = np.empty(2 * (len(suffixes) // CHUNK) + 3, dtype=np.int64)
    chunks = kernels.chunk_bounds(shared, CHUNK, bounds)

    def run(chunk: int) -> int:
        begin, end = int(bounds[chunk]), int(bounds[chunk + 1])
        kernels.sort_chunk(suffixes, shared, stream, begin, end, order, word_bits)
        return end - begin

    for size in pool.map(run, range(chunks)):
        listener.advance(size)
