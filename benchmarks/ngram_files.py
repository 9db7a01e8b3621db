"""The texts and models that the n-gram benchmarks share, made when they are first needed."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import measure
from measure import Command
from peers import KenLM
from runner import Runner, remove

from corpora import Corpus, path_of

ORDER = 5


class Files:
    """Texts, models of lmkit and models of KenLM in the work folder."""

    def __init__(self, runner: Runner, kenlm: KenLM) -> None:
        """Make the corpora that are not there, in a process of its own, and count all.

        Raises:
            CommandError: they cannot be made.
        """
        self.runner = runner
        self.kenlm = kenlm
        self._models = runner.folders.work / "models"
        self._made: set[Path] = set()
        options = ["--work", str(runner.folders.work)]
        if runner.folders.data is not None:
            options += ["--data", str(runner.folders.data)]
        self.corpora: dict[str, Corpus] = {}
        for line in runner.run(*runner.python("corpora.py", *options)).stdout.splitlines():
            facts = json.loads(line)
            path = path_of(runner.folders.work, facts["name"])
            size = (facts["lines"], facts["tokens"], facts["bytes"])
            self.corpora[facts["name"]] = Corpus(path, *size)

    def warm_up(self) -> None:
        """Compile every kernel that is timed, into an empty cache; begin with no models."""
        remove(self._models)
        remove(self.runner.folders.work / "kernels")
        self._models.mkdir()
        text, model = self.corpora["t10"].path, self.model("t")
        self.model("t", unit="char")
        lmkit, arpa = self.runner.lmkit, self.scratch("warm.arpa")
        for argv in (
            lmkit("ngram", "fit", text, "-o", self.scratch("warm-fit")),
            lmkit("eval", "-m", model, text, "--json"),
            lmkit("sample", "-m", model, "--count", "2000"),
            lmkit("ngram", "convert", model, arpa),
            lmkit("ngram", "convert", arpa, self.scratch("warm")),
        ):
            with suppress(measure.CommandError):  # fails again, and is told, where it is timed
                self.runner.run(*argv)

    def tidy(self) -> None:
        """Remove the models and what was made on the way; the corpora stay."""
        for name in ("models", "tmp", "kernels", "cold", "home"):
            remove(self.runner.folders.work / name)

    def scratch(self, name: str) -> Path:
        """Return where a file or model goes that only one benchmark needs."""
        return self._models / f"scratch-{name}"

    def outputs(self, name: str) -> tuple[Path, Path, Path]:
        """Return where lmkit's model, KenLM's ARPA file and KenLM's binary of a corpus are."""
        base = self._models / name
        return base.with_suffix(".lmkit"), base.with_suffix(".arpa"), base.with_suffix(".bin")

    def keep(self, name: str) -> None:
        """Let others use the models that a benchmark made of a corpus."""
        self._made.update(self.outputs(name))

    def fit_command(self, text: Path, model: Path, *options: str) -> Command:
        """Return the command that fits a model of lmkit."""
        order = ("--order", str(ORDER), *options)
        return Command(argv=self.runner.lmkit("ngram", "fit", text, *order, "-o", model))

    def model(self, name: str, *, unit: str = "word") -> Path:
        """Return the model of lmkit of a corpus."""
        path = self.outputs(name)[0]
        if unit != "word":
            path = path.with_stem(f"{name}-{unit}")
        self._make(path, self.fit_command(self.corpora[name].path, path, "--unit", unit))
        return path

    def arpa(self, name: str) -> Path:
        """Return the ARPA file of KenLM of a corpus."""
        path = self.outputs(name)[1]
        text = self.corpora[name].path
        self._make(path, self.kenlm.lmplz(text, path, order=ORDER, memory="1G"))
        return path

    def binary(self, name: str) -> Path:
        """Return the hashed binary of KenLM of a corpus."""
        path = self.outputs(name)[2]
        if path not in self._made:
            self._make(path, self.kenlm.build_binary(self.arpa(name), path))
        return path

    def _make(self, path: Path, command: Command) -> None:
        if path not in self._made:
            measure.run(command, self.runner.environment)
            self._made.add(path)
