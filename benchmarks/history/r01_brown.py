"""R-01: modified Kneser-Ney on the Brown corpus, and how much of its test text was never seen.

The corpus is ONE stream of words, cut as Bengio et al. did (A Neural Probabilistic Language Model,
2003): the first 800,000 words to train on, 200,000 to validate, the rest to test, each to the end
of the sentence. Words of frequency up to 3 in the whole corpus are <unk>; <unk> is counted in V.
No sentence marks: a line end is white space.

Differs from the paper, whose vocabulary has 16,383 words and whose best n-gram model, a
Kneser-Ney 5-gram, reaches a test perplexity of 321: this edition of the corpus is split into
other tokens, so V = 17,905.

    python benchmarks/history/r01_brown.py --data DIR      # DIR/brown/brown.train.txt.gz and so on

Exit code 0 if every figure is within its tolerance, 1 if one is not.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import LanguageModel
from lmkit.ngram.config import NgramConfig
from lmkit.tasks.evaluate import evaluate
from lmkit.tasks.families import open_model
from lmkit.tasks.fit_ngram import FitNgramConfig, fit_ngram
from lmkit.text.corpus import learn_words, read_corpus
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import VocabularyConfig

if TYPE_CHECKING:
    from lmkit.text.restore import StoredTokenizer

FILES = ("brown.train.txt.gz", "brown.valid.txt", "brown.test.txt")
MIN_COUNT = 4
VOCABULARY_SIZE = 17_905
PERPLEXITIES = {2: 348.9, 3: 332.6, 4: 330.4, 5: 329.8}
UNSEEN = {1: 1.5, 2: 29.0, 3: 71.2, 4: 92.8}
"""Per cent of the n-grams of the test text, by their length."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, what it should be, and by how much it may differ."""

    name: str
    measured: float
    expected: float
    tolerance: float
    decimals: int = 1

    @property
    def holds(self) -> bool:
        """Whether it is within the tolerance; NaN is not."""
        return abs(self.measured - self.expected) <= self.tolerance


def figures(brown: Path) -> Iterator[Figure]:
    """Yield every figure as it is measured on the three files in the folder ``brown``."""
    train, _, test = files = [str(brown / name) for name in FILES]
    at_least = VocabularyConfig(min_count=MIN_COUNT)
    _, whole = learn_words(files, at_least, Normalizer(), mode="document")
    words = tuple(whole.table.words()[3:])  # behind <unk>, <s> and </s>
    yield Figure("vocabulary, <unk> counted", len(words) + 1, VOCABULARY_SIZE, 0, decimals=0)
    with tempfile.TemporaryDirectory() as folder:
        for order, expected in PERPLEXITIES.items():
            model = fit(train, words, order, Path(folder, f"order{order}"))
            measured = evaluate(model, [test]).perplexity
            yield Figure(f"test perplexity, order {order}", measured, expected, tolerance=1.0)
        tokenizer = cast("StoredTokenizer", model.tokenizer)
        train_ids, test_ids = (
            read_corpus([path], tokenizer, mode="document").ids for path in (train, test)
        )
    for n, expected in UNSEEN.items():
        measured = 100 * unseen_share(train_ids, test_ids, n)
        yield Figure(f"unseen test {n}-grams, %", measured, expected, tolerance=0.5)


def fit(train: str, words: tuple[bytes, ...], order: int, out: Path) -> LanguageModel:
    """Fit a model of ``order`` that knows ``words`` to the stream ``train``."""
    config = FitNgramConfig(
        model=NgramConfig(order=order, mode="document"), vocabulary=VocabularyConfig(words=words)
    )
    return open_model(fit_ngram([train], out, config).path)


def unseen_share(train: NDArray[np.uint32], test: NDArray[np.uint32], n: int) -> float:
    """Return the share of the n-grams of ``test`` (running, not distinct) not in ``train``."""
    if len(test) < n:
        return math.nan
    stream = np.concatenate([train, test]).astype(np.int64)
    base = int(stream.max()) + 1
    grams = stream  # grams[i]: a number for the n-gram that begins at i
    for size in range(2, n + 1):
        pairs = grams[:-1] * base + stream[size - 1 :]
        grams = np.unique(pairs, return_inverse=True)[1]
    seen = grams[: len(train) - n + 1]
    return float(1 - np.isin(grams[len(train) :], seen).mean())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description="R-01 on the Brown corpus.")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds brown/")
    brown = parser.parse_args(arguments).data / "brown"
    missing = [name for name in FILES if not (brown / name).is_file()]
    if missing:
        parser.error(f"{brown} lacks {', '.join(missing)}")
    print("| figure | measured | expected | tolerance | |")
    print("|---|---|---|---|---|")
    misses = 0
    for row in figures(brown):
        misses += not row.holds
        numbers = [f"{value:,.{row.decimals}f}" for value in (row.measured, row.expected)]
        verdict = "PASS" if row.holds else "MISS"
        print(f"| {row.name} | {' | '.join(numbers)} | {row.tolerance:g} | {verdict} |", flush=True)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
