"""What R-07, R-07b and R-08 share: vectors fitted to a text, and what they score."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lmkit.embed.nearest import nearest
from lmkit.embed.vectors import Vectors
from lmkit.measures.analogies import AnalogyScores
from lmkit.measures.similarity import SimilarityScores
from lmkit.tasks.embed_settings import EmbedSettings, fit_config
from lmkit.tasks.eval_embed import eval_embed
from lmkit.tasks.fit_embed import fit_embed
from lmkit.tasks.open_vectors import open_vectors

QUESTIONS = "gold/analogy/questions-words.txt"
PAIRS = ("gold/similarity/wordsim353.tsv", "gold/similarity/men-3000.tsv")


@dataclass(frozen=True, slots=True)
class Judged:
    """The scores of one model."""

    name: str
    path: Path
    seconds: float
    """Of the training alone, without reading and saving; of the whole fit for counted vectors."""
    semantic: tuple[int, int]
    """Questions answered right, and asked."""
    syntactic: tuple[int, int]
    similarity: float
    """Mean Spearman correlation over :data:`PAIRS`."""

    @property
    def total(self) -> float:
        """Return the share of all questions that were answered right."""
        right = self.semantic[0] + self.syntactic[0]
        return right / max(1, self.semantic[1] + self.syntactic[1])

    @property
    def row(self) -> str:
        """Return a row of the table of results."""
        shares = [right / max(1, asked) for right, asked in (self.semantic, self.syntactic)]
        parts = [f"{100 * share:.2f}" for share in (*shares, self.total, self.similarity)]
        return f"| {self.name} | {self.seconds:.1f} | {' | '.join(parts)} |"


HEADER = (
    "| vectors | s | semantic % | syntactic % | total % | Spearman x 100 |\n" + "|---" * 6 + "|"
)


def judge(name: str, text: Path, data: Path, work: Path, settings: EmbedSettings) -> Judged:
    """Fit vectors to ``text`` in two threads and measure them on the gold files in ``data``."""
    out = work / f"history-{name}"
    begun = time.perf_counter()
    fitted = fit_embed([str(text)], out, fit_config(**({"threads": 2} | settings)), force=True)
    seconds = time.perf_counter() - begun
    if fitted.training is not None and fitted.training.seconds:
        seconds = fitted.training.seconds
    semantic = syntactic = (0, 0)
    correlations = []
    for scores in eval_embed(str(out), [data / name for name in (QUESTIONS, *PAIRS)]):
        if isinstance(scores, AnalogyScores):
            semantic = scores.semantic.correct, scores.semantic.questions
            syntactic = scores.syntactic.correct, scores.syntactic.questions
        elif isinstance(scores, SimilarityScores) and scores.spearman is not None:
            correlations.append(scores.spearman)
    judged = Judged(name, out, seconds, semantic, syntactic, float(np.mean(correlations)))
    print(judged.row, flush=True)
    return judged


def overlap(one: Path, other: Path, num_words: int = 1000, top: int = 10) -> float:
    """Return the mean share of the ``top`` neighbours that two models have in common.

    Asked for the ``num_words`` most frequent words, answered with the 10,000 most frequent.
    """
    found = [
        _neighbours(open_vectors(str(path), limit=10_000), num_words, top) for path in (one, other)
    ]
    common = [len(set(a) & set(b)) for a, b in zip(*found, strict=True)]
    return float(np.mean(common)) / top


def _neighbours(vectors: Vectors, num_words: int, top: int) -> list[list[int]]:
    asked = range(min(num_words, len(vectors)))
    rows, _ = nearest(vectors, vectors.matrix[: len(asked)], top, [[i] for i in asked])
    return [list(map(int, row)) for row in rows]


def parsed(description: str, arguments: Sequence[str] | None) -> tuple[Path, Path, Path]:
    """Return the text, the folder of the data and the folder for models."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--text", type=Path, required=True, help="w14.txt of embed_corpora.py")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds gold/")
    parser.add_argument("--work", type=Path, required=True, help="a folder for models")
    options = parser.parse_args(arguments)
    return options.text, options.data, options.work


def told(claims: Sequence[tuple[str, bool]]) -> int:
    """Print whether each claim holds; return the exit code."""
    for claim, holds in claims:
        print(f"{'PASS' if holds else 'MISS'}: {claim}")
    return 0 if all(holds for _, holds in claims) else 1
