"""Where models live and how their names are found. Standard library only, so it is quick.

Models lie in ``$LMKIT_HOME/models/NAME`` (default home: ``$XDG_DATA_HOME/lmkit``, that is
``~/.local/share/lmkit``). Beside them the symbolic link ``last-FAMILY`` leads to the model of each
family that was made last.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lmkit.errors import ModelError
from lmkit.events import SILENT, Listener
from lmkit.store.card import CARD, read_card

Source = Literal["path", "home", "environment", "last"]

_LAST = "last-"
_FILE_SUFFIXES = {".arpa", ".lm", ".gz", ".bz2", ".xz", ".txt", ".vec", ".bin", ".tsv", ".json"}
_NAME = re.compile(r"[^\W_][\w.+-]*")
_FIT_COMMANDS = {
    "ngram": "lmkit ngram fit FILE",
    "embed": "lmkit embed fit FILE",
    "mixture": "lmkit ngram mix -m A -m B --tune FILE",
}


def home() -> Path:
    """Return the directory that holds what lmkit keeps: $LMKIT_HOME or its default."""
    if chosen := os.environ.get("LMKIT_HOME"):
        return Path(chosen)
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local/share")
    return Path(data) / "lmkit"


def models_dir() -> Path:
    """Return the directory of the models with names."""
    return home() / "models"


def model_names() -> list[str]:
    """Return the names of the models in the home, sorted; reads no card."""
    try:
        entries = [entry.name for entry in os.scandir(models_dir()) if not entry.is_symlink()]
    except OSError:
        return []
    directory = models_dir()
    names = (name for name in entries if not name.startswith("."))
    return sorted(name for name in names if (directory / name / CARD).exists())


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A model of the home as ``lmkit models list`` shows it."""

    name: str
    path: Path
    family: str
    """The family; ``"?"`` when the card cannot be read."""
    size: int
    """Bytes of all files of the model."""
    card: dict[str, Any] | None
    problem: str = ""
    """Why the card cannot be read, if so."""


def list_models() -> list[ListedModel]:
    """Return the models in the home, sorted by name, unreadable ones too."""
    return [_listed(models_dir() / name) for name in model_names()]


def _listed(path: Path) -> ListedModel:
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    try:
        card = read_card(path)
    except ModelError as error:
        return ListedModel(
            name=path.name, path=path, family="?", size=size, card=None, problem=str(error)
        )
    return ListedModel(name=path.name, path=path, family=card["family"], size=size, card=card)


def resolve_model(name: str | None, families: Sequence[str] | None = None) -> tuple[Path, Source]:
    """Find the model that a user means.

    Args:
        name: the path of a model or a name in the home; None for $LMKIT_MODEL or else the newest
            model of a fitting family. A folder that is no model gives way to a name in the home.
        families: which families fit; None for all. A model named outright is not checked here:
            opening it does that.

    Returns:
        The path of the model, and how it was found.

    Raises:
        ModelError: there is no such model; the message suggests a name or a command.
    """
    if name is not None:
        return _named(name)
    if name := os.environ.get("LMKIT_MODEL"):
        return _named(name)[0], "environment"
    newest = last_model(families)
    if newest is None:
        kind = " or ".join(families) + " " if families else ""
        command = _FIT_COMMANDS.get(families[0] if families else "ngram", "lmkit --help")
        raise ModelError(f"there is no {kind}model yet", f"Make one with {command}")
    return newest, "last"


def _named(name: str) -> tuple[Path, Source]:
    path, kept = Path(name), models_dir() / name
    named = bool(name) and os.sep not in name and kept.exists()
    if name and path.exists() and ((path / CARD).exists() or not named):
        return path, "path"
    if named:
        return kept, "home"
    hint = "See lmkit models list"
    if close := did_you_mean(name, model_names()):
        hint = f"Did you mean {close!r}? {hint}"
    raise ModelError(f"no model {name!r}", hint)


def last_model(families: Sequence[str] | None = None) -> Path | None:
    """Return the model of one of ``families`` that was made last, or None if there is none.

    That is the one with the youngest card in the home or the youngest link ``last-FAMILY``: the
    links also lead to models elsewhere.
    """
    made = []
    for link in models_dir().glob(_LAST + "*"):
        if link.is_symlink() and (link / CARD).exists():
            made.append((link.lstat().st_mtime_ns, True, link.resolve()))
    for path in (models_dir() / name for name in model_names()):
        made.append(((path / CARD).stat().st_mtime_ns, False, path))
    return next((path for _, _, path in sorted(made, reverse=True) if _is_of(path, families)), None)


def _is_of(path: Path, families: Sequence[str] | None) -> bool:
    """Tell whether a model of one of ``families`` with a sound card lies at ``path``."""
    try:
        read_card(path, families)
    except ModelError:
        return False
    return True


def mark_last(family: str, path: Path, listener: Listener = SILENT) -> bool:
    """Remember ``path`` as the newest model of ``family``.

    Returns:
        Whether that could be done: in a home that is not writable it cannot, which the listener
        is told. The model itself is none the worse for it.
    """
    directory = models_dir()
    fresh = directory / f".{_LAST}{family}-{os.getpid()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        place = path.resolve()
        target = place.name if place.parent == directory.resolve() else place
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(target)
        fresh.replace(directory / (_LAST + family))
    except OSError as error:
        listener.note(f"{directory}: {error.strerror}; name the model with -m {path}")
        return False
    return True


def resolve_out(out: str | None, default_name: str, force: bool = False) -> Path:
    """Return where a new model goes.

    Args:
        out: what the user asked for. With a slash, a leading dot or the suffix of a file format
            it is a path; so it is when a model lies there already. Else it is a name in the home.
        default_name: the name when ``out`` is None; signs that names may not have become ``-``.
        force: whether something that lies there may be replaced.

    Raises:
        ModelError: the name will not do, or is taken and ``force`` is false.
    """
    if out is None:
        path = models_dir() / (re.sub(r"[^\w.+-]+", "-", default_name).strip("-._") or "model")
    elif is_path(out):
        path = Path(out)
    else:
        if not _NAME.fullmatch(out) or out.startswith(_LAST):
            raise ModelError(
                f"{out!r} cannot be the name of a model",
                "Use letters, digits and . _ + -, or a path with a slash",
            )
        path = models_dir() / out
    if os.path.lexists(path) and not force:
        raise ModelError(f"{path} exists", "Pass --force to replace it, or choose another --out")
    return path


def is_path(out: str) -> bool:
    """Tell whether ``--out OUT`` means a path rather than a name in the home."""
    path = Path(out)
    looks_like_one = os.sep in out or out.startswith(".") or path.suffix in _FILE_SUFFIXES
    return looks_like_one or (path / CARD).exists()


def remove_model(name: str) -> Path:
    """Remove the model ``name`` from the home; return where it lay.

    Raises:
        ModelError: the home has no model of that name.
    """
    if name not in model_names():
        close = did_you_mean(name, model_names())
        raise ModelError(
            f"no model {name!r} in {models_dir()}",
            f"Did you mean {close!r}?" if close else "See lmkit models list",
        )
    path = models_dir() / name
    doomed = path.with_name(f".{name}.tmp-{os.getpid()}")
    try:
        path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise ModelError(f"cannot remove {path}: {error.strerror}") from error
    for link in models_dir().glob(_LAST + "*"):
        if link.is_symlink() and not link.exists():
            link.unlink()
    return path


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that ``word`` may be a misspelling of, or None."""
    pool = list(candidates)
    close = difflib.get_close_matches(word, pool, n=1, cutoff=0.6)
    return (
        close[0] if close else next((item for item in pool if word and item.startswith(word)), None)
    )
