"""Which model a command works on: the one named with -m, or else the newest that fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmkit.events import Listener


def find_model(name: str | None, families: Sequence[str] | None, listener: Listener) -> Path:
    """Return the path of the model ``name``; without a name say on stderr which one was taken.

    Args:
        name: the value of ``--model``.
        families: the families that the command can use; None for all.
        listener: hears which model was taken unless it was named.

    Raises:
        ModelError: there is no such model, or it is of another family.
    """
    from lmkit.store.card import read_card
    from lmkit.store.home import resolve_model

    path, source = resolve_model(name, families)
    if path.is_dir():
        family = read_card(path, families)["family"]
        if source == "last":
            listener.note(f"using {path.name}, the newest {family} model")
        elif source == "environment":
            listener.note(f"using {path}, as $LMKIT_MODEL says")
    return path
