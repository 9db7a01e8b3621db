"""One step of a kernel is the gradient, as autograd has it in float64, of the loss it claims."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from embed.predict import twin
from embed.predict.kernel_calls import KERNELS, NEGATIVE, Run, encoded

from lmkit.embed.predict.kernels import LOSS, TERMS

V, RATE, SEED = 50, 4e-4, 11
log_sigmoid = torch.nn.functional.logsigmoid


def whole_mean(rows: list[torch.Tensor]) -> torch.Tensor:
    """Return the mean of rows, the gradient of which reaches each row whole, as in word2vec.

    That of a mean proper is, for each of n rows, a part 1/n of it.
    """
    total = torch.stack(rows).sum(0)
    return total - (total - total / len(rows)).detach()


class Claim:
    """The loss of a sentence as the papers write it: a sum over pairs, each on its own."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.inputs = torch.tensor(run.inputs, dtype=torch.float64, requires_grad=True)
        self.outputs = torch.tensor(run.outputs, dtype=torch.float64, requires_grad=True)

    def pairs(self, sentence: list[int]) -> Iterator[tuple[list[torch.Tensor], int]]:
        """Yield what predicts each word: the rows around it, or for CBOW their mean."""
        draws = twin.Draws(SEED)
        for centre, word in enumerate(sentence):
            places = twin.around(centre, draws.reach(self.run.window), len(sentence))
            rows = [self.inputs[sentence[place]] for place in places]
            yield ([whole_mean(rows)] if self.run.kernel.startswith("cbow") else rows), word

    def negative(self, sentence: list[int]) -> torch.Tensor:
        """Mikolov et al. 2013b, equation 4; the drawn words weigh as much as ``negative`` do."""
        run = self.run
        noise = next(twin.Draws(SEED).noise(run.noise.tolist(), run.shared))
        loss = torch.zeros((), dtype=torch.float64)
        for hidden, word in self.pairs(sentence):
            for row in hidden:
                loss = loss - log_sigmoid(row @ self.outputs[word])
                for other in noise:
                    if other != word:
                        term = log_sigmoid(-(row @ self.outputs[other]))
                        loss = loss - run.negative / run.shared * term
        return loss

    def hierarchical(self, sentence: list[int]) -> torch.Tensor:
        """Mikolov et al. 2013b, equation 3."""
        loss = torch.zeros((), dtype=torch.float64)
        for hidden, word in self.pairs(sentence):
            nodes, codes = twin.path_of(self.run.paths, word)
            signs = torch.tensor(1.0 - 2.0 * codes)
            for row in hidden:
                loss = loss - log_sigmoid(signs * (self.outputs[nodes.tolist()] @ row)).sum()
        return loss

    def __call__(self, sentence: list[int]) -> torch.Tensor:
        kind = self.negative if self.run.kernel in NEGATIVE else self.hierarchical
        return kind(sentence)


def sentences(size: int) -> list[list[int]]:
    """Return sentences of one batch of ``size``, some with words that come again."""
    rng = np.random.default_rng(8)
    drawn = [rng.integers(0, V, rng.integers(2, size + 1)).tolist() for _ in range(12)]
    repeated = [[3, 3], [4, 9, 4, 4], [5, 6, 5, 6, 5, 6][:size]]
    return [*drawn, *repeated, rng.permutation(V)[:size].tolist()]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("window", "shared"), [(1, 6), (5, 12)])
def test_steps_are_gradients(kernel: str, window: int, shared: int) -> None:
    size = twin.CENTRES if kernel == "cbow_negative" else twin.BATCH
    for sentence in sentences(size):
        run = Run(kernel, V, 20, window=window, shared=shared)
        before = run.inputs.copy(), run.outputs.copy()
        claim = Claim(run)
        loss = claim(sentence)
        loss.backward()
        assert claim.inputs.grad is not None and claim.outputs.grad is not None
        gradients = claim.inputs.grad.numpy(), claim.outputs.grad.numpy()
        run.train(encoded([sentence]), RATE, SEED)
        moved = [
            (now.astype(np.float64) - was) / RATE
            for now, was in zip((run.inputs, run.outputs), before, strict=True)
        ]
        for step, gradient in zip(moved, gradients, strict=True):
            largest = np.abs(gradient).max()
            assert largest > 0.1
            assert -step == pytest.approx(gradient, abs=3e-3 * max(1, largest))
        if kernel in NEGATIVE:
            assert run.report[LOSS] == pytest.approx(loss.item(), rel=1e-5)
            assert run.report[TERMS] == sum(len(rows) for rows, _ in claim.pairs(sentence))
