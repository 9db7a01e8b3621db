"""Vectors from text by each way of counting: what they know, and that they repeat themselves."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import numpy as np
import pytest
from embed.count.texts import END, FIRST, Ids, random_ids
from embed.formats.vector_files import Heard

from lmkit.embed.count.config import CountArch, CountConfig
from lmkit.embed.count.fit import fit_counts
from lmkit.errors import UserError

ARCHS: tuple[CountArch, ...] = get_args(CountArch)
CLASSES, WORDS = 4, 6


def text_of_classes(sentences: int = 1500) -> Ids:
    """Return sentences, each of words of one class and the filler words 0 to 3."""
    rng = np.random.default_rng(0)
    ids = []
    for _ in range(sentences):
        kind = rng.integers(CLASSES)
        for _ in range(8):
            word = rng.integers(4) if rng.random() < 0.3 else 4 + kind * WORDS + rng.integers(WORDS)
            ids.append(FIRST + int(word))
        ids.append(END)
    return np.array(ids, dtype=np.uint32)


NUM_WORDS = 4 + CLASSES * WORDS


@pytest.mark.parametrize("arch", ARCHS)
def test_words_of_a_class_are_neighbours(arch: CountArch) -> None:
    config = CountConfig(arch=arch, size=CLASSES, window=4, epochs=20)
    vectors = fit_counts(text_of_classes(), NUM_WORDS, config)
    assert vectors.shape == (NUM_WORDS, CLASSES) and vectors.dtype == np.float32
    unit = vectors[4:] / np.linalg.norm(vectors[4:], axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    kinds = np.arange(CLASSES * WORDS) // WORDS
    nearest = np.argsort(-cosines, axis=1)[:, : WORDS - 1]
    assert np.mean(kinds[nearest] == kinds[:, None]) > 0.95


@pytest.mark.parametrize("arch", ARCHS)
def test_memory_and_threads_change_no_byte(arch: CountArch) -> None:
    ids = random_ids(6000, 80)
    config = CountConfig(arch=arch, size=10, epochs=2, seed=3)
    first = fit_counts(ids, 80, config)
    threads = 1 if arch == "glove" else 2
    for again in (fit_counts(ids, 80, config), fit_counts(ids, 80, config, memory=1 << 13)):
        assert first.tobytes() == again.tobytes()
    assert first.tobytes() == fit_counts(ids, 80, config, threads=threads).tobytes()


@pytest.mark.parametrize("arch", ARCHS)
def test_a_word_that_stands_alone_has_no_vector(arch: CountArch) -> None:
    ids = np.concatenate([random_ids(2000, 30), [END, FIRST + 30, END]]).astype(np.uint32)
    heard = Heard()
    vectors = fit_counts(ids, 31, CountConfig(arch=arch, size=5, epochs=1), listener=heard)
    assert len(heard.warnings) == 1
    assert heard.warnings[0].startswith("1 of 31 words get vectors of zeros: no pairs of theirs")
    assert np.isfinite(vectors).all() and not vectors[30].any() and vectors[0].any()


@pytest.mark.parametrize("arch", ARCHS)
def test_a_text_without_pairs(arch: CountArch) -> None:
    with pytest.raises(UserError, match=r"no two words.*--min-count"):
        fit_counts(np.array([3, 2, 4, 2], dtype=np.uint32), 2, CountConfig(arch=arch, size=1))


def test_a_shift_that_leaves_nothing() -> None:
    with pytest.raises(UserError, match=r"no two words have a PMI above --shift 1e\+09. Lower"):
        fit_counts(random_ids(500, 20), 20, CountConfig(arch="ppmi", size=4, shift=1e9))


def test_nothing_is_warned_of_where_all_words_have_vectors() -> None:
    heard = Heard()
    fit_counts(random_ids(2000, 20), 20, CountConfig(arch="ppmi", size=4), listener=heard)
    assert heard.warnings == []


def test_glove_tells_of_every_epoch() -> None:
    told: list[int] = []
    config = CountConfig(size=4, epochs=3)
    fit_counts(random_ids(500, 20), 20, config, after_epoch=lambda *epoch: told.append(epoch[0]))
    assert told == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arch": "lsa"}, "unknown --arch lsa"),
        ({"size": 0}, "--size 0 is below 1"),
        ({"window": 0}, "--window 0 is below 1"),
        ({"epochs": 0}, "--epochs 0 is below 1"),
        ({"contexts": 0}, "--contexts 0 is below 1"),
        ({"x_max": 0.0}, "--x-max 0 is not above 0"),
        ({"learning_rate": float("nan")}, "--learning-rate nan is not above 0"),
        ({"window": 1001}, "--window 1001 is above 1000"),
        ({"seed": 2**31}, "--seed 2147483648 is above 2147483647"),
        ({"power": float("nan")}, "--power nan is not finite"),
        ({"power": float("inf")}, "--power inf is not finite"),
        ({"alpha": float("nan")}, "--alpha nan is not between 0 and 1"),
        ({"shift": float("inf")}, "--shift inf is not above 0"),
        ({"count_power": float("inf")}, "--count-power inf is not above 0"),
        ({"context_smoothing": 1.5}, "--context-smoothing 1.5 is not between 0 and 1"),
    ],
)
def test_settings_out_of_range(given: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        CountConfig(**given)  # type: ignore[arg-type]


def test_defaults_by_architecture() -> None:
    windows = {arch: CountConfig(arch=arch).window_size for arch in ARCHS}
    assert windows == {"glove": 10, "ppmi": 5, "hellinger": 5, "eigenwords": 2}
    assert CountConfig(arch="ppmi", window=3, power=0.0).window_size == 3
    assert CountConfig(arch="ppmi", power=0.0).singular_power == 0.0


def test_settings_need_no_numba() -> None:
    code = (
        "import sys, lmkit.embed.count.fit, lmkit.embed.count.config;"
        "print([m for m in ('numba', 'torch', 'llvmlite') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
