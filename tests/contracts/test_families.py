"""What every family that predicts text keeps to: one entry in BUILDERS brings a family in."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lmkit
from lmkit.decode.sample import SamplingConfig
from lmkit.language_model import BOS, EOS, Ids, LanguageModel
from lmkit.tasks.evaluate import evaluate
from lmkit.tasks.families import FAMILIES, open_model
from lmkit.tasks.mix import mix
from lmkit.tasks.pretrain import pretrain
from lmkit.tasks.pretrain_config import PretrainConfig
from lmkit.tasks.sample import sample

TEXT = "the cat sat on the mat\nthe dog sat\n\na cat and a dog met the bird\n" * 3
OTHER = "a bird sang to the cat\nthe king saw a bird and a queen\n" * 4


def build_ngram(folder: Path) -> Path:
    """Fit a trigram model."""
    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    lmkit.fit_ngram(folder / "text.txt", folder / "ngram", order=3)
    return folder / "ngram"


def build_mixture(folder: Path) -> Path:
    """Mix two n-gram models with different words."""
    for name, text in (("one", TEXT), ("two", OTHER)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        lmkit.fit_ngram(folder / f"{name}.txt", folder / name, order=2)
    parts = [str(folder / "one"), str(folder / "two")]
    path, _ = mix(parts, [folder / "one.txt"], str(folder / "mixture"))
    return path


def neural(arch: str, **settings: object) -> Callable[[Path], Path]:
    """Return what trains a tiny network of words for a few steps."""

    def build(folder: Path) -> Path:
        (folder / "text.txt").write_text(TEXT, encoding="utf-8")
        config = PretrainConfig(
            arch=arch, unit="word", settings=settings, batch=8, context=4, steps=3
        )
        pretrain([str(folder / "text.txt")], folder / arch, config)
        return folder / arch

    return build


SMALL = {"embedding_size": 8, "hidden_size": 8}
BUILDERS: dict[str, Callable[[Path], Path]] = {
    "ngram": build_ngram,
    "mixture": build_mixture,
    "nplm": neural("nplm", **SMALL, order=3),
    "rnn": neural("rnn", **SMALL),
    "gru": neural("gru", **SMALL),
    "lstm": neural("lstm", **SMALL),
    "gpt": neural("gpt", num_layers=1, num_heads=2, num_features=8),
}
EXACT = {"ngram", "mixture"}
"""Families that add the same numbers in the same order however the text is grouped."""


def test_every_family_is_covered() -> None:
    assert set(BUILDERS) == set(FAMILIES)


@pytest.fixture(scope="module", params=sorted(BUILDERS))
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BUILDERS[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture
def model(built: Path) -> LanguageModel:
    return open_model(built)


def stream_of(model: LanguageModel, *lines: str) -> Ids:
    parts = [
        part
        for line in lines
        for part in (model.tokenizer.encode(line), np.array([EOS], dtype=np.uint32))
    ]
    return np.concatenate(parts)


def test_probabilities_sum_to_one(model: LanguageModel) -> None:
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 5):
        context = rng.integers(3, model.tokenizer.num_tokens, size).astype(np.uint32)
        logprobs = model.next_logprobs(context)
        assert logprobs.shape == (model.tokenizer.num_tokens,)
        assert logprobs[BOS] == -np.inf
        assert np.exp(logprobs).sum() == pytest.approx(1, abs=1e-5)


def test_scoring_agrees_with_the_distributions(model: LanguageModel) -> None:
    ids = stream_of(model, "the cat sat on a zebra")
    by_distribution = [model.next_logprobs(ids[:t])[ids[t]] for t in range(len(ids))]
    assert model.logprobs(ids) == pytest.approx(by_distribution, abs=1e-6)


def test_step_by_step_is_the_whole(model: LanguageModel) -> None:
    ids = stream_of(model, "a bird saw the king", "the dog sat")
    state = model.start(1)
    logprobs = model.next_from(state)
    stepped = []
    for index in ids:
        stepped.append(logprobs[0, index])
        logprobs, state = model.step(state, np.array([index], dtype=np.uint32))
    assert model.logprobs(ids) == pytest.approx(stepped, abs=1e-6)


def test_a_batch_is_its_sentences(model: LanguageModel) -> None:
    lines = ["the cat", "", "a queen sat on the mat", "zebra"]
    whole = model.batch_logprobs(stream_of(model, *lines), 2)
    parts = [model.logprobs(stream_of(model, line)) for line in lines]
    if model.family in EXACT:
        assert np.array_equal(whole, np.concatenate(parts))
    else:  # products of matrices round differently by the number of rows
        assert whole == pytest.approx(np.concatenate(parts), abs=1e-5)


def test_reordering_moves_the_states(model: LanguageModel) -> None:
    words = stream_of(model, "the cat dog")[:3]
    _, state = model.step(model.start(3), words)
    order = np.array([2, 0, 0])
    moved = model.next_from(model.reorder(state, order))
    assert np.array_equal(moved, model.next_from(state)[order])


def test_samples_repeat_with_the_seed(model: LanguageModel) -> None:
    config = SamplingConfig(seed=7, max_tokens=20)
    first, again = (list(sample(model, count=5, config=config)) for _ in range(2))
    assert first == again
    other = list(sample(model, count=5, config=SamplingConfig(seed=8, max_tokens=20)))
    assert first != other


def test_a_copy_of_the_directory_is_the_model(
    built: Path, model: LanguageModel, tmp_path: Path
) -> None:
    shutil.copytree(built, tmp_path / "copy")
    copy = open_model(tmp_path / "copy")
    ids = stream_of(model, "the king met a cat")
    assert np.array_equal(copy.logprobs(ids), model.logprobs(ids))
    assert copy.tokenizer.fingerprint() == model.tokenizer.fingerprint()


def test_evaluation_adds_the_scores_up(model: LanguageModel, tmp_path: Path) -> None:
    lines = ["the cat sat", "a zebra", ""]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = evaluate(model, [tmp_path / "text.txt"])
    assert result.logprob == pytest.approx(lmkit.score(model, lines).sum(), abs=1e-9)
    assert result.sentences == result.lines == 3
    assert result.oov == 1
