"""What Tab offers where a model is wanted. Reads names only; never loads numpy."""

from __future__ import annotations


def complete_model(incomplete: str) -> list[str]:
    """Return the names of models in the home and of model directories here that fit."""
    import os
    from glob import escape, glob

    from lmkit.store.home import model_names

    names = [name for name in model_names() if name.startswith(incomplete)]
    paths = [path for path in glob(escape(incomplete) + "*") if os.path.isdir(path)]
    return names + sorted(path for path in paths if path not in names)
