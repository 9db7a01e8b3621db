"""Pictures in characters: every word stands where it should, or is named below."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmkit.embed.maps.canvas import Canvas, clusters, fitted, width
from lmkit.embed.maps.picture import Arrow, Scatter, WordMap, parallelograms, scatter
from lmkit.embed.maps.som import SelfOrganisingMap
from lmkit.embed.maps.terminal import draw


def test_width_counts_columns() -> None:
    assert [width(text) for text in ("abc", "爱情", "e\u0301t", "사랑", "")] == [3, 4, 2, 4, 0]
    assert clusters("e\u0301\x07") == ["e\u0301", "\ufffd"]


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("word", 4, "word"),
        ("words", 4, "wor…"),
        ("爱情爱", 4, "爱…"),
        ("word", 1, "…"),
        ("a", 0, ""),
    ],
)
def test_fitted(text: str, columns: int, shown: str) -> None:
    assert fitted(text, columns) == shown
    assert width(shown) <= columns


@given(st.text(max_size=20), st.integers(0, 12))
def test_fitted_fits(text: str, columns: int) -> None:
    assert width(fitted(text, columns)) <= columns


def test_canvas_knows_what_is_free() -> None:
    canvas = Canvas(6, 2)
    canvas.write(0, 1, "爱a")
    canvas.write(1, 5, "爱")
    assert list(canvas.lines()) == [" 爱a", ""]
    assert canvas.is_free(0, 4, 2) and not canvas.is_free(0, 2, 1)
    assert not canvas.is_free(0, 5, 2) and not canvas.is_free(2, 0, 1)


def test_words_stand_at_their_points() -> None:
    points = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
    lines = list(draw(Scatter(words=["sw", "ne", "nw", "mid"], points=points), 21, 9))
    assert len(lines) == 9
    assert lines[0].startswith("•nw") and lines[0].endswith("•ne")
    assert lines[8] == "•sw"
    assert lines[4].strip() == "•mid"
    assert max(map(width, lines)) <= 21


@given(st.integers(2, 40), st.integers(0, 20))
def test_every_word_is_shown_or_named(number: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(number, 3))
    words = [f"w{index:02}q" for index in range(number)]
    *lines, _ = draw(scatter(words, rows), 40, 8)
    assert max(map(width, lines[:8])) <= 40
    text = "\n".join(lines)
    assert all(text.count(word) == 1 for word in words)
    assert sum(line.count("•") for line in lines) <= number


def test_words_on_one_spot() -> None:
    text = "\n".join(draw(scatter(["a", "b"], np.ones((2, 3))), 20, 8))
    assert "•a" in text and "b" in text


def test_arrows_lead_from_word_to_word() -> None:
    rows = np.array([[-2.0, -1.0], [2.0, -1.0], [-2.0, 1.0], [2.0, 1.0]])
    arrows = [Arrow(start=0, end=1, relation=0), Arrow(start=3, end=2, relation=0)]
    lines = list(draw(parallelograms(["a", "b", "c", "d"], rows, arrows, ["r"]), 40, 6))
    assert lines[0].startswith("•c←···") and lines[0].endswith("··•d")
    assert lines[5].startswith("•a····") and lines[5].endswith("·→•b")
    assert lines[-1] == "r: 2 pairs, mean cosine of the offsets -1.000"


def test_a_map_shows_cells_and_frontiers() -> None:
    units = np.array([[[0.0], [1.0], [9.0]], [[0.0], [1.0], [2.0]]], dtype=np.float32)
    picture = WordMap(
        words=["near", "nearer", "far-away-word"],
        grid=SelfOrganisingMap(units),
        places=np.array([[0, 0], [0, 0], [1, 2]]),
        distances=np.array([0.2, 0.1, 0.3], dtype=np.float32),
        topographic_error=0.25,
    )
    assert list(draw(picture, 29, 5)) == [
        "nearer   ·       │·",
        "near             │",
        "                  ────────",
        "·        ·        far-awa…",
        "map of 2 x 3 cells: quantisation error 0.200, topographic error 0.250",
    ]


def test_records_of_a_map() -> None:
    picture = WordMap(
        words=["a"],
        grid=SelfOrganisingMap(np.zeros((2, 3, 1), dtype=np.float32)),
        places=np.array([[1, 2]]),
        distances=np.array([0.5], dtype=np.float32),
        topographic_error=0.0,
    )
    assert list(picture.records()) == [{"word": "a", "row": 1, "column": 2, "distance": 0.5}]
    assert picture.cells == {(1, 2): [0]}
