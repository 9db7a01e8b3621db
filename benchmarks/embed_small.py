"""The benchmarks of word vectors that are not about training: questions, start-up, processors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from embed_files import WARM_LINES, Files
from embed_peers import Job, Peers
from embed_readings import encode_reading, lines_reading, questions_reading, trains_faster
from measure import Command, Outcome
from results import COMPILING, Check, Reading, Result, Series, at_least, at_most, times_faster
from runner import Contender, remove

LIMIT = 30_000
"""Words that take part in a test of analogies."""
SHORT_RUNS = 15
JOBS: dict[str, tuple[str, ...]] = {
    "skipgram": ("--arch", "skipgram"),
    "cbow": ("--arch", "cbow"),
    "hierarchical": ("--arch", "skipgram", "--loss", "hierarchical"),
    "subword": ("--arch", "skipgram", "--subword", "3-6"),
    "glove": ("--arch", "glove"),
}
"""What is timed with nothing compiled."""
AVX2 = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+64bit,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+sahf,"
    "+movbe,+avx,+f16c,+fma,+avx2,+bmi,+bmi2,+lzcnt,+fsgsbase,+xsave,+xsaveopt",
}
"""What numba is told to compile for: a processor of 2013."""
AVX2_EPOCHS = (1, 5)
BANNED = ("torch", "numba")


class Small:
    """Benchmarks of small jobs and of evaluation."""

    def __init__(self, files: Files, peers: Peers) -> None:
        self._files = files
        self._peers = peers
        self._runner = files.runner

    def encode(self) -> Result:
        """Text to ids in one thread."""
        corpus = self._files.corpora["w14"]
        command = Command(argv=self._runner.python("embed_inside.py", "encode", corpus.path))
        contender = Contender(name="lmkit, one thread", commands=(command,), read=encode_reading)
        series = self._runner.alternate([contender])
        return Result(
            title=f"text to ids, the vocabulary learned on the way, {corpus.bytes / 1e6:,.1f} MB",
            series=series,
            checks=[at_least("text read by one core", series[0].rate() / 1e6, 100, "MB/s")],
        )

    def analogy(self) -> Result:
        """One analogy of 200,000 words, whole process."""
        table, model = self._files.scratch("table.bin"), self._files.scratch("table")
        self._runner.run(*self._runner.python("embed_inside.py", "table", table))
        self._runner.run(*self._runner.lmkit("embed", "convert", table, model))
        asked = ("analogy", "king", "man", "woman", "-m", model)
        contender = Contender(
            name="lmkit analogy",
            commands=(Command(argv=self._runner.lmkit(*asked)),),
            read=lines_reading,
        )
        series = self._runner.alternate([contender], at_least=SHORT_RUNS, warm_up=True)
        said = self._runner.run(*self._runner.python("embed_inside.py", "modules", *asked)).stderr
        loaded = next(line for line in said.splitlines() if line.startswith("LOADED ")).split()
        found = [name for name in BANNED if name in loaded]
        first = series[0].runs[-1].outcome.stdout.split("\t", 1)[0]
        remove(table)
        return Result(
            title="king - man + woman among 200,000 words of 100 dimensions, whole process",
            series=series,
            checks=[
                at_most("wall time", series[0].seconds(), 0.25, "s"),
                at_most("peak memory", series[0].memory(), 130, "MB"),
                Check(
                    what="modules",
                    target="neither torch nor numba",
                    measured=" ".join(found) or "neither",
                    passed=not found,
                ),
                Check(what="answer", target="queen", measured=first, passed=first == "queen"),
            ],
        )

    def questions(self) -> Result:
        """A test of analogies, against compute-accuracy, on the same vectors."""
        questions = self._files.gold("analogy/questions-words.txt")
        model, table = self._files.scratch("asked"), self._files.scratch("asked.bin")
        job = Job(text=self._files.corpora["w14"].path)
        remove(model)
        self._runner.run_command(self._files.fit(job, model).commands[0])
        remove(table)
        self._runner.run(*self._runner.lmkit("embed", "convert", model, table))
        contenders = [
            Contender(
                name=f"lmkit, {what}",
                commands=(
                    Command(
                        argv=self._runner.lmkit(
                            *("embed", "eval", "-m", vectors, questions, "--json"),
                            *("--limit", str(LIMIT)),
                        )
                    ),
                ),
                read=questions_reading,
            )
            for what, vectors in (("its model", model), ("word2vec's format", table))
        ]
        contenders.append(self._peers.compute_accuracy(table, questions, LIMIT))
        series = self._runner.alternate(contenders)
        works = {one.runs[-1].reading.work for one in series}
        return Result(
            title=f"questions-words among {LIMIT:,} words, whole process",
            series=series,
            checks=[
                times_faster(series[0], series[2], 8.0),
                times_faster(series[1], series[2], 8.0),
                Check(
                    what="counts",
                    target="the same",
                    measured="; ".join(sorted(works)),
                    passed=len(works) == 1,
                ),
            ],
        )

    def avx2(self) -> Result:
        """Training compiled for a processor without AVX-512."""
        text = self._files.corpora["w4"].path
        kernels = str(self._runner.folders.work / "cold" / "avx2")
        variables = {**AVX2, "NUMBA_CACHE_DIR": kernels}
        contenders, models = [], {}
        for name, settings in (("lmkit", {}), ("lmkit for AVX2", variables)):
            for epochs in AVX2_EPOCHS:
                model = self._files.scratch(f"{len(settings)}-{epochs}")
                models[name] = model
                one = self._files.fit(Job(text=text, epochs=epochs), model)
                command = replace(one.commands[0], variables=settings)
                title = one.name.replace("lmkit", name)
                contenders.append(replace(one, name=title, commands=(command,)))
        series = self._runner.alternate(contenders, warm_up=True)
        questions = self._files.gold("analogy/questions-words.txt")
        right = {name: self._accuracy(model, questions) for name, model in models.items()}
        full, lesser = right.values()
        return Result(
            title="skip-gram with negative sampling compiled for AVX2 and FMA only",
            series=series,
            checks=[
                trains_faster((series[2], series[3]), (series[0], series[1]), 0.25),
                Check(
                    what="analogies answered rightly",
                    target=">= 0.9 x as many",
                    measured=f"{lesser:.2%} and {full:.2%}",
                    passed=lesser >= 0.9 * full,
                ),
            ],
        )

    def _accuracy(self, model: Path, questions: Path) -> float:
        argv = self._runner.lmkit("embed", "eval", "-m", model, questions, "--json")
        facts = json.loads(self._runner.run(*argv).stdout)
        return float(facts["correct"]) / float(facts["questions"])

    def cold(self, job: str) -> Result:
        """The first run of all, when kernels must be compiled, and the second."""
        cache = self._runner.folders.work / "cold" / job
        out = self._files.scratch("cold")
        text = self._files.head(WARM_LINES)
        argv = self._runner.lmkit("embed", "fit", text, "-o", out, "--epochs", "1", *JOBS[job])
        command = Command(argv=argv, variables={"NUMBA_CACHE_DIR": str(cache)})
        contenders = [
            Contender(name=name, commands=(command,), read=_compilations, fresh=fresh)
            for name, fresh in (
                ("lmkit, first run", (cache, out)),
                ("lmkit, second run", (out,)),
            )
        ]
        first, second = series = self._runner.alternate(contenders)
        return Result(
            title=f"{job}: the first run of all, with nothing compiled, and the second",
            series=series,
            checks=[
                at_most("compiling", first.seconds() - second.seconds(), 3.0, "s"),
                _said_once(first, second),
            ],
            notes=["Compiling takes the time of the first run less that of the second."],
            alike=False,
        )


def _compilations(outcome: Outcome) -> Reading:
    return Reading(remark=f"said {outcome.stderr.count(COMPILING)} times")


def _said_once(first: Series, second: Series) -> Check:
    times = [
        sum(run.outcome.stderr.count(COMPILING) for run in one.runs) for one in (first, second)
    ]
    return Check(
        what="says that it compiles",
        target="once, and not in the second run",
        measured=f"{times[0]} times in {len(first.runs)} first runs, {times[1]} in second ones",
        passed=times == [len(first.runs), 0],
    )
