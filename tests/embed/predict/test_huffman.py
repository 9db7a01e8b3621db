"""Huffman trees: as short as can be, without prefixes, and their leaves share all probability."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lmkit.embed.predict.huffman import PAD, Paths, huffman_parents, huffman_paths

counts_of_words = st.one_of(
    st.lists(st.integers(1, 5), min_size=2, max_size=40),
    st.lists(st.integers(1, 10**6), min_size=2, max_size=40),
    st.lists(st.just(7), min_size=2, max_size=40),
    st.integers(2, 30).map(lambda size: [2**power for power in range(size)]),
).map(lambda counts: np.sort(np.array(counts, dtype=np.int64))[::-1].copy())


def shortest(counts: NDArray[np.int64]) -> int:
    """Return the length of all words in the best code, by merging the two rarest again and again.

    Each merge adds a digit to all that is merged.
    """
    heap = counts.tolist()
    heapq.heapify(heap)
    length = 0
    while len(heap) > 1:
        merged = heapq.heappop(heap) + heapq.heappop(heap)
        length += merged
        heapq.heappush(heap, merged)
    return length


def codes_of(paths: Paths) -> list[str]:
    codes = np.split(paths.codes, paths.starts[1:-1])
    return ["".join(map(str, code[code != PAD])) for code in codes]


@given(counts_of_words)
def test_codes_are_as_short_as_can_be(counts: NDArray[np.int64]) -> None:
    codes = codes_of(huffman_paths(counts))
    length = sum(len(code) * count for code, count in zip(codes, counts.tolist(), strict=True))
    assert length == shortest(counts)
    shares = counts / counts.sum()
    entropy = -(shares * np.log2(shares)).sum()
    assert entropy - 1e-9 <= length / counts.sum() < entropy + 1


@given(counts_of_words)
def test_no_code_begins_another_and_all_are_used(counts: NDArray[np.int64]) -> None:
    codes = codes_of(huffman_paths(counts))
    assert len(set(codes)) == len(counts)
    in_order = sorted(codes)
    for code, following in itertools.pairwise(in_order):
        assert not following.startswith(code)
    assert sum(2.0 ** -len(code) for code in codes) == 1.0
    lengths = [len(code) for code in codes]
    assert lengths == sorted(lengths), "rarer words have longer codes"


@given(counts_of_words, st.integers(0, 99))
def test_probabilities_of_leaves_sum_to_one(counts: NDArray[np.int64], seed: int) -> None:
    """Whatever the vectors of the nodes, and with a path filled up too."""
    rng = np.random.default_rng(seed)
    nodes, hidden = rng.normal(0, 1, (len(counts) + 1, 5)), rng.normal(0, 2, 5)
    left = 1 / (1 + np.exp(-nodes @ hidden))
    for multiple in (1, 4):
        paths = huffman_paths(counts, multiple)
        turns = np.stack([left, 1 - left, np.ones(len(left))])[paths.codes, paths.nodes]
        total = sum(part.prod() for part in np.split(turns, paths.starts[1:-1]))
        assert total == pytest.approx(1)


@given(counts_of_words, st.sampled_from([1, 2, 4, 7]))
def test_paths_walk_down_the_tree(counts: NDArray[np.int64], multiple: int) -> None:
    """From the root, node 0, each turn leads to the node that comes next."""
    num_words = len(counts)
    paths = huffman_paths(counts, multiple)
    parents, turns = huffman_parents(counts)
    root = 2 * num_words - 2
    plain = huffman_paths(counts)
    for word in range(num_words):
        part = slice(paths.starts[word], paths.starts[word + 1])
        nodes, codes = paths.nodes[part], paths.codes[part]
        assert len(nodes) % multiple == 0
        length = int(plain.starts[word + 1] - plain.starts[word])
        assert length <= len(nodes) < length + multiple
        assert np.all(nodes[length:] == num_words) and np.all(codes[length:] == PAD)
        assert nodes[0] == 0
        at = word
        for node, code in zip(nodes[:length][::-1], codes[:length][::-1], strict=True):
            assert (root - parents[at], turns[at]) == (node, code)
            at = parents[at]
        assert at == root
    assert set(paths.nodes.tolist()) - {num_words} == set(range(num_words - 1))


def test_two_words() -> None:
    paths = huffman_paths(np.array([9, 1]), 4)
    assert paths.starts.tolist() == [0, 4, 8]
    assert paths.nodes.tolist() == [0, 2, 2, 2] * 2
    assert sorted([paths.codes[:4].tolist(), paths.codes[4:].tolist()]) == [
        [0, PAD, PAD, PAD],
        [1, PAD, PAD, PAD],
    ]


def test_equals_make_a_flat_tree() -> None:
    lengths = np.diff(huffman_paths(np.full(12, 5)).starts)
    assert Counter(lengths.tolist()) == {3: 4, 4: 8}


def test_types_are_those_of_the_kernels() -> None:
    paths = huffman_paths(np.array([3, 2, 1]), 4)
    assert [paths.starts.dtype, paths.nodes.dtype, paths.codes.dtype] == ["i8", "i4", "i1"]
