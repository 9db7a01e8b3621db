"""Mixes language models in the proportions that suit a text: ``lmkit ngram mix``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS, UNK, Errors
from lmkit.mixture.em import fit_weights
from lmkit.mixture.model import MixtureModel
from lmkit.store.home import mark_last, resolve_model, resolve_out
from lmkit.tasks.encoding import BLOCK_SIZE, ahead, encode_block
from lmkit.tasks.evaluate import extend_context
from lmkit.tasks.families import FAMILIES, open_model
from lmkit.text.lines import read_blocks, total_size


@dataclass(frozen=True, kw_only=True, slots=True)
class MixConfig:
    """How the weights are found and where the mixture goes."""

    tolerance: float = 1e-7
    """Stop when an iteration gains less log likelihood than this per token."""
    max_iterations: int = 500
    """Stop after this many iterations."""
    threads: int = 1
    """Threads of the models."""
    errors: Errors = "strict"
    """What to do with bytes that are not UTF-8: stop, or replace them."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.max_iterations < 1:
            raise UserError(f"--iterations {self.max_iterations} is below 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuned:
    """Weights and what they were tuned on. Every predicted token counts, OOVs and ends too."""

    weights: tuple[float, ...]
    """[M], of sum 1."""
    history: tuple[float, ...]
    """[I + 1] natural log of the probability of the text before the first and after each of I
    iterations; it never falls."""
    perplexities: tuple[float, ...]
    """[M] perplexity of each part alone, over the vocabulary of the mixture."""
    perplexity: float
    """Perplexity of the mixture."""
    tokens: int
    """Predicted tokens of the text."""
    oov: int
    """Those that no part knows."""
    lines: int
    """Lines of the text."""
    sha256: str
    """Digest of the text as read."""

    def record(self) -> dict[str, object]:
        """Return all of it but the history and the digest, fit for JSON."""
        return {
            "weights": list(self.weights),
            "perplexities": list(self.perplexities),
            "perplexity": self.perplexity,
            "logprob": self.history[-1],
            "tokens": self.tokens,
            "oov": self.oov,
            "lines": self.lines,
            "iterations": len(self.history) - 1,
        }


def tune(
    mixture: MixtureModel,
    sources: Sequence[str | Path],
    config: MixConfig | None = None,
    listener: Listener = SILENT,
) -> Tuned:
    """Find the weights with which the parts of ``mixture`` together find a text likeliest.

    Raises:
        TextError: the text cannot be read.
        UserError: the text is empty.
    """
    config = config or MixConfig()
    digest = hashlib.sha256()
    listener.phase("scoring the tuning text", total_size(sources), "B")
    blocks = read_blocks(
        sources, errors=config.errors, block_size=BLOCK_SIZE, listener=listener, digest=digest
    )
    pairs = ahead(blocks, lambda block: encode_block(mixture, block, mixture.mode), config.threads)
    parts = [np.empty((len(mixture.parts), 0))]
    oov = lines = 0
    context = None
    for _, encoded in pairs:
        ids = encoded.ids
        logprobs = mixture.part_logprobs(ids, config.threads, context)
        if mixture.mode == "document":
            context = extend_context(context, ids)
            logprobs = logprobs[:, ids != EOS]
        parts.append(logprobs)
        oov += int(np.count_nonzero(ids == UNK))
        lines += len(encoded.line_sizes)
    listener.phase("fitting the weights")
    logprobs = np.concatenate(parts, axis=1)
    weights, history = fit_weights(
        logprobs, tolerance=config.tolerance, max_iterations=config.max_iterations
    )
    listener.finish()
    tokens = logprobs.shape[1]
    return Tuned(
        weights=tuple(weights.tolist()),
        history=tuple(history),
        perplexities=tuple(_perplexities(logprobs)),
        perplexity=math.exp(-history[-1] / tokens),
        tokens=tokens,
        oov=oov,
        lines=lines,
        sha256=digest.hexdigest(),
    )


def _perplexities(logprobs: NDArray[np.float64]) -> list[float]:
    with np.errstate(over="ignore"):
        return [float(value) for value in np.exp(-logprobs.mean(axis=1))]


def mix(
    models: Sequence[str],
    sources: Sequence[str | Path],
    out: str | None,
    *,
    force: bool = False,
    config: MixConfig | None = None,
    listener: Listener = SILENT,
) -> tuple[Path, Tuned]:
    """Mix the models of these names or paths, tune the weights on a text, and save the mixture.

    Args:
        models: at least two names or paths.
        sources: the tuning text.
        out: where the mixture goes: a path or a name; None: a name made from the text's.
        force: replace a model that lies there.
        config: how to tune.
        listener: hears of the progress.

    Returns:
        The directory of the mixture, and how its weights came about.

    Raises:
        ModelError: a model is missing or damaged, the models do not fit together, or something
            is in the way.
        TextError: the text cannot be read.
    """
    config = config or MixConfig()
    if len(models) < 2:
        raise UserError("a mixture needs two models or more", "Name each with -m")
    names = [Path(source).name if str(source) != "-" else "stdin" for source in sources]
    path = resolve_out(out, f"mix-{names[0].split('.')[0]}" if names else "mix", force)
    paths = [resolve_model(name, tuple(FAMILIES))[0] for name in models]
    mixture = MixtureModel([open_model(part) for part in paths])
    tuned = tune(mixture, sources, config, listener)
    if any(vocabulary is not None for vocabulary in mixture.vocabularies):
        listener.note(
            "the models know different words: perplexities are over the words of all, so they "
            "are higher than those of eval, which lets a model lump its unknown words together"
        )
    text = {"lines": tuned.lines, "tokens": tuned.tokens, "sha256": tuned.sha256}
    mixture.with_weights(np.array(tuned.weights)).save(
        path,
        paths,
        force=force,
        data=[{"name": " ".join(names), **text}],
        metrics={"perplexity": tuned.perplexity, "perplexities": list(tuned.perplexities)},
        settings={"iterations": config.max_iterations, "errors": config.errors},
    )
    mark_last(mixture.family, path, listener)
    return path, tuned
