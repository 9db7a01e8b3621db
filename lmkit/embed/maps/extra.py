"""The door to the libraries of the extra ``plot``, which lmkit does without otherwise."""

from __future__ import annotations

import importlib
from typing import Any

from lmkit.errors import UserError

_NAMES = {"matplotlib": "matplotlib", "sklearn": "scikit-learn", "threadpoolctl": "scikit-learn"}


def extra_module(name: str) -> Any:
    """Import and return a module of the extra.

    Raises:
        UserError: it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in _NAMES:
            raise
        what = f"this needs {_NAMES[missing]}, which is not installed"
        raise UserError(what, 'pip install "lmkit[plot]"') from None
