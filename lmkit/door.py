"""The functions that ``import lmkit`` offers to Python programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from lmkit.language_model import LanguageModel, Logprobs
from lmkit.measures.perplexity import Evaluation
from lmkit.tasks import evaluate as _evaluate
from lmkit.tasks import fit_ngram as _fit
from lmkit.tasks import score as _score
from lmkit.tasks.families import open_language_model
from lmkit.tasks.ngram_settings import NgramSettings, fit_config
from lmkit.tasks.threads import num_threads


def load(name: str | Path | None = None) -> LanguageModel:
    """Open a language model: a path, a name in the home of lmkit, or the newest one.

    Raises:
        ModelError: there is no such model, or it is damaged.
    """
    return open_language_model(None if name is None else str(name))


def fit_ngram(
    files: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    force: bool = False,
    **settings: Unpack[NgramSettings],
) -> LanguageModel:
    """Fit an n-gram model to text files, save it as the directory ``out`` and open it.

    Args:
        files: one text file or several.
        out: the model directory to be.
        force: replace a model that lies at ``out``.
        **settings: the options of ``lmkit ngram fit`` by their names: order, prune, mode, unit,
            min_count, vocab (the path of a list of words), vocab_size, lower, normalize,
            errors, discount_fallback, unknown, memory (bytes), seed, threads.

    Raises:
        TypeError: there is no such setting.
        UserError: a setting has a value that will not do.
        TextError: the text cannot be read or holds no words.
        ModelError: ``out`` exists or cannot be written.
    """
    sources = [files] if isinstance(files, str | Path) else files
    config = fit_config(**settings)
    _fit.fit_ngram([str(source) for source in sources], Path(out), config, force=force)
    return load(out)


def score(
    model: LanguageModel, sentences: Sequence[str], *, threads: int | None = None
) -> Logprobs:
    """Return the natural log probability of each sentence [N], ``</s>`` included.

    In document mode each is the beginning of a document. A sentence is one line: an inner line
    end is taken as a space.
    """
    if isinstance(sentences, str):
        raise TypeError("sentences is one string; give a list of strings")
    return _score.sentence_logprobs(model, sentences, threads=num_threads(threads))


def evaluate(
    model: LanguageModel,
    files: str | Path | Sequence[str | Path],
    *,
    threads: int | None = None,
) -> Evaluation:
    """Return how well ``model`` predicts the text of ``files``: perplexities, bits per byte.

    Raises:
        TextError: a file cannot be read.
    """
    sources = [files] if isinstance(files, str | Path) else files
    return _evaluate.evaluate(model, sources, threads=num_threads(threads))
