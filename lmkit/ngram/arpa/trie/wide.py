"""The hash table of the children of contexts that have many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.arpa.trie.levels import Trie
from lmkit.ngram.estimate.result import WideRows


def wide_table(trie: Trie) -> NDArray[np.uint32]:
    """Return the table [power of two] of record ids that queries use; 0 is a free slot."""
    wide = WideRows()
    for n in range(2, trie.order + 1):
        lower, base, end = trie.bases[n - 2 : n + 1]
        starts = np.append(trie.inner[lower:base, 4], np.uint32(end)) - np.uint32(base)
        records = trie.top if n == trie.order else trie.inner[base:end]
        wide.add(starts, records, lower, base)
    return wide.table()
