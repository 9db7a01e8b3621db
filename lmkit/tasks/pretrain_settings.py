"""Settings of an architecture as people write them: ``num_layers=2``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from lmkit.errors import UserError


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Return the settings that ``KEY=VALUE`` pairs name; values are JSON, else plain text.

    Raises:
        UserError: a pair has no ``=`` or a key comes twice.
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not sign or not key:
            raise UserError(f"--set {pair!r} is not KEY=VALUE", "Write --set num_layers=2")
        if key in settings:
            raise UserError(f"--set {key} is given twice", "Give it once")
        try:
            settings[key] = json.loads(text)
        except ValueError:
            settings[key] = text
    return settings
