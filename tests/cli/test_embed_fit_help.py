"""The defaults that ``lmkit embed fit --help`` tells are those that are used."""

import pytest
from programs import commands

from lmkit.embed.count.config import CountConfig
from lmkit.embed.predict.config import PredictConfig

PARAMS = {param.name: param for param in commands()["embed", "fit"].params}


@pytest.mark.parametrize("name", ["x_max", "alpha", "shift", "context_smoothing", "count_power"])
def test_defaults_of_counting(name: str) -> None:
    assert float(PARAMS[name].show_default) == getattr(CountConfig(), name)


@pytest.mark.parametrize("name", ["size", "subsample", "subsample_formula", "buckets", "hidden"])
def test_defaults_of_prediction(name: str) -> None:
    value = getattr(PredictConfig(), name)
    assert type(value)(PARAMS[name].show_default) == value


def test_defaults_that_depend_on_the_architecture() -> None:
    glove, skipgram = CountConfig(arch="glove"), PredictConfig()
    eigenwords = CountConfig(arch="eigenwords")
    spectral = [CountConfig(arch=arch) for arch in ("ppmi", "hellinger", "eigenwords")]
    windows = skipgram.window, glove.window_size, eigenwords.window_size
    assert PARAMS["window"].show_default == "{}; glove {}, eigenwords {}".format(*windows)
    assert PARAMS["epochs"].show_default == f"{skipgram.epochs}; glove {glove.epochs}"
    powers = [config.singular_power for config in spectral]
    assert list(map(float, PARAMS["power"].show_default.split(", "))) == powers
    nce = PredictConfig(loss="nce")
    assert PARAMS["negative"].show_default == f"{skipgram.draws}; nce {nce.draws}"


def test_defaults_of_the_learning_rate() -> None:
    cbow, subword = PredictConfig(arch="cbow"), PredictConfig(subword=(3, 6))
    nce, softmax = PredictConfig(loss="nce"), PredictConfig(loss="softmax")
    trees = [PredictConfig(arch=arch, loss="hierarchical").rate for arch in ("skipgram", "cbow")]
    rank = PredictConfig(arch="collobert", loss="rank")
    shared = {config.rate for config in (nce, subword)} | {CountConfig().learning_rate}
    assert len(shared) == 1
    assert PARAMS["learning_rate"].show_default == (
        f"skipgram {PredictConfig().rate:g}, cbow {cbow.rate:g}, with hierarchical "
        f"{' and '.join(f'{rate:g}' for rate in trees)}; softmax {softmax.rate:g}; "
        f"glove, nce, subword {shared.pop():g}; collobert {rank.rate:g}"
    )
