"""t-SNE (van der Maaten and Hinton 2008) by scikit-learn, which the extra ``plot`` installs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.maps.extra import extra_module
from lmkit.embed.maps.pca import Points, principal_axes

PERPLEXITY = 30.0
"""The number of neighbours that count, where there are words enough."""
EXACT = 400
"""Up to so many points their forces are summed one by one, above by Barnes and Hut's tree."""


def tsne(rows: NDArray[np.floating], *, seed: int = 1) -> Points:
    """Return points [N, 2] of a plane whose neighbours are the neighbours among ``rows`` [N, D].

    Neighbourhood is preserved, distance is not: how far apart two groups lie means nothing. The
    perplexity is 30, or a third of the other points where those are fewer than 90. It begins with
    the plane of the principal components, so ``seed`` decides little. One thread: the same rows
    give the same points.

    Raises:
        UserError: scikit-learn is not installed.
    """
    manifold = extra_module("sklearn.manifold")
    threads = extra_module("threadpoolctl")
    points = np.asarray(rows, dtype=np.float64)
    number = len(points)
    begin = principal_axes(points).project(points)
    spread = begin[:, 0].std()
    if number < 3 or spread == 0.0:
        return begin  # two points have no neighbours to choose from
    method = manifold.TSNE(
        n_components=2,
        perplexity=min(PERPLEXITY, (number - 1) / 3),
        init=begin / spread * 1e-4,
        learning_rate="auto",
        method="exact" if number <= EXACT else "barnes_hut",
        random_state=seed % 2**32,
        n_jobs=1,
    )
    with threads.threadpool_limits(limits=1):
        return np.asarray(method.fit_transform(points), dtype=np.float64)
