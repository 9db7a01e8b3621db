"""Word vectors small enough to be looked through, for tests of what asks them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.model import save_vectors
from lmkit.embed.vectors import Vectors
from lmkit.store.artifact import ArtifactWriter
from lmkit.store.home import mark_last

RELATIONS = 4
"""Each word of ``planted`` is a thing and one of so many sides of it."""


def vectors_of(words: Sequence[str], matrix: Any, **settings: Any) -> Vectors:
    return Vectors.of(list(words), np.array(matrix, dtype=np.float32), **settings)


def planted(things: int, size: int, seed: int, noise: float = 0.0) -> Vectors:
    """Return words ``t3s1``: side 1 of thing 3, at thing 3 + offset 1, all in random directions."""
    rng = np.random.default_rng(seed)
    bases = rng.standard_normal((things, 1, size))
    offsets = rng.standard_normal((1, RELATIONS, size))
    matrix = bases + offsets + noise * rng.standard_normal((things, RELATIONS, size))
    words = [f"t{thing}s{side}" for thing in range(things) for side in range(RELATIONS)]
    return vectors_of(words, matrix.reshape(-1, size))


def exact_cosines(matrix: NDArray[Any], query: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosines of all rows with ``query``, in float64; 0 for a row of zeros."""
    wide, query = matrix.astype(np.float64), query.astype(np.float64)
    lengths = np.sqrt((wide**2).sum(axis=1)) * np.sqrt((query**2).sum())
    return np.divide(wide @ query, lengths, out=np.zeros(len(wide)), where=lengths > 0)


def save_model(
    vectors: Vectors, path: Path, dtype: str = "float32", *, newest: bool = False
) -> None:
    """Save ``vectors`` as a model at ``path``; in the home of models also as the newest one."""
    with ArtifactWriter(path) as writer:
        save_vectors(writer, vectors, config={"arch": "skipgram"}, dtype=dtype)
    if newest:
        mark_last("embed", path)
