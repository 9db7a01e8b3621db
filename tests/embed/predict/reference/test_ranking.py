"""Collobert & Weston's network learns which words stand where, and so what kind they are of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from embed.predict.reference import training

from lmkit.corpora import catalogue
from lmkit.corpora.kingdoms.things import WORDS
from lmkit.embed.predict.config import PredictConfig
from lmkit.embed.predict.trainees import make_trainee
from lmkit.embed.vectors import Vectors
from lmkit.tasks.embed_text import encode_text
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import VocabularyConfig

NEAREST = 5
KINDS = [
    WORDS["colour"].split(","),
    [
        "king",
        "queen",
        "duke",
        "duchess",
        "baron",
        "baroness",
        "emperor",
        "empress",
        "prince",
        "princess",
        "sultan",
        "sultana",
    ],
    [
        "paris",
        "berlin",
        "rome",
        "vienna",
        "madrid",
        "athens",
        "cairo",
        "warsaw",
        "lisbon",
        "kyiv",
        "bangkok",
        "tokyo",
    ],
]


def of_the_same_kind(vectors: Vectors, words: list[str]) -> tuple[float, float]:
    """Return how many of the nearest words of ``words`` are among them, and how many by chance."""
    rows = [row for row in map(vectors.index, words) if row >= 0]
    assert len(rows) > 8
    unit = vectors.matrix / vectors.norms[:, None]
    cosines = unit[rows] @ unit.T
    cosines[np.arange(len(rows)), rows] = -2
    nearest = np.argsort(-cosines, axis=1)[:, :NEAREST]
    return float(np.isin(nearest, rows).mean()), (len(rows) - 1) / (len(vectors) - 1)


def test_neighbours_are_of_one_kind(tmp_path: Path) -> None:
    source = tmp_path / "lines.txt"
    lines = Path(catalogue.path("kingdoms")).read_bytes().split(b"\n")[:16000]
    source.write_bytes(b"\n".join(lines))
    normalizer = Normalizer()
    text = encode_text([str(source)], VocabularyConfig(min_count=5), normalizer)
    config = PredictConfig(arch="collobert", loss="rank", size=50, epochs=3)
    trainee = make_trainee(config, text.words, text.counts)
    random = [of_the_same_kind(trainee.vectors(normalizer), kind) for kind in KINDS]
    went = training.trained(trainee, text.corpus.ids, tmp_path)
    assert went.losses[0] < 0.5
    assert went.losses[2] < 0.5 * went.losses[0]
    vectors = trainee.vectors(normalizer)
    found = [of_the_same_kind(vectors, kind) for kind in KINDS]
    assert sum(shares[0] for shares in random) < 0.1
    assert all(share > 10 * chance for share, chance in found)
    assert found[1][0] > 0.5


def test_the_network_begins_as_said() -> None:
    """What goes into a hidden unit spreads by 0.3 at first, whatever the size and the window."""
    rng = np.random.default_rng(1)
    for size, window in ((20, 2), (100, 5)):
        trainee = training.trainee_for(
            (rng.permutation(500) + 3).astype(np.uint32), 500, arch="collobert", loss="rank",
            size=size, window=window,
        )  # fmt: skip
        weights = trainee.outputs.reshape(2 * window + 1, 100, -1)
        words = rng.integers(0, 500, (200, 2 * window + 1))
        sums = np.einsum("phd,npd->nh", weights, trainee.inputs[words])
        assert sums.std() == pytest.approx(0.3, rel=0.1)
