"""The training kernels: one step is the gradient of the loss, many steps learn."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lmkit.embed.predict.kernels import KEPT, LOSS, TERMS
from lmkit.embed.subword.ngrams import word_ngrams
from lmkit.embed.subword.training import kernels
from lmkit.embed.subword.training.kernels import SHARED
from lmkit.text.vocab import WordTable

WORDS = ["king", "kingdom", "queen", "queenly", "a", "man", "woman", "é数"]
V = len(WORDS)
KERNELS = {"skipgram": kernels.skipgram_subword, "cbow": kernels.cbow_subword}
each_kernel = pytest.mark.parametrize("arch", list(KERNELS))


def aligned(rows: int, columns: int) -> NDArray[np.float32]:
    """Return zeros [rows, columns] that begin at a multiple of 64 bytes."""
    buffer = np.zeros(rows * columns + 16, dtype=np.float32)
    begin = -(buffer.ctypes.data // 4) % 16
    return buffer[begin : begin + rows * columns].reshape(rows, columns)


class Training:
    """Two matrices, the n-grams of WORDS, and a call of a kernel."""

    def __init__(self, arch: str, size: int, *, seed: int = 1) -> None:
        self.kernel = KERNELS[arch]
        found = word_ngrams(WordTable.of([word.encode() for word in WORDS]), 3, 4, 2000)
        self.starts = found.starts
        self.ngrams = (found.rows + np.int32(V + 1)).astype(np.int32)
        columns = -(-size // 16) * 16
        self.inputs = aligned(V + 1 + len(found.buckets), columns)
        self.outputs = aligned(V + 1, columns)
        rng = np.random.default_rng(seed)
        self.inputs[:, :size] = rng.normal(0, 0.3, (len(self.inputs), size))
        self.outputs[:V, :size] = rng.normal(0, 0.3, (V, size))
        self.keep = np.ones(V, dtype=np.float32)
        self.report = np.zeros(8)

    def rows(self, word: int) -> list[int]:
        return [word, *self.ngrams[self.starts[word] : self.starts[word + 1]].tolist()]

    def train(
        self, sentences: list[list[int]], noise: list[int], *, window: int, negative: int,
        rate: float, seed: int = 1,
    ) -> None:  # fmt: skip
        ids = np.array([x for line in sentences for x in [*(w + 3 for w in line), 2]], np.uint32)
        self.kernel(
            ids, np.int64(0), np.int64(len(ids)), self.inputs, self.outputs, self.keep,
            np.array(noise, dtype=np.int32), self.starts, self.ngrams, np.int64(window),
            np.int64(negative), np.float32(rate), np.int64(seed), self.report,
        )  # fmt: skip


def step(
    arch: str, inputs: torch.Tensor, outputs: torch.Tensor, rows: list[int], words: list[int],
    noise: list[int], rate: float,
) -> float:  # fmt: skip
    """Descend the gradient of one window as autograd has it, in float64; return the loss."""
    x, y = inputs.clone().requires_grad_(), outputs.clone().requires_grad_()
    hidden = x[rows].mean(0)
    loss = -torch.nn.functional.logsigmoid(y[words] @ hidden).sum()
    for word in noise:
        others = sum(word != positive for positive in words)
        weight = others / (SHARED if arch == "skipgram" else 1)
        loss = loss - weight * torch.nn.functional.logsigmoid(-(y[word] @ hidden))
    loss.backward()
    assert x.grad is not None and y.grad is not None
    # as in fastText, each input row gets the gradient of the hidden layer whole
    inputs -= rate * x.grad * len(rows)
    outputs -= rate * y.grad
    return float(loss.detach())


@each_kernel
@pytest.mark.parametrize("size", [7, 32, 100])
@pytest.mark.parametrize("noise", [[1, 3, 4, 6], [0, 1, 4, 5, 2, 6]])
def test_steps_are_gradients(arch: str, size: int, noise: list[int]) -> None:
    """Windows of one word at each side at most, so that no random number matters."""
    made = Training(arch, size)
    negative = len(noise) if arch == "cbow" else len(noise) // SHARED
    inputs = torch.tensor(made.inputs, dtype=torch.float64)
    outputs = torch.tensor(made.outputs, dtype=torch.float64)
    sentence, rate = [0, 2, 5], 0.05
    made.train([sentence], noise, window=1, negative=negative, rate=rate)
    losses = []
    for centre, word in enumerate(sentence):
        around = [sentence[i] for i in (centre - 1, centre + 1) if 0 <= i < len(sentence)]
        if arch == "skipgram":
            rows, words = made.rows(word), around
        else:
            rows, words = [row for other in around for row in made.rows(other)], [word]
        unique = len(set(rows)) == len(rows)
        assert unique, "the test wants words without n-grams in common"
        losses.append(step(arch, inputs, outputs, rows, words, noise, rate))
    assert made.inputs == pytest.approx(inputs.numpy(), abs=2e-6)
    assert made.outputs == pytest.approx(outputs.numpy(), abs=2e-6)
    assert not made.outputs[V].any()
    assert made.report[KEPT] == 3
    # the loss is looked at in the first window of 64
    assert made.report[TERMS] == 1
    assert made.report[LOSS] == pytest.approx(losses[0], rel=1e-5)


@each_kernel
def test_unknown_words_and_ends_of_sentences(arch: str) -> None:
    """Ids below 3 are no words; those of one sentence are not neighbours of the next."""
    whole, parted = Training(arch, 16), Training(arch, 16)
    noise = [4, 5]
    settings = {"window": 1, "negative": 1, "rate": 0.1}
    whole.train([[0, -3, 2]], noise, **settings)  # type: ignore[arg-type]
    parted.train([[0, 2]], noise, **settings)  # type: ignore[arg-type]
    assert np.array_equal(whole.inputs, parted.inputs)
    before = Training(arch, 16)
    alone = Training(arch, 16)
    alone.train([[0], [2], [3]], noise, **settings)  # type: ignore[arg-type]
    assert np.array_equal(alone.inputs, before.inputs)
    assert np.array_equal(alone.outputs, before.outputs)
    assert alone.report[KEPT] == 3


@each_kernel
def test_a_seed_repeats(arch: str) -> None:
    rng = np.random.default_rng(4)
    sentences = rng.integers(0, V, (50, 9)).tolist()
    noise = rng.integers(0, V, 600).tolist()
    first, again, other = (Training(arch, 20) for _ in range(3))
    for made, seed in ((first, 5), (again, 5), (other, 6)):
        made.train(sentences, noise, window=4, negative=3, rate=0.05, seed=seed)
    assert np.array_equal(first.inputs, again.inputs)
    assert np.array_equal(first.outputs, again.outputs)
    assert not np.array_equal(first.inputs, other.inputs)


@each_kernel
def test_subsampling_keeps_the_share_asked_for(arch: str) -> None:
    made = Training(arch, 16)
    made.keep[:] = 0.25
    sentences = np.random.default_rng(4).integers(0, V, (2000, 10)).tolist()
    made.train(sentences, [4, 5, 6, 7], window=2, negative=2, rate=0.01)
    assert made.report[KEPT] / 20_000 == pytest.approx(0.25, rel=0.05)


@each_kernel
def test_words_of_one_topic_come_together(arch: str) -> None:
    """Kings stand with kings and queens with queens; the words learn to predict each other."""
    made = Training(arch, 32)
    made.outputs[:] = 0.0
    rng = np.random.default_rng(4)
    topics = [[0, 1, 4], [2, 3, 5]]
    sentences = [rng.permutation(topics[number % 2]).tolist() for number in range(400)]
    noise = rng.integers(0, 6, 1000).tolist()
    losses = []
    for epoch in range(6):
        made.report[:] = 0.0
        made.train(sentences, noise, window=2, negative=3, rate=0.05, seed=epoch)
        losses.append(made.report[LOSS] / made.report[TERMS])
    assert losses[-1] < 0.8 * losses[0]
    hidden = np.array([made.inputs[made.rows(word)].mean(0) for word in range(V)])
    scores = hidden @ made.outputs.T
    for word, same, other in ((0, 4, 5), (1, 4, 5), (2, 5, 4), (3, 5, 4)):
        assert scores[word, same] > scores[word, other] + 1
