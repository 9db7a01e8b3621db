"""The texts and models that the benchmarks of word vectors share."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import measure
from embed_peers import (
    GLOVE_WINDOW,
    GLOVE_X_MAX,
    MIN_COUNT,
    NEGATIVE,
    SIZE,
    SUBSAMPLE,
    WINDOW,
    Job,
)
from embed_readings import card_reading
from measure import Command
from runner import Contender, Runner, remove

from corpora import Corpus, path_of

WARM_LINES = 20_000
"""About 2.5 MB: enough for all kernels to be needed."""


class Files:
    """Texts and models in the work folder."""

    def __init__(self, runner: Runner) -> None:
        """Make the texts that are not there, in a process of its own, and count all.

        Raises:
            CommandError: they cannot be made.
        """
        self.runner = runner
        self._models = runner.folders.work / "models"
        self._models.mkdir(exist_ok=True)
        self.corpora = self._read_corpora()

    def _read_corpora(self, *more: str) -> dict[str, Corpus]:
        work, data = self.runner.folders.work, self.runner.folders.data
        options = ["--work", str(work), *(["--data", str(data)] if data else []), *more]
        found = {}
        for line in self.runner.run(
            *self.runner.python("embed_corpora.py", *options)
        ).stdout.splitlines():
            facts = json.loads(line)
            sizes = facts["lines"], facts["tokens"], facts["bytes"]
            found[facts["name"]] = Corpus(path_of(work, facts["name"]), *sizes)
        return found

    def shuffled(self, seed: int) -> Path:
        """Return the large text, its lines in the order of a seed."""
        return self._read_corpora("--shuffled", str(seed))[f"w14-{seed}"].path

    def gold(self, name: str) -> Path:
        """Return a file of questions or judgements below gold/ in the data.

        Raises:
            CommandError: it is not there.
        """
        data = self.runner.folders.data
        if data is None or not (data / "gold" / name).exists():
            raise measure.CommandError(f"no gold/{name} in --data")
        return data / "gold" / name

    def scratch(self, name: str) -> Path:
        """Return where a file or model goes that only one benchmark needs."""
        return self._models / f"scratch-{name}"

    def head(self, num_lines: int) -> Path:
        """Return a file of the first lines of the small text."""
        path = self._models / f"head-{num_lines}.txt"
        if not path.exists():
            with open(self.corpora["w4"].path, "rb") as text:
                path.write_bytes(b"".join(islice(text, num_lines)))
        return path

    def fit(self, job: Job, model: Path, *more: str, seed: int = 1) -> Contender:
        """Return lmkit at ``job``; more options may follow."""
        options: dict[str, object] = {
            "arch": job.arch,
            "loss": job.loss,
            "size": SIZE,
            "window": WINDOW,
            "min-count": MIN_COUNT,
            "subsample": SUBSAMPLE,
            "epochs": job.epochs,
            "threads": job.threads,
            "seed": seed,
        }
        if job.loss == "negative":
            options["negative"] = NEGATIVE
        return self._fit(job, model, options, *more)

    def fit_glove(self, job: Job, model: Path) -> Contender:
        """Return lmkit at GloVe, with GloVe's settings and one thread."""
        options: dict[str, object] = {
            "arch": "glove",
            "size": SIZE,
            "window": GLOVE_WINDOW,
            "min-count": MIN_COUNT,
            "x-max": GLOVE_X_MAX,
            "epochs": job.epochs,
            "threads": 1,
        }
        return self._fit(job, model, options)

    def _fit(self, job: Job, model: Path, options: dict[str, object], *more: str) -> Contender:
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        argv = self.runner.lmkit("embed", "fit", job.text, "-o", model, *words, *more)
        return Contender(
            name=f"lmkit, {job.duration}",
            commands=(Command(argv=argv),),
            read=partial(card_reading, model),
            fresh=(model,),
        )

    def warm_up(self) -> None:
        """Compile every kernel that is timed, into an empty cache; begin with no models."""
        remove(self._models)
        remove(self.runner.folders.work / "kernels")
        self._models.mkdir()
        text, model = self.head(WARM_LINES), self.scratch("warm")
        contenders = [
            self.fit(Job(text=text, arch=arch, loss=loss), model)
            for arch in ("skipgram", "cbow")
            for loss in ("negative", "hierarchical")
        ]
        contenders.append(self.fit(Job(text=text), model, "--subword", "3-6"))
        contenders.append(self.fit_glove(Job(text=text), model))
        for contender in contenders:
            remove(model)
            with suppress(measure.CommandError):  # fails again, and is told, where it is timed
                self.runner.run_command(contender.commands[0])

    def tidy(self) -> None:
        """Remove the models and what was made on the way; the texts stay."""
        for name in ("models", "tmp", "kernels", "cold", "home"):
            remove(self.runner.folders.work / name)
