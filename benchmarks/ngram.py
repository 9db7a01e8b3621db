"""The n-gram benchmarks: lmkit against KenLM, on one text, in turn, with the targets to meet.

Names of benchmarks: ``fit-c10`` and ``fit-c33`` (text to a model that can be queried), ``arpa``
(text to ARPA), ``convert`` (ARPA to model), ``query-unseen``, ``query-seen``, ``python`` (scoring
a list of sentences), ``sample``, ``next``, ``tokenise``, ``tiny``, ``start``, and
``cold-`` with a job (what the first run of all spends on compiling).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import ngram_small
from measure import Command
from ngram_files import ORDER, Files
from ngram_readings import (
    binary_reading,
    card_reading,
    evaluation_reading,
    head_reading,
    inside_reading,
    sample_reading,
)
from peers import KenLM, read_summary
from results import Check, Result, at_least, at_most, find, times_faster
from runner import Contender, Runner, remove
from suite import Suite

from corpora import NAMES, Corpus

LMPLZ_MEMORY = {"c10": "1G", "c33": "2G"}
"""What serves lmplz best: more makes it slower on these texts."""
NUM_SAMPLES = 50_000
WORD_ROWS = 2_000
CHAR_ROWS = 100_000


def suite(runner: Runner) -> Suite:
    """Return the suite.

    Raises:
        ValueError: KenLM's programs are not where they should be.
        CommandError: the corpora cannot be made.
    """
    benchmarks = Ngram(runner)
    small = ngram_small.Small(benchmarks.files)
    named: dict[str, Callable[[], Result]] = {
        "fit-c10": partial(benchmarks.fit, "c10", 7.0, memory=900),
        "arpa": benchmarks.arpa,
        "convert": benchmarks.convert,
        "query-unseen": partial(benchmarks.query, "t10", 2.5),
        "query-unseen-long": partial(benchmarks.query, "t40", 2.5),
        "query-seen": partial(benchmarks.query, "c10", 3.5),
        "python": benchmarks.python,
        "sample": benchmarks.sample,
        "next": benchmarks.next_words,
        "tokenise": benchmarks.tokenise,
        "tiny": small.tiny,
        "start": small.start,
        **{f"cold-{job}": partial(small.cold, job) for job in ngram_small.JOBS},
        "fit-c33": partial(benchmarks.fit, "c33", 8.0),
    }
    return Suite(
        benchmarks=named,
        warm_up=benchmarks.files.warm_up,
        facts=benchmarks.facts,
        tidy=benchmarks.files.tidy,
    )


class Ngram:
    """The benchmarks that want large texts."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.kenlm = KenLM(runner)
        self.files = Files(runner, self.kenlm)

    def facts(self) -> dict[str, str]:
        """Return what to know about texts and peer."""
        corpora = {name: str(self.files.corpora[name]) for name in (*NAMES, "t10", "t40")}
        return {**corpora, **self.kenlm.facts()}

    def fit(self, name: str, target: float, memory: int | None = None) -> Result:
        """Text to a 5-gram model ready for queries."""
        corpus = self.files.corpora[name]
        model, arpa, binary = self.files.outputs(name)
        contenders = [
            self._lmkit_fit(corpus, model),
            Contender(
                name="KenLM",
                commands=(
                    self.kenlm.lmplz(corpus.path, arpa, order=ORDER, memory=LMPLZ_MEMORY[name]),
                    self.kenlm.build_binary(arpa, binary),
                ),
                read=partial(binary_reading, arpa, binary),
                fresh=(arpa, binary),
            ),
        ]
        series = self.runner.alternate(contenders)
        ours, theirs = series
        checks = [times_faster(ours, theirs, target)]
        if memory is not None:
            checks.append(at_most("peak memory of lmkit", ours.memory(), memory, "MB"))
        if name == "c10":
            self.files.keep(name)
        else:
            for path in (model, arpa, binary):
                remove(path)
        title = f"text to a {ORDER}-gram model ready for queries, {corpus.tokens:,} tokens"
        return Result(title=title, series=series, checks=checks)

    def _lmkit_fit(self, corpus: Corpus, model: Path) -> Contender:
        return Contender(
            name="lmkit",
            commands=(self.files.fit_command(corpus.path, model),),
            read=partial(card_reading, model),
            fresh=(model,),
        )

    def arpa(self) -> Result:
        """Text to an ARPA file."""
        corpus = self.files.corpora["c10"]
        ours, theirs = self.files.scratch("ours.arpa"), self.files.scratch("theirs.arpa")
        memory = LMPLZ_MEMORY["c10"]
        contenders = [
            Contender(
                name="lmkit",
                commands=(self.files.fit_command(corpus.path, ours),),
                read=partial(head_reading, ours),
                fresh=(ours,),
            ),
            Contender(
                name="KenLM",
                commands=(self.kenlm.lmplz(corpus.path, theirs, order=ORDER, memory=memory),),
                read=partial(head_reading, theirs),
                fresh=(theirs,),
            ),
        ]
        series = self.runner.alternate(contenders)
        for path in (ours, theirs):
            remove(path)
        return Result(
            title=f"text to a {ORDER}-gram ARPA file, {corpus.tokens:,} tokens",
            series=series,
            checks=[times_faster(*series, 2.5)],
        )

    def convert(self) -> Result:
        """ARPA file to a model ready for queries."""
        arpa = self.files.arpa("c10")
        model, binary = self.files.scratch("converted"), self.files.scratch("converted.bin")
        command = Command(argv=self.runner.lmkit("ngram", "convert", arpa, model))
        contenders = [
            Contender(
                name="lmkit",
                commands=(command,),
                read=partial(card_reading, model),
                fresh=(model,),
            ),
            Contender(
                name="KenLM",
                commands=(self.kenlm.build_binary(arpa, binary),),
                read=partial(binary_reading, arpa, binary),
                fresh=(binary,),
            ),
        ]
        series = self.runner.alternate(contenders)
        for path in (model, binary):
            remove(path)
        return Result(
            title=f"ARPA file of {arpa.stat().st_size / 1e6:,.0f} MB to a model ready for queries",
            series=series,
            checks=[times_faster(*series, 3.0)],
        )

    def query(self, name: str, target: float) -> Result:
        """Perplexity of a long text."""
        corpus = self.files.corpora[name]
        model, binary = self.files.model("c10"), self.files.binary("c10")
        contenders = [
            Contender(
                name=f"lmkit, {threads} thread{'s' if threads > 1 else ''}",
                commands=(
                    Command(
                        argv=self.runner.lmkit(
                            *("eval", "-m", model, corpus.path),
                            *("--json", "--threads", str(threads)),
                        )
                    ),
                ),
                read=evaluation_reading,
            )
            for threads in (1, 2)
        ]
        query = self.kenlm.query(binary, corpus.path)
        contenders.append(Contender(name="KenLM", commands=(query,), read=read_summary))
        one, two, theirs = series = self.runner.alternate(contenders)
        seen = "the text the model was made from" if name == "c10" else "unseen text"
        return Result(
            title=f"perplexity of {seen}, {corpus.tokens:,} tokens",
            series=series,
            checks=[times_faster(two, theirs, target), times_faster(one, theirs, 1.2)],
        )

    def python(self) -> Result:
        """A list of sentences, scored from Python."""
        corpus = self.files.corpora["t10"]
        model = self.files.model("c10")
        script = "ngram_inside.py"
        contenders = []
        for threads in (1, 2):
            asked = ("score", model, corpus.path, "--threads", str(threads))
            contenders.append(
                Contender(
                    name=f"lmkit, one batch, {threads} thread{'s' if threads > 1 else ''}",
                    commands=(Command(argv=self.runner.python(script, *asked)),),
                    read=partial(inside_reading, "tokens"),
                )
            )
        with_module = self.kenlm.has_module()
        if with_module:
            asked = ("score-kenlm", self.files.binary("c10"), corpus.path)
            command = self.kenlm.python(script, *asked)
            read = partial(inside_reading, "tokens")
            contenders.append(
                Contender(name="KenLM, one call a sentence", commands=(command,), read=read)
            )
        series = self.runner.alternate(contenders)
        checks: list[Check] = []
        notes = ["KenLM's Python module cannot be imported from $PEERS: lmkit ran alone."]
        if with_module:
            checks, notes = [times_faster(series[1], series[2], 3.0)], []
        return Result(
            title=f"scoring {corpus.lines:,} sentences from Python, {corpus.tokens:,} tokens",
            series=series,
            checks=checks,
            notes=notes,
        )

    def sample(self) -> Result:
        """Texts drawn from a model, whole process."""
        model, samples = self.files.model("c10"), self.files.scratch("samples.txt")
        argv = self.runner.lmkit("sample", "-m", model, "--count", str(NUM_SAMPLES), "--seed", "1")
        contender = Contender(
            name="lmkit",
            commands=(Command(argv=argv, stdout=samples),),
            read=partial(sample_reading, samples),
        )
        series = self.runner.alternate([contender])
        return Result(
            title=f"{NUM_SAMPLES:,} sentences drawn from the model of c10, whole process",
            series=series,
            checks=[at_least("tokens drawn", series[0].rate(), 100_000, "a second")],
            notes=["KenLM cannot draw."],
        )

    def next_words(self) -> Result:
        """Whole next-word distributions."""
        text = self.files.corpora["t"].path
        models = {
            "lmkit, words": (self.files.model("c10"), WORD_ROWS),
            "lmkit, characters": (self.files.model("t", unit="char"), CHAR_ROWS),
        }
        contenders = [
            Contender(
                name=name,
                commands=(
                    Command(
                        argv=self.runner.python(
                            "ngram_inside.py", "next", model, text, "--rows", str(rows)
                        )
                    ),
                ),
                read=partial(inside_reading, "rows"),
            )
            for name, (model, rows) in models.items()
        ]
        series = self.runner.alternate(contenders)
        return Result(
            title="whole next-word distributions behind contexts of unseen text",
            series=series,
            checks=[
                at_least(
                    "rows formed, characters",
                    find(series, "lmkit, characters").rate(),
                    100_000,
                    "a second",
                )
            ],
            notes=[
                "A row holds the probability of every token of the vocabulary, in 8 bytes each; "
                "with words that is two megabytes a row, and memory sets the pace.",
                "KenLM cannot do it.",
            ],
            alike=False,
        )

    def tokenise(self) -> Result:
        """Words to ids in one thread."""
        corpus = self.files.corpora["c10"]
        argv = self.runner.python("ngram_inside.py", "encode", self.files.model("c10"), corpus.path)
        contender = Contender(
            name="lmkit, one thread",
            commands=(Command(argv=argv),),
            read=partial(inside_reading, "bytes"),
        )
        series = self.runner.alternate([contender])
        rate = series[0].rate() / 1e6
        return Result(
            title=f"words to ids, {corpus.bytes / 1e6:,.1f} MB in memory",
            series=series,
            checks=[at_least("text encoded by one core", rate, 100, "MB/s")],
        )
