"""Tuning and saving mixtures."""

from pathlib import Path

import numpy as np
import pytest
from toy import random_bigram

from lmkit.errors import ModelError, UserError
from lmkit.language_model import Mode
from lmkit.mixture.model import MixtureModel
from lmkit.store.artifact import open_artifact
from lmkit.store.home import last_model
from lmkit.tasks import families
from lmkit.tasks.evaluate import evaluate
from lmkit.tasks.mix import MixConfig, mix, tune

FIRST, SECOND = ["a", "b", "c"], ["c", "d", "a"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    words = [*FIRST, *SECOND, "zebra"]
    lines = [" ".join(rng.choice(words, size=rng.integers(0, 12))) for _ in range(300)]
    path = tmp_path / "tune.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(families.FAMILIES, "toy", "toy:BigramTable")
    for name, words, seed in (("first", FIRST, 1), ("second", SECOND, 2), ("third", FIRST, 3)):
        random_bigram(words, seed, on_disk=True).save(tmp_path / "home" / "models" / name)
    return tmp_path / "home" / "models"


@pytest.mark.parametrize("mode", ["sentence", "document"])
@pytest.mark.parametrize("vocabularies", [[FIRST, FIRST], [FIRST, SECOND]])
def test_mixture_is_at_least_as_good_as_its_best_part(
    mode: Mode, vocabularies: list[list[str]], text: Path
) -> None:
    parts = [random_bigram(w, i, mode, on_disk=True) for i, w in enumerate(vocabularies)]
    mixture = MixtureModel(parts)
    tuned = tune(mixture, [text], MixConfig(threads=2))
    assert all(b >= a - 1e-9 for a, b in zip(tuned.history, tuned.history[1:], strict=False))
    assert tuned.perplexity <= min(tuned.perplexities) * (1 + 1e-6)
    result = evaluate(mixture.with_weights(np.array(tuned.weights)), [text])
    assert result.perplexity == pytest.approx(tuned.perplexity, rel=1e-12)
    assert (result.tokens, result.oov, result.lines) == (tuned.tokens, tuned.oov, tuned.lines)
    for number, perplexity in enumerate(tuned.perplexities):
        alone = evaluate(mixture.with_weights(np.eye(2)[number]), [text])
        assert alone.perplexity == pytest.approx(perplexity, rel=1e-12)


def test_mixing_saves_a_model_that_gives_the_same_figures(home: Path, text: Path) -> None:
    path, tuned = mix(["first", "second", "third"], [text], "mixed")
    assert path == home / "mixed" and last_model(["mixture"]) == path
    model = families.open_language_model("mixed")
    assert evaluate(model, [text]).perplexity == pytest.approx(tuned.perplexity, rel=1e-12)
    card = open_artifact(path, verify="all").card
    assert card["data"][0]["name"] == "tune.txt" and card["data"][0]["lines"] == 300
    assert card["metrics"]["perplexity"] == tuned.perplexity


def test_same_again_is_the_same_byte_for_byte(home: Path, text: Path) -> None:
    one, _ = mix(["first", "second"], [text], "one")
    two, _ = mix(["first", "second"], [text], "two", config=MixConfig(threads=2))
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert len(files) == 7  # card, settings and union vocabulary; card and weights of two parts
    assert files == sorted(p.relative_to(two) for p in two.rglob("*") if p.is_file())
    for file in files:
        assert (one / file).read_bytes() == (two / file).read_bytes()


def test_what_exists_is_only_replaced_by_force(home: Path, text: Path) -> None:
    path, _ = mix(["first", "second"], [text], "mixed")
    with pytest.raises(ModelError, match="--force"):
        mix(["first", "third"], [text], "mixed")
    mix(["mixed", "third"], [text], "mixed", force=True)  # a part of itself, even
    assert len(list(path.glob("parts/*"))) == 2 and (path / "parts/0/parts/1/card.json").exists()
    families.open_model(path)


def test_without_a_name_it_is_named_after_the_text(home: Path, text: Path) -> None:
    assert mix(["first", "third"], [text], None)[0] == home / "mix-tune"


def test_bad_input_leaves_nothing_behind(home: Path, text: Path, tmp_path: Path) -> None:
    before = sorted(home.iterdir())
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(UserError, match="two models"):
        mix(["first"], [text], "mixed")
    with pytest.raises(UserError, match="empty"):
        mix(["first", "second"], [empty], "mixed")
    with pytest.raises(UserError, match="absent"):
        mix(["first", "second"], [tmp_path / "absent"], "mixed")
    with pytest.raises(ModelError, match="no model 'forth'"):
        mix(["first", "forth"], [text], "mixed")
    assert sorted(home.iterdir()) == before
