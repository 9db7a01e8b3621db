"""Opens any language model on disk without knowing its family beforehand.

The one dynamic import of lmkit: a model's card names its family, :data:`FAMILIES` the class that
can read it. A new family is one line here; the contract tests then cover it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from lmkit.events import SILENT, Listener
from lmkit.language_model import LanguageModel
from lmkit.store.artifact import Artifact, open_artifact
from lmkit.store.home import resolve_model

FAMILIES: dict[str, str] = {
    "ngram": "lmkit.ngram.model:NgramModel",
    "mixture": "lmkit.mixture.model:MixtureModel",
    "nplm": "lmkit.models.causal:NplmModel",
    "rnn": "lmkit.models.causal:RnnModel",
    "gru": "lmkit.models.causal:GruModel",
    "lstm": "lmkit.models.causal:LstmModel",
    "gpt": "lmkit.models.causal:GptModel",
}
"""Family name -> ``module:Class`` of every family that predicts text."""


class Family(Protocol):
    """What the class of a family offers."""

    def open(
        self, artifact: Artifact, open_model: Callable[[Path], LanguageModel]
    ) -> LanguageModel:
        """Return the model in ``artifact``; ``open_model`` opens models inside it."""


def family_class(family: str) -> Family:
    """Return the class that reads models of ``family``."""
    module, _, name = FAMILIES[family].partition(":")
    return cast("Family", getattr(importlib.import_module(module), name))


def open_model(path: Path | str) -> LanguageModel:
    """Open the language model in the directory ``path``.

    Raises:
        ModelError: there is no model, it is damaged, or its family does not predict text.
    """
    artifact = open_artifact(Path(path), families=tuple(FAMILIES))
    return family_class(artifact.family).open(artifact, open_model)


def open_language_model(name: str | None, listener: Listener = SILENT) -> LanguageModel:
    """Open the language model called ``name``: a path, or a name in the home of the models.

    Without a name the model is ``$LMKIT_MODEL``, else the newest one that predicts text; the
    listener is told which.

    Raises:
        ModelError: there is no such model, or none at all.
    """
    path, found = resolve_model(name, tuple(FAMILIES))
    model = open_model(path)
    if found == "last":
        listener.note(f"using {path.name}, the newest model: {model.family}")
    elif found == "environment":
        listener.note(f"using {path}, as $LMKIT_MODEL says")
    return model
