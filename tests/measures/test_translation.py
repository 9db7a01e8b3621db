"""Precision at 1, 5 and 10."""

import numpy as np
import pytest

from lmkit.measures.translation import measure_translation


def test_precision_by_hand() -> None:
    target = np.eye(12, dtype=np.float32)
    source = np.eye(12, dtype=np.float32)
    source[1] = target[1] * 0.6 + target[2] * 0.8  # its translation is second
    scores = measure_translation(source, target, [(0, 0), (1, 1), (2, 5), (2, 2)], unknown=4)
    assert scores.cosine == {1: pytest.approx(2 / 3), 5: 1.0, 10: 1.0}
    assert (scores.words, scores.unknown) == (3, 4)
    assert scores.record()["cosine_precision_at_1"] == pytest.approx(2 / 3)


def test_few_targets() -> None:
    source = target = np.eye(2, dtype=np.float32)
    scores = measure_translation(source, target, [(0, 0), (1, 0)])
    assert scores.csls == scores.cosine == {1: 0.5, 5: 1.0, 10: 1.0}


def test_nothing_to_translate() -> None:
    record = measure_translation(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), [])
    assert (record.words, record.cosine, record.csls) == (0, None, None)
    assert set(record.record().values()) == {0, None}


def test_csls_sees_through_a_hub() -> None:
    random = np.random.default_rng(5)
    source = random.standard_normal((300, 20)).astype(np.float32)
    source += 1.5  # all to one side, where a hub stands
    target = source + 1.4 * random.standard_normal(source.shape).astype(np.float32)
    target[0] = target.mean(axis=0)
    source, target = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (source, target))
    scores = measure_translation(source, target, [(row, row) for row in range(1, 300)])
    assert scores.csls is not None and scores.cosine is not None
    assert scores.csls[1] > scores.cosine[1] + 0.05
