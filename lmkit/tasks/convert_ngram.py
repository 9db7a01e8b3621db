"""``lmkit ngram convert``: model directories to ARPA files and back."""

from __future__ import annotations

from pathlib import Path

from lmkit.errors import ModelError, UserError
from lmkit.events import SILENT, Listener
from lmkit.ngram.config import is_arpa
from lmkit.store.home import resolve_model, resolve_out


def convert_ngram(
    source: str,
    target: str,
    *,
    threads: int = 1,
    force: bool = False,
    listener: Listener = SILENT,
) -> Path:
    """Convert between a model and an ARPA file; return the path of what was written.

    Raises:
        TextError: the ARPA file is not in order; the message names the line.
        ModelError: the model is not there or not an n-gram model, or ``target`` exists.
    """
    if is_arpa(source) == is_arpa(target):
        raise UserError(
            f"{source} and {target} are of one kind",
            "One of the two must be an ARPA file (.arpa or .arpa.gz), the other a model",
        )
    if is_arpa(source):
        return _from_arpa(source, resolve_out(target, "arpa", force), threads, force, listener)
    path, _ = resolve_model(source, ("ngram",))
    return model_to_arpa(path, Path(target), threads=threads, force=force, listener=listener)


def model_to_arpa(
    source: Path,
    target: Path,
    *,
    threads: int = 1,
    force: bool = False,
    listener: Listener = SILENT,
) -> Path:
    """Write the n-gram model in the directory ``source`` as an ARPA file; return its path."""
    from lmkit.ngram.arpa import write_arpa
    from lmkit.ngram.model import NgramModel
    from lmkit.tasks.families import open_model

    model = open_model(source)
    if not isinstance(model, NgramModel):
        raise ModelError(f"{source} is a {model.family} model; ARPA files hold n-gram models")
    model.verify()
    if model.tokenizer.unit != "word" or model.mode == "document":
        listener.warn(
            f"{target.name} cannot say that its units are those of {source.name} "
            f"({model.tokenizer.unit}, {model.mode} mode): read back, it is a model of words"
        )
    write_arpa(model, target, threads=threads, force=force, listener=listener)
    return target


def _from_arpa(source: str, target: Path, threads: int, force: bool, listener: Listener) -> Path:
    from lmkit.ngram.arpa import read_arpa, save_arpa

    save_arpa(
        read_arpa(source, threads=threads, listener=listener),
        target,
        force=force,
        listener=listener,
    )
    return target
