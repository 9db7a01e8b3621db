"""Opens word vectors: a model of lmkit by name or path, or a file of another tool."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from lmkit.embed.model import FAMILY
from lmkit.embed.model import open_vectors as open_artifact_vectors
from lmkit.embed.vectors import FirstWords, Vectors
from lmkit.events import SILENT, Listener
from lmkit.store.artifact import open_artifact
from lmkit.store.home import resolve_model


def open_vectors(
    name: str | None,
    *,
    limit: int | None = None,
    once: bool = False,
    listener: Listener = SILENT,
) -> Vectors:
    """Open the word vectors called ``name``.

    Args:
        name: a model (a path or a name in the home), or the path of a file of vectors in any
            format that ``lmkit.embed.formats`` knows; None for $LMKIT_MODEL or the newest.
        limit: keep only this many words, those that come first (the most frequent ones).
        once: the table is only read, and once or so, which takes less memory; its matrix may be
            float16.
        listener: is told which model was taken, and of oddities of files.

    Raises:
        ModelError: there is no such model, it is damaged, or its family has no word vectors.
        TextError: a file of vectors cannot be read.
    """
    asked = name or os.environ.get("LMKIT_MODEL")
    if asked and is_vectors_file(asked):
        from lmkit.embed.formats import read

        return read(Path(asked), limit=limit, listener=listener)
    path, found = resolve_model(name, (FAMILY,))
    artifact = open_artifact(path, families=(FAMILY,))
    vectors = open_artifact_vectors(artifact, once=once)
    if found == "last":
        listener.note(f"using {path.name}, the newest model: {FAMILY}")
    elif found == "environment":
        listener.note(f"using {path}, as $LMKIT_MODEL says")
    return vectors if limit is None else first_words(vectors, limit)


def is_vectors_file(name: str) -> bool:
    """Tell whether ``name`` is the path of a file or pipe, which can only be one of vectors.

    Models are directories, so whatever else exists is not looked up in the home.
    """
    path = Path(name)
    return path.exists() and not path.is_dir()


def first_words(vectors: Vectors, limit: int) -> Vectors:
    """Return the first ``limit`` words of ``vectors``, without copying their rows."""
    if limit >= len(vectors):
        return vectors
    return replace(
        vectors,
        words=FirstWords(vectors.words, limit),
        matrix=vectors.matrix[:limit],
        norms=vectors.norms[:limit],
        counts=None if vectors.counts is None else vectors.counts[:limit],
    )
