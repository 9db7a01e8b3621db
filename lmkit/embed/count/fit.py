"""Word vectors by counting: one pass counts pairs of words, then GloVe or an SVD."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.count.config import DEFAULT_MEMORY, CountConfig
from lmkit.embed.vectors import Floats
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener

if TYPE_CHECKING:
    from lmkit.embed.count.cells import SparseMatrix


def fit_counts(
    ids: NDArray[np.uint32],
    num_words: int,
    config: CountConfig,
    *,
    threads: int = 1,
    memory: int = DEFAULT_MEMORY,
    listener: Listener = SILENT,
    after_epoch: Callable[[int, float, Floats], None] | None = None,
) -> Floats:
    """Return vectors [V, ``config.size``] of the words of encoded text.

    The same seed gives the same bytes whatever ``threads`` and ``memory``; only GloVe depends on
    the threads where they are more than one.

    Args:
        ids: [T] 0 for a word outside the vocabulary, 2 for the end of a sentence, 3 + w for word w.
        num_words: V.
        config: which vectors, and how.
        threads: how many to work in.
        memory: bytes that counting may take, roughly; a larger matrix goes to a temporary file.
        listener: hears of phases and progress; is warned of words whose vectors are zero.
        after_epoch: glove: is told the number of each epoch that is over, its loss and vectors.

    Raises:
        UserError: there are no pairs of words, fewer words than coordinates, a training that
            diverges, or a full disk.
    """
    from lmkit.embed.count.cooccurrence import cooccurrences

    counts = cooccurrences(
        ids,
        num_words,
        window=config.window_size,
        weighting=config.weighting,
        symmetric=config.arch != "eigenwords",
        threads=threads,
        memory=memory,
        listener=listener,
    )
    if not len(counts):
        raise UserError(
            "no two words stand near each other in this text",
            "Lower --min-count, or give more text",
        )
    if config.arch == "glove":
        vectors = _glove(counts, config, threads, listener, after_epoch)
    else:
        vectors = _factorize(counts, config, threads, listener)
    if zeros := len(vectors) - int(np.count_nonzero(vectors.any(axis=1))):
        pairs = "have a PMI above --shift" if config.arch == "ppmi" else "were counted"
        listener.warn(
            f"{zeros:,} of {num_words:,} words get vectors of zeros: no pairs of theirs {pairs}"
        )
    return vectors


def _glove(
    counts: SparseMatrix,
    config: CountConfig,
    threads: int,
    listener: Listener,
    after_epoch: Callable[[int, float, Floats], None] | None,
) -> Floats:
    from lmkit.embed.count.glove import GloveConfig, fit_glove

    settings = GloveConfig(
        size=config.size,
        epochs=config.epochs,
        x_max=config.x_max,
        alpha=config.alpha,
        learning_rate=config.learning_rate,
        seed=config.seed,
    )
    result = fit_glove(
        counts, settings, threads=threads, listener=listener, after_epoch=after_epoch
    )
    return result.vectors


def _factorize(
    counts: SparseMatrix, config: CountConfig, threads: int, listener: Listener
) -> Floats:
    from lmkit.embed.count.eigenwords import eigenword_vectors
    from lmkit.embed.count.hellinger import hellinger_vectors
    from lmkit.embed.count.ppmi import ppmi_vectors
    from lmkit.embed.count.workers import Workers

    size, seed, contexts = config.size, config.seed, config.contexts
    power = config.singular_power
    with Workers(threads) as workers:
        if config.arch == "ppmi":
            return ppmi_vectors(
                counts, size, shift=config.shift, smoothing=config.context_smoothing, power=power,
                num_contexts=contexts, seed=seed, workers=workers, listener=listener,
            )  # fmt: skip
        if config.arch == "hellinger":
            return hellinger_vectors(
                counts, size, power=power, num_contexts=contexts, seed=seed, workers=workers,
                listener=listener,
            )  # fmt: skip
        return eigenword_vectors(
            counts, size, power=power, count_power=config.count_power, num_contexts=contexts,
            seed=seed, workers=workers, listener=listener,
        )  # fmt: skip
