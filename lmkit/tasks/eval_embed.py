"""Measures word vectors by files of questions, judged pairs or categories: ``lmkit embed eval``.

The kind of each file is seen from its lines (see ``lmkit.measures.gold``). All files are read
before the first is measured by, so that a mistake in the last does not come to light late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmkit.embed.vectors import LIMIT
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.measures.analogies import AnalogyScores, Method, measure_analogies
from lmkit.measures.categorization import CategoryScores, Clustering, measure_categorization
from lmkit.measures.gold import Gold, Questions, Similarities, read_gold
from lmkit.measures.lookup import Unknown
from lmkit.measures.similarity import SimilarityScores, measure_similarity
from lmkit.tasks.open_vectors import open_vectors

Scores = AnalogyScores | SimilarityScores | CategoryScores


@dataclass(frozen=True, kw_only=True, slots=True)
class EvalConfig:
    """How vectors are measured."""

    limit: int = LIMIT
    """Analogies are asked for and answered with the first so many words only; 0: with all."""
    method: Method = "add"
    """How analogies are answered: by the sum of cosines (3CosAdd) or their product (3CosMul)."""
    unknown: Unknown = "skip"
    """What becomes of pairs and categorised words that the vectors lack."""
    clustering: Clustering = "kmeans"
    """How words are put into categories."""
    seed: int = 1
    """Of the starts of k-means."""
    threads: int = 1
    """Threads that answer analogies."""
    errors: Errors = "strict"
    """What to do with bytes that are not UTF-8: stop, or replace them."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.limit < 0:
            raise UserError(f"--limit {self.limit} is below 0")


def eval_embed(
    model: str | None,
    sources: Sequence[str | Path],
    config: EvalConfig | None = None,
    listener: Listener = SILENT,
) -> Iterator[Scores]:
    """Yield how well the vectors called ``model`` do on each of ``sources``, in order.

    Raises:
        TextError: a source cannot be read, or is none of the kinds there are.
        ModelError: there is no such model.
    """
    config = config or EvalConfig()
    vectors = open_vectors(model, listener=listener)
    if config.unknown == "subwords" and vectors.subwords is None:
        raise UserError(
            "--oov subwords: these vectors have no subwords", "lmkit embed fit --subword 3-6 has"
        )
    files: list[Gold] = [
        read_gold(source, errors=config.errors, listener=listener) for source in sources
    ]
    if 0 < config.limit < len(vectors) and any(isinstance(gold, Questions) for gold in files):
        listener.note(
            f"analogies are asked and answered with the first {config.limit:,} of "
            f"{len(vectors):,} words; --limit 0 takes all"
        )
    for gold in files:
        listener.phase(f"measuring by {gold.source}")
        scores: Scores
        if isinstance(gold, Questions):
            scores = measure_analogies(
                vectors, gold, limit=config.limit, method=config.method, threads=config.threads
            )
        elif isinstance(gold, Similarities):
            scores = measure_similarity(vectors, gold, unknown=config.unknown)
        else:
            scores = measure_categorization(
                vectors,
                gold,
                clustering=config.clustering,
                unknown=config.unknown,
                seed=config.seed,
            )
        if warning := _nothing_known(scores):
            listener.warn(f"{gold.source}: {warning}")
        yield scores
    listener.finish()


def _nothing_known(scores: Scores) -> str:
    """Return what to say when the vectors know nothing of a file, else an empty text."""
    if isinstance(scores, AnalogyScores):
        total = scores.total
        if not total.questions:
            return f"0 of {total.skipped:,} questions have all four words in the vocabulary"
    elif isinstance(scores, SimilarityScores):
        if scores.unknown == scores.pairs:
            return f"0 of {scores.pairs:,} pairs have both words in the vocabulary"
    elif scores.unknown == scores.words:
        return f"0 of {scores.words:,} words are in the vocabulary"
    return ""
