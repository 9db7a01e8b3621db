"""lmkit: every language model from 1913 on, one command line, one yardstick.

The Python door, loaded when used: ``lmkit.load(name)`` opens any language model,
``lmkit.fit_ngram(files, out)`` makes one, ``lmkit.score(model, sentences)`` and
``lmkit.evaluate(model, files)`` ask it. ``lmkit.load_vectors(name)`` opens word vectors,
``lmkit.fit_embed(files, out)`` makes some, ``lmkit.analogy(vectors, "king man woman")`` and
``lmkit.neighbors(vectors, word)`` ask them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "analogy",
    "evaluate",
    "fit_embed",
    "fit_ngram",
    "load",
    "load_vectors",
    "neighbors",
    "score",
]

if TYPE_CHECKING:
    from lmkit.door import (
        analogy,
        evaluate,
        fit_embed,
        fit_ngram,
        load,
        load_vectors,
        neighbors,
        score,
    )


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        return getattr(import_module("lmkit.door"), name)
    raise AttributeError(f"module 'lmkit' has no attribute {name!r}")
