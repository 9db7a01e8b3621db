"""Pictures of word vectors as figures: SVG, PNG and PDF through matplotlib, which opens no window.

A picture always gives the same SVG: no date, no random names, and words stay text.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

import numpy as np

from lmkit.embed.maps import style
from lmkit.embed.maps.canvas import printed
from lmkit.embed.maps.extra import extra_module
from lmkit.embed.maps.labels import follow, place_labels
from lmkit.embed.maps.picture import Picture, Scatter, WordMap
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener

FORMATS: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "lmkit"},
    "png": {"Software": "lmkit"},
    "pdf": {"CreationDate": None, "Creator": "lmkit", "Producer": None},
}
"""What is written about itself into a file of each format."""
DOTS = 200
"""Pixels per inch of a PNG."""


def figure_format(path: PurePath) -> str:
    """Return the format that the suffix of ``path`` means.

    Raises:
        UserError: figures are not written in that format.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UserError(f"{path}: figures are .svg, .png or .pdf", "Choose one by the suffix")
    return kind


def render(picture: Picture, kind: str, listener: Listener = SILENT) -> bytes:
    """Return ``picture`` as a file of format ``kind``: svg, png or pdf.

    Args:
        picture: what to draw.
        kind: a key of :data:`FORMATS`.
        listener: is told of characters that no font has.

    Raises:
        UserError: matplotlib is not installed.
    """
    families, missing = [style.FONT], set[str]()
    if kind != "svg":  # an SVG names the font and leaves the rest to the viewer
        families, missing = style.fonts_for(_texts(picture))
    if missing:
        listener.warn(
            f"no font on this machine has {' '.join(sorted(missing)[:20])}: "
            "write .svg, whose words are drawn by the viewer, or install a font that has them"
        )
    with _settings(families):
        figure = extra_module("matplotlib.figure").Figure(layout="constrained")
        extra_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
        if isinstance(picture, WordMap):
            from lmkit.embed.maps.figure_map import draw_map

            draw_map(figure, picture)
        else:
            _draw_points(figure, picture)
        file = io.BytesIO()
        tight: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": 0.04}
        figure.savefig(file, format=kind, dpi=DOTS, metadata=FORMATS[kind], **tight)
    return file.getvalue()


@contextmanager
def _settings(families: Sequence[str]) -> Iterator[None]:
    """Draw with our settings, whatever the user's are; leave those as they were."""
    matplotlib = extra_module("matplotlib")
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", category=matplotlib.MatplotlibDeprecationWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {**style.SETTINGS, "font.family": "sans-serif", "font.sans-serif": families}
        )
        yield


def _texts(picture: Picture) -> list[str]:
    names = [] if isinstance(picture, WordMap) else picture.relations
    return [printed(text) for text in (*picture.words, *names)]


def _draw_points(figure: Any, picture: Scatter) -> None:
    """Draw words beside their points, with arrows between those that belong together."""
    width, letters = style.scatter_style(len(picture.words))
    across, up = np.ptp(picture.points, axis=0)
    figure.set_size_inches(
        width, width * float(np.clip(0.85 * up / across if across else 1, 0.5, 1))
    )
    axes = figure.add_subplot()
    x, y = picture.points.T
    _set_frame(axes, picture)
    axes.scatter(x, y, s=14, color=_colours(picture), linewidths=0, zorder=3)
    for arrow in picture.arrows:
        axes.annotate(
            "",
            xy=picture.points[arrow.end],
            xytext=picture.points[arrow.start],
            arrowprops={
                "arrowstyle": "-|>,head_length=0.45,head_width=0.18",
                "color": _colour(arrow.relation),
                "linewidth": 1.1,
                "alpha": 0.75,
                "shrinkA": 3,
                "shrinkB": 3,
            },
            zorder=2,
        )
    if picture.cosines is not None:
        _name_relations(figure, axes, picture)
    _label_points(figure, axes, picture, letters)


def _set_frame(axes: Any, picture: Scatter) -> None:
    axes.margins(0.08)
    if picture.shares is None:
        axes.set(xticks=[], yticks=[])
        axes.set_xlabel("t-SNE: neighbours are near, distances mean nothing")
    else:
        axes.spines[["top", "right"]].set_visible(False)
        names = ("First principal component", "Second principal component")
        labels = [
            f"{name} ({share:.1%})" for name, share in zip(names, picture.shares, strict=True)
        ]
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.tick_params(length=2.5, color=style.FRAME)
    axes.set_aspect("equal", adjustable="datalim")


def _colour(relation: int) -> str:
    return style.PALETTE[relation % len(style.PALETTE)]


def _colours(picture: Scatter) -> list[str]:
    """Return the colour of each point: that of the first relation in which its word stands."""
    colours = [style.POINT] * len(picture.words)
    for arrow in reversed(picture.arrows):
        colours[arrow.start] = colours[arrow.end] = _colour(arrow.relation)
    return colours


def _name_relations(figure: Any, axes: Any, picture: Scatter) -> None:
    """Put a legend above: the relations with the mean cosine of their offsets."""
    assert picture.cosines is not None
    line = extra_module("matplotlib.lines").Line2D
    handles = []
    for number, (name, cosine) in enumerate(
        zip(picture.relations, picture.cosines.relations, strict=True)
    ):
        text = name if np.isnan(cosine) else f"{name} (mean cosine of the offsets {cosine:.2f})"
        handles.append(line([], [], color=_colour(number), linewidth=1.6, label=printed(text)))
    legend = figure.legend(handles=handles, loc="outside upper left", ncols=1, handlelength=1.4)
    for text in legend.get_texts():
        text.set(parse_math=False, color="#444444")


def _label_points(figure: Any, axes: Any, picture: Scatter, letters: float) -> None:
    """Write the words where they do not cover one another; far ones get a thin line."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # what follows counts on the frame as it is now
    to_pixels = axes.transData.transform
    to_data = axes.transData.inverted().transform
    texts = [
        axes.text(0, 0, printed(word), size=letters, color=style.INK, ha="center", va="center")
        for word in picture.words
    ]
    for text in texts:
        text.set(parse_math=False, zorder=4)
    measure = _measure(figure)
    sizes = np.array([measure(text) for text in texts])
    points = to_pixels(picture.points)
    gap = 4.5 * figure.dpi / 72
    bounds = axes.bbox.x0, axes.bbox.y0, axes.bbox.x1, axes.bbox.y1
    centres = place_labels(points, sizes, bounds, gap=gap, obstacles=_along_arrows(points, picture))
    for text, centre, size, point in zip(texts, centres, sizes, points, strict=True):
        text.set_position(to_data(centre))
        end = follow(centre, size, point, gap)
        if end is not None:
            both = to_data(np.stack([point, end]))
            axes.plot(
                *both.T, color=style.FAINT, linewidth=0.5, zorder=1, scalex=False, scaley=False
            )


def _measure(figure: Any) -> Callable[[Any], tuple[float, float]]:
    renderer = figure.canvas.get_renderer()

    def size(text: Any) -> tuple[float, float]:
        box = text.get_window_extent(renderer)
        return box.width, box.height

    return size


def _along_arrows(points: Any, picture: Scatter) -> Any:
    """Return points on the arrows [M, 2], close enough to one another to keep labels off."""
    if not picture.arrows:
        return None
    ways = np.linspace(0.1, 0.9, 25)[:, None]
    return np.concatenate(
        [points[a.start] + ways * (points[a.end] - points[a.start]) for a in picture.arrows]
    )
