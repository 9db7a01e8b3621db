"""Each training kernel does what its twin in plain Python does."""

import numpy as np
import pytest
from embed.predict.kernel_calls import HIERARCHICAL, KERNELS, NEGATIVE, Run, encoded
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.embed.predict.kernels import KEPT, LOSS, TERMS

EXAMPLES = 30
each_kernel = pytest.mark.parametrize("kernel", KERNELS)


def check(run: Run, ids: "np.ndarray[tuple[int], np.dtype[np.uint32]]", rate: float) -> None:
    state = run.twin()
    run.train_twin(state, ids, rate, seed=7)
    run.train(ids, rate, seed=7)
    assert run.inputs == pytest.approx(state.inputs, abs=1e-4)
    assert run.outputs == pytest.approx(state.outputs, abs=1e-4)
    assert not run.inputs[-1].any() and not run.outputs[-1].any()
    assert run.report[LOSS] == pytest.approx(state.loss, rel=1e-4, abs=1e-4)
    assert (run.report[TERMS], run.report[KEPT]) == (state.terms, state.kept)


@each_kernel
@given(
    sentences=st.lists(st.lists(st.integers(-1, 8), max_size=20), min_size=1, max_size=6),
    num_words=st.integers(2, 9),
    size=st.integers(1, 40),
    window=st.integers(1, 7),
    negative=st.integers(1, 13),
    shared=st.sampled_from([6, 12, 24]),
    share=st.sampled_from([1.0, 0.9, 0.5]),
    rate=st.sampled_from([0.05, 0.01, 0.001]),
    spread=st.sampled_from([0.1, 1.0]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=EXAMPLES)
def test_kernel_is_its_twin(
    kernel: str, sentences: list[list[int]], num_words: int, size: int, window: int,
    negative: int, shared: int, share: float, rate: float, spread: float, seed: int,
) -> None:  # fmt: skip
    run = Run(kernel, num_words, size, window=window, negative=negative, seed=seed, spread=spread)
    run.keep[::2] = share
    known = [[word % num_words if word >= 0 else -3 for word in line] for line in sentences]
    check(run, encoded(known), rate)


@each_kernel
def test_a_sentence_is_cut_after_a_thousand_words(kernel: str) -> None:
    run = Run(kernel, 20, 8, window=3)
    words = np.random.default_rng(3).integers(0, 20, 2005).tolist()
    check(run, encoded([words, words[:3]]), 0.02)
    assert run.report[KEPT] == 2008


@each_kernel
def test_reading_begins_where_it_is_asked_to(kernel: str) -> None:
    whole, part = Run(kernel, 5, 8), Run(kernel, 5, 8)
    whole.train(encoded([[0, 1, 2], [3, 4, 0]]), 0.1, 3, begin=4)
    part.train(encoded([[3, 4, 0]]), 0.1, 3)
    assert np.array_equal(whole.inputs, part.inputs)
    assert np.array_equal(whole.outputs, part.outputs)
    assert whole.report[KEPT] == 3


@pytest.mark.parametrize("kernel", HIERARCHICAL)
def test_scores_beyond_the_bound_change_nothing(kernel: str) -> None:
    run = Run(kernel, 6, 4, spread=1.7)
    ids = encoded([[0, 1, 2, 3, 4, 5] * 3])
    before = run.inputs.copy()
    check(run, ids, 1e-2)
    assert not np.array_equal(run.inputs, before), "some scores are small"
    run.inputs[:-1, :4], run.outputs[:-1, :4] = 3.0, 3.0
    before = run.inputs.copy()
    run.train(ids, 1e-2, 1)
    assert np.array_equal(run.inputs, before)


@pytest.mark.parametrize("kernel", NEGATIVE)
def test_a_word_is_no_noise_for_itself(kernel: str) -> None:
    """Where all noise is the word that is predicted, only the positive pairs are left."""
    run = Run(kernel, 2, 4)
    run.noise[:] = 0
    run.train(encoded([[0, 0]]), 0.1, 1)
    assert run.outputs[0] != pytest.approx(Run(kernel, 2, 4).outputs[0])
    assert np.array_equal(run.outputs[1], Run(kernel, 2, 4).outputs[1])
    score = Run(kernel, 2, 4).inputs[0].astype(float) @ Run(kernel, 2, 4).outputs[0]
    assert run.report[LOSS] / run.report[TERMS] == pytest.approx(np.log1p(np.exp(-score)), rel=1e-5)
