"""Pictures of the words of a table: which are drawn, what becomes of the others."""

from pathlib import Path

import numpy as np
import pytest

from lmkit.embed.maps.picture import Scatter, WordMap
from lmkit.embed.maps.relations import Relation
from lmkit.embed.vectors import Vectors
from lmkit.errors import UserError
from lmkit.events import Listener
from lmkit.tasks.plot_embed import (
    PlotConfig,
    default_grid,
    figure_writer,
    missing_words,
    plot_relations,
    plot_words,
    read_relations,
    top_words,
)

WORDS = ["</s>", "king", "queen", "man", "woman", "uncle", "aunt"]
GENDER = Relation("gender", (("man", "woman"), ("king", "queen"), ("uncle", "aunt")))


@pytest.fixture
def vectors() -> Vectors:
    """Vectors of length 1 in which women are men, mirrored in the second axis."""
    rows = np.zeros((7, 3))
    rows[1::2] = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [-2.0, 1.0, 1.0]])
    rows[2::2] = rows[1::2] * [1, -1, 1]
    rows[1:] /= np.linalg.norm(rows[1:], axis=1, keepdims=True)
    return Vectors.of(WORDS, (5 * rows).astype(np.float32))


class Notes(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_the_most_frequent_words_are_the_first(vectors: Vectors) -> None:
    assert top_words(vectors, 2) == ["king", "queen"]
    assert top_words(vectors, 100) == WORDS[1:]


@pytest.mark.parametrize("kind", ["pca", "tsne"])
def test_unknown_words_are_named_and_left_out(vectors: Vectors, kind: str) -> None:
    heard = Notes()
    asked = ["king", "quern", "man", "king", "zzz"]
    picture = plot_words(vectors, asked, PlotConfig(kind=kind), heard)  # type: ignore[arg-type]
    assert isinstance(picture, Scatter)
    assert picture.words == ["king", "man"]
    assert heard.notes == ["no word 'quern'; did you mean 'queen'?", "no word 'zzz'"]
    assert missing_words(vectors, asked) == heard.notes


def test_one_word_is_no_picture(vectors: Vectors) -> None:
    with pytest.raises(UserError, match="a picture needs two"):
        plot_words(vectors, ["king", "zzz"], PlotConfig())


def test_length_does_not_count(vectors: Vectors) -> None:
    longer = Vectors.of(WORDS, vectors.matrix * np.arange(1, 8, dtype=np.float32)[:, None])
    points = [plot_words(v, WORDS, PlotConfig()).points for v in (vectors, longer)]  # type: ignore[union-attr]
    assert points[0] == pytest.approx(points[1], abs=1e-6)
    assert np.isfinite(points[0]).all(), "the word </s> has a vector without length"


def test_a_map_has_the_grid_asked_for(vectors: Vectors) -> None:
    for grid, size in (((2, 5), (2, 5)), (None, default_grid(6))):
        picture = plot_words(vectors, WORDS[1:], PlotConfig(kind="som", grid=grid))
        assert isinstance(picture, WordMap)
        assert picture.grid.units.shape == (*size, 3)
        assert (picture.places < size).all() and (picture.places >= 0).all()


@pytest.mark.parametrize("number", [2, 6, 16, 48, 1000])
def test_a_grid_has_room(number: int) -> None:
    rows, columns = default_grid(number)
    assert columns <= 8 and rows <= 14
    assert rows * columns >= min(2 * number, 14 * 8)


def test_pairs_of_one_relation_are_parallel(vectors: Vectors) -> None:
    picture = plot_relations(vectors, [GENDER])
    assert isinstance(picture, Scatter) and picture.cosines is not None
    assert picture.cosines.relations == pytest.approx([1.0])
    ways = [picture.points[arrow.end] - picture.points[arrow.start] for arrow in picture.arrows]
    directions = np.array([way / np.linalg.norm(way) for way in ways])
    assert directions @ directions[0] == pytest.approx(np.ones(3), abs=1e-6)


def test_pairs_with_an_unknown_word_are_left_out(vectors: Vectors) -> None:
    heard = Notes()
    other = Relation("", (("king", "zzz"),))
    third = Relation("", (("king", "man"),))
    picture = plot_relations(vectors, [GENDER, other, third], heard)
    assert isinstance(picture, Scatter)
    assert picture.relations == ["gender", "king:man"]
    assert [arrow.relation for arrow in picture.arrows] == [0, 0, 0, 1]
    assert heard.notes == ["no word 'zzz'"]
    with pytest.raises(UserError, match="1 pairs to draw"):
        plot_relations(vectors, [other, third])
    lonely = plot_relations(vectors, [Relation("", (("uncle", "zzz"),)), GENDER, third])
    assert sorted(lonely.words) == sorted(WORDS[1:])


def test_relations_come_from_files_and_arguments(tmp_path: Path) -> None:
    file = tmp_path / "pairs.txt"
    file.write_bytes(b": gender\r\nman\twoman\r\nking queen\r\n: size\nbig:bigger\n")
    assert read_relations([str(file), "a:b  c:d"]) == [
        Relation("gender", (("man", "woman"), ("king", "queen"))),
        Relation("size", (("big", "bigger"),)),
        Relation("", (("a", "b"), ("c", "d"))),
    ]
    with pytest.raises(UserError, match="no file 'nothing', and no pairs"):
        read_relations(["nothing"])


def test_what_is_in_the_way_of_a_figure_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "there.svg").touch()
    with pytest.raises(UserError, match="exists"):
        figure_writer(tmp_path / "there.svg")
    with pytest.raises(UserError, match="figures are"):
        figure_writer(tmp_path / "figure.gif")


def test_figures_are_written_whole(tmp_path: Path, vectors: Vectors) -> None:
    picture = plot_words(vectors, WORDS[1:], PlotConfig())
    (tmp_path / "f.svg").write_bytes(b"old")
    figure_writer(tmp_path / "f.svg", force=True)(picture, Notes())
    assert (tmp_path / "f.svg").read_bytes().rstrip().endswith(b"</svg>")
    assert [path.name for path in tmp_path.iterdir()] == ["f.svg"]
