"""The n-gram benchmarks of small jobs: starting, tiny texts, the first run of all."""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path

from measure import Command, Outcome
from ngram_files import ORDER, Files
from ngram_readings import binary_reading, card_reading
from results import COMPILING, Check, Reading, Result, Series, at_most
from runner import Contender

TINY_LINES = 530
"""About 12,000 tokens."""
SHORT_RUNS = 15
JOBS = ("fit", "eval", "sample", "write", "read")
"""What is timed with nothing compiled; write and read: ARPA files."""


class Small:
    """Benchmarks of small jobs."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._runner = files.runner

    def tiny(self) -> Result:
        """A tiny text to a model."""
        text = self._head(TINY_LINES)
        model, arpa = self._files.scratch("tiny"), self._files.scratch("tiny.arpa")
        binary = self._files.scratch("tiny.bin")
        kenlm = self._files.kenlm
        contenders = [
            Contender(
                name="lmkit",
                commands=(self._files.fit_command(text, model),),
                read=partial(card_reading, model),
                fresh=(model,),
            ),
            Contender(
                name="KenLM",
                commands=(
                    kenlm.lmplz(text, arpa, "--discount_fallback", order=ORDER, memory="100M"),
                    kenlm.build_binary(arpa, binary),
                ),
                read=partial(binary_reading, arpa, binary),
                fresh=(arpa, binary),
            ),
        ]
        series = self._runner.alternate(contenders, at_least=SHORT_RUNS, warm_up=True)
        ours = series[0]
        return Result(
            title=f"{TINY_LINES} lines to a {ORDER}-gram model ready for queries",
            series=series,
            checks=[
                at_most("wall time of lmkit, warm", ours.seconds(), 0.35, "s"),
                at_most("peak memory of lmkit", ours.memory(), 200, "MB"),
            ],
        )

    def start(self) -> Result:
        """The commands whose time is their start."""
        model = self._files.model("c10")
        commands = {
            "lmkit --help": self._runner.lmkit("--help"),
            "lmkit score, ten lines": self._runner.lmkit("score", "-m", model, self._head(10)),
        }
        contenders = [
            Contender(name=name, commands=(Command(argv=argv),), read=_lines_written)
            for name, argv in commands.items()
        ]
        series = self._runner.alternate(contenders, at_least=SHORT_RUNS, warm_up=True)
        return Result(
            title="start-up, whole process",
            series=series,
            checks=[
                at_most("lmkit --help", series[0].seconds(), 0.15, "s"),
                at_most("lmkit score, ten lines", series[1].seconds(), 0.30, "s"),
            ],
            alike=False,
        )

    def cold(self, job: str) -> Result:
        """The first run of all, when kernels must be compiled, and the second."""
        argv, written = self._job(job)
        cache = self._runner.folders.work / "cold" / job
        command = Command(argv=argv, variables={"NUMBA_CACHE_DIR": str(cache)})
        contenders = [
            Contender(name=name, commands=(command,), read=_compilations, fresh=fresh)
            for name, fresh in (
                ("lmkit, first run", (cache, *written)),
                ("lmkit, second run", written),
            )
        ]
        first, second = series = self._runner.alternate(contenders)
        compiling = first.seconds() - second.seconds()
        return Result(
            title=f"{job}: the first run of all, with nothing compiled, and the second",
            series=series,
            checks=[at_most("compiling", compiling, 3.0, "s"), _said_once(first, second)],
            notes=["Compiling takes the time of the first run less that of the second."],
            alike=False,
        )

    def _job(self, name: str) -> tuple[tuple[str, ...], tuple[Path, ...]]:
        """Return the command line of a job that needs kernels, and what it writes."""
        lmkit, files = self._runner.lmkit, self._files
        text = files.corpora["t"].path
        out = files.scratch("cold.arpa" if name == "write" else "cold")
        if name == "fit":
            return lmkit("ngram", "fit", files.corpora["t10"].path, "-o", out), (out,)
        if name == "eval":
            return lmkit("eval", "-m", files.model("t"), text, "--json"), ()
        if name == "sample":
            return lmkit("sample", "-m", files.model("t"), "--count", "2000"), ()
        if name == "write":
            return lmkit("ngram", "convert", files.model("t"), out), (out,)
        return lmkit("ngram", "convert", files.arpa("t"), out), (out,)

    def _head(self, num_lines: int) -> Path:
        """Return a file of the first lines of the held-out text."""
        path = self._files.scratch(f"{num_lines}.txt")
        with open(self._files.corpora["t"].path, "rb") as text:
            path.write_bytes(b"".join(islice(text, num_lines)))
        return path


def _lines_written(outcome: Outcome) -> Reading:
    return Reading(remark=f"{outcome.stdout.count(chr(10))} lines written")


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
