"""``lmkit ngram fit``: from text to a saved n-gram model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.ngram.config import NgramConfig, is_arpa
from lmkit.ngram.estimate.discounts import Discounts
from lmkit.ngram.save import RecordWriter, add_tokenizer, describe_model
from lmkit.store.artifact import ArtifactWriter
from lmkit.tasks.memory import return_freed_memory
from lmkit.tasks.spool import spooled
from lmkit.tasks.text_facts import text_facts
from lmkit.tasks.tokenizers import TokenizerConfig, make_tokenizer
from lmkit.text.corpus import Corpus, learn_words, read_corpus
from lmkit.text.encoding import Normalizer
from lmkit.text.lines import total_size
from lmkit.text.restore import StoredTokenizer
from lmkit.text.vocab import VocabularyConfig

SMALL = 1_000_000
"""Tokens (times orders) up to which NumPy is quicker than loading the compiled kernels."""


LARGE = 1 << 22
"""Bytes of text from which the memory of a fit is looked after."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FitNgramConfig:
    """Settings of ``lmkit ngram fit``."""

    model: NgramConfig = field(default_factory=NgramConfig)
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    normalizer: Normalizer = field(default_factory=Normalizer)
    unit: str = "word"
    """word, char, byte, unigram or bpe (a sentencepiece model trained on the text), FILE.model."""
    errors: Errors = "strict"
    seed: int = 1
    """Of the sample of lines on which pieces are trained."""
    threads: int = 1
    memory: int | None = None
    """Bytes the work may take; None for no limit."""

    def settings(self) -> dict[str, Any]:
        """Return what config.toml repeats, by the names of the command's options.

        Files are named as they lie beside config.toml in the model.
        """
        size = self.vocabulary.max_size
        return {
            "order": self.model.order,
            "prune": list(self.model.prune),
            "mode": self.model.mode,
            "unit": "tokenizer.model" if self.unit.endswith(".model") else self.unit,
            "min_count": self.vocabulary.min_count,
            **({} if size is None else {"vocab_size": size}),
            **({} if self.vocabulary.words is None else {"vocab": "vocab.tsv"}),
            "seed": self.seed,
            "lower": self.normalizer.lower,
            "normalize": self.normalizer.form,
            "discount_fallback": list(self.model.fallback),
            "unknown": "share" if self.model.interpolate_unigrams else "all",
            "errors": self.errors,
        }


@dataclass(frozen=True, slots=True)
class FittedNgram:
    """What was fitted."""

    path: Path
    counts: list[int]
    discounts: list[Discounts]
    num_lines: int
    num_tokens: int


def fit_ngram(
    sources: Sequence[str],
    out: Path,
    config: FitNgramConfig,
    *,
    force: bool = False,
    listener: Listener = SILENT,
) -> FittedNgram:
    """Fit an n-gram model to text and save it as the directory ``out``.

    Raises:
        TextError: the text cannot be read or holds no words.
        ModelError: ``out`` exists (without ``force``) or cannot be written.
    """
    model = config.model
    for source in sources:
        if is_arpa(source):
            raise UserError(f"{source} is a model, not a text", "Use lmkit ngram convert")
    num_bytes = total_size(sources)
    if num_bytes is None or num_bytes > LARGE:
        return_freed_memory()
    with ArtifactWriter(out, force=force) as writer:
        corpus, tokenizer = _encode(sources, config, listener)
        _check_memory(corpus, config)
        _warn_of_empty(corpus, listener)
        data = text_facts(sources, corpus)
        with writer.add_tensors() as tensors, RecordWriter(tensors, model.order) as records:
            if len(corpus.ids) * model.order <= SMALL:
                from lmkit.ngram.estimate.small import estimate
            else:
                from lmkit.ngram.estimate.kneser_ney import estimate
            result = estimate(
                corpus.release(),
                tokenizer.num_tokens,
                model,
                records,
                threads=config.threads,
                listener=listener,
            )
            listener.phase("saving")
            if model.order > 1:
                records.append("wide", result.wide_table())
            add_tokenizer(writer, records, tokenizer)
        describe_model(
            writer,
            config=model,
            counts=result.counts,
            discounts=result.discounts,
            tokenizer=tokenizer,
            data=[data],
            settings=config.settings(),
        )
    listener.finish()
    _warn_of_discounts(result.discounts, listener)
    return FittedNgram(out, result.counts, result.discounts, data["lines"], data["tokens"])


def fit_arpa(
    sources: Sequence[str],
    out: Path,
    config: FitNgramConfig,
    *,
    force: bool = False,
    listener: Listener = SILENT,
) -> FittedNgram:
    """Fit an n-gram model and keep it only as the ARPA file ``out``.

    On the way it is a model in a hidden sibling of ``out``; what a killed run leaves there, the
    next one replaces.

    Raises:
        TextError: the text cannot be read or holds no words.
        UserError: ``out`` exists (without ``force``) or cannot be written.
    """
    from lmkit.tasks.convert_ngram import model_to_arpa

    way = out.with_name(f".{out.name}.model")
    try:
        fitted = fit_ngram(sources, way, config, force=True, listener=listener)
        model_to_arpa(way, out, threads=config.threads, force=force, listener=listener)
    finally:
        rmtree(way, ignore_errors=True)
    return replace(fitted, path=out)


def _encode(
    sources: Sequence[str], config: FitNgramConfig, listener: Listener
) -> tuple[Corpus, StoredTokenizer]:
    """Read the text with the unit asked for, learning a vocabulary where it needs one."""
    mode, errors, threads = config.model.mode, config.errors, config.threads
    if config.unit == "word":
        return learn_words(
            sources, config.vocabulary, config.normalizer,
            mode=mode, errors=errors, threads=threads, listener=listener,
        )  # fmt: skip
    with spooled(sources, needed=config.unit in ("char", "unigram", "bpe")) as files:
        tokenizer = make_tokenizer(
            files,
            TokenizerConfig(
                unit=config.unit,
                mode=mode,
                vocabulary=config.vocabulary,
                normalizer=config.normalizer,
                errors=errors,
                seed=config.seed,
            ),
            listener,
        )
        corpus = read_corpus(
            files, tokenizer, mode=mode, errors=errors, threads=threads, listener=listener
        )
    if len(corpus.ids) == 0:
        raise UserError("no text to count", "Give a text with at least one line")
    return corpus, tokenizer


def _check_memory(corpus: Corpus, config: FitNgramConfig) -> None:
    """Refuse work that will not fit into ``--memory``, before it is begun."""
    if config.memory is None:
        return
    need = memory_needed(len(corpus.ids), config.model.order)
    if need > config.memory:
        raise UserError(
            f"{len(corpus.ids):,} tokens at order {config.model.order} need about "
            f"{math.ceil(need / 2**20):,} MiB, --memory allows {config.memory // 2**20:,} MiB",
            "Lower --order or allow more",
        )


def memory_needed(num_tokens: int, order: int) -> int:
    """Return about how many bytes of memory an estimate takes (measured, rounded up)."""
    return 150_000_000 + num_tokens * (20 + 12 * order)


def _warn_of_discounts(discounts: Sequence[Discounts], listener: Listener) -> None:
    for n, of_order in enumerate(discounts, start=1):
        if not of_order.estimated:
            values = " ".join(f"{value:g}" for value in of_order.values)
            listener.warn(f"order {n}: {of_order.reason}; discounts {values} stand in")


def _warn_of_empty(corpus: Corpus, listener: Listener) -> None:
    if corpus.num_tokens == 0:
        listener.warn("the text has only blank lines: the model knows nothing but </s>")
