"""The architectures by name: which class makes a network from which settings."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from difflib import get_close_matches
from typing import Any, cast

from lmkit.errors import UserError
from lmkit.nn.network import Network

ARCHITECTURES = {
    "nplm": ("lmkit.models.nplm", "NplmConfig", "Nplm"),
    "rnn": ("lmkit.models.rnn", "RnnConfig", "Rnn"),
    "gru": ("lmkit.models.gru", "GruConfig", "Gru"),
    "lstm": ("lmkit.models.lstm", "LstmConfig", "Lstm"),
    "gpt": ("lmkit.models.gpt", "GptConfig", "Gpt"),
}
"""Name -> module, class of the settings, class of the network."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Blueprint:
    """All that decides the shape of a network."""

    arch: str
    """A key of :data:`ARCHITECTURES`."""
    settings: Mapping[str, Any]
    """The fields of the architecture's own settings."""


def settings_of(arch: str, values: Mapping[str, Any]) -> Any:
    """Return the settings of architecture ``arch`` with ``values`` in place of defaults.

    Raises:
        UserError: there is no such architecture or setting, or the settings contradict.
    """
    if arch not in ARCHITECTURES:
        raise UserError(f"no architecture {arch!r}", f"Choose from {', '.join(ARCHITECTURES)}")
    module, name, _ = ARCHITECTURES[arch]
    kind = getattr(importlib.import_module(module), name)
    known = {field.name for field in fields(kind)}
    for key in values:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"Did you mean {close[0]}?" if close else "It has " + ", ".join(sorted(known))
            raise UserError(f"{arch} has no setting {key!r}", hint)
    needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING}
    missing = needed - set(values)
    if missing:
        raise UserError(f"{arch} needs the setting {min(missing)!r}")
    return kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()})


def build_network(blueprint: Blueprint) -> Network:
    """Return the network of a blueprint, its weights drawn from torch's random numbers.

    Raises:
        UserError: the settings are unknown or contradict.
    """
    settings = settings_of(blueprint.arch, blueprint.settings)
    module, _, name = ARCHITECTURES[blueprint.arch]
    make = getattr(importlib.import_module(module), name)
    return cast("Network", make(settings))


def describe_settings(settings: Any) -> dict[str, Any]:
    """Return settings as JSON values."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(settings).items()}
