"""Encoded texts and dense matrices for tests of word vectors by counting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from lmkit.embed.count.cells import SparseMatrix

UNKNOWN, END, FIRST = 0, 2, 3
Ids = NDArray[np.uint32]


def encoded(lines: str, words: Sequence[str]) -> Ids:
    """Return the ids of lines of ``words``; others are outside the vocabulary."""
    ids: list[int] = []
    for line in lines.splitlines():
        ids += [words.index(w) + FIRST if w in words else UNKNOWN for w in line.split()]
        ids.append(END)
    return np.array(ids, dtype=np.uint32)


def random_ids(size: int, num_words: int, seed: int = 0, ends: float = 0.1) -> Ids:
    """Return a text with a Zipfian distribution of words, some of them outside the vocabulary."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, num_words + 1)
    chances *= (0.95 - ends) / chances.sum()
    choices = np.concatenate([[UNKNOWN, END], FIRST + np.arange(num_words)])
    return rng.choice(choices, size=size, p=[0.05, ends, *chances]).astype(np.uint32)


def ids_of(num_words: int, max_size: int = 60) -> st.SearchStrategy[Ids]:
    """Return a strategy of short texts."""
    tokens = st.sampled_from([UNKNOWN, END, *range(FIRST, FIRST + num_words)])
    return st.lists(tokens, max_size=max_size).map(lambda ids: np.array(ids, dtype=np.uint32))


def dense(matrix: SparseMatrix) -> NDArray[np.float32]:
    """Return a sparse matrix with all its zeros."""
    full = np.zeros((matrix.num_rows, matrix.num_columns), dtype=np.float32)
    for row in range(matrix.num_rows):
        cells = slice(matrix.offsets[row], matrix.offsets[row + 1])
        full[row, matrix.columns[cells]] = matrix.values[cells]
    return full


def sparse(full: NDArray[np.floating]) -> SparseMatrix:
    """Return the cells of a matrix that are not 0."""
    rows, columns = np.nonzero(full)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(full)))])
    return SparseMatrix(
        offsets.astype(np.int64),
        columns.astype(np.int32),
        full[rows, columns].astype(np.float32),
        full.shape[1],
    )
