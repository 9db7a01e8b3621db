"""The n-gram benchmarks of small jobs: starting, tiny texts, the first run of all."""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path

from measure import Command, Outcome
from ngram_files import ORDER, Files
from ngram_readings import binary_reading, card_reading
from results import Check, Reading, Result, Series, at_most
from runner import Contender

TINY_LINES = 530
"""About 12,600 tokens."""
SHORT_RUNS = 15
SAID = "compiling kernels"
"""What lmkit says on stderr when it compiles."""


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
                    kenlm.lmplz(text, arpa, order=ORDER, memory="100M"),
                    kenlm.build_binary(arpa, binary),
                ),
                read=partial(binary_reading, arpa, binary),
                fresh=(arpa, binary),
            ),
        ]
        series = self._runner.alternate(contenders, at_least=SHORT_RUNS)
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
        series = self._runner.alternate(contenders, at_least=SHORT_RUNS)
        return Result(
            title="start-up, whole process",
            series=series,
            checks=[
                at_most("lmkit --help", series[0].seconds(), 0.15, "s"),
                at_most("lmkit score, ten lines", series[1].seconds(), 0.30, "s"),
            ],
            alike=False,
        )

    def cold(self) -> Result:
        """What compiling costs, once on a machine."""
        series: list[Series] = []
        checks: list[Check] = []
        for name, argv, written in self._jobs():
            cache = self._runner.folders.work / "cold" / name.replace(" ", "-")
            command = Command(argv=argv, variables={"NUMBA_CACHE_DIR": str(cache)})
            first, second = pair = self._runner.alternate(
                [
                    Contender(
                        name=f"{name}, first run",
                        commands=(command,),
                        read=_compilations,
                        fresh=(cache, *written),
                    ),
                    Contender(
                        name=f"{name}, second run",
                        commands=(command,),
                        read=_compilations,
                        fresh=written,
                    ),
                ]
            )
            series += pair
            compiling = first.seconds() - second.seconds()
            checks.append(at_most(f"compiling for {name}", compiling, 3.0, "s"))
            checks.append(_said_once(name, first, second))
        return Result(
            title="the first run of all, with no compiled kernels, and the second",
            series=series,
            checks=checks,
            notes=["Compiling: the time of the first run less that of the second."],
            alike=False,
        )

    def _jobs(self) -> list[tuple[str, tuple[str, ...], tuple[Path, ...]]]:
        """Return name, command line and output of the jobs that need kernels."""
        lmkit, scratch = self._runner.lmkit, self._files.scratch
        text, model = self._files.corpora["t"].path, self._files.model("t")
        fitted, arpa, back = scratch("cold"), scratch("cold.arpa"), scratch("cold-back")
        return [
            ("fit", lmkit("ngram", "fit", text, "-o", fitted), (fitted,)),
            ("eval", lmkit("eval", "-m", model, text, "--json"), ()),
            ("sample", lmkit("sample", "-m", model, "--count", "2000"), ()),
            ("writing ARPA", lmkit("ngram", "convert", model, arpa), (arpa,)),
            ("reading ARPA", lmkit("ngram", "convert", arpa, back), (back,)),
        ]

    def _head(self, num_lines: int) -> Path:
        """Return a file of the first lines of the held-out text."""
        path = self._files.scratch(f"{num_lines}.txt")
        with open(self._files.corpora["t"].path, "rb") as text:
            path.write_bytes(b"".join(islice(text, num_lines)))
        return path


def _lines_written(outcome: Outcome) -> Reading:
    return Reading(remark=f"{outcome.stdout.count(chr(10))} lines written")


def _compilations(outcome: Outcome) -> Reading:
    return Reading(remark=f"said {outcome.stderr.count(SAID)} times")


def _said_once(name: str, first: Series, second: Series) -> Check:
    times = [sum(run.outcome.stderr.count(SAID) for run in one.runs) for one in (first, second)]
    return Check(
        what=f"{name}: says that it compiles",
        target="once, and not in the second run",
        measured=f"{times[0]} times in {len(first.runs)} first runs, {times[1]} in second ones",
        passed=times == [len(first.runs), 0],
    )
