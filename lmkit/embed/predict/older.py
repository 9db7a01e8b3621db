"""A model whose training goes on: its rows become the first state of a new training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.model import open_vectors
from lmkit.embed.predict.config import PredictConfig
from lmkit.embed.vectors import Vectors
from lmkit.errors import ModelError
from lmkit.events import Listener
from lmkit.store.artifact import Artifact

if TYPE_CHECKING:
    from lmkit.embed.predict.trainees import Trainee


@dataclass(slots=True)
class OlderModel:
    """What an older model brings along."""

    vectors: Vectors
    arrays: Mapping[str, NDArray[Any]]
    loss: str
    data: list[dict[str, Any]]
    """What its card says about its text."""

    def copy_to(self, trainee: Trainee, old: NDArray[np.int64], listener: Listener) -> None:
        """Make the rows of the older model those of ``trainee``.

        Args:
            trainee: is changed; words that are new keep their random rows.
            old: [V] the row of each word in the older model, -1 for new ones.
            listener: is told what begins anew.
        """
        size = self.vectors.size
        known = np.flatnonzero(old >= 0)
        own = self.arrays.get("inputs", self.vectors.matrix)
        trainee.inputs[known, :size] = own[old[known]]
        if self.loss == "hierarchical":
            listener.note("the tree of the words is made anew, and what its nodes learnt is lost")
        else:
            trainee.take_over(self.arrays, known, old[known])
        subwords = self.vectors.subwords
        buckets = trainee.buckets()
        if subwords is not None and buckets is not None:
            rows = subwords.find(buckets)
            trained = np.flatnonzero(rows >= 0)
            trainee.inputs[len(old) + trained, :size] = subwords.rows[rows[trained]]


def open_older(artifact: Artifact, config: PredictConfig) -> OlderModel:
    """Return what the model in ``artifact`` brings along to a training with ``config``.

    Raises:
        ModelError: it was not trained by prediction, or with settings that do not fit.
    """
    card = artifact.config
    if "outputs" not in artifact.arrays or "word_counts" not in artifact.arrays:
        raise ModelError(
            f"{artifact.path} keeps no output vectors, so it cannot be trained on",
            "Only models of lmkit embed fit --arch skipgram, cbow or collobert can",
        )
    asked = {
        "arch": config.arch,
        "loss": config.loss,
        "size": config.size,
        "subword": None if config.subword is None else list(config.subword),
        "buckets": None if config.subword is None else config.buckets,
    }
    if config.loss == "rank":  # the network has weights for each
        asked |= {"window": config.window, "hidden": config.hidden}
    for name, value in asked.items():
        if value != card.get(name):
            raise ModelError(
                f"{artifact.path} has {name} {card.get(name)}, not {value}", f"Leave out --{name}"
            )
    return OlderModel(
        open_vectors(artifact), artifact.arrays, str(card["loss"]), list(artifact.card["data"])
    )
