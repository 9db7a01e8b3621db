"""The functions that ``import lmkit`` offers to Python programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from lmkit.embed.analogy import Method, UnknownWords
from lmkit.embed.vectors import Vectors
from lmkit.errors import UserError
from lmkit.language_model import LanguageModel, Logprobs
from lmkit.measures.perplexity import Evaluation
from lmkit.tasks import analogy as _analogy
from lmkit.tasks import embed_settings as _embed_settings
from lmkit.tasks import evaluate as _evaluate
from lmkit.tasks import fit_embed as _fit_embed
from lmkit.tasks import fit_ngram as _fit
from lmkit.tasks import open_vectors as _open_vectors
from lmkit.tasks import score as _score
from lmkit.tasks.embed_settings import EmbedSettings
from lmkit.tasks.families import open_language_model
from lmkit.tasks.ngram_settings import NgramSettings, fit_config
from lmkit.tasks.query_embed import neighbor_questions
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


def load_vectors(name: str | Path | None = None, *, limit: int | None = None) -> Vectors:
    """Open word vectors: a model (a path, a name in the home, or the newest one), or a file.

    Args:
        name: the model, or the path of a vectors file of word2vec, GloVe or fastText.
        limit: keep only this many words, those that come first (the most frequent ones).

    Raises:
        ModelError: there is no such model, it is damaged, or it has no word vectors.
        TextError: a file of vectors cannot be read.
    """
    return _open_vectors.open_vectors(None if name is None else str(name), limit=limit)


def fit_embed(
    files: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    older: str | Path | None = None,
    force: bool = False,
    **settings: Unpack[EmbedSettings],
) -> Vectors:
    """Fit word vectors to text files, save them as the directory ``out`` and open them.

    Args:
        files: one text file or several.
        out: the model directory to be.
        older: a model whose training goes on with this text, as with ``--continue``.
        force: replace a model that lies at ``out``.
        **settings: the options of ``lmkit embed fit`` by their names; see
            :class:`lmkit.tasks.embed_settings.EmbedSettings`.

    Raises:
        TypeError: there is no such setting.
        UserError: a setting has a value that will not do, or the training diverges.
        TextError: the text cannot be read or holds no words.
        ModelError: ``out`` exists or cannot be written, or ``older`` cannot be trained on.
    """
    sources = [files] if isinstance(files, str | Path) else files
    model = None if older is None else str(older)
    config = _embed_settings.fit_config(model, **settings)
    _fit_embed.fit_embed(
        [str(source) for source in sources], Path(out), config, older=model, force=force
    )
    return load_vectors(out)


def analogy(
    vectors: Vectors, question: str, *, top: int = 10, method: Method = "add"
) -> list[tuple[str, float]]:
    """Return the words nearest to a sum of words, with their scores, best first.

    Args:
        vectors: the table.
        question: ``"A B C"`` for A - B + C, or a sum such as ``"russia + river"``; its own words
            are no answers.
        top: how many answers.
        method: ``"add"``, ``"multiply"`` or ``"direction"``; see ``lmkit.embed.analogy``.

    Raises:
        UserError: ``question`` is no sum of words, one of its words has no vector, or there is no
            such method.
    """
    config = _analogy.AnalogyConfig(top=top, method=method)
    return _answers(vectors, next(_analogy.questions([question])), config)


def neighbors(vectors: Vectors, word: str, *, top: int = 10) -> list[tuple[str, float]]:
    """Return the words nearest to ``word``, with their cosines, nearest first.

    Raises:
        UserError: the word has no vector, or is blank.
    """
    config = _analogy.AnalogyConfig(top=top)
    return _answers(vectors, next(neighbor_questions(vectors, [word])), config)


def _answers(
    vectors: Vectors, question: _analogy.Question, config: _analogy.AnalogyConfig
) -> list[tuple[str, float]]:
    (answered,) = _analogy.answer(vectors, [question], config)
    if answered.problem:
        raise UserError(answered.problem)
    if not question.terms:
        raise UserError("the question is blank", "Ask with a word")
    if answered.unknown:
        raise UnknownWords(answered.unknown)
    return answered.answers


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
