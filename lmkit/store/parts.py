"""Models inside models: a mixture keeps its parts whole, so that it can be moved as one directory.

The files of a part are hard links to those of the model it was made from, where the file system
can do that, else copies. Models are never changed in place, so a link stays what it was.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lmkit.errors import ModelError
from lmkit.store.artifact import PARTS, Artifact, ArtifactWriter, open_artifact, part_path
from lmkit.store.card import CARD, digest_card


def add_part(writer: ArtifactWriter, number: int, source: Path) -> str:
    """Put the model at ``source`` into the model being written, as ``parts/NUMBER``.

    Returns:
        The SHA-256 of the part's card, for :func:`open_part`.

    Raises:
        ModelError: there is no sound model at ``source``, or the disk is full or not writable.
    """
    artifact = open_artifact(source)
    target = writer.directory / PARTS / str(number)
    try:
        _add_files(artifact, target)
    except OSError as error:
        raise ModelError(
            f"cannot write {target}: {error.strerror}", "Free some space or choose another --out"
        ) from error
    return digest_card(target)


def open_part(artifact: Artifact, number: int, card_digest: str) -> Path:
    """Return the path of part ``number`` of a model, a model directory itself.

    Raises:
        ModelError: it is missing or not the one that was put there.
    """
    return part_path(artifact.path, number, card_digest)


def _add_files(artifact: Artifact, target: Path) -> None:
    target.mkdir(parents=True)
    for name in [*artifact.card["files"], CARD]:
        _link_or_copy(artifact.path / name, target / name)
    for part in sorted((artifact.path / PARTS).glob("*")):
        _add_files(open_artifact(part), target / PARTS / part.name)
    _sync(target)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source.resolve(), target)
    except OSError:
        target.unlink(missing_ok=True)
        shutil.copyfile(source, target)
        _sync(target)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
