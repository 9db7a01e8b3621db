"""Turns the sorted orders into the records of a model: links, first children, wide contexts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.events import Listener
from lmkit.ngram.arpa.trie.levels import NONE, Level, Trie
from lmkit.ngram.arpa.trie.search import kernels
from lmkit.ngram.estimate.result import WideRows

Arrays = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]


def assemble(trie: Trie, listener: Listener) -> Arrays:
    """Return the records ``inner`` and ``top`` and the table ``wide``."""
    order = len(trie.levels) + 1
    bases = np.concatenate([[0], np.cumsum([trie.size(n) for n in range(1, order + 1)])])
    listener.phase("linking", int(bases[-1] - bases[1]), "n-grams")
    num_inner = int(bases[max(order - 1, 1)])
    inner = np.empty((num_inner + 1, 5), dtype=np.uint32)
    top = np.empty((int(bases[-1]) - num_inner, 3), dtype=np.uint32)
    inner[num_inner] = (0, 0, 0, NONE, bases[-1])
    _emit_unigrams(trie, inner)
    wide = trie.pool.submit(_wide_table, trie.levels, bases)
    for n in range(2, order + 1):
        records = top if n == order else inner[bases[n - 1] : bases[n]]
        _emit(trie, n, bases, inner, top, records)
        listener.advance(len(records))
    return inner, top, wide.result()


def _wide_table(levels: list[Level], bases: NDArray[np.int64]) -> NDArray[np.uint32]:
    wide = WideRows()
    for n, level in enumerate(levels, 2):
        wide.add(level.starts, level.rows, int(bases[n - 2]), int(bases[n - 1]))
    return wide.table()


def _emit_unigrams(trie: Trie, inner: NDArray[np.uint32]) -> None:
    size = trie.size(1)
    records = inner[:size]
    records[:, 0] = np.arange(size)
    records[:, 1] = trie.logprobs.view(np.uint32)
    records[:, 2] = trie.backoffs.view(np.uint32)
    records[:, 3] = NONE
    records[:, 4] = size
    if trie.levels:
        records[:, 4] += trie.levels[0].starts[:-1]


def _emit(
    trie: Trie,
    n: int,
    bases: NDArray[np.int64],
    inner: NDArray[np.uint32],
    top: NDArray[np.uint32],
    records: NDArray[np.uint32],
) -> None:
    """Write the records of order ``n``."""
    levels = trie.levels
    level = levels[n - 2]
    lower = levels[n - 3] if n > 2 else level
    lower_base = int(bases[n - 2])
    below_base = int(bases[n - 3]) if n > 2 else 0
    next_starts = levels[n - 1].starts if n - 1 < len(levels) else np.empty(0, dtype=np.uint32)
    cuts = np.linspace(0, len(level), 4 * trie.threads + 1).astype(np.int64)

    def run(k: int) -> int:
        unresolved = kernels.emit_rows(
            level.rows, cuts[k], cuts[k + 1], n, lower_base, below_base, *lower.finder,
            inner, records, next_starts, int(bases[n]),
        )  # fmt: skip
        return int(unresolved)

    def resolve(k: int) -> None:
        kernels.resolve_links(level.rows, cuts[k], cuts[k + 1], lower_base, inner, top, records)

    if sum(trie.pool.map(run, range(len(cuts) - 1))):
        list(trie.pool.map(resolve, range(len(cuts) - 1)))
