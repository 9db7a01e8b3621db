"""Corpora by name: shipped files are found, generated ones are made once and whole."""

import hashlib
import os
from pathlib import Path

import pytest

from lmkit.corpora import catalogue, grammar
from lmkit.errors import UserError

GENERATED = [corpus.name for corpus in catalogue.CORPORA.values() if corpus.sha256]
SHIPPED = [name for name in catalogue.NAMES if name not in GENERATED]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_every_corpus_has_the_lines_that_the_catalogue_states(name: str) -> None:
    text = catalogue.path(name).read_bytes()
    assert text.count(b"\n") == catalogue.CORPORA[name].num_lines
    assert catalogue.CORPORA[name].description


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_texts_lie_outside_the_home(name: str, home: Path) -> None:
    assert home not in catalogue.path(name).parents
    assert not home.exists()


def test_installed_texts_come_before_those_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "texts"
    installed.mkdir()
    (installed / "prose.valid.txt").write_bytes(b"one line .\n")
    monkeypatch.setattr(catalogue, "PACKAGE_TEXTS", installed)
    assert catalogue.path("prose.valid") == installed / "prose.valid.txt"
    assert catalogue.path("prose.test").parent == catalogue.CHECKOUT_TEXTS


def test_a_missing_shipped_file_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "PACKAGE_TEXTS", tmp_path)
    monkeypatch.setattr(catalogue, "CHECKOUT_TEXTS", tmp_path)
    with pytest.raises(UserError, match=r"prose\.test\.txt is missing"):
        catalogue.path("prose.test")


@pytest.mark.parametrize("name", GENERATED)
def test_generated_text_is_the_one_of_the_catalogue(name: str, home: Path) -> None:
    file = catalogue.path(name)
    assert file == home / "corpora" / f"{name}.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == catalogue.CORPORA[name].sha256
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_a_generated_file_is_kept_when_whole_and_made_anew_when_torn() -> None:
    file = catalogue.path("kingdoms.test")
    before = file.stat()
    os.utime(file, ns=(1, 1))
    assert catalogue.path("kingdoms.test").stat().st_mtime_ns == 1
    whole = file.read_bytes()
    file.write_bytes(whole[:1000])
    assert catalogue.path("kingdoms.test").read_bytes() == whole
    assert file.stat().st_size == before.st_size


def test_a_home_that_is_a_file_is_a_user_error(home: Path) -> None:
    home.write_bytes(b"")
    with pytest.raises(UserError, match="cannot write"):
        catalogue.path("kingdoms.test")


def test_a_failed_write_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        catalogue.path("kingdoms.test")
    assert list((home / "corpora").iterdir()) == []


def test_generate_streams_the_grammar() -> None:
    assert list(catalogue.generate("kingdoms", 20, 5)) == list(grammar.generate(20, 5))
    assert list(catalogue.generate("kingdoms.test", 20)) == list(grammar.generate(20, 2))


@pytest.mark.parametrize("name", ["prose", "kingdoms.questions"])
def test_generate_of_what_the_grammar_does_not_make_is_refused(name: str) -> None:
    with pytest.raises(UserError, match=r"does not come from the grammar\. Try kingdoms or"):
        catalogue.generate(name, 5)


def test_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UserError) as caught:
        catalogue.path("kingdom")
    assert str(caught.value) == (
        "no corpus 'kingdom'. Did you mean 'kingdoms'? See lmkit corpora list."
    )
    with pytest.raises(UserError, match=r"^no corpus 'qqq'\. See lmkit corpora list\.$"):
        catalogue.find("qqq")
