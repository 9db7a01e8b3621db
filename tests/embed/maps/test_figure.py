"""Figures: the same words give the same file, all words are in it, no font is missing unsaid."""

import sys
from pathlib import PurePath
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

from lmkit.embed.maps import figure as module
from lmkit.embed.maps import style
from lmkit.embed.maps.figure import figure_format, render
from lmkit.embed.maps.picture import Arrow, Picture, parallelograms, scatter, word_map
from lmkit.embed.maps.som import MapConfig
from lmkit.errors import UserError
from lmkit.events import Listener

WORDS = ["king", "été", "любовь", "爱", "محبة", "$x$", "a_b^c", "<b>&", "bad\x07", "\udcff"]
SHOWN = [*WORDS[:-2], "bad\ufffd", "\ufffd"]


def pictures() -> dict[str, Picture]:
    rows = np.random.default_rng(1).normal(size=(len(WORDS), 4))
    arrows = [Arrow(start=i, end=i + 5, relation=i % 2) for i in range(5)]
    return {
        "scatter": scatter(WORDS, rows),
        "arrows": parallelograms(WORDS, rows, arrows, ["one $way$", "other"]),
        "map": word_map(WORDS, rows, MapConfig(rows=4, columns=3)),
    }


PICTURES = pictures()
each_picture = pytest.mark.parametrize("name", PICTURES)


class Warnings(Listener):
    def __init__(self) -> None:
        self.said: list[str] = []

    def warn(self, message: str) -> None:
        self.said.append(message)


@each_picture
def test_svg_is_text_and_always_the_same(name: str) -> None:
    heard = Warnings()
    svg = render(PICTURES[name], "svg", heard)
    assert render(pictures()[name], "svg") == svg
    texts = [element.text for element in ElementTree.fromstring(svg).iter() if element.text]
    assert all(texts.count(word) == 1 for word in SHOWN)
    assert (
        b"<dc:date>" not in svg
        and b"@font-face" not in svg
        and b"base64" not in svg.replace(b"data:image/png;base64", b"")
    )
    assert heard.said == []


@each_picture
@pytest.mark.parametrize(("kind", "begin"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_other_formats(name: str, kind: str, begin: bytes) -> None:
    heard = Warnings()
    data = render(PICTURES[name], kind, heard)
    assert data.startswith(begin) and len(data) > 5_000
    assert render(pictures()[name], kind) == data
    assert all("no font on this machine has" in said for said in heard.said)


def test_characters_without_a_font_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "_entries", lambda manager: [])
    heard = Warnings()
    assert render(scatter(["ab", "b"], np.eye(2)), "png", heard).startswith(b"\x89PNG")
    assert len(heard.said) == 1 and "no font on this machine has a b:" in heard.said[0]


def test_fonts_come_with_matplotlib_where_they_will_do() -> None:
    assert style.fonts_for(["été", "любовь", "αγάπη"]) == ([style.FONT], set())
    assert style.fonts_for([" "]) == ([style.FONT], set())


def test_settings_of_the_user_change_nothing_and_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    svg = render(PICTURES["scatter"], "svg")
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 31.0)
    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "path")
    assert render(PICTURES["scatter"], "svg") == svg
    assert matplotlib.rcParams["font.size"] == 31.0
    assert "matplotlib.pyplot" not in sys.modules, "pyplot could open windows"


@pytest.mark.parametrize("number", [2, 3])
def test_words_on_one_spot_or_line(number: int) -> None:
    words = [f"w{index}" for index in range(number)]
    for rows in (np.ones((number, 3)), np.outer(np.arange(number), np.ones(3))):
        assert render(scatter(words, rows), "svg")
        assert render(word_map(words, rows, MapConfig(rows=1, columns=1)), "svg")


def test_labels_of_a_crowd_keep_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[np.ndarray, np.ndarray]] = []
    place = module.place_labels

    def watched(points: np.ndarray, sizes: np.ndarray, *rest: object, **more: object) -> object:
        centres = place(points, sizes, *rest, **more)  # type: ignore[arg-type]
        made.append((centres, sizes))
        return centres

    monkeypatch.setattr(module, "place_labels", watched)
    rows = np.random.default_rng(4).normal(size=(60, 2))
    render(scatter([f"word{index}" for index in range(60)], rows), "svg")
    centres, sizes = made[0]
    apart = np.abs(centres[:, None] - centres) < (sizes[:, None] + sizes) / 2 - 1e-6
    assert apart.all(axis=2).sum() == 60, "labels overlap only themselves"


def test_format_is_that_of_the_suffix() -> None:
    assert figure_format(PurePath("a/b.SVG")) == "svg"
    with pytest.raises(UserError, match=r"a\.jpg: figures are \.svg, \.png or \.pdf"):
        figure_format(PurePath("a.jpg"))


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(UserError, match=r'matplotlib.*pip install "lmkit\[plot\]"'):
        render(PICTURES["scatter"], "svg")
