"""Model directories: opened with every check, saved whole or not at all.

A model is written into a hidden sibling, ``.NAME.tmp-PID``, which is locked while its writer
lives; everything is fsynced, card.json comes last, and one rename puts it in place. Whoever is
killed on the way leaves at most that sibling, and the next writer of the same name removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from numpy.typing import NDArray

from lmkit import __version__
from lmkit.errors import ModelError
from lmkit.store.arrays import HEADER_BLOCK, TensorFileWriter, Tensors, map_tensors
from lmkit.store.card import CARD, FORMAT, digest_card, encode_card, read_card
from lmkit.store.checksum import Sum64, checksum_file
from lmkit.store.toml import dump_toml

WEIGHTS = "weights.safetensors"
PARTS = "parts"
"""Where a model of models keeps those it is made of, each a model directory with a number; the
SHA-256 of their cards are the list ``parts`` of its config."""
SMALL = 64 << 20
"""Files up to this many bytes have their checksum verified whenever a model is opened."""


@dataclass(frozen=True)
class Artifact:
    """An opened model directory.

    Attributes:
        path: where it lies.
        card: the contents of card.json.
    """

    path: Path
    card: dict[str, Any] = field(repr=False)

    @property
    def family(self) -> str:
        """The family of the model, such as ``"ngram"``."""
        return str(self.card["family"])

    @property
    def config(self) -> dict[str, Any]:
        """What the family needs to know to read its arrays."""
        return dict(self.card["config"])

    @property
    def tokenizer(self) -> dict[str, Any]:
        """How text becomes ids: the keys ``spec`` and ``fingerprint``."""
        return dict(self.card["tokenizer"])

    @cached_property
    def arrays(self) -> Tensors:
        """The tensors of weights.safetensors, mapped."""
        return map_tensors(self.file(WEIGHTS))

    def array(self, name: str) -> NDArray[Any]:
        """Return tensor ``name`` of weights.safetensors.

        Raises:
            ModelError: there is none of that name.
        """
        if name not in self.arrays:
            raise ModelError(f"{self.path} is damaged: it has no array {name!r}")
        return self.arrays[name]

    def verify_large(self) -> None:
        """Compare the checksums of the files that :func:`open_artifact` took on trust.

        Raises:
            ModelError: one is damaged.
        """
        for name, facts in self.card["files"].items():
            if facts["size"] > SMALL:
                _check_file(self.path, name, facts, verify=True)

    def file(self, name: str) -> Path:
        """Return the path of file ``name``, which must be one of those the card lists."""
        if name not in self.card["files"]:
            raise ModelError(f"{self.path} is damaged: its card lists no file {name}")
        return self.path / name


def open_artifact(
    path: str | Path,
    families: Sequence[str] | None = None,
    verify: Literal["small", "all"] = "small",
) -> Artifact:
    """Open the model directory at ``path`` after checking it.

    Args:
        path: the directory.
        families: which families will do; None for any.
        verify: ``"small"`` compares the sizes of all files and the checksums of those up to
            64 MiB, ``"all"`` all checksums, and those of the models inside it too.

    Raises:
        ModelError: it is missing, truncated, damaged, newer than this lmkit or of another family.
    """
    artifact = Artifact(Path(path), read_card(Path(path), families))
    for name, facts in artifact.card["files"].items():
        _check_file(artifact.path, name, facts, verify == "all" or facts["size"] <= SMALL)
    if verify == "all":
        for number, digest in enumerate(artifact.card["config"].get("parts", ())):
            open_artifact(part_path(artifact.path, number, digest), verify="all")
    return artifact


def part_path(path: Path, number: int, card_digest: str) -> Path:
    """Return the path of part ``number`` of the model at ``path``, a model directory itself.

    Raises:
        ModelError: its card is missing or not the one of that SHA-256.
    """
    part = path / PARTS / str(number)
    if not (part / CARD).is_file() or digest_card(part) != card_digest:
        raise _damaged(path, f"{PARTS}/{number} is not what was written")
    return part


def _check_file(path: Path, name: str, facts: Mapping[str, Any], verify: bool) -> None:
    """Raise a ModelError unless file ``name`` has its size and, to ``verify``, its checksum."""
    if name != os.path.basename(name) or name in ("", ".", ".."):
        raise ModelError(f"{path} is damaged: it lists a file outside itself")
    try:
        size = (path / name).stat().st_size
        if size != facts["size"]:
            raise _damaged(path, f"{name} has {size} bytes instead of {facts['size']}")
        if verify and checksum_file(path / name) != facts["checksum"]:
            raise _damaged(path, f"{name} is not what was written (wrong checksum)")
    except FileNotFoundError:
        raise _damaged(path, f"{name} is missing") from None
    except OSError as error:
        raise ModelError(f"{path / name}: {error.strerror}") from error


class ModelFile:
    """One file of a model being written; sums up its checksum on the way."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sum = Sum64()
        self._file = path.open("xb", buffering=0)

    def write(self, data: bytes | memoryview) -> int:
        """Append ``data``, all of it."""
        view = memoryview(data).cast("B")
        self.sum.update(view)
        with _writing(self.path):
            written = 0
            while written < len(view):
                written += self._file.write(view[written : written + (1 << 30)]) or 0
        return len(view)

    def overwrite_start(self, data: bytes) -> None:
        """Put ``data`` over the zeros that were written at the start of the file."""
        self.sum.replace_zeros(data)
        with _writing(self.path):
            os.pwrite(self._file.fileno(), data, 0)

    def abandon(self) -> None:
        """Close the file, whatever is in it."""
        self._file.close()

    def close(self) -> None:
        """Bring the file to the disk and close it."""
        with _writing(self.path):
            try:
                os.fsync(self._file.fileno())
            finally:
                self._file.close()


class ArtifactWriter:
    """Writes a model directory; a context manager that leaves all of it or nothing.

    Inside the ``with``: any number of :meth:`add_file` and :meth:`add_tensors`, one
    :meth:`describe`.

    Args:
        path: the directory to be.
        force: replace a model that lies there.

    Raises:
        ModelError: something is in the way, or the disk is full or not writable.
    """

    def __init__(self, path: str | Path, force: bool = False) -> None:
        self.path = Path(path)
        if self.path.is_symlink() or self.path.name in ("", ".."):
            self.path = self.path.resolve()
        self._force = force
        self._card: dict[str, Any] | None = None
        self._files: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> ArtifactWriter:
        check_free(self.path, self._force)
        with _writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._temp, self._lock = _locked_sibling(self.path)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            shutil.rmtree(self._temp, ignore_errors=True)
            os.close(self._lock)

    @property
    def directory(self) -> Path:
        """Where the files lie while they are written."""
        return self._temp

    @contextmanager
    def add_file(self, name: str) -> Iterator[ModelFile]:
        """Write the file ``name`` of the model through the yielded object."""
        assert name == os.path.basename(name) and name != CARD and name not in self._files
        with _writing(self.path):
            file = ModelFile(self._temp / name)
        try:
            yield file
        except BaseException:
            file.abandon()
            raise
        file.close()
        self._files[name] = {"size": file.sum.length, "checksum": file.sum.digest()}

    @contextmanager
    def add_tensors(
        self, name: str = WEIGHTS, header_block: int = HEADER_BLOCK
    ) -> Iterator[TensorFileWriter]:
        """Write a safetensors file through the yielded writer."""
        with self.add_file(name) as file, TensorFileWriter(file, header_block) as tensors:
            yield tensors

    def describe(
        self,
        *,
        family: str,
        config: Mapping[str, Any],
        tokenizer: Mapping[str, Any] | None = None,
        data: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Say what the model is: the contents of card.json and config.toml.

        Args:
            family: a key of ``lmkit.tasks.families.FAMILIES``.
            config: what the family needs to read its arrays; JSON values.
            tokenizer: ``spec`` and ``fingerprint``.
            data: for each text: ``name``, ``lines``, ``tokens``, ``sha256``.
            seed: of the random numbers used, if any.
            metrics: figures worth keeping, such as counts.
            settings: the resolved settings of the run, written to config.toml.
        """
        self._card = {
            "family": family,
            "config": dict(config),
            "tokenizer": dict(tokenizer or {}),
            "data": [dict(text) for text in data],
            "seed": seed,
            "metrics": dict(metrics or {}),
        }
        if settings is not None:
            with self.add_file("config.toml") as file:
                file.write(dump_toml(settings).encode("utf-8"))

    def _commit(self) -> None:
        assert self._card is not None, "describe() was not called"
        facts = {"format": FORMAT, "lmkit": __version__, "files": self._files}
        file = ModelFile(self._temp / CARD)
        file.write(encode_card({**self._card, **facts}))
        file.close()
        check_free(self.path, self._force)
        with _writing(self.path):
            os.fsync(self._lock)
            if os.path.lexists(self.path):
                _swap(self._temp, self.path)
            else:
                os.rename(self._temp, self.path)
            _sync_directory(self.path.parent)


def check_free(path: Path, force: bool) -> None:
    """Raise a ModelError unless a model may be written at ``path``.

    Even with ``force`` only a model is replaced, never a directory or file of another kind.
    """
    if not os.path.lexists(path):
        return
    if not force:
        raise ModelError(f"{path} exists", "Pass --force to replace it, or choose another --out")
    if not (path / CARD).is_file():
        raise ModelError(f"{path} exists and is not a model, so it stays", "Choose another --out")


def _locked_sibling(path: Path) -> tuple[Path, int]:
    temp = path.parent / f".{path.name}.tmp-{os.getpid()}"
    for leftover in path.parent.glob(f".{glob_escape(path.name)}.tmp-*"):
        _remove_unless_locked(leftover)
    os.mkdir(temp)
    lock = os.open(temp, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return temp, lock


def _remove_unless_locked(directory: Path) -> None:
    try:
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(directory, ignore_errors=True)
    except OSError:
        pass  # its writer lives
    finally:
        os.close(lock)


def glob_escape(name: str) -> str:
    """Return ``name`` with the signs that mean something in a glob pattern taken literally."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _swap(new: Path, old: Path) -> None:
    """Exchange two directories, in one step where the system can; ``new`` then is the old one."""
    import ctypes

    at_cwd, exchange = -100, 2
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename and rename(at_cwd, os.fsencode(new), at_cwd, os.fsencode(old), exchange) == 0:
        return
    aside = new.with_name(new.name + "-old")
    os.rename(old, aside)
    os.rename(new, old)
    shutil.rmtree(aside, ignore_errors=True)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise ModelError(f"cannot write {path}: {error.filename} is in the way") from error
    except OSError as error:
        hint = "Free some space" if error.errno == errno.ENOSPC else "Choose another --out"
        raise ModelError(f"cannot write {path}: {error.strerror}", hint) from error


def _damaged(path: Path, how: str) -> ModelError:
    return ModelError(f"{path} is damaged: {how}", "Make the model again or fetch a fresh copy")
