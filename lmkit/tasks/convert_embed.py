"""``lmkit embed convert``: vectors files of any format and models, one into the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lmkit.embed.formats import kind_of_suffix, read, sniff, write
from lmkit.embed.formats.kinds import PACKED, WrittenKind, written_kind
from lmkit.embed.model import FAMILY, save_vectors
from lmkit.embed.vectors import Vectors
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.store.artifact import ArtifactWriter, check_free, open_artifact
from lmkit.store.home import resolve_model, resolve_out
from lmkit.tasks.open_vectors import is_vectors_file, open_vectors
from lmkit.text.writer import LineWriter

Dtype = Literal["float32", "float16"]

_STANDARD = "-"
_LOST = ("outputs", "inputs")
"""Arrays of a model that only training needs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvertEmbedConfig:
    """Settings of ``lmkit embed convert``."""

    limit: int | None = None
    """Take only this many words, the first."""
    kind: WrittenKind | None = None
    """The format of a file; None for what its suffix says."""
    dtype: Dtype | None = None
    """How a model keeps its numbers; None for float32."""
    escape: bool = False
    """Write _ for blanks in words that a file could not hold otherwise."""
    force: bool = False


def convert_embed(
    source: str,
    target: str,
    config: ConvertEmbedConfig,
    *,
    listener: Listener = SILENT,
) -> Path:
    """Turn word vectors into a file or a model; return the path of what was written.

    Args:
        source: a model (path or name), or a vectors file of any known format; ``"-"`` is standard
            input.
        target: a file if ``config`` names a format or the suffix does (``"-"``: standard output),
            else the model to be.
        config: the settings.
        listener: is told of the progress and warned of what is odd or lost.

    Raises:
        TextError: a vectors file is not in order; the message names the line or the word.
        ModelError: there is no such model, or ``target`` exists.
        UserError: an option means nothing for ``target``, or a word or number does not fit it.
    """
    if _is_file(target, config.kind):
        if config.dtype is not None:
            raise UserError(f"--dtype is for models, and {target} is a file", "Leave it out")
        kind = "word2vec" if target == _STANDARD else None
        chosen = written_kind(target, config.kind or kind)
        LineWriter(target, force=config.force)  # refuses what exists before anything is read
        vectors, _ = _open(source, config.limit, listener)
        write(target, vectors, chosen, force=config.force, escape=config.escape, listener=listener)
        return Path(target)
    if config.escape:
        raise UserError("--escape is for files; a model keeps any word", "Leave it out")
    path = resolve_out(target, "vectors", config.force)
    check_free(path, config.force)
    vectors, origin = _open(source, config.limit, listener)
    _save(path, vectors, origin, config)
    return path


def _is_file(target: str, kind: str | None) -> bool:
    """Tell whether ``target`` is a vectors file rather than a model.

    Raises:
        UserError: it is named like a compressed file that is not one of vectors.
    """
    if kind is not None or target == _STANDARD or kind_of_suffix(target) is not None:
        return True
    if target.endswith(PACKED):
        written_kind(target, None)
    return False


@dataclass(frozen=True, slots=True)
class _Origin:
    """What the card of the new model says about where its vectors come from."""

    config: Mapping[str, Any]
    data: Sequence[Mapping[str, Any]] = ()


def _open(source: str, limit: int | None, listener: Listener) -> tuple[Vectors, _Origin]:
    """Return the vectors of ``source`` and what is known about them."""
    if source == _STANDARD:
        return read(source, limit=limit, listener=listener), _Origin({"arch": "file"})
    path = Path(source)
    if is_vectors_file(source) or (kind_of_suffix(source) is not None and not path.exists()):
        vectors = read(path, limit=limit, listener=listener)
        if not path.is_file():  # a pipe, which is read only once
            return vectors, _Origin({"arch": "file"})
        return vectors, _Origin({"arch": "file", "format": sniff(path)})
    vectors = open_vectors(source, limit=limit, listener=listener)
    artifact = open_artifact(resolve_model(source, (FAMILY,))[0], families=(FAMILY,))
    if any(name in artifact.arrays for name in _LOST):
        listener.note(f"what {artifact.path.name} needs to train on is not taken along")
    return vectors, _Origin(artifact.config, artifact.card["data"])


def _save(path: Path, vectors: Vectors, origin: _Origin, config: ConvertEmbedConfig) -> None:
    dtype = config.dtype or "float32"
    settings: dict[str, Any] = {"dtype": dtype}
    if config.limit is not None:
        settings["limit"] = config.limit
    with ArtifactWriter(path, config.force) as writer:
        save_vectors(
            writer,
            vectors,
            config=origin.config,
            settings=settings,
            data=origin.data,
            dtype=dtype,
        )
