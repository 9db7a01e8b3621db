"""The settings of the reference losses, and trainings with them that go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmkit.embed.predict import config
from lmkit.embed.predict.config import PredictConfig
from lmkit.errors import ModelError, UserError
from lmkit.events import Listener
from lmkit.store.artifact import open_artifact
from lmkit.tasks import fit_embed
from lmkit.tasks.embed_settings import fit_config

TEXT = "the king sees the queen\nthe queen sees a king\na dog sees the cat\nthe cat a dog\n" * 3
LOSSES: list[dict[str, Any]] = [{"loss": "softmax"}, {"loss": "nce"}, {"loss": "rank"}]
each_loss = pytest.mark.parametrize("settings", LOSSES, ids=str)


def fit(folder: Path, name: str, text: str = TEXT, older: str | None = None, **given: Any) -> Any:
    """Fit a small model; return its arrays by name and its words."""
    source = folder / f"{name}.txt"
    source.write_text(text)
    base = None if older is None else str(folder / older)
    given = {"min_count": 1, "threads": 1} | given
    if older is None:
        given = {"size": 6} | ({} if given["loss"] == "rank" else {"subsample": 0.0}) | given
    listener = given.pop("listener", Listener())
    fit_embed.fit_embed(
        [str(source)], folder / name, fit_config(base, **given), older=base, listener=listener
    )
    artifact = open_artifact(folder / name, families=("embed",))
    return {key: np.array(artifact.arrays[key]) for key in artifact.arrays}, artifact


def test_rank_means_collobert() -> None:
    wanted = PredictConfig(arch="collobert", loss="rank")
    for given in ({"loss": "rank"}, {"arch": "collobert"}, {"arch": "collobert", "loss": "rank"}):
        assert fit_config(**given).model == wanted  # type: ignore[arg-type]


def test_defaults_of_the_losses() -> None:
    assert PredictConfig(loss="nce").meaningful().items() >= {
        "negative": 25, "noise_power": 0.75, "learning_rate": 0.05
    }.items()  # fmt: skip
    rank = PredictConfig(arch="collobert", loss="rank").meaningful()
    assert rank.items() >= {"window": 5, "hidden": 100, "noise_power": 0.0}.items()
    assert not rank.keys() & {"negative", "subsample", "subsample_formula", "subword", "buckets"}
    softmax = PredictConfig(loss="softmax").meaningful()
    assert not softmax.keys() & {"negative", "noise_power", "hidden"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "softmax", "negative": 3}, "--negative means nothing for --loss softmax"),
        ({"loss": "nce", "hidden": 9}, "--hidden means nothing for --arch skipgram"),
        ({"loss": "rank", "negative": 3}, "--negative means nothing for --arch collobert"),
        ({"loss": "rank", "subsample": 0.1}, "--subsample means nothing for --arch collobert"),
        ({"arch": "collobert", "subword": "3-6"}, "--subword means nothing for --arch collobert"),
        ({"loss": "nce", "subword": "3-6"}, "--subword goes with --loss negative"),
        ({"arch": "cbow", "loss": "nce"}, "--loss nce means nothing for --arch cbow"),
        ({"arch": "collobert", "loss": "nce"}, "--loss nce means nothing for --arch collobert"),
        ({"arch": "skipgram", "loss": "rank"}, "--loss rank means nothing for --arch skipgram"),
        ({"loss": "rank", "hidden": 0}, "--hidden 0 is not from 1"),
        ({"loss": "nce", "negative": 1001}, "--negative 1001 is not from 1"),
    ],
    ids=str,
)
def test_what_means_nothing_is_named(settings: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        fit_config(**settings)
    assert str(caught.value).startswith(message)


@each_loss
def test_training_goes_on_where_it_stood(settings: Any, tmp_path: Path) -> None:
    """At a rate of nothing all that was learnt stays, also where the order of words changes."""
    first, old = fit(tmp_path, "first", **settings)
    more = "a dog sees a new dog\n" * 20
    second, new = fit(tmp_path, "second", more, older="first", learning_rate=1e-30, epochs=1)
    words = [(tmp_path / name / "vocab.tsv").read_text().split() for name in ("first", "second")]
    ranks = [words[1][::2].index(word) for word in words[0][::2]]
    assert ranks != sorted(ranks) and len(second["vectors"]) == len(first["vectors"]) + 1
    assert second["vectors"][ranks] == pytest.approx(first["vectors"])
    if settings["loss"] == "rank":
        assert second["outputs"] == pytest.approx(first["outputs"])
        assert second["head"] == pytest.approx(first["head"]) and first["head"].any()
    else:
        assert second["outputs"][ranks] == pytest.approx(first["outputs"])
        assert first["outputs"].any()
    if settings["loss"] == "nce":
        assert second["biases"][ranks] == pytest.approx(first["biases"])
        share = second["word_counts"][words[1][::2].index("new")] / second["word_counts"].sum()
        assert second["biases"][words[1][::2].index("new")] == pytest.approx(np.log(share))
    for name in ("arch", "loss", "window"):
        assert new.config[name] == old.config[name]


@pytest.mark.parametrize("settings", [{"window": 3}, {"hidden": 20}], ids=str)
def test_a_network_of_another_shape_does_not_go_on(settings: Any, tmp_path: Path) -> None:
    fit(tmp_path, "first", loss="rank")
    with pytest.raises(ModelError, match=f"Leave out --{next(iter(settings))}"):
        fit(tmp_path, "second", older="first", **settings)


def test_another_loss_does_not_go_on(tmp_path: Path) -> None:
    fit(tmp_path, "first", loss="nce")
    with pytest.raises(ModelError, match="has loss nce, not softmax"):
        fit(tmp_path, "second", older="first", loss="softmax")


@each_loss
def test_the_words_of_a_text_and_one_alone(settings: Any, tmp_path: Path) -> None:
    """Two words train, one does not; sentences of one word teach nothing, and it is said."""
    arrays, _ = fit(tmp_path, "two", "a b\n" * 9, **settings)
    assert np.isfinite(arrays["vectors"]).all() and len(arrays["vectors"]) == 2
    with pytest.raises(UserError, match="only one word"):
        fit(tmp_path, "one", "a\n" * 9, **settings)
    with pytest.raises(UserError, match="no line has two words left"):
        fit(tmp_path, "alone", "a\nb\n" * 9, **settings)


def test_a_large_vocabulary_is_told_what_softmax_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []

    class Notes(Listener):
        def note(self, message: str) -> None:
            notes.append(message)

    fit(tmp_path, "small", loss="softmax", listener=Notes())
    assert notes == []
    monkeypatch.setattr(fit_embed, "LARGE_SOFTMAX", 6)
    assert config.LARGE_SOFTMAX == 20_000
    fit(tmp_path, "large", loss="softmax", listener=Notes())
    assert len(notes) == 1 and "all 7 words" in notes[0] and "--vocab-size" in notes[0]


@each_loss
@pytest.mark.parametrize("rate", [30.0, 1e9])
def test_a_diverging_training_is_stopped(settings: Any, rate: float, tmp_path: Path) -> None:
    """Also where numbers stay finite; what is left, if anything, is the last sound epoch."""
    with pytest.raises(UserError, match=r"the training diverged in epoch \d+ \(learning rate"):
        fit(tmp_path, "model", **settings, learning_rate=rate, epochs=30)
    if (tmp_path / "model").exists():
        artifact = open_artifact(tmp_path / "model")
        assert all(np.isfinite(artifact.arrays[name]).all() for name in ("vectors", "outputs"))
