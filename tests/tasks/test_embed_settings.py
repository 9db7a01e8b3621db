"""The settings of word vectors from Python: the names of the options, and what each goes with."""

from pathlib import Path
from typing import Any

import pytest
from programs import commands

from lmkit.embed.count.config import CountConfig
from lmkit.embed.predict.config import LOSSES, PredictConfig
from lmkit.errors import UserError
from lmkit.tasks.embed_settings import COUNTED, EmbedSettings, fit_config
from lmkit.tasks.threads import num_threads
from lmkit.text.vocab import VocabularyConfig

RUN_ONCE = {"files", "out", "force", "quiet", "verbose", "progress", "config", "print_config"}
ELSEWHERE = {"device", "older"}


def test_names_are_those_of_the_options() -> None:
    options = {param.name for param in commands()["embed", "fit"].params}
    assert options - RUN_ONCE - ELSEWHERE == set(EmbedSettings.__annotations__)


def test_defaults_are_those_of_the_configuration_and_the_command() -> None:
    config = fit_config()
    assert config.model == PredictConfig()
    assert config.vocabulary == VocabularyConfig(min_count=5)
    assert (config.dtype, config.errors, config.threads) == ("float32", "strict", num_threads(None))
    names = set(EmbedSettings.__annotations__)
    params = {param.name: param.default for param in commands()["embed", "fit"].params}
    defaults: Any = {name: params[name] for name in names}
    command = fit_config(**defaults)
    assert (command.model, command.vocabulary) == (config.model, config.vocabulary)
    assert (command.normalizer, command.memory) == (config.normalizer, config.memory)


def test_every_setting_of_prediction_arrives() -> None:
    config = fit_config(
        arch="cbow", loss="negative", size=7, window=3, negative=4, noise_power=0.5, epochs=9,
        learning_rate=0.2, subsample=0.01, subsample_formula="paper", subword="3-5", buckets=100,
        seed=8, min_count=2, vocab_size=50, lower=True, normalize="nfc", errors="replace",
        dtype="float16", threads=2,
    )  # fmt: skip
    assert config.model == PredictConfig(
        arch="cbow", size=7, window=3, negative=4, noise_power=0.5, epochs=9, learning_rate=0.2,
        subsample=0.01, subsample_formula="paper", subword=(3, 5), buckets=100, seed=8,
    )  # fmt: skip
    assert config.vocabulary == VocabularyConfig(min_count=2, max_size=50)
    assert (config.normalizer.lower, config.normalizer.form) == (True, "nfc")
    assert (config.errors, config.dtype, config.threads) == ("replace", "float16", 2)


def test_every_setting_of_counting_arrives() -> None:
    glove = fit_config(arch="glove", x_max=5.0, alpha=0.5, epochs=3, learning_rate=0.1, memory=99)
    assert glove.model == CountConfig(arch="glove", x_max=5, alpha=0.5, epochs=3, learning_rate=0.1)
    assert glove.memory == 99
    ppmi = fit_config(arch="ppmi", shift=5.0, context_smoothing=1.0, power=1.0, contexts=30)
    assert ppmi.model == CountConfig(
        arch="ppmi", shift=5, context_smoothing=1, power=1, contexts=30
    )
    words = fit_config(arch="eigenwords", count_power=0.7, window=4)
    assert words.model == CountConfig(arch="eigenwords", count_power=0.7, window=4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arch": "glove", "negative": 5}, "--negative means nothing for --arch glove"),
        ({"arch": "ppmi", "epochs": 5}, "--epochs means nothing for --arch ppmi"),
        ({"arch": "ppmi", "subword": "3-6"}, "--subword means nothing for --arch ppmi"),
        ({"arch": "hellinger", "shift": 2.0}, "--shift means nothing for --arch hellinger"),
        ({"arch": "cbow", "x_max": 2.0}, "--x-max means nothing for --arch cbow"),
        ({"memory": 2}, "--memory means nothing for --arch skipgram"),
        ({"arch": "glove", "loss": "negative"}, "--loss means nothing for --arch glove"),
        ({"arch": "eigenwords", "subsample": 0.1}, "--subsample means nothing for"),
        ({"loss": "hierarchical", "negative": 3}, "--negative means nothing for --loss hier"),
        ({"loss": "hierarchical", "noise_power": 1.0}, "--noise-power means nothing for --loss"),
        ({"loss": "hierarchical", "subword": "3-6"}, "--subword goes with --loss negative"),
        ({"arch": "cbow", "loss": "rank"}, "--loss rank means nothing for --arch cbow"),
        ({"buckets": 10}, "--buckets means nothing without --subword"),
        ({"arch": "word2vec"}, "unknown --arch word2vec"),
        ({"loss": "hinge"}, "unknown --loss hinge"),
    ],
    ids=str,
)
def test_options_that_mean_nothing_are_named(settings: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        fit_config(**settings)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "settings",
    [{"size": 0}, {"window": 0}, {"window": 2000}, {"negative": 0}, {"epochs": 0},
     {"learning_rate": 0.0}, {"learning_rate": float("nan")}, {"learning_rate": float("inf")},
     {"subsample": -0.1}, {"subsample": 1.5}, {"subsample": float("nan")}, {"noise_power": 9.0},
     {"noise_power": float("nan")}, {"seed": -1}, {"min_count": 0}, {"vocab_size": 0},
     {"subword": "6-3"}, {"subword": "0-3"}, {"subword": "three"}, {"subword": "3-"},
     {"subword": "-3"}, {"subword": "3-6", "buckets": 0}, {"subsample_formula": "other"},
     {"normalize": "nfd"}, {"errors": "ignore"}, {"dtype": "int8"},
     {"arch": "glove", "alpha": float("nan")}, {"arch": "glove", "size": 0}],
    ids=str,
)  # fmt: skip
def test_values_that_will_not_do(settings: Any) -> None:
    with pytest.raises(UserError):
        fit_config(**settings)


def test_unknown_names_are_refused_with_a_list() -> None:
    settings: Any = {"min_cuont": 2}
    with pytest.raises(TypeError, match="no setting 'min_cuont'.* arch, loss, size, .*min_count,"):
        fit_config(**settings)


def test_subword_sizes() -> None:
    assert fit_config(subword="4").model == PredictConfig(subword=(4, 4))
    assert fit_config(subword="3-6").model == PredictConfig(subword=(3, 6))


KINDS = [{"arch": arch, "loss": loss} for arch, losses in LOSSES.items() for loss in losses]
KINDS += [{"arch": arch} for arch in COUNTED]
KINDS += [{"subword": "3-4", "buckets": 50}, {"arch": "cbow", "subword": "5", "lower": True}]


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_what_is_repeated_gives_the_same_again(settings: Any) -> None:
    """config.toml holds the settings, defaults filled in, under the names of the options."""
    config = fit_config(**settings, threads=1)
    repeated = fit_config(**config.settings, threads=1)
    assert repeated.settings == config.settings
    for name in ("vocabulary", "normalizer", "dtype", "errors", "memory"):
        assert getattr(repeated, name) == getattr(config, name)
    if isinstance(config.model, PredictConfig):
        assert isinstance(repeated.model, PredictConfig)
        assert repeated.model.meaningful() == config.model.meaningful()
    else:
        assert repeated.model == config.model
    assert config.settings["size"] == 100


def test_an_older_model_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        fit_config(str(tmp_path / "nowhere"))
