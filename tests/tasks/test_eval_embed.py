"""Files of several kinds, measured with one table of vectors."""

from pathlib import Path

import numpy as np
import pytest

from lmkit.embed.formats import write
from lmkit.embed.vectors import Vectors
from lmkit.errors import TextError, UserError
from lmkit.events import Listener
from lmkit.measures.analogies import AnalogyScores
from lmkit.measures.categorization import CategoryScores
from lmkit.measures.similarity import SimilarityScores
from lmkit.tasks.eval_embed import EvalConfig, eval_embed


class Heard(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    rows = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    words = ["man", "king", "woman", "queen", "apple", "rare"]
    write("v.vec", Vectors.of(words, np.array(rows, dtype=np.float32)))
    Path("questions").write_text(": family\nman king woman queen\nman king woman rare\n")
    Path("similar").write_text("man king 9\nman apple 1\nking apple 2\n")
    Path("classes").write_text("man person\nking person\napple fruit\n")
    Path("unknown").write_text("x y 1\ny z 2\n")
    return "v.vec"


def test_each_file_by_its_kind(model: str) -> None:
    heard = Heard()
    sources = ["similar", "questions", "classes"]
    first, second, third = eval_embed(model, sources, listener=heard)
    assert isinstance(first, SimilarityScores) and first.used == 3
    assert isinstance(second, AnalogyScores)
    assert (second.total.correct, second.total.questions) == (1, 2)
    assert isinstance(third, CategoryScores) and third.purity == 1.0
    assert (heard.notes, heard.warnings) == ([], [])


def test_limit_is_told_where_it_matters(model: str) -> None:
    heard = Heard()
    config = EvalConfig(limit=5)
    (scores,) = eval_embed(model, ["questions"], config, heard)
    assert isinstance(scores, AnalogyScores)
    assert (scores.total.questions, scores.total.skipped, scores.vocabulary) == (1, 1, 5)
    assert heard.notes == [
        "analogies are asked and answered with the first 5 of 6 words; --limit 0 takes all"
    ]
    for kept in (EvalConfig(limit=0), EvalConfig(limit=6)):
        list(eval_embed(model, ["questions"], kept, heard))
    list(eval_embed(model, ["similar"], config, heard))
    assert len(heard.notes) == 1
    with pytest.raises(UserError, match="--limit -1 is below 0"):
        EvalConfig(limit=-1)


def test_settings_reach_the_measures(model: str) -> None:
    config = EvalConfig(method="multiply", unknown="zero", clustering="agglomerative")
    sources = ["questions", "unknown", "classes"]
    first, second, third = (scores.record() for scores in eval_embed(model, sources, config))
    assert first["method"] == "multiply" and third["clustering"] == "agglomerative"
    assert (second["oov"], second["used"]) == ("zero", 2)


def test_nothing_known_is_told(model: str) -> None:
    Path("q").write_text(": s\na b c d\n" * 1200)
    Path("c").write_text("x one\ny two\nz two\n")
    heard = Heard()
    list(eval_embed(model, ["q", "unknown", "c"], listener=heard))
    assert heard.warnings == [
        "q: 0 of 1,200 questions have all four words in the vocabulary",
        "unknown: 0 of 2 pairs have both words in the vocabulary",
        "c: 0 of 3 words are in the vocabulary",
    ]


def test_a_bad_file_stops_all_before_anything_is_measured(model: str) -> None:
    Path("bad").write_text("man king 9\nman\n")
    with pytest.raises(TextError, match="bad:2: 1 column instead of two words and a number"):
        next(eval_embed(model, ["similar", "bad"]))


def test_subwords_are_not_asked_of_vectors_without(model: str) -> None:
    with pytest.raises(UserError, match="--oov subwords: these vectors have no subwords"):
        list(eval_embed(model, ["similar"], EvalConfig(unknown="subwords")))
