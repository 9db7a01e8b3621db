"""GloVe: steps against autograd and a plain twin, planted vectors, repeatable, stops in time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from embed.count.texts import dense, random_ids, sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lmkit.embed.count.cells import SparseMatrix
from lmkit.embed.count.cooccurrence import cooccurrences
from lmkit.embed.count.glove import GloveConfig, fit_glove, kernels
from lmkit.embed.count.glove.training import _aligned_zeros
from lmkit.errors import UserError

SIZE = 16
"""Floats of a row in the tests of kernels."""
X_MAX, ALPHA = 10.0, 0.75


def counts_of(num_words: int = 60, tokens: int = 6000) -> SparseMatrix:
    return cooccurrences(random_ids(tokens, num_words), num_words, window=5)


def groups_of(matrix: SparseMatrix) -> NDArray[np.uint64]:
    """Return all groups of a matrix in order."""
    starts = np.zeros(matrix.num_rows + 1, dtype=np.int64)
    np.cumsum(-(-np.diff(matrix.offsets) // kernels.GROUP), out=starts[1:])
    groups = np.empty(int(starts[-1]), dtype=np.uint64)
    kernels.list_groups(matrix.offsets, starts, np.int64(0), np.int64(len(groups)), groups)
    return groups


def cells_of(group: np.uint64, matrix: SparseMatrix) -> tuple[int, list[int]]:
    """Return the row and the cells of a group."""
    row, first = int(group) >> kernels.CELL_BITS, int(group) & ((1 << kernels.CELL_BITS) - 1)
    return row, list(range(first, min(first + kernels.GROUP, int(matrix.offsets[row + 1]))))


def tables(num_words: int, seed: int, spread: float = 0.3) -> list[NDArray[np.float32]]:
    """Return rows of words and of contexts [V, 2, SIZE], with AdaGrad's sums."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        rows = _aligned_zeros((num_words, 2, SIZE))
        rows[:, 0] = rng.normal(0, spread, (num_words, SIZE))
        rows[:, 1] = rng.uniform(1, 400, (num_words, SIZE))
        made.append(rows)
    return made


def run(matrix: SparseMatrix, groups: Any, words: Any, contexts: Any) -> float:
    cells = matrix.offsets, matrix.columns, matrix.values
    rows = words.reshape(-1), contexts.reshape(-1), np.int64(SIZE)
    return float(kernels.train_groups(groups, *cells, *rows, np.float32(X_MAX), np.float32(ALPHA)))


def twin(matrix: SparseMatrix, groups: Any, words: Any, contexts: Any) -> float:
    """Do what the kernel does, in float64 and word by word of its description."""
    loss = 0.0
    for group in groups:
        row, cells = cells_of(group, matrix)
        word, word_sums = words[row]
        old_word, gradient, squares = word.copy(), np.zeros(SIZE), np.zeros(SIZE)
        slopes = []
        for cell in cells:
            count = float(matrix.values[cell])
            residual = old_word @ contexts[matrix.columns[cell], 0] - np.log(count)
            slopes.append(min(1, count / X_MAX) ** ALPHA * residual)
            loss += slopes[-1] * residual / 2
        for cell, slope in zip(cells, slopes, strict=True):
            context, sums = contexts[matrix.columns[cell]]
            gradient += slope * context
            squares += (slope * context) ** 2
            sums += (slope * old_word) ** 2
            context -= slope * old_word / np.sqrt(sums)
        word_sums += squares
        word -= gradient / np.sqrt(word_sums)
    return loss


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), num_words=st.integers(1, 40))
def test_kernel_is_its_twin(seed: int, num_words: int) -> None:
    matrix = cooccurrences(random_ids(400, num_words, seed), num_words, window=4)
    groups = groups_of(matrix)
    np.random.default_rng(seed).shuffle(groups)
    words, contexts = tables(num_words, seed)
    wide_words, wide_contexts = words.astype(np.float64), contexts.astype(np.float64)
    loss = run(matrix, groups, words, contexts)
    expected = twin(matrix, groups, wide_words, wide_contexts)
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    np.testing.assert_allclose(words, wide_words, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(contexts, wide_contexts, rtol=2e-5, atol=2e-5)


def test_steps_are_the_gradient_of_equation_8() -> None:
    """A step times the root of the sums is the gradient; the oracle is autograd in float64."""
    num_words = 50
    rng = np.random.default_rng(1)
    columns = rng.permutation(num_words)[: kernels.GROUP]
    full = np.zeros((num_words, num_words))
    full[7, columns] = rng.uniform(0.2, 30, len(columns))
    matrix = sparse(full)
    words, contexts = tables(num_words, 2)
    words[:, 1], contexts[:, 1] = 1, 1
    # the last coordinates are (b, 1) of words and (1, d) of contexts
    words[:, 0, -1], contexts[:, 0, -2] = 1, 1
    old_words, old_contexts = words.astype(np.float64), contexts.astype(np.float64)

    w, c = (torch.tensor(t[:, 0, :-2], requires_grad=True) for t in (old_words, old_contexts))
    b = torch.tensor(old_words[:, 0, -2], requires_grad=True)
    d = torch.tensor(old_contexts[:, 0, -1], requires_grad=True)
    x = torch.tensor(dense(matrix).astype(np.float64))
    weights = torch.clamp((x / X_MAX) ** ALPHA, max=1)
    score = w @ c.T + b[:, None] + d[None, :]
    logs = torch.log(torch.where(x > 0, x, torch.ones_like(x)))
    loss = (weights * (score - logs) ** 2).sum() / 2
    loss.backward()

    assert run(matrix, groups_of(matrix), words, contexts) == pytest.approx(loss.item(), rel=1e-6)
    of_words, of_contexts = (
        (old[:, 0] - new[:, 0]) * np.sqrt(new[:, 1])
        for old, new in ((old_words, words), (old_contexts, contexts))
    )
    for moved, oracle in (
        (of_words[:, :-2], w.grad),
        (of_contexts[:, :-2], c.grad),
        (of_words[:, -2], b.grad),
        (of_contexts[:, -1], d.grad),
    ):
        assert oracle is not None
        np.testing.assert_allclose(moved, oracle.numpy(), rtol=1e-4, atol=5e-6)
    np.testing.assert_allclose(  # AdaGrad has added the square of the context's gradient
        contexts[:, 1, :-2] - 1, np.square(c.grad.numpy()), rtol=1e-4, atol=1e-6
    )


def test_groups_hold_every_cell_once() -> None:
    matrix = counts_of()
    cells = [cells_of(group, matrix) for group in groups_of(matrix)]
    assert [cell for _, group in cells for cell in group] == list(range(len(matrix)))
    for row, group in cells:
        assert matrix.offsets[row] <= group[0] and group[-1] < matrix.offsets[row + 1]


def test_bands_only_change_the_order() -> None:
    matrix = cooccurrences(random_ids(20_000, 900), 900, window=5)
    groups = groups_of(matrix)
    np.random.default_rng(0).shuffle(groups)
    bands = -(-900 // kernels.BAND)
    for shift in (0, 3):
        ordered = groups.copy()
        room, ends = np.empty_like(groups), np.empty(bands + 1, dtype=np.int64)
        kernels.sort_by_band(ordered, matrix.columns, np.int64(shift), room, ends)
        of_group = [int(matrix.columns[cells_of(g, matrix)[1][0]]) // kernels.BAND for g in groups]
        order = np.argsort([(band + shift) % bands for band in of_group], kind="stable")
        np.testing.assert_array_equal(ordered, groups[order])


def test_the_loss_falls() -> None:
    result = fit_glove(counts_of(), GloveConfig(size=20, epochs=12, x_max=10))
    assert len(result.losses) == 12
    assert (np.diff(result.losses) < 0).all()
    assert result.losses[-1] < result.losses[0] / 5


def test_a_planted_model_is_recovered() -> None:
    """Counts exp(u . v + a + b) of rank 4 give back the scores, and the products u . v."""
    rng = np.random.default_rng(3)
    num_words, rank = 80, 4
    u, v = (rng.normal(0, 0.6, (num_words, rank)) for _ in range(2))
    a, b = rng.normal(1, 0.5, (2, num_words, 1))
    log_counts = u @ v.T + a + b.T
    matrix = sparse(np.exp(log_counts))
    config = GloveConfig(size=rank, epochs=400, x_max=1.0, learning_rate=0.1)
    result = fit_glove(matrix, config)
    products = result.words @ result.contexts.T
    scores = products + result.word_biases[:, None] + result.context_biases[None, :]
    np.testing.assert_allclose(scores, log_counts, atol=0.05)

    def centred(m: Any) -> Any:  # what biases can take up is not determined
        return m - m.mean(0) - m.mean(1)[:, None] + m.mean()

    correlation = np.corrcoef(centred(products).ravel(), centred(u @ v.T).ravel())[0, 1]
    assert correlation > 0.999


def test_one_thread_repeats_itself() -> None:
    matrix = counts_of()
    config = GloveConfig(size=10, epochs=3, seed=5)
    first, second = fit_glove(matrix, config), fit_glove(matrix, config)
    assert first.vectors.tobytes() == second.vectors.tobytes()
    assert first.losses == second.losses
    other = fit_glove(matrix, GloveConfig(size=10, epochs=3, seed=6))
    assert other.vectors.tobytes() != first.vectors.tobytes()
    np.testing.assert_array_equal(first.vectors, first.words + first.contexts)


def test_two_threads_learn_as_much() -> None:
    matrix = counts_of(num_words=300, tokens=40_000)
    config = GloveConfig(size=20, epochs=6, x_max=10)
    alone, together = (fit_glove(matrix, config, threads=n).losses[-1] for n in (1, 2))
    assert together == pytest.approx(alone, rel=0.1)


def test_a_run_that_diverges_stops() -> None:
    with pytest.raises(
        UserError, match=r"diverged in epoch \d+.*--learning-rate, which was 1e\+30"
    ):
        fit_glove(counts_of(), GloveConfig(size=10, epochs=50, learning_rate=1e30))


def test_every_epoch_is_told() -> None:
    told = []
    config = GloveConfig(size=10, epochs=3)
    result = fit_glove(counts_of(), config, after_epoch=lambda n, _, v: told.append((n, v.copy())))
    assert [number for number, _ in told] == [1, 2, 3]
    assert told[-1][1].tobytes() == result.vectors.tobytes() != told[0][1].tobytes()


def test_words_without_pairs_have_no_vector() -> None:
    full = np.zeros((5, 5))
    full[0, 1] = full[1, 0] = full[3, 1] = full[1, 3] = 4.0
    result = fit_glove(sparse(full), GloveConfig(size=6, epochs=2))
    assert (np.abs(result.vectors).sum(axis=1) > 0).tolist() == [True, True, False, True, False]
    with pytest.raises(UserError, match="no two words"):
        fit_glove(sparse(np.zeros((3, 3))), GloveConfig())


@pytest.mark.slow
def test_a_processor_without_avx512() -> None:
    """Compiled for AVX2, the kernel is its twin too."""
    target = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+avx,+sse4.2"}
    root = Path(__file__).parents[3]
    test = f"{Path(__file__)}::test_kernel_is_its_twin"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    ended = subprocess.run(
        command, env=os.environ | target, cwd=root, capture_output=True, text=True, timeout=280
    )
    assert ended.returncode == 0, ended.stdout
