"""Models are opened by what their card says."""

from pathlib import Path

import pytest
from toy import BigramTable, random_bigram

from lmkit.errors import ModelError
from lmkit.events import Listener
from lmkit.store.artifact import ArtifactWriter
from lmkit.store.home import mark_last
from lmkit.tasks import families


class Notes(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    monkeypatch.setitem(families.FAMILIES, "toy", "toy:BigramTable")
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_every_family_has_its_class() -> None:
    for family, place in families.FAMILIES.items():
        assert families.family_class(family).family == family, place  # type: ignore[attr-defined]


def test_without_a_name_the_newest_model_is_taken_and_named(home: Path) -> None:
    for name in ("old", "new"):
        random_bigram(["a"], 1, on_disk=True).save(home / name)
        mark_last("toy", home / name)
    listener = Notes()
    assert isinstance(families.open_language_model(None, listener), BigramTable)
    assert listener.notes == ["using new, the newest model: toy"]


def test_the_environment_names_the_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random_bigram(["a"], 1, on_disk=True).save(home / "mine")
    monkeypatch.setenv("LMKIT_MODEL", "mine")
    listener = Notes()
    families.open_language_model(None, listener)
    (note,) = listener.notes
    assert "mine" in note and "$LMKIT_MODEL" in note


def test_a_named_model_needs_no_note(home: Path) -> None:
    random_bigram(["a"], 1, on_disk=True).save(home / "mine")
    listener = Notes()
    families.open_language_model("mine", listener)
    assert listener.notes == []


def test_no_model_wrong_name_wrong_family(home: Path) -> None:
    with pytest.raises(ModelError, match="Make one with lmkit"):
        families.open_language_model(None)
    random_bigram(["a"], 1, on_disk=True).save(home / "mine")
    with pytest.raises(ModelError, match="Did you mean 'mine'"):
        families.open_language_model("mime")
    with ArtifactWriter(home / "vectors") as writer:
        writer.describe(family="embedding", config={})
    with pytest.raises(ModelError, match="embedding"):
        families.open_language_model("vectors")
