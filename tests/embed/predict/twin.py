"""Twins of the training kernels in plain Python and float64: the same draws, the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.huffman import Paths

Doubles = NDArray[np.float64]
BATCH, CENTRES, NODES, LONGEST, BOUND, LOOK = 6, 4, 4, 1000, 6.0, 64
MASK = (1 << 64) - 1


def following(state: int) -> int:
    return (state * 25214903917 + 11) & MASK


class Draws:
    """The random numbers of a call of a kernel."""

    def __init__(self, seed: int) -> None:
        self.state = following((seed * 2654435761 + 12345) & MASK)
        self.words = following(self.state ^ 0x9E3779B97F4A7C15)

    def keeps(self, share: float) -> bool:
        self.words = following(self.words)
        return (self.words >> 40) / 2**24 < share

    def reach(self, window: int) -> int:
        self.state = following(self.state)
        return 1 + ((self.state >> 32) * window >> 32)

    def noise(self, noise: Sequence[int], size: int) -> Iterator[list[int]]:
        """Return an iterator over the noise words of one batch after another."""
        groups = [noise[begin : begin + size] for begin in range(0, len(noise) - size + 1, size)]
        first = (self.state >> 20) % len(groups)
        return ([int(word) for word in group] for group in cycle(groups[first:] + groups[:first]))


@dataclass
class State:
    """What a kernel changes and the report that it writes."""

    inputs: Doubles
    outputs: Doubles
    loss: float = 0.0
    terms: float = 0.0
    kept: int = 0
    looks: int = 0

    def looked(self, loss: float, terms: float) -> None:
        """Count a batch; every 64th is reported."""
        if self.looks % LOOK == 0:
            self.loss += loss
            self.terms += terms
        self.looks += 1


def sentences(ids: Sequence[int], keep: Sequence[float], draws: Draws) -> Iterator[list[int]]:
    """Yield the kept words of each sentence of two words at least, and of the others too."""
    sentence: list[int] = []
    for index in ids:
        if index == 2 and sentence:
            yield sentence
            sentence = []
        elif index > 2 and draws.keeps(keep[index - 3]):
            sentence.append(int(index) - 3)
            if len(sentence) == LONGEST:
                yield sentence
                sentence = []
    yield sentence


def batches(length: int, size: int = BATCH) -> Iterator[range]:
    count = -(-length // size)
    for batch in range(count):
        yield range(batch * length // count, (batch + 1) * length // count)


def around(centre: int, reach: int, length: int) -> list[int]:
    near = range(max(0, centre - reach), min(length, centre + reach + 1))
    return [place for place in near if place != centre]


def logistic(scores: Doubles) -> Doubles:
    return np.exp(-np.logaddexp(0, -scores))


def logistic_loss(scores: Doubles, positives: Doubles, totals: Doubles) -> float:
    negatives = totals - positives
    terms = positives * np.logaddexp(0, -scores) + negatives * np.logaddexp(0, scores)
    return float(terms.sum())


def gradients(scores: Doubles, positives: Doubles, totals: Doubles, rate: float) -> Doubles:
    return rate * (positives - totals * logistic(scores))


def update(rows: Sequence[Doubles], outputs: Doubles, columns: list[int], rates: Doubles) -> None:
    """Update input rows one after another against output rows as they were."""
    before = outputs[columns]
    grown = before.copy()
    for row, row_rates in zip(rows, rates, strict=True):
        grown += np.outer(row_rates, row)
        row += row_rates @ before
    outputs[columns] = grown


@dataclass
class Columns:
    """The output words of a batch: each once, in blocks that are updated one after another."""

    blocks: list[list[int]] = field(default_factory=list)
    positives: dict[int, Doubles] = field(default_factory=dict)
    totals: dict[int, Doubles] = field(default_factory=dict)

    def begin_block(self) -> None:
        self.blocks.append([])

    def add(self, word: int, num_rows: int) -> None:
        if word not in self.totals:
            self.blocks[-1].append(word)
            self.positives[word], self.totals[word] = np.zeros(num_rows), np.zeros(num_rows)

    def examples(self, block: list[int]) -> tuple[Doubles, Doubles]:
        return tuple(  # type: ignore[return-value]
            np.stack([kind[word] for word in block], axis=1)
            for kind in (self.positives, self.totals)
        )

    def train(
        self, state: State, rows: list[Doubles], rate: float, terms: float, loss: float = 0.0
    ) -> None:
        """Descend the gradient that the words have before any of them moves, block by block.

        ``loss`` is that of what is trained otherwise.
        """
        blocks = [block for block in self.blocks if block]
        matrix = np.stack(rows)
        scores = [matrix @ state.outputs[block].T for block in blocks]
        examples = [self.examples(block) for block in blocks]
        losses = [logistic_loss(s, *e) for s, e in zip(scores, examples, strict=True)]
        state.looked(loss + sum(losses), terms)
        for block, score, (positives, totals) in zip(blocks, scores, examples, strict=True):
            update(rows, state.outputs, block, gradients(score, positives, totals, rate))


def skipgram_negative(
    state: State, ids: Sequence[int], keep: Sequence[float], noise: Sequence[int], window: int,
    negative: int, shared: int, rate: float, seed: int,
) -> None:  # fmt: skip
    draws = Draws(seed)
    drawn = draws.noise(noise, shared)
    for sentence in sentences(ids, keep, draws):
        state.kept += len(sentence)
        if len(sentence) < 2:
            continue
        length = len(sentence)
        for centres in batches(length):
            reaches = {centre: draws.reach(window) for centre in centres}
            low = max(0, min(centre - reach for centre, reach in reaches.items()))
            high = min(length, max(centre + reach + 1 for centre, reach in reaches.items()))
            paired = np.zeros(high - low)
            columns = Columns()
            columns.begin_block()
            for centre, reach in reaches.items():
                columns.add(sentence[centre], high - low)
                for place in around(centre, reach, length):
                    columns.positives[sentence[centre]][place - low] += 1
                    columns.totals[sentence[centre]][place - low] += 1
                    paired[place - low] += 1
            add_noise(columns, next(drawn), negative, paired)
            rows = [state.inputs[sentence[place]] for place in range(low, high)]
            columns.train(state, rows, rate, paired.sum())


def cbow_negative(
    state: State, ids: Sequence[int], keep: Sequence[float], noise: Sequence[int], window: int,
    negative: int, shared: int, rate: float, seed: int,
) -> None:  # fmt: skip
    draws = Draws(seed)
    drawn = draws.noise(noise, shared)
    for sentence in sentences(ids, keep, draws):
        state.kept += len(sentence)
        if len(sentence) < 2:
            continue
        for centres in batches(len(sentence), CENTRES):
            own = [sentence[centre] for centre in centres]
            contexts = []
            for centre in centres:
                places = around(centre, draws.reach(window), len(sentence))
                contexts.append([sentence[place] for place in places])
            columns = Columns()
            add_noise(columns, next(drawn), negative, np.ones(len(own)))
            for word, totals in columns.totals.items():
                totals[np.array(own) == word] = 0
            means = [state.inputs[context].mean(axis=0) for context in contexts]
            before = [mean.copy() for mean in means]
            scores = np.array([m @ state.outputs[w] for m, w in zip(means, own, strict=True)])
            loss = np.logaddexp(0, -scores).sum()
            columns.train(state, means, rate, len(own), loss)
            for mean, word, score in zip(means, own, scores, strict=True):
                step = rate * (1 - logistic(score))
                moved = step * state.outputs[word]
                state.outputs[word] += step * mean
                mean += moved
            for context, mean, was in zip(contexts, means, before, strict=True):
                for word in context:
                    state.inputs[word] += mean - was


def add_noise(columns: Columns, drawn: list[int], negative: int, paired: Doubles) -> None:
    """Let each pair meet each drawn word but its own, with weights that sum to ``negative``."""
    for k, word in enumerate(drawn):
        if k % BATCH == 0:
            columns.begin_block()
        columns.add(word, len(paired))
        columns.totals[word] += negative / len(drawn) * (paired - columns.positives[word])


def skipgram_hierarchical(
    state: State, ids: Sequence[int], keep: Sequence[float], paths: Paths, window: int,
    rate: float, seed: int,
) -> None:  # fmt: skip
    draws = Draws(seed)
    for sentence in sentences(ids, keep, draws):
        state.kept += len(sentence)
        if len(sentence) < 2:
            continue
        for centre, word in enumerate(sentence):
            near = around(centre, draws.reach(window), len(sentence))
            rows = [state.inputs[sentence[place]] for place in near]
            train_path(state, rows, paths, word, rate)


def cbow_hierarchical(
    state: State, ids: Sequence[int], keep: Sequence[float], paths: Paths, window: int,
    rate: float, seed: int,
) -> None:  # fmt: skip
    draws = Draws(seed)
    for sentence in sentences(ids, keep, draws):
        state.kept += len(sentence)
        if len(sentence) < 2:
            continue
        for centre, word in enumerate(sentence):
            near = around(centre, draws.reach(window), len(sentence))
            context = [sentence[place] for place in near]
            mean = state.inputs[context].mean(axis=0)
            before = mean.copy()
            train_path(state, [mean], paths, word, rate)
            for other in context:
                state.inputs[other] += mean - before


def train_path(state: State, rows: list[Doubles], paths: Paths, word: int, rate: float) -> None:
    """Train on the turns to ``word``, four at a time; scores beyond 6 change nothing."""
    nodes, codes = path_of(paths, word)
    loss = 0.0
    for first in range(0, len(nodes), NODES):
        part: Any = slice(first, first + NODES)
        scores = np.stack(rows) @ state.outputs[nodes[part]].T
        positives = np.broadcast_to(codes[part] == 0, scores.shape).astype(float)
        totals = np.ones(scores.shape)
        loss += logistic_loss(scores, positives, totals)
        rates = gradients(scores, positives, totals, rate)
        rates[np.abs(scores) > BOUND] = 0
        update(rows, state.outputs, nodes[part].tolist(), rates)
    state.looked(loss, len(rows))


def path_of(paths: Paths, word: int) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Return the nodes on the way to ``word`` and the turns there, without what fills up."""
    part = slice(paths.starts[word], paths.starts[word + 1])
    nodes, codes = paths.nodes[part], paths.codes[part]
    return nodes[codes < 2], codes[codes < 2]
