"""How figures look: colours that everybody can tell apart, sizes, fonts for all scripts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from lmkit.embed.maps.extra import extra_module

INK = "#222222"
FAINT = "#8a8a8a"
FRAME = "#c8c8c8"
POINT = "#0072b2"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which the colour-blind tell apart too."""
FONT = "DejaVu Sans"
"""Comes with matplotlib, so figures are alike on all machines."""

SETTINGS: dict[str, Any] = {
    "axes.edgecolor": FRAME,
    "axes.labelcolor": "#555555",
    "axes.labelsize": 8,
    "axes.linewidth": 0.8,
    "font.size": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # journals refuse the other kind
    "svg.fonttype": "none",  # words stay text, which can be searched and edited
    "svg.hashsalt": "lmkit",
    "text.usetex": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}


def scatter_style(number: int) -> tuple[float, float]:
    """Return the width in inches of a figure of so many words, and the size of its letters."""
    return 6.5 * min(2.5, max(1.0, math.sqrt(number / 50))), 9.0 if number <= 40 else 7.5


def fonts_for(words: Iterable[str]) -> tuple[list[str], set[str]]:
    """Choose the fonts that have the characters of ``words``.

    Returns:
        Families, the first for what it has, the next for the rest, and so on; and the characters
        that no font of this machine has.
    """
    manager = extra_module("matplotlib.font_manager")
    missing = {character for word in words for character in word if not character.isspace()}
    missing = {character for character in missing if character.isprintable()}
    families: list[str] = []
    for entry in _entries(manager):
        if not missing:
            break
        try:
            has = extra_module("matplotlib.ft2font").FT2Font(entry.fname).get_charmap()
        except (OSError, RuntimeError):
            continue
        found = {character for character in missing if ord(character) in has}
        if found or not families:
            families.append(entry.name)
            missing -= found
    return families or [FONT], missing


def _entries(manager: Any) -> Sequence[Any]:
    """Return the upright fonts of normal weight, matplotlib's own first; no font of boxes."""
    entries = [
        entry
        for entry in manager.fontManager.ttflist
        if entry.style == "normal"
        and not entry.name.startswith("Last Resort")
        and entry.weight in (400, "normal", "regular", "book")
    ]
    return sorted(entries, key=lambda entry: (entry.name != FONT, entry.name, entry.fname))
