"""The settings of a fit from Python: the names of the options, all of them, and no others."""

from pathlib import Path
from typing import Any

import pytest
from programs import commands

import lmkit
from lmkit.errors import UserError
from lmkit.tasks.fit_ngram import FitNgramConfig
from lmkit.tasks.ngram_settings import NgramSettings, fit_config
from lmkit.tasks.threads import num_threads

RUN_ONCE = {"files", "out", "force", "quiet", "verbose", "progress", "config", "print_config"}


def test_names_are_those_of_the_options() -> None:
    options = {param.name for param in commands()["ngram", "fit"].params}
    assert options - RUN_ONCE - {"device"} == set(NgramSettings.__annotations__)


def test_defaults_are_those_of_the_configuration_and_the_command() -> None:
    assert fit_config() == FitNgramConfig(threads=num_threads(None))
    params = commands()["ngram", "fit"].params
    names = set(NgramSettings.__annotations__)
    defaults: Any = {p.name: p.default for p in params if p.name in names and p.name != "prune"}
    assert fit_config(**defaults) == fit_config()


def test_every_setting_arrives(tmp_path: Path) -> None:
    config = fit_config(
        order=3, prune=[0, 0, 1], mode="document", discount_fallback=(0.1, 0.2, 0.3),
        unknown="all", min_count=2, vocab_size=9, lower=True,
        normalize="nfc", unit="char", errors="replace", memory=5, seed=7, threads=2,
    )  # fmt: skip
    model, words, text = config.model, config.vocabulary, config.normalizer
    assert (model.order, model.prune, model.mode) == (3, (0, 0, 1), "document")
    assert (model.fallback, model.interpolate_unigrams) == ((0.1, 0.2, 0.3), False)
    assert (words.min_count, words.max_size) == (2, 9)
    assert (text.lower, text.form) == (True, "nfc")
    assert (config.unit, config.errors, config.memory) == ("char", "replace", 5)
    assert (config.seed, config.threads) == (7, 2)
    (tmp_path / "words").write_text("king\nqueen\n")
    for vocab in (tmp_path / "words", str(tmp_path / "words")):
        assert fit_config(vocab=vocab).vocabulary.words == (b"king", b"queen")


@pytest.mark.parametrize("name", ["min_cuont", "fallback", "max_size"])
def test_unknown_names_are_refused_with_a_list(name: str, tmp_path: Path) -> None:
    settings: Any = {name: 2}
    with pytest.raises(TypeError, match=f"no setting '{name}'.* order, prune, .*min_count, vocab,"):
        lmkit.fit_ngram(tmp_path / "text", tmp_path / "model", **settings)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "settings",
    [{"mode": "lines"}, {"unknown": "some"}, {"errors": "ignore"}, {"normalize": "nfd"},
     {"order": 0}, {"min_count": 0}],
    ids=str,
)  # fmt: skip
def test_values_that_will_not_do(settings: Any) -> None:
    with pytest.raises(UserError):
        fit_config(**settings)


def test_settings_shape_the_model(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("The king sees\nthe queen sees\n")
    (tmp_path / "words").write_text("the sees\n")
    model = lmkit.fit_ngram(
        tmp_path / "text", tmp_path / "model", order=2, lower=True, vocab=tmp_path / "words"
    )
    assert [model.tokenizer.token(k) for k in range(3, 5)] == ["the", "sees"]
    assert model.tokenizer.num_tokens == 5


def test_line_end_in_a_sentence_is_a_space(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("the king sees\nthe queen sees\n")
    model = lmkit.fit_ngram(tmp_path / "text", tmp_path / "model", order=2, unit="char")
    first, second = lmkit.score(model, ["the\nking", "the king"])
    assert first == second
