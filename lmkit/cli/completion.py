"""What Tab offers where a model or a corpus is wanted. Reads names only; never loads numpy."""

from __future__ import annotations


def complete_model(incomplete: str) -> list[str]:
    """Return the names of models in the home and of model directories here that fit."""
    import os
    from glob import escape, glob

    from lmkit.store.home import model_names

    names = [name for name in model_names() if name.startswith(incomplete)]
    paths = [path for path in glob(escape(incomplete) + "*") if os.path.isdir(path)]
    return names + sorted(path for path in paths if path not in names)


def complete_corpus(incomplete: str) -> list[str]:
    """Return the names of corpora that fit."""
    from lmkit.corpora.catalogue import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]
