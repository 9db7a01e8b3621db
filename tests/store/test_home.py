"""Names of models: found, suggested, remembered, removed."""

import os
from pathlib import Path

import pytest

from lmkit.errors import ModelError
from lmkit.events import Listener
from lmkit.store import home
from lmkit.store.artifact import ArtifactWriter


@pytest.fixture(autouse=True)
def lmkit_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LMKIT_MODEL", raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


def make(name: str, family: str = "ngram") -> Path:
    path = home.resolve_out(name, "unused")
    with ArtifactWriter(path) as writer:
        writer.describe(family=family, config={})
    return path


def test_home_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert home.home() == tmp_path / "home"
    monkeypatch.delenv("LMKIT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert home.home() == Path("/data/lmkit")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/users/ada")
    assert home.models_dir() == Path("/users/ada/.local/share/lmkit/models")


def test_name_is_found(lmkit_home: Path) -> None:
    make("wmt14")
    assert home.resolve_model("wmt14") == (lmkit_home / "models" / "wmt14", "home")


def test_path_wins_over_name() -> None:
    make("wmt14")
    make("./wmt14")
    assert home.resolve_model("wmt14") == (Path("wmt14"), "path")


def test_folder_that_is_no_model_gives_way_to_a_name(lmkit_home: Path) -> None:
    make("prose")
    Path("prose").mkdir()
    Path("other").mkdir()
    assert home.resolve_model("prose") == (lmkit_home / "models" / "prose", "home")
    assert home.resolve_model("other") == (Path("other"), "path")  # opening it says what it is


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wmt", "no model 'wmt'. Did you mean 'wmt14'? See lmkit models list."),
        ("zzz", "no model 'zzz'. See lmkit models list."),
        ("", "no model ''. See lmkit models list."),
        ("no/such", "no model 'no/such'. See lmkit models list."),
    ],
)
def test_unknown_name(name: str, message: str) -> None:
    make("wmt14")
    with pytest.raises(ModelError) as caught:
        home.resolve_model(name)
    assert str(caught.value) == message


def test_no_name_takes_the_environment_then_the_last(
    monkeypatch: pytest.MonkeyPatch, lmkit_home: Path
) -> None:
    for name, family in [("a", "ngram"), ("b", "ngram"), ("c", "gpt")]:
        home.mark_last(family, make(name, family))
    models = lmkit_home.resolve() / "models"
    assert home.resolve_model(None, ("ngram", "mixture")) == (models / "b", "last")
    assert home.resolve_model(None) == (models / "c", "last")
    assert os.readlink(models / "last-ngram") == "b"
    assert home.resolve_model("last-ngram")[0].resolve() == models / "b"
    monkeypatch.setenv("LMKIT_MODEL", "a")
    assert home.resolve_model(None, ("gpt",)) == (lmkit_home / "models" / "a", "environment")


def test_last_may_lie_elsewhere(tmp_path: Path) -> None:
    home.mark_last("ngram", make("./here"))
    assert home.resolve_model(None) == ((tmp_path / "work" / "here").resolve(), "last")


def test_dangling_last_falls_back_to_the_newest(lmkit_home: Path) -> None:
    make("old")
    home.mark_last("ngram", make("./gone"))
    os.rename("gone", "moved")
    assert home.resolve_model(None, ("ngram",))[0] == lmkit_home / "models" / "old"


def made_at(seconds: int, path: Path) -> Path:
    """Give a card, or a link itself, a time of its own."""
    os.utime(path, (seconds, seconds), follow_symlinks=False)
    return path


def test_newest_is_the_youngest_of_links_and_cards(lmkit_home: Path) -> None:
    models = lmkit_home / "models"
    for seconds, (name, family) in enumerate([("a", "ngram"), ("b", "mixture"), ("c", "ngram")]):
        path = make(name, family)
        home.mark_last(family, path)
        made_at(1000 + seconds, path / "card.json")
        made_at(1000 + seconds, models / f"last-{family}")
    (made_at(2000, make("damaged") / "card.json")).write_text("{")
    assert home.last_model() == (models / "c").resolve()
    home.remove_model("c")
    assert home.last_model() == (models / "b").resolve()
    assert home.last_model(["ngram"]) == models / "a"
    made_at(1500, make("d", "mixture") / "card.json")  # made where no link could be set
    assert home.last_model(["mixture"]) == models / "d"


@pytest.mark.parametrize("home_is", ["a file", "read-only"])
def test_home_that_cannot_be_written_is_no_error(
    home_is: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make("./model")
    if home_is == "a file":
        (tmp_path / "home").touch()
    elif os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    else:
        (tmp_path / "home" / "models").mkdir(parents=True)
        (tmp_path / "home" / "models").chmod(0o500)
    notes: list[str] = []
    listener = Listener()
    monkeypatch.setattr(listener, "note", notes.append)
    assert home.mark_last("ngram", model, listener) is False
    assert len(notes) == 1 and notes[0].endswith("; name the model with -m model")
    assert home.mark_last("ngram", model) is False


def test_none_at_all() -> None:
    with pytest.raises(ModelError) as caught:
        home.resolve_model(None, ("ngram",))
    assert str(caught.value) == "there is no ngram model yet. Make one with lmkit ngram fit FILE."


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("name", "home/models/name"),
        ("brown.5", "home/models/brown.5"),
        ("./name", "work/name"),
        ("a/b", "work/a/b"),
        ("m.arpa", "work/m.arpa"),
        ("m.arpa.gz", "work/m.arpa.gz"),
        (None, "home/models/my-corpus.txt-5gram"),
    ],
)
def test_resolve_out(tmp_path: Path, out: str | None, expected: str) -> None:
    found = home.resolve_out(out, "my corpus.txt-5gram")
    assert tmp_path / "work" / found == tmp_path / expected


def test_out_that_is_a_model_here_means_it() -> None:
    make("./name")
    assert home.resolve_out("name", "unused", force=True) == Path("name")
    with pytest.raises(ModelError, match="name exists. Pass --force"):
        home.resolve_out("name", "unused")


@pytest.mark.parametrize("out", ["-x", "a b", "last-ngram", "", "a\nb"])
def test_bad_names_are_refused(out: str) -> None:
    with pytest.raises(ModelError, match="cannot be the name"):
        home.resolve_out(out, "unused")


def test_list_and_remove(lmkit_home: Path) -> None:
    assert home.list_models() == []
    home.mark_last("ngram", make("b"))
    make("a", "gpt")
    (make("broken") / "card.json").write_text("{")
    (lmkit_home / "models" / "stray").mkdir()
    listed = home.list_models()
    assert [(model.name, model.family) for model in listed] == [
        ("a", "gpt"),
        ("b", "ngram"),
        ("broken", "?"),
    ]
    assert "damaged" in listed[2].problem
    assert listed[0].size > 100
    for name in ("b", "broken"):
        home.remove_model(name)
    assert home.model_names() == ["a"]
    assert sorted(os.listdir(lmkit_home / "models")) == ["a", "stray"]
    for name in ("stray", "../models/a", "", "last-ngram"):
        with pytest.raises(ModelError, match="no model"):
            home.remove_model(name)


def test_family_of_a_named_link_is_not_listed(lmkit_home: Path) -> None:
    home.mark_last("ngram", make("a"))
    assert home.model_names() == ["a"]
