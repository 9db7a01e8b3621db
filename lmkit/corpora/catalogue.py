"""The corpora that come with lmkit, by name: where each lies, and how the generated ones are made.

The prose is shipped as files. The generated corpora, and the questions about them, are written into
the home of lmkit the first time somebody asks for their path, always with the same bytes.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lmkit.corpora import grammar
from lmkit.corpora.kingdoms.relations import questions
from lmkit.errors import UserError
from lmkit.store.home import did_you_mean, home

PACKAGE_TEXTS = Path(__file__).parent / "texts"
CHECKOUT_TEXTS = Path(__file__).parents[2] / "corpora"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What the catalogue knows of a corpus."""

    name: str
    """What the user calls it; the file is NAME.txt."""
    description: str
    """One line for people."""
    num_lines: int
    """Lines in the file; each is a sentence, or a question if it is an answer sheet."""
    seed: int | None = None
    """Seed of the generator, None for what the generator does not make."""
    is_answer_sheet: bool = False
    """Holds questions with their answers to measure by, and no text to learn from."""
    sha256: str = ""
    """Of the whole generated file; a file that differs is made anew."""


CORPORA: dict[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            name="prose",
            description="general English prose, whole: train, valid and test in written order",
            num_lines=956,
        ),
        Corpus(
            name="prose.train",
            description="general English prose, the nine tenths to learn from",
            num_lines=863,
        ),
        Corpus(
            name="prose.valid",
            description="general English prose, held out for tuning",
            num_lines=49,
        ),
        Corpus(
            name="prose.test",
            description="general English prose, held out for testing",
            num_lines=44,
        ),
        Corpus(
            name="kingdoms",
            description="generated English rich in word relations, lower case, tokenised",
            num_lines=100_000,
            seed=1,
            sha256="e9feaeee0dab9aba789dcfa23fe5655074f8a0f8a058e4becf9ed194fca7ee91",
        ),
        Corpus(
            name="kingdoms.test",
            description="more of the same from another seed, held out for testing",
            num_lines=5_000,
            seed=2,
            sha256="f77983e16e7874471e2eb6c5f6ff5ebaf092a98802f6730542dcd9707a76b6d4",
        ),
        Corpus(
            name="kingdoms.questions",
            description="analogy questions about kingdoms: an answer sheet for embed eval, no text",
            num_lines=5736,
            is_answer_sheet=True,
            sha256="f91b513e70be8d3c1f493b13ef096dd51463a65ce4368042e4f3584d2f283c24",
        ),
    )
}

NAMES: tuple[str, ...] = tuple(CORPORA)


def find(name: str) -> Corpus:
    """Return the corpus called ``name``.

    Raises:
        UserError: if there is none; the message offers the nearest name.
    """
    if name in CORPORA:
        return CORPORA[name]
    near = did_you_mean(name, NAMES)
    guess = f"Did you mean '{near}'? " if near else ""
    raise UserError(f"no corpus '{name}'", f"{guess}See lmkit corpora list")


def path(name: str) -> Path:
    """Return the file of a corpus; a generated one is written first if it is not there yet.

    Raises:
        UserError: for an unknown name, a shipped file that is missing, or a home that cannot be
            written to.
    """
    corpus = find(name)
    if corpus.is_answer_sheet:
        return _made_file(corpus, questions())
    if corpus.seed is not None:
        return _made_file(corpus, grammar.generate(corpus.num_lines, corpus.seed))
    for folder in (PACKAGE_TEXTS, CHECKOUT_TEXTS):
        file = folder / f"{name}.txt"
        if file.is_file():
            return file
    raise UserError(f"the file {name}.txt is missing from this installation", "Install lmkit anew")


def generate(name: str, num_sentences: int, seed: int | None = None) -> Iterator[str]:
    """Return the first sentences of a generated corpus as a stream; seed None is its own seed.

    Raises:
        UserError: for an unknown name or a corpus that the generator does not make.
    """
    corpus = find(name)
    if corpus.seed is None:
        others = " or ".join(other.name for other in CORPORA.values() if other.seed is not None)
        raise UserError(f"corpus '{name}' does not come from the grammar", f"Try {others}")
    return grammar.generate(num_sentences, corpus.seed if seed is None else seed)


def _made_file(corpus: Corpus, lines: Iterable[str]) -> Path:
    """Return the file of a corpus in the home; make it of ``lines`` unless it is there and whole.

    ``lines`` may be a stream, which is not touched if the file is there.
    """
    file = home() / "corpora" / f"{corpus.name}.txt"
    if file.is_file() and _sha256(file) == corpus.sha256:
        return file
    try:
        _write_whole(file, "".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "Set LMKIT_HOME to a folder that can be written to"
        raise UserError(f"cannot write {file}: {reason}", hint) from error
    return file


def _sha256(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _write_whole(file: Path, data: bytes) -> None:
    """Write a file by way of a temporary sibling, so that nobody ever sees a part of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.tmp-{os.getpid()}")
    try:
        with partial.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
