"""The weights of a mixture by expectation maximisation (Dempster, Laird and Rubin 1977)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError


def fit_weights(
    logprobs: NDArray[np.float64], *, tolerance: float = 1e-7, max_iterations: int = 500
) -> tuple[NDArray[np.float64], list[float]]:
    """Return the weights under which a mixture finds a text likeliest.

    Starts from equal weights. The log likelihood has one maximum and never falls.

    Args:
        logprobs: natural log probability [M, T] of each token of the text under each part.
        tolerance: stop when an iteration gains less than this per token.
        max_iterations: stop after this many.

    Returns:
        The weights [M] and the log likelihood of the text at each iteration; the last one is
        that of the weights.

    Raises:
        UserError: there are no tokens, or one that no part finds possible.
    """
    num_parts, num_tokens = logprobs.shape
    if num_tokens == 0:
        raise UserError("the tuning text is empty", "Give a text like those the mixture is for")
    best = logprobs.max(axis=0)
    if not np.isfinite(best).all():
        impossible = num_tokens - int(np.isfinite(best).sum())
        raise UserError(f"{impossible} tokens of the tuning text are impossible under every model")
    scaled = np.exp(logprobs - best)  # [M, T], the largest of each column 1
    offset = float(best.sum())
    weights = np.full(num_parts, 1.0 / num_parts)
    history: list[float] = []
    while True:
        mixed = weights @ scaled  # [T]
        history.append(float(np.log(mixed).sum()) + offset)
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        if gain < tolerance * num_tokens or len(history) > max_iterations:
            return weights, history
        weights = weights * (scaled @ (1.0 / mixed))
        weights /= weights.sum()
