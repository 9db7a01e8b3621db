"""Writes settings as TOML 1.0; ``tomllib`` of the standard library reads them back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def dump_toml(settings: Mapping[str, Any]) -> str:
    """Return ``settings`` as TOML: plain values first, then a table for each nested mapping.

    Values are strings, booleans, integers, floats, lists of them, and mappings; a None is left
    out, since TOML has no null.
    """
    return "".join(_table(settings, ()))


def _table(settings: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = []
    for key, value in settings.items():
        if value is not None and not isinstance(value, Mapping):
            lines.append(f"{_key(key)} = {_value(value)}\n")
    for key, value in settings.items():
        if isinstance(value, Mapping):
            inner = (*path, _key(key))
            lines += ["\n" if lines or path else "", f"[{'.'.join(inner)}]\n"]
            lines += _table(value, inner)
    return lines


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"{type(value).__name__} has no place in TOML")


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
