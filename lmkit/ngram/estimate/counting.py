"""Suffix sorting: all n-grams of all orders of a text in one order of its positions.

Positions are sorted by the words that end there, read backwards, in rounds: a counting sort by
the last word, then for n = 2, 3, ... a sort of packed 64-bit keys (group, n-th word back, place)
within chunks of about a million positions. Positions that are alone in their group take no part
any more. One byte a position, the number of words shared with its predecessor, then holds the
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

CHUNK = 1 << 20


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


def sort_suffixes(
    ids: Ids, num_words: int, config: NgramConfig, pool: Executor, listener: Listener
) -> SuffixOrder:
    """Return the positions of ``ids`` in suffix order up to the model's order."""
    order = config.order
    sentences = config.mode == "sentence"
    ends = int(np.count_nonzero(ids == EOS))
    tokens = len(ids) if sentences else len(ids) - ends
    stream = np.empty(tokens + (ends + 1) * (order - 1), dtype=np.uint32)
    stream = stream[: kernels.pad_stream(ids, order - 1, sentences, stream)]
    listener.phase("sorting", (order - 1) * tokens, "tokens")
    histogram = np.bincount(stream, minlength=num_words)
    histogram[BOS] = 0
    offsets = np.zeros(num_words + 1, dtype=np.int64)
    np.cumsum(histogram, out=offsets[1:])
    suffixes = np.empty(tokens, dtype=np.uint32)
    shared = np.full(tokens, kernels.ALONE, dtype=np.uint8)
    shared[offsets[:-1][histogram > 0]] = 0
    kernels.place_by_word(stream, offsets[:-1].copy(), suffixes)
    for n in range(2, order + 1):
        _sort_round(stream, suffixes, shared, n, int(num_words - 1).bit_length(), pool)
        listener.advance(tokens)
    by_position = np.empty(len(stream), dtype=np.uint8)
    kernels.reach_of(stream, order, 0 if sentences else 1, by_position)
    reach = np.empty(tokens, dtype=np.uint8)
    pieces = [(a, min(a + CHUNK, tokens)) for a in range(0, tokens, CHUNK)]
    list(pool.map(lambda p: kernels.gather(by_position, suffixes, p[0], p[1], reach), pieces))
    return SuffixOrder(stream, suffixes, shared, reach)


def _sort_round(
    stream: NDArray[np.uint32],
    suffixes: NDArray[np.uint32],
    shared: NDArray[np.uint8],
    n: int,
    word_bits: int,
    pool: Executor,
) -> None:
    """Sort every group of n - 1 shared words by the n-th word back."""
    bounds = np.empty(2 * (len(suffixes) // CHUNK) + 3, dtype=np.int64)
    chunks = kernels.chunk_bounds(shared, CHUNK, bounds)

    def run(chunk: int) -> None:
        begin, end = int(bounds[chunk]), int(bounds[chunk + 1])
        index_bits = max(1, (end - begin - 1).bit_length())
        keys = np.empty(end - begin, dtype=np.uint64)
        args = (begin, end, n, word_bits, index_bits)
        keys = keys[: kernels.pack_keys(suffixes, shared, stream, *args, keys)]
        if len(keys):
            keys.sort()
            scratch = np.empty(end - begin, dtype=np.uint32)
            kernels.unpack_keys(suffixes, shared, begin, end, n, index_bits, keys, scratch)

    list(pool.map(run, range(chunks)))
