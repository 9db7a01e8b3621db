"""Word vectors for Python programs: fit, open, ask, by ``import lmkit``."""

from pathlib import Path

import numpy as np
import pytest

import lmkit
from lmkit.embed.vectors import Vectors
from lmkit.errors import ModelError, UserError

TEXT = "the king rules the land\nthe queen rules the land\na cat drinks the milk\n" * 20


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    (tmp_path / "text").write_text(TEXT, "utf-8")
    return tmp_path / "text"


def small(text: Path, **settings: int) -> Vectors:
    out = text.parent / "model"
    return lmkit.fit_embed(text, out, arch="ppmi", size=4, threads=1, **settings)  # type: ignore[arg-type]


def test_vectors_are_fitted_and_opened(text: Path) -> None:
    fitted = small(text)
    opened = lmkit.load_vectors(text.parent / "model")
    assert (len(opened), opened.size) == (9, 4)
    np.testing.assert_array_equal(opened.matrix, fitted.matrix)
    assert len(lmkit.load_vectors(text.parent / "model", limit=3)) == 3


def test_questions_are_answered(text: Path) -> None:
    vectors = small(text)
    near = lmkit.neighbors(vectors, "king", top=2)
    assert near[0][0] == "queen"
    assert near[0][1] > near[1][1]
    assert lmkit.analogy(vectors, "king", top=2) == near
    answers = lmkit.analogy(vectors, "king the a", top=100, method="multiply")
    assert {word for word, _ in answers} == {"queen", "rules", "land", "cat", "drinks", "milk"}


def test_questions_that_have_no_answer_are_errors(text: Path) -> None:
    vectors = small(text)
    with pytest.raises(UserError, match="no vectors of 'qqq', 'zzz'"):
        lmkit.analogy(vectors, "king qqq zzz")
    with pytest.raises(UserError, match="no vector of 'qqq'"):
        lmkit.neighbors(vectors, "qqq")
    with pytest.raises(UserError, match="is no sum of words"):
        lmkit.analogy(vectors, "king +")
    for blank in ("", " \t"):
        with pytest.raises(UserError, match="the question is blank"):
            lmkit.neighbors(vectors, blank)
        with pytest.raises(UserError, match="the question is blank"):
            lmkit.analogy(vectors, blank)
    with pytest.raises(UserError, match=r"unknown --method bogus. Known: add, multiply, direction"):
        lmkit.analogy(vectors, "king cat queen", method="bogus")  # type: ignore[arg-type]


def test_settings_are_those_of_the_command(text: Path) -> None:
    with pytest.raises(TypeError, match=r"no setting 'widow' of word vectors; there are arch, "):
        small(text, widow=5)
    with pytest.raises(UserError, match="--epochs means nothing for --arch ppmi"):
        small(text, epochs=5)


def test_training_goes_on_and_models_are_not_lost(text: Path) -> None:
    first = lmkit.fit_embed(text, text.parent / "first", size=8, epochs=1, threads=1)
    out = text.parent / "second"
    second = lmkit.fit_embed([text], out, older=text.parent / "first", epochs=1, threads=1)
    assert (len(second), second.size) == (len(first), 8)
    assert not np.array_equal(first.matrix, second.matrix)
    with pytest.raises(ModelError, match="second exists"):
        lmkit.fit_embed(text, out, threads=1)
    with pytest.raises(ModelError, match="no model 'none'"):
        lmkit.load_vectors("none")
