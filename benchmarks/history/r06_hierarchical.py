"""R-06: what a word costs grows with ln V by hierarchical softmax, with V by the full one.

Skip-gram is trained on random words out of V, from 10,000 to 160,000 (Morin & Bengio 2005 promise
an exponential speed-up; Mikolov et al. 2013b need it). Two kinds of text: in one the words are
drawn by Zipf's law, so that the Huffman tree has short paths to frequent ones; in the other all
alike, so that the tree is balanced and every word is far from the last one in memory. Times are
seconds of the processor in the kernel; the trees, made once, are not in them. The sizes alternate,
and of several rounds the median of each counts.

Passes if time(V = 160,000) / time(V = 10,000) is at most 2 for the tree, with both texts, and at
least 8 for the full softmax (it grows by more than 16, for the larger matrices have to come from
memory each time).

    python benchmarks/history/r06_hierarchical.py                    # about a minute
    python benchmarks/history/r06_hierarchical.py --sizes 1000 16000

Exit code 0 if it passes, 1 if not.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.predict.config import Loss, PredictConfig
from lmkit.embed.predict.trainees import Trainee, make_trainee
from lmkit.text.vocab import WordTable

SIZES = (10_000, 20_000, 40_000, 80_000, 160_000)
MOST, LEAST = 2.0, 8.0
"""Bounds on the ratio of the times of the last size and the first."""
SENTENCE = 25
TREE_TOKENS = 200_000
SOFTMAX_WORK = 20_000_000
"""Tokens times V of a text for the full softmax."""


@dataclass(slots=True)
class Series:
    """The microseconds that a token takes at each vocabulary size."""

    name: str
    loss: Loss
    exponent: float
    """Words are drawn with shares 1 / rank ** exponent."""
    bound: float
    times: dict[int, list[float]] = field(default_factory=dict)

    def ratio(self, sizes: Sequence[int]) -> float:
        """Return how many times the first size's time the last one's is."""
        return self.median(sizes[-1]) / self.median(sizes[0])

    def median(self, size: int) -> float:
        """Return the microseconds a token takes."""
        return statistics.median(self.times[size])

    def holds(self, sizes: Sequence[int]) -> bool:
        """Tell whether the ratio is within its bound."""
        ratio = self.ratio(sizes)
        return ratio >= self.bound if self.loss == "softmax" else ratio <= self.bound


def all_series() -> list[Series]:
    """Return what is measured."""
    return [
        Series("hierarchical, Zipf", "hierarchical", 1.0, MOST),
        Series("hierarchical, words alike", "hierarchical", 0.0, MOST),
        Series("full softmax", "softmax", 1.0, LEAST),
    ]


def setting(series: Series, size: int) -> tuple[Trainee, NDArray[np.uint32]]:
    """Return a model of ``size`` words and a random text, in sentences."""
    rng = np.random.default_rng(size)
    weights = 1.0 / np.arange(1, size + 1) ** series.exponent
    counts = np.maximum(weights / weights[-1], 1).astype(np.int64)
    words = WordTable.of([b"%d" % word for word in range(size)])
    trainee = make_trainee(PredictConfig(loss=series.loss, subsample=0.0), words, counts)
    trainee.outputs[:-1, : trainee.config.size] = rng.normal(0, 0.1, (size, trainee.config.size))
    tokens = TREE_TOKENS if series.loss == "hierarchical" else max(SOFTMAX_WORK // size, 50)
    ids = rng.choice(size, tokens, p=weights / weights.sum()).astype(np.uint32) + np.uint32(3)
    ids[SENTENCE::SENTENCE] = 2
    return trainee, ids


def seconds(trainee: Trainee, ids: NDArray[np.uint32]) -> float:
    """Return the time of the processor that one pass over ``ids`` takes."""
    begun = time.thread_time()
    trainee.train(ids, 0, len(ids), 0.01, 1, np.zeros(8))
    return time.thread_time() - begun


def measure(series: Series, sizes: Sequence[int], rounds: int) -> None:
    """Fill in the times of a series."""
    settings = {size: setting(series, size) for size in sizes}
    for trainee, ids in settings.values():
        trainee.train(ids, 0, min(len(ids), 200), 0.01, 1, np.zeros(8))  # compiles, warms up
    for _ in range(rounds):
        for size, (trainee, ids) in settings.items():
            series.times.setdefault(size, []).append(1e6 * seconds(trainee, ids) / len(ids))


def table(found: Sequence[Series], sizes: Sequence[int]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| microseconds a token | {' | '.join(f'V = {size:,}' for size in sizes)} | ratio | |"
    yield "|---|" + "---|" * (len(sizes) + 2)
    for series in found:
        times = " | ".join(f"{series.median(size):,.2f}" for size in sizes)
        side = "at least" if series.loss == "softmax" else "at most"
        verdict = "PASS" if series.holds(sizes) else "MISS"
        ratio = f"{series.ratio(sizes):.2f}, {side} {series.bound:g}"
        yield f"| {series.name} | {times} | {ratio} | {verdict} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description="R-06: hierarchical softmax takes O(log V).")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="vocabulary sizes")
    parser.add_argument("--rounds", type=int, default=5, help="passes of which the median counts")
    given = parser.parse_args(arguments)
    if len(given.sizes) < 2 or min(given.sizes) < 10 or given.rounds < 1:
        parser.error("give two sizes of 10 at least and one round at least")
    found = all_series()
    for series in found:
        measure(series, given.sizes, given.rounds)
    print("\n".join(table(found, given.sizes)))
    return 0 if all(series.holds(given.sizes) for series in found) else 1


if __name__ == "__main__":
    sys.exit(main())
