"""card.json: what a model directory says about itself. Standard library only, so it is quick.

The card holds the format number, the family, the settings, the tokenizer, what the model was made
from, and the size and checksum of each file. It names no path and no time. A model directory
without a card is not a model: the card is written last.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lmkit.errors import ModelError

FORMAT = 1
"""Number of the layout of model directories; readers refuse higher ones."""

CARD = "card.json"


def encode_card(card: dict[str, Any]) -> bytes:
    """Return ``card`` as the bytes of card.json, with a checksum of its own added."""
    sealed = {**card, "checksum": _seal(card)}
    return (json.dumps(sealed, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("ascii")


def read_card(path: Path, families: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the card of the model directory ``path``.

    Raises:
        ModelError: no model lies there, or it is damaged, newer than this lmkit, or of a family
            that is not among ``families``.
    """
    card = _parse_card(path)
    number = card.get("format")
    if not isinstance(number, int) or number < 1:
        raise _damaged(path)
    if number > FORMAT:
        raise ModelError(
            f"{path} was written by a newer lmkit (model format {number}, this one reads {FORMAT})",
            "Update lmkit",
        )
    checksum = card.pop("checksum", None)
    if checksum != _seal(card):
        raise _damaged(path)
    if families is not None and card["family"] not in families:
        here, wanted = _article(card["family"]), _article(" or ".join(families))
        raise ModelError(
            f"{path} is {here} model; this command needs {wanted} model", "See lmkit models list"
        )
    return card


def digest_card(path: Path) -> str:
    """Return the SHA-256 (hex) of the card of the model directory ``path``, as it lies there."""
    return hashlib.sha256((path / CARD).read_bytes()).hexdigest()


def _parse_card(path: Path) -> dict[str, Any]:
    try:
        data = (path / CARD).read_bytes()
    except FileNotFoundError:
        if not path.exists():
            raise ModelError(f"no model at {path}", "See lmkit models list") from None
        raise ModelError(
            f"{path} is not a lmkit model: it has no {CARD}",
            "Make it again, or see lmkit models list",
        ) from None
    except NotADirectoryError:
        raise ModelError(
            f"{path} is a file, not a model directory",
            "Files become models with lmkit ngram convert (ARPA) or lmkit embed convert (vectors)",
        ) from None
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error
    try:
        card = json.loads(data)
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not isinstance(card, dict):
        raise _damaged(path)
    return card


def _seal(card: dict[str, Any]) -> str:
    text = json.dumps(card, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _damaged(path: Path) -> ModelError:
    return ModelError(
        f"{path} is damaged: its {CARD} is not what was written", "Make the model again"
    )


def _article(noun: str) -> str:
    return ("an " if noun[:1] in "aeiou" or noun.startswith("ngram") else "a ") + noun
