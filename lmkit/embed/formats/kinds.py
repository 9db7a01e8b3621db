"""The formats of vectors files, and which one the suffix of a new file means."""

from __future__ import annotations

from typing import Literal, get_args

from lmkit.errors import UserError

Kind = Literal["word2vec", "glove", "binary", "fasttext"]
"""word2vec: text that begins with the line ``V D``, also fastText's .vec. glove: the same without
that line. binary: word2vec's .bin. fasttext: fastText's .bin, the whole model; only read."""

WrittenKind = Literal["word2vec", "glove", "binary"]

PACKED = (".gz", ".bz2", ".xz")
_BY_SUFFIX: dict[str, WrittenKind] = {".txt": "word2vec", ".vec": "word2vec", ".bin": "binary"}


def kind_of_suffix(name: str) -> WrittenKind | None:
    """Return the format that a file called ``name`` is written in; None for other suffixes."""
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    return next((kind for suffix, kind in _BY_SUFFIX.items() if name.endswith(suffix)), None)


def written_kind(name: str, kind: str | None) -> WrittenKind:
    """Return the format to write ``name`` in: ``kind``, or what the suffix says.

    Raises:
        UserError: the format cannot be written, or neither tells it.
    """
    for known in get_args(WrittenKind):
        if kind == known:
            return kind  # type: ignore[return-value]
    if kind is not None:
        raise UserError(f"no format {kind!r} is written", "Choose word2vec, glove or binary")
    found = kind_of_suffix(name)
    if found is None:
        raise UserError(
            f"{name}: the suffix names no format of vectors",
            "Use .txt, .vec or .bin, or name the format",
        )
    return found
