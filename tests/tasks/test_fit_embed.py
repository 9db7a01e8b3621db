"""From text to a saved model of word vectors, and on from there."""

from __future__ import annotations

import gzip
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import shared

from lmkit.embed.model import open_vectors
from lmkit.embed.predict.config import LOSSES
from lmkit.embed.vectors import Vectors
from lmkit.errors import ModelError, TextError, UserError
from lmkit.events import Listener
from lmkit.store.artifact import Artifact, open_artifact
from lmkit.tasks.embed_settings import COUNTED, fit_config
from lmkit.tasks.fit_embed import FittedEmbed, fit_embed

TEXT = "the king sees the queen\nthe queen sees a king\na dog sees the cat\nthe cat a dog\n" * 3


class Hearing(Listener):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


class Work:
    """A folder to fit in, with one text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.listener = Hearing()
        self.sources: Sequence[Path] = [folder / "text.txt"]
        self.write(TEXT)

    def write(self, text: str | bytes) -> None:
        self.sources[0].write_bytes(text.encode() if isinstance(text, str) else text)

    def fit(
        self, name: str = "model", older: str | None = None, force: bool = False, **given: Any
    ) -> FittedEmbed:
        """Fit a model; ``given`` comes before what makes it small and quick."""
        base = None if older is None else str(self.folder / older)
        usual: dict[str, Any] = {"min_count": 1, "threads": 1}
        if older is None:
            usual |= {"size": 6} | ({} if "arch" in given else {"loss": "hierarchical"})
        if given.get("arch") not in COUNTED:
            usual |= {"epochs": 2}
        if given.get("arch", "cbow") in ("cbow", "skipgram"):
            usual |= {"subsample": 0.0}
        given = usual | given
        return fit_embed(
            list(map(str, self.sources)), self.folder / name, fit_config(base, **given),
            older=base, force=force, listener=self.listener,
        )  # fmt: skip

    def model(self, name: str = "model") -> Artifact:
        return open_artifact(self.folder / name, families=("embed",), verify="all")

    def vectors(self, name: str = "model") -> Vectors:
        return open_vectors(self.model(name))

    def files(self, name: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.folder / name).iterdir()}

    def left(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


KINDS = [{"arch": arch, "loss": loss} for arch, losses in LOSSES.items() for loss in losses]
KINDS += [{"arch": arch} for arch in COUNTED]
KINDS += [{"arch": arch, "subword": "3-4", "buckets": 50} for arch in ("skipgram", "cbow")]


@pytest.mark.parametrize("settings", KINDS, ids=lambda each: "-".join(map(str, each.values())))
def test_every_kind_is_saved_and_its_settings_repeat_it(settings: Any, work: Work) -> None:
    """Byte for byte, with the settings of config.toml."""
    fitted = work.fit(**settings)
    assert (fitted.num_words, fitted.size, fitted.num_tokens) == (7, 6, 57)
    vectors = work.vectors()
    assert [vectors.word(i) for i in range(2)] == ["the", "sees"]
    assert vectors.counts is not None and vectors.counts.sum() == 57
    assert vectors.matrix.shape == (7, 6) and np.isfinite(vectors.matrix).all()
    assert np.linalg.matrix_rank(vectors.matrix) > 1
    assert vectors.norms == pytest.approx(np.linalg.norm(vectors.matrix, axis=1), rel=1e-5)
    card = work.model()
    assert settings.items() <= (card.config | {"subword": "3-4"}).items()
    assert (fitted.training is not None) == ("epochs" in card.config)
    if fitted.training is not None:
        assert fitted.training.losses[-1] > 0
        assert card.card["metrics"]["losses"] == [round(x, 6) for x in fitted.training.losses]
    assert work.listener.notes == []
    repeated = tomllib.loads((work.folder / "model" / "config.toml").read_text())
    work.fit("again", **repeated)
    assert work.files("again") == work.files("model")


def test_float16_takes_half_the_space(work: Work) -> None:
    work.fit()
    work.fit("half", dtype="float16")
    exact, half = work.vectors().matrix, work.model("half").arrays["vectors"]
    assert half.dtype == np.float16
    assert half == pytest.approx(exact, rel=1e-3)
    assert work.vectors("half").matrix.dtype == np.float32
    assert work.model("half").config["dtype"] == "float16"


def test_threads_are_said_to_differ(work: Work) -> None:
    work.fit(threads=2)
    assert len(work.listener.notes) == 1
    assert "--threads 1 they repeat to the byte" in work.listener.notes[0]


def test_training_goes_on_with_new_words(work: Work) -> None:
    """Nothing moves at a rate of nearly 0: old words keep their rows, new ones have small ones."""
    work.fit(arch="skipgram", loss="negative", learning_rate=0.1, epochs=5)
    work.write("the king sees a unicorn\na unicorn sees the king\n" * 9)
    fitted = work.fit("grown", older="model", learning_rate=1e-12)
    assert fitted.num_words == 8
    old, new = work.vectors(), work.vectors("grown")
    assert old.counts is not None and new.counts is not None
    for name in ("king", "the", "dog"):
        assert new.vector(name) == pytest.approx(old.vector(name))
        before = work.model().arrays["outputs"][old.index(name)]
        assert work.model("grown").arrays["outputs"][new.index(name)] == pytest.approx(before)
    assert new.counts[new.index("king")] == old.counts[old.index("king")] + 18
    assert new.counts[new.index("dog")] == old.counts[old.index("dog")]
    assert new.counts.tolist() == sorted(new.counts.tolist(), reverse=True)
    unicorn = new.vector("unicorn")
    assert unicorn is not None and 0 < np.abs(unicorn).max() <= 0.5 / 6
    assert [facts["tokens"] for facts in work.model("grown").card["data"]] == [57, 90]
    work.fit("trained", older="model")
    assert work.vectors("trained").vector("king") != pytest.approx(old.vector("king"))
    assert work.model("trained").config | {"words": 7} == work.model().config | {
        "epochs": 2, "learning_rate": 0.04,
    }  # fmt: skip


@pytest.mark.parametrize("arch", ["skipgram", "cbow"])
def test_training_goes_on_with_subwords(arch: str, work: Work) -> None:
    work.fit(arch=arch, subword="3-4", buckets=99, learning_rate=0.1)
    work.write("the kingdom sees the king\n" * 9)
    work.fit("grown", older="model", learning_rate=1e-12)
    for word in ("king", "queen"):
        assert work.vectors("grown").vector(word) == pytest.approx(work.vectors().vector(word))
    assert work.vectors("grown").index("kingdom") >= 0


def test_a_model_may_replace_the_one_it_goes_on_from(work: Work) -> None:
    work.fit(learning_rate=0.1)
    before = work.vectors().matrix.copy()
    work.fit(older="model", force=True, dtype="float16")
    assert "the tree of the words is made anew" in work.listener.notes[-1]
    work.fit(older="model", force=True, learning_rate=1e-12)
    assert len(work.model().card["data"]) == 3
    assert work.vectors().matrix != pytest.approx(before)
    assert work.left() == ["model", "text.txt"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 7}, "model has size 6, not 7. Leave out --size"),
        ({"arch": "cbow"}, "model has arch skipgram, not cbow"),
        ({"loss": "negative"}, "model has loss hierarchical, not negative"),
        ({"arch": "glove", "loss": None}, "--continue means nothing for --arch glove"),
    ],
)
def test_other_sizes_do_not_go_on(settings: Any, message: str, work: Work) -> None:
    work.fit()
    with pytest.raises(UserError, match=message):
        work.fit("grown", older="model", **settings)
    assert work.left() == ["model", "text.txt"]


def test_models_by_counting_do_not_go_on(work: Work) -> None:
    work.fit(arch="ppmi")
    with pytest.raises(ModelError, match="model was made by counting, so it cannot be trained on"):
        work.fit("grown", older="model")


def test_models_without_outputs_do_not_go_on(work: Work) -> None:
    from toy_vectors import save_model, vectors_of

    from lmkit.embed.predict.config import PredictConfig
    from lmkit.embed.predict.older import open_older

    save_model(vectors_of(["a", "b"], [[1, 2], [3, 4]]), work.folder / "plain")
    with pytest.raises(ModelError, match="plain keeps no output vectors, so it cannot be"):
        open_older(work.model("plain"), PredictConfig(size=2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no words in the text"),
        (b"\n\n   \n\t\n", "no words in the text"),
        (b"word", "there is only one word to learn about"),
        (b"word word word\n" * 20, "there is only one word to learn about"),
        (b"one\ntwo\nthree\n\n" * 9, "no line has two words left"),
        (b"one \xff two\n", re.escape("text.txt:1:5: not UTF-8 (byte 0xff)")),
        (b"one\0two three\n", "a NUL byte"),
    ],
)
def test_texts_that_teach_nothing(text: bytes, message: str, work: Work) -> None:
    work.write(text)
    with pytest.raises(UserError, match=message) as caught:
        work.fit()
    assert "\n" not in str(caught.value)
    assert work.left() == ["text.txt"]


def test_no_word_is_frequent_enough(work: Work) -> None:
    with pytest.raises(UserError) as caught:
        work.fit(min_count=50)
    assert str(caught.value).startswith("0 of 7 words reach min-count 50; the most frequent has 15")
    assert work.left() == ["text.txt"]


def test_a_line_of_a_megabyte_is_trained_on_whole(work: Work) -> None:
    words = [f"w{number}" for number in np.random.default_rng(1).integers(0, 99, 260_000)]
    line = " ".join(words)
    assert len(line) > 1 << 20 - 1 and len(line) > 1_000_000
    work.sources = [work.folder / "line.txt.gz"]
    work.sources[0].write_bytes(gzip.compress(line.encode(), 1))
    fitted = work.fit(window=1, epochs=1)
    assert fitted.num_tokens == 260_000
    assert fitted.training is not None and fitted.training.kept == [260_000]


def test_a_model_in_the_way(work: Work) -> None:
    work.fit()
    before = work.files("model")
    with pytest.raises(ModelError, match="model exists"):
        work.fit(size=3)
    assert work.files("model") == before
    work.write("")
    with pytest.raises(TextError):
        work.fit(force=True)
    assert work.files("model") == before
    work.write(TEXT)
    work.fit(force=True, size=3)
    assert work.vectors().size == 3


def test_a_training_that_diverges(work: Work) -> None:
    with pytest.raises(UserError) as caught:
        work.fit(learning_rate=1e6)
    assert str(caught.value) == (
        "the training diverged in epoch 1 (learning rate 1e+06); nothing was written. "
        "Try a smaller --learning-rate."
    )
    assert work.left() == ["text.txt"]


def test_a_training_that_diverges_later(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last good epoch is kept, and said to be; each epoch looks at two matrices."""
    looks = iter([True] * 4 + [False])
    monkeypatch.setattr("lmkit.embed.predict.trainer._is_finite", lambda matrix: next(looks))
    with pytest.raises(UserError, match="diverged in epoch 3 .*model is the model before it"):
        work.fit(epochs=5)
    assert work.model().config["epochs"] == 2
    assert len(work.vectors()) == 7
    assert work.left() == ["model", "text.txt"]


class Breaking(Hearing):
    """Ends the training in some epoch."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at, self.done, self.size = at, 0, 0

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        self.size = total or 0

    def advance(self, amount: int) -> None:
        self.done += amount
        if self.size and self.done >= self.at * self.size / 4 and amount:
            raise KeyboardInterrupt


def test_an_interruption_keeps_the_last_epoch(work: Work) -> None:
    work.listener = Breaking(3)
    work.listener.done = -len(TEXT)  # reading is told too
    with pytest.raises(KeyboardInterrupt):
        work.fit(epochs=4)
    assert work.listener.warnings == [
        f"interrupted; {work.folder / 'model'} is the model of epoch 2"
    ]
    model = work.model()
    assert model.config["epochs"] == 2 and len(model.card["metrics"]["losses"]) == 2
    assert sorted(work.files("model")) == sorted(
        ["card.json", "config.toml", "vocab.tsv", "weights.safetensors"]
    )
    assert len(work.vectors()) == 7
    assert work.left() == ["model", "text.txt"]


def test_an_interruption_in_the_first_epoch_leaves_nothing(work: Work) -> None:
    work.listener = Breaking(1)
    work.listener.done = -len(TEXT)
    with pytest.raises(KeyboardInterrupt):
        work.fit(epochs=4)
    assert work.left() == ["text.txt"]


MESSY = [
    "bom_utf8.txt", "controls.txt", "cr_only.txt", "crlf.txt", "emoji_list.txt",
    "emoji_sentences.txt", "empty.txt", "invalid_utf8.txt", "mixed_line_ends.txt",
    "nfd_accents.txt", "no_final_newline.txt", "nul_bytes.txt", "one_long_line.txt.gz",
    "one_long_word.txt", "only_newlines.txt", "only_spaces.txt", "spaces_and_tabs.txt",
    "special_tokens.txt", "utf16le_bom.txt", "legacy_encodings/fr.latin1.txt",
    "legacy_encodings/ja.shift_jis.txt", "udhr/ja.txt", "udhr/ar.txt", "udhr/th.txt",
]  # fmt: skip


@pytest.mark.parametrize("name", MESSY)
def test_messy_texts_work_or_say_why_not(name: str, work: Work) -> None:
    work.sources = [shared("data", "messy", *name.split("/"))]
    try:
        fitted = work.fit(epochs=1, window=2)
    except UserError as error:
        assert "\n" not in str(error)
        assert work.left() == ["text.txt"]
    else:
        assert fitted.training is not None and sum(fitted.training.kept) > 0
        assert np.isfinite(work.vectors().matrix).all()
        assert len(work.vectors()) == fitted.num_words
