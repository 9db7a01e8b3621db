"""Huffman trees of words, for hierarchical softmax (Morin & Bengio 2005, Mikolov et al. 2013)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAD = 2
"""The code of what fills a path up."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The path from the root to each word: nodes ``nodes[starts[w]:starts[w + 1]]``.

    The nodes are numbered from the root, 0, to V - 2; the number V stands for no node. A code is
    0 where the path turns left, 1 right, :data:`PAD` at node V.
    """

    starts: NDArray[np.int64]
    """[V + 1]"""
    nodes: NDArray[np.int32]
    """[N]"""
    codes: NDArray[np.int8]
    """[N]"""


def huffman_parents(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return the parent of each leaf and node of the tree, and which child of it each is.

    Leaves are 0 to V - 1, then come the nodes in the order in which they are made, the root last.
    Of equals the leaf is taken first, and of leaves the later one.

    Args:
        counts: [V] how often each word occurs, falling.
    """
    num_words = len(counts)
    size = 2 * num_words - 1
    weights = counts.tolist() + [0] * (num_words - 1)
    parents, turns = [0] * size, [0] * size
    leaf, node = num_words - 1, num_words
    for made in range(num_words, size):
        pair = []
        for _ in range(2):
            if leaf >= 0 and (node >= made or weights[leaf] <= weights[node]):
                pair.append(leaf)
                leaf -= 1
            else:
                pair.append(node)
                node += 1
        left, right = pair
        weights[made] = weights[left] + weights[right]
        parents[left] = parents[right] = made
        turns[right] = 1
    return np.array(parents, dtype=np.int64), np.array(turns, dtype=np.int8)


def huffman_paths(counts: NDArray[np.int64], multiple: int = 1) -> Paths:
    """Return the paths of the Huffman tree over words with ``counts`` [V].

    Args:
        counts: how often each word occurs, falling.
        multiple: fill each path up with node V to a multiple of this length.
    """
    num_words = len(counts)
    parents, turns = huffman_parents(counts)
    root = 2 * num_words - 2
    lengths = np.zeros(num_words, dtype=np.int64)
    at = np.arange(num_words)
    steps: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]] = []
    climbing = at[at != root]
    at = climbing
    while len(climbing):
        steps.append((climbing, parents[at], turns[at]))
        lengths[climbing] += 1
        at = parents[at]
        climbing, at = climbing[at != root], at[at != root]
    padded = (lengths + multiple - 1) // multiple * multiple
    starts = np.zeros(num_words + 1, dtype=np.int64)
    np.cumsum(padded, out=starts[1:])
    nodes = np.full(starts[-1], num_words, dtype=np.int32)
    codes = np.full(starts[-1], PAD, dtype=np.int8)
    for height, (words, above, turned) in enumerate(steps):
        places = starts[words] + lengths[words] - 1 - height
        nodes[places] = root - above
        codes[places] = turned
    return Paths(starts, nodes, codes)
