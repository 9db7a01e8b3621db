"""``lmkit embed fit``: from text to a saved model of word vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lmkit.embed.count.config import DEFAULT_MEMORY, CountConfig
from lmkit.embed.model import save_vectors
from lmkit.embed.predict.config import LARGE_SOFTMAX, PredictConfig
from lmkit.embed.predict.older import OlderModel, open_older
from lmkit.embed.predict.trainer import Training
from lmkit.embed.vectors import Floats, Vectors
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.store.artifact import ArtifactWriter, open_artifact
from lmkit.store.home import resolve_model
from lmkit.tasks.embed_text import EmbedText, encode_text
from lmkit.tasks.memory import return_freed_memory, trim_memory
from lmkit.tasks.text_facts import text_facts
from lmkit.text.encoding import Normalizer
from lmkit.text.lines import total_size
from lmkit.text.vocab import VocabularyConfig

LARGE = 1 << 22
"""Bytes of text from which the memory of a fit is looked after."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FitEmbedConfig:
    """Settings of ``lmkit embed fit``."""

    model: PredictConfig | CountConfig = field(default_factory=PredictConfig)
    vocabulary: VocabularyConfig = field(default_factory=lambda: VocabularyConfig(min_count=5))
    normalizer: Normalizer = field(default_factory=Normalizer)
    errors: Errors = "strict"
    dtype: Literal["float32", "float16"] = "float32"
    """How the model keeps its vectors."""
    threads: int = 1
    memory: int = DEFAULT_MEMORY
    """Bytes that counting may take."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What config.toml repeats."""


@dataclass(frozen=True, slots=True)
class FittedEmbed:
    """What was fitted."""

    path: Path
    num_words: int
    size: int
    num_tokens: int
    training: Training | None = None
    """How the training went; None for those that need none."""


def fit_embed(
    sources: Sequence[str],
    out: Path,
    config: FitEmbedConfig,
    *,
    older: str | None = None,
    force: bool = False,
    listener: Listener = SILENT,
) -> FittedEmbed:
    """Fit word vectors to text and save them as the directory ``out``.

    A training that is interrupted or diverges keeps what the last whole epoch left: the model is
    saved, and then the interruption goes on.

    Args:
        sources: the text.
        out: the directory of the model.
        config: the settings.
        older: a model (path or name) whose training goes on with this text.
        force: replace a model that lies there.
        listener: hears of phases and progress.

    Raises:
        TextError: the text cannot be read or holds no words.
        UserError: no word is frequent enough, or the training diverges.
        ModelError: ``out`` exists (without ``force``), or ``older`` cannot be trained on.
    """
    num_bytes = total_size(sources)
    if num_bytes is None or num_bytes > LARGE:
        return_freed_memory()
    model = None if older is None else _open_older(older, config)
    with ArtifactWriter(out, force=force) as writer:
        text = _read(sources, config, model, listener)
        facts = [text_facts(sources, text.corpus)]
        training: Training | None = None
        extra: dict[str, Any] = {}
        if isinstance(config.model, PredictConfig):
            vectors, extra, training = _predict(text, config.model, config, model, writer, listener)
        else:
            vectors, training = _count(text, config.model, config, listener)
        listener.phase("saving")
        save_vectors(
            writer,
            vectors,
            config=_card(config, training),
            settings=config.settings,
            data=[*([] if model is None else model.data), *facts],
            extra=extra,
            dtype=config.dtype,
            seed=config.model.seed,
            metrics=_metrics(training),
        )
    listener.finish()
    fitted = FittedEmbed(out, len(vectors), vectors.size, facts[0]["tokens"], training)
    if training is not None:
        _go_on(training, fitted, config, listener)
    return fitted


def _read(
    sources: Sequence[str], config: FitEmbedConfig, older: OlderModel | None, listener: Listener
) -> EmbedText:
    text = encode_text(
        sources,
        config.vocabulary,
        config.normalizer,
        errors=config.errors,
        threads=config.threads,
        older=None if older is None else older.vectors,
        listener=listener,
    )
    trim_memory()  # what reading took
    return text


def _open_older(name: str, config: FitEmbedConfig) -> OlderModel:
    if not isinstance(config.model, PredictConfig):
        raise UserError(
            f"--continue means nothing for --arch {config.model.arch}", "Fit to all of the text"
        )
    artifact = open_artifact(resolve_model(name)[0], families=("embed",))
    return open_older(artifact, config.model)


def _predict(
    text: EmbedText,
    model: PredictConfig,
    config: FitEmbedConfig,
    older: OlderModel | None,
    writer: ArtifactWriter,
    listener: Listener,
) -> tuple[Vectors, dict[str, Any], Training]:
    """Train; return the vectors, what further training needs, and how it went."""
    from lmkit.embed.predict.trainees import make_trainee
    from lmkit.embed.predict.trainer import train

    if len(text.words) < 2:
        raise UserError(
            "there is only one word to learn about", "Lower --min-count or give more text"
        )
    if model.loss == "softmax" and len(text.words) > LARGE_SOFTMAX:
        listener.note(
            f"each step of --loss softmax looks at all {len(text.words):,} words, so this takes "
            "long; --vocab-size leaves out rare words, the other losses are faster"
        )
    trainee = make_trainee(model, text.words, text.counts)
    if older is not None and text.old is not None:
        older.copy_to(trainee, text.old, listener)
    if config.threads > 1:
        listener.note(
            f"{config.threads} threads share the vectors, so runs differ a little; "
            "with --threads 1 they repeat to the byte"
        )
    try:
        training = train(
            trainee,
            text.corpus.release(),
            threads=config.threads,
            snapshot=writer.directory / "epoch",
            listener=listener,
        )
        if training.interrupted is not None and not training.epochs:
            raise training.interrupted
    except BaseException as error:
        if not isinstance(error, Exception):
            listener.warn("interrupted in the first epoch; nothing was written")
        raise
    if not training.epochs:
        raise UserError(*_divergence(training, config, "nothing was written"))
    return trainee.vectors(config.normalizer), trainee.extra(), training


def _count(
    text: EmbedText, model: CountConfig, config: FitEmbedConfig, listener: Listener
) -> tuple[Vectors, Training | None]:
    """Count; return the vectors and, for glove, how the training went."""
    from lmkit.embed.count.fit import fit_counts

    training = Training()
    matrix: Floats | None = None

    def keep(epoch: int, loss: float, vectors: Floats) -> None:
        nonlocal matrix
        training.epochs, matrix = epoch, vectors
        training.losses.append(loss)

    try:
        matrix = fit_counts(
            text.corpus.release(),
            len(text.words),
            model,
            threads=config.threads,
            memory=config.memory,
            listener=listener,
            after_epoch=keep,
        )
    except UserError:
        if matrix is None:
            raise
        training.diverged = training.epochs + 1
    except BaseException as error:
        if matrix is None or isinstance(error, Exception):
            raise
        training.interrupted = error
    vectors = Vectors.of(text.words, matrix, counts=text.counts, normalizer=config.normalizer)
    return vectors, training if training.epochs else None


def _card(config: FitEmbedConfig, training: Training | None) -> dict[str, Any]:
    """Return what the card says about how the vectors were made."""
    facts = config.model.meaningful()
    own = ("size", "seed")  # stand at their own places
    facts = {key: facts[key] for key in facts if key not in own and facts[key] is not None}
    facts["min_count"] = config.vocabulary.min_count
    if training is not None:
        facts["epochs"] = training.epochs
    return facts


def _metrics(training: Training | None) -> dict[str, Any]:
    if training is None:
        return {}
    kept = {"kept": training.kept} if training.kept else {}
    return {"losses": [round(loss, 6) for loss in training.losses], **kept}


def _go_on(
    training: Training, fitted: FittedEmbed, config: FitEmbedConfig, listener: Listener
) -> None:
    """Go on with what ended a training before its time; the model of an epoch is saved."""
    if training.interrupted is not None:
        listener.warn(f"interrupted; {fitted.path} is the model of epoch {training.epochs}")
        raise training.interrupted
    if training.diverged is not None:
        raise UserError(*_divergence(training, config, f"{fitted.path} is the model before it"))


def _divergence(training: Training, config: FitEmbedConfig, kept: str) -> tuple[str, str]:
    model = config.model
    rate = model.rate if isinstance(model, PredictConfig) else model.learning_rate
    what = f"the training diverged in epoch {training.diverged} (learning rate "
    return f"{what}{rate:g}); {kept}", "Try a smaller --learning-rate"
