"""A planted dictionary: mapped, measured, saved and opened again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmkit.embed.formats import read, write
from lmkit.embed.model import open_vectors, save_vectors
from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Vectors
from lmkit.errors import ModelError, NegativeResult, TextError, UserError
from lmkit.events import Listener
from lmkit.store.artifact import ArtifactWriter, open_artifact
from lmkit.tasks.align_embed import AlignConfig, Aligned, align_embed
from lmkit.tasks.drift_embed import drift_embed

SIZE = 8
WORDS = 60


class Heard(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


@pytest.fixture
def turned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vectors:
    """Write en.vec (e0 ..), its rotation fr.vec (f0 ..), pairs, and return the latter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LMKIT_HOME", str(tmp_path / "home"))
    random = np.random.default_rng(1)
    matrix = random.standard_normal((WORDS, SIZE)).astype(np.float32)
    rotation = np.linalg.qr(random.standard_normal((SIZE, SIZE)))[0]
    write("en.vec", Vectors.of([f"e{row}" for row in range(WORDS)], matrix))
    table = Vectors.of([f"f{row}" for row in range(WORDS)], (matrix @ rotation).astype(np.float32))
    write("fr.vec", table)
    Path("pairs").write_text("".join(f"e{row} f{row}\n" for row in range(40)) + "no f1\ne1 no\n")
    Path("test").write_text("".join(f"e{row}\tf{row}\n" for row in range(40, 60)) + "no\tf1\n")
    return table


def align(**options: Any) -> Aligned:
    return align_embed("en.vec", "fr.vec", "pairs", **options)


def test_planted_dictionary_is_found(turned: Vectors) -> None:
    aligned = align(test="test")
    assert (aligned.pairs, aligned.unknown, aligned.fitted) == (42, 2, 40)
    assert aligned.cosine == pytest.approx(1.0, abs=1e-6)
    perfect = {1: 1.0, 5: 1.0, 10: 1.0}
    assert aligned.scores.cosine == aligned.scores.csls == perfect
    assert (aligned.scores.words, aligned.scores.unknown) == (20, 1)
    record = json.loads(json.dumps(aligned.record(), allow_nan=False))
    assert (record["out"], record["test_words"], record["test_csls_precision_at_5"]) == (
        None,
        20,
        1,
    )


def test_words_are_held_out_without_a_test(turned: Vectors) -> None:
    aligned = align()
    assert (aligned.fitted, aligned.scores.words, aligned.scores.unknown) == (36, 4, 0)
    assert align(config=AlignConfig(held_out=0.5)).fitted == 20
    nothing = align(config=AlignConfig(held_out=0))
    assert (nothing.fitted, nothing.scores.words, nothing.scores.csls) == (40, 0, None)
    Path("pairs").write_text("".join(f"e{row} f{row}\n" for row in range(5)))
    assert align().scores.words == 1
    with pytest.raises(UserError, match="--held-out 1 is not a share"):
        AlignConfig(held_out=1.0)


def test_all_translations_of_a_word_are_held_out_together(turned: Vectors) -> None:
    Path("pairs").write_text("".join(f"e{row // 2} f{row}\n" for row in range(40)))
    aligned = align(config=AlignConfig(held_out=0.25))
    assert (aligned.fitted, aligned.scores.words) == (30, 5)


def test_limit_leaves_rare_words_out(turned: Vectors) -> None:
    aligned = align(test="test", config=AlignConfig(limit=50))
    assert (aligned.scores.words, aligned.scores.unknown) == (10, 11)


def test_a_test_that_was_trained_on_is_told(turned: Vectors) -> None:
    heard = Heard()
    align(test="pairs", listener=heard)
    assert heard.warnings == ["40 words of pairs are also in pairs, so they are no fair test"]


def test_the_mapped_model_lies_in_the_space_of_the_target(turned: Vectors, tmp_path: Path) -> None:
    aligned = align(test="test", out="mapped")
    assert aligned.path == tmp_path / "home" / "models" / "mapped"
    assert (tmp_path / "home" / "models" / "last-embed").resolve() == aligned.path
    mapped = open_vectors(open_artifact(aligned.path, ["embed"]))
    assert [mapped.word(row) for row in (0, 59)] == ["e0", "e59"]
    assert mapped.matrix == pytest.approx(turned.matrix, abs=1e-5)
    assert mapped.norms == pytest.approx(np.linalg.norm(turned.matrix, axis=1), abs=1e-5)
    with pytest.raises(ModelError, match="mapped exists"):
        align(out="mapped")
    align(out="mapped", force=True)


def test_out_may_be_a_file_of_vectors(turned: Vectors, tmp_path: Path) -> None:
    from lmkit.embed.formats import read

    align(test="test", out="mapped.bin")
    mapped = read("mapped.bin")
    assert mapped.matrix == pytest.approx(turned.matrix, abs=1e-5)


def test_subwords_turn_with_the_words(turned: Vectors, tmp_path: Path) -> None:
    from lmkit.embed.formats import read

    plain = read("en.vec")
    rows = np.random.default_rng(2).standard_normal((50, SIZE)).astype(np.float32)
    plain.subwords = Subwords(3, 4, 50, rows)
    with ArtifactWriter("en") as writer:
        save_vectors(writer, plain, config={"arch": "skipgram"})
    heard = Heard()
    align_embed("./en", "fr.vec", "pairs", test="test", out="turned", listener=heard)
    mapped = open_vectors(open_artifact(tmp_path / "home" / "models" / "turned", ["embed"]))
    before, after = plain.vector("unseen"), mapped.vector("unseen")
    assert before is not None and after is not None
    cosines = plain.matrix @ before, mapped.matrix @ after
    assert cosines[0] == pytest.approx(cosines[1], abs=1e-4)
    assert heard.warnings == []
    config = AlignConfig(center=True)
    align_embed("./en", "fr.vec", "pairs", out="centred", config=config, listener=heard)
    assert len(heard.warnings) == 1 and "subwords are left out" in heard.warnings[0]


def test_same_bytes_for_a_seed(turned: Vectors) -> None:
    for name in ("one", "two"):
        align(out=f"./{name}")
    files = [sorted(path.name for path in Path(name).iterdir()) for name in ("one", "two")]
    assert files[0] == files[1]
    for file in files[0]:
        assert Path("one", file).read_bytes() == Path("two", file).read_bytes(), file


def test_bad_pairs(turned: Vectors) -> None:
    Path("pairs").write_text("e1 f1\ne2\n")
    with pytest.raises(TextError, match="pairs:2: 1 column instead of two words"):
        align(out="never")
    Path("pairs").write_text("x y\n")
    with pytest.raises(UserError, match="no pair to align by"):
        align(out="never")
    write("small.vec", Vectors.of(["f1"], np.ones((1, 3), dtype=np.float32)))
    Path("pairs").write_text("e1 f1\n")
    with pytest.raises(UserError, match="vectors of 8 and of 3 dimensions"):
        align_embed("en.vec", "small.vec", "pairs", out="never")
    assert not Path("home", "models", "never").exists()


def drifting(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    matrix = random.standard_normal((30, SIZE)).astype(np.float32)
    words = [f"word{row}" for row in range(30)]
    write("old.vec", Vectors.of([*words, "telegraph"], np.concatenate([matrix, matrix[:1]])))
    matrix[7] *= -1
    write("new.vec", Vectors.of([*words, "internet"], np.concatenate([matrix, matrix[:1]])))


def test_drift(turned: Vectors, tmp_path: Path) -> None:
    drifting(tmp_path)
    moves = list(drift_embed("old.vec", "new.vec", top=3))
    assert len(moves) == 3 and moves[0][0] == "word7"
    assert moves[0][1] is not None and moves[0][1].distance > 1.5


def test_drift_of_missing_words(turned: Vectors, tmp_path: Path) -> None:
    drifting(tmp_path)
    heard = Heard()
    asked = ["word3", "telegraph", "word7", "internet", "wrod5", "word29"]
    moves = list(drift_embed("old.vec", "new.vec", asked, limit=20, listener=heard))
    assert [word for word, _ in moves] == asked
    assert [moved is None for _, moved in moves] == [False, True, False, True, True, True]
    assert heard.notes[0] == "20 words in common"
    assert heard.notes[1].startswith("no word 'telegraph' in new.vec")
    assert heard.notes[2].startswith("no word 'internet' in old.vec")
    assert heard.notes[3].startswith("no word 'wrod5' in either model; did you mean 'word5'")
    assert heard.notes[4] == (
        "'word29' is not among the first 20 words of both; --limit 0 takes all"
    )
    with pytest.raises(NegativeResult, match="no word 'telegraph' in new.vec"):
        list(drift_embed("old.vec", "new.vec", asked, strict=True))
    with pytest.raises(UserError, match="--limit -1 is below 0"):
        next(drift_embed("old.vec", "new.vec", limit=-1))


def test_drift_of_a_word_whose_vector_is_zero(turned: Vectors, tmp_path: Path) -> None:
    drifting(tmp_path)
    new = read("new.vec")
    new.matrix[new.index("word3")] = 0
    write("zero.vec", new)
    heard = Heard()
    ((word, moved),) = drift_embed("old.vec", "zero.vec", ["word3"], listener=heard)
    assert (word, moved) == ("word3", None)
    assert heard.notes[1] == "the vector of 'word3' is zero in zero.vec"
