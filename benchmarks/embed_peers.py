"""The programs that word vectors are measured against: how they are called, what they write.

word2vec (Mikolov et al. 2013) as shipped and built with -Ofast, fastText (Bojanowski et al. 2017),
GloVe (Pennington et al. 2014), gensim (Rehurek and Sojka 2010). Nothing here builds them. In the
folder of the peers are, each as its own makefile leaves it:

    word2vec/word2vec, word2vec/compute-accuracy
    word2vec-ofast/word2vec              the same, built with -Ofast -march=native
    fastText/fasttext
    GloVe/build/vocab_count, cooccur, shuffle, glove

gensim is imported by the Python named with --peer-python. Who is missing is told when needed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from measure import Command, CommandError, Outcome
from results import Reading
from runner import Contender, Runner

Arch = Literal["skipgram", "cbow"]
Loss = Literal["negative", "hierarchical"]

SIZE = 100
WINDOW = 5
NEGATIVE = 5
MIN_COUNT = 5
SUBSAMPLE = "1e-3"
GLOVE_WINDOW = 10
GLOVE_X_MAX = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What is trained on a text."""

    text: Path
    arch: Arch = "skipgram"
    loss: Loss = "negative"
    epochs: int = 1
    threads: int = 2

    @property
    def title(self) -> str:
        """What people call it."""
        arch = "skip-gram" if self.arch == "skipgram" else "CBOW"
        loss = "negative sampling" if self.loss == "negative" else "hierarchical softmax"
        return f"{arch} with {loss}"

    @property
    def duration(self) -> str:
        """How long it is trained, in words."""
        return duration(self.epochs)


def duration(epochs: int) -> str:
    """Say how long something is trained."""
    return f"{epochs} epoch{'s' if epochs > 1 else ''}"


class Peers:
    """Programs in a folder, and a Python."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def facts(self) -> dict[str, str]:
        """Return what tells the peers' versions, of those that are there."""
        facts: dict[str, str] = {}
        for name in ("word2vec/word2vec", "word2vec-ofast/word2vec", "fastText/fasttext"):
            facts |= self._checksum(name)
        facts |= self._checksum("GloVe/build/glove")
        if self._runner.folders.python is not None:
            script = "import gensim; print(gensim.__version__)"
            try:
                said = self._runner.run(str(self._runner.folders.python), "-c", script)
                facts["gensim"] = said.stdout.strip()
            except CommandError:
                facts["gensim"] = "cannot be imported by --peer-python"
        return facts

    def _checksum(self, name: str) -> dict[str, str]:
        path = self._runner.folders.peers / name
        if not path.exists():
            return {name: "missing"}
        with open(path, "rb") as program:
            return {f"{name}, SHA-256": hashlib.file_digest(program, "sha256").hexdigest()[:12]}

    def program(self, name: str) -> str:
        """Return the path of a program.

        Raises:
            CommandError: it is not there.
        """
        path = self._runner.folders.peers / name
        if not os.access(path, os.X_OK):
            raise CommandError(f"no program {path}")
        return str(path)

    def word2vec(self, job: Job, out: Path, *, ofast: bool = False) -> Contender:
        """Return word2vec at ``job``; it writes ``out`` in its binary format."""
        program = self.program(f"word2vec{'-ofast' if ofast else ''}/word2vec")
        hierarchical = job.loss == "hierarchical"
        options = {
            "train": job.text,
            "output": out,
            "cbow": int(job.arch == "cbow"),
            "hs": int(hierarchical),
            "negative": 0 if hierarchical else NEGATIVE,
            "size": SIZE,
            "window": WINDOW,
            "sample": SUBSAMPLE,
            "min-count": MIN_COUNT,
            "iter": job.epochs,
            "threads": job.threads,
            "binary": 1,
            "debug": 0,
        }
        return Contender(
            name=f"word2vec C{' -Ofast' if ofast else ''}, {job.duration}",
            commands=(_command(program, options),),
            read=partial(_table, out, 1),
            fresh=(out,),
        )

    def gensim(self, job: Job, out: Path) -> Contender:
        """Return gensim at ``job``, reading the text as a corpus_file.

        Raises:
            CommandError: no Python was named.
        """
        python = self._runner.folders.python
        if python is None:
            raise CommandError("name a Python that has gensim with --peer-python")
        script = Path(__file__).with_name("embed_gensim.py")
        asked = {"arch": job.arch, "loss": job.loss, "epochs": job.epochs, "threads": job.threads}
        options = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
        return Contender(
            name=f"gensim, {job.duration}",
            commands=(Command(argv=(str(python), str(script), str(job.text), str(out), *options)),),
            read=_gensim_reading,
            fresh=(out,),
        )

    def fasttext(self, job: Job, out: Path) -> Contender:
        """Return fastText at ``job``, with n-grams of 3 to 6 characters in 2,000,000 buckets.

        Ten threads: with fewer it leaves a part of its matrix uninitialised, and may stop at NaN.
        """
        options = {
            "input": job.text,
            "output": out,
            "dim": SIZE,
            "ws": WINDOW,
            "neg": NEGATIVE,
            "t": SUBSAMPLE,
            "minCount": MIN_COUNT,
            "epoch": job.epochs,
            "minn": 3,
            "maxn": 6,
            "bucket": 2_000_000,
            "thread": 10,
            "verbose": 0,
        }
        program = self.program("fastText/fasttext")
        vectors = out.with_suffix(".vec")
        return Contender(
            name=f"fastText, {job.duration}",
            commands=(_command(program, options, "skipgram"),),
            read=partial(_table, vectors, 1),
            fresh=(vectors, out.with_suffix(".bin")),
        )

    def count_cells(self, text: Path, folder: Path) -> None:
        """Make the vocabulary and the shuffled cells that GloVe trains on.

        Raises:
            CommandError: a program is missing or fails.
        """
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary, cells, shuffled = (folder / name for name in ("vocab", "cells", "shuffled"))
        window = ("-window-size", str(GLOVE_WINDOW), "-vocab-file", str(vocabulary))
        apart = ("-memory", "2", "-verbose", "0")
        steps = (
            ("vocab_count", ("-min-count", str(MIN_COUNT), "-verbose", "0"), text, vocabulary),
            ("cooccur", (*window, *apart, "-overflow-file", str(folder / "over")), text, cells),
            ("shuffle", (*apart, "-temp-file", str(folder / "temp")), cells, shuffled),
        )
        for name, options, source, target in steps:
            program = self.program(f"GloVe/build/{name}")
            command = Command(argv=(program, *options), stdin=source, stdout=target)
            self._runner.run_command(command)

    def glove(self, job: Job, folder: Path) -> Contender:
        """Return GloVe at what :meth:`count_cells` left in ``folder``, with one thread."""
        out = folder / "vectors"
        options = {
            "input-file": folder / "shuffled",
            "vocab-file": folder / "vocab",
            "save-file": out,
            "vector-size": SIZE,
            "x-max": GLOVE_X_MAX,
            "iter": job.epochs,
            "threads": 1,
            "write-header": 1,
            "seed": 1,
        }
        text = out.with_suffix(".txt")
        return Contender(
            name=f"GloVe C, {job.duration}",
            commands=(_command(self.program("GloVe/build/glove"), options),),
            read=partial(_glove_reading, text),
            fresh=(text,),
        )

    def compute_accuracy(self, vectors: Path, questions: Path, limit: int) -> Contender:
        """Return word2vec's test of analogies."""
        program = self.program("word2vec/compute-accuracy")
        command = Command(argv=(program, str(vectors), str(limit)), stdin=questions)
        return Contender(name="compute-accuracy", commands=(command,), read=_accuracy_reading)


def work_of(words: int, size: int) -> str:
    """Say how large a table of vectors is: what contenders at one job have in common."""
    return f"{words:,} words of {size} dimensions"


def _command(program: str, options: Mapping[str, object], *first: str) -> Command:
    words = [word for name, value in options.items() for word in (f"-{name}", str(value))]
    return Command(argv=(program, *first, *words))


def _table(path: Path, marks: int, outcome: Outcome) -> Reading:
    """Read the head of a table of vectors, of whose words some are marks such as ``</s>``."""
    with open(path, "rb") as table:
        words, size = map(int, table.readline().split())
    return Reading(work=work_of(words - marks, size))


def _gensim_reading(outcome: Outcome) -> Reading:
    facts = json.loads(outcome.stdout.strip().splitlines()[-1])
    work = work_of(facts["words"], facts["size"])
    return Reading(work=work, remark=f"train() took {facts['seconds']:.2f} s")


def _glove_reading(path: Path, outcome: Outcome) -> Reading:
    reading = _table(path, 0, outcome)  # its head does not count <unk>
    costs = re.findall(r"cost: ([\d.]+)", outcome.stderr)
    return Reading(work=reading.work, remark=f"cost {costs[-1]}" if costs else "")


def _accuracy_reading(outcome: Outcome) -> Reading:
    """Sum up what compute-accuracy wrote, section by section."""
    sections = re.findall(r"ACCURACY TOP1:.*\((\d+) / (\d+)\)", outcome.stdout)
    correct, asked = (sum(int(section[place]) for section in sections) for place in (0, 1))
    return Reading(work=f"{asked:,} questions, {correct:,} right", remark=f"{correct / asked:.2%}")
