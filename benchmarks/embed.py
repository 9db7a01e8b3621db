"""The benchmarks of word vectors: lmkit against word2vec, gensim, fastText and GloVe.

Names of benchmarks: ``sg-w4``, ``cbow-w4``, ``sg-hs-w4``, ``cbow-hs-w4`` and the same with w14
(training with two threads), ``threads``, ``subword``, ``glove``, ``whole`` (a text to a model),
``encode`` (text to ids), ``analogy`` (a question, whole process), ``questions`` (a test of 13,000
of them), ``avx2`` (a lesser processor), ``cold-`` with a job (what the first run of all spends on
compiling) and ``quality-`` with a way to train (three seeds of it against three runs of word2vec).

Who trains does so twice, with fewer and with more epochs: the difference is training alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import embed_quality
import embed_small
from embed_files import Files
from embed_peers import Arch, Job, Loss, Peers, duration
from embed_readings import trains_faster
from results import Check, Result, Series, at_most, find, times_faster
from runner import Contender, Runner, remove
from suite import Suite

EPOCHS = (1, 3)
"""Of the short and the long run."""
GLOVE_EPOCHS = (1, 4)
WHOLE_EPOCHS = 5

WAYS: dict[str, tuple[Arch, Loss]] = {
    "sg": ("skipgram", "negative"),
    "cbow": ("cbow", "negative"),
    "sg-hs": ("skipgram", "hierarchical"),
    "cbow-hs": ("cbow", "hierarchical"),
}
TARGETS: dict[str, dict[str, float]] = {
    "sg": {"word2vec C": 40.0, "word2vec C -Ofast": 10.0, "gensim": 12.0},
    "cbow": {"word2vec C": 15.0, "gensim": 5.0},
    "sg-hs": {"word2vec C": 6.0, "word2vec C -Ofast": 3.0},
    "cbow-hs": {},
}
"""How many times as fast training should be as that of each peer."""
WHOLE_TARGET = 30.0
"""The same for the whole process on the large text, skip-gram with negative sampling."""


def suite(runner: Runner) -> Suite:
    """Return the suite.

    Raises:
        CommandError: the texts cannot be made.
    """
    benchmarks = Embed(runner)
    small = embed_small.Small(benchmarks.files, benchmarks.peers)
    quality = embed_quality.Quality(benchmarks.files, benchmarks.peers)
    named: dict[str, Callable[[], Result]] = {
        **{f"{way}-w4": partial(benchmarks.train, way, "w4") for way in WAYS},
        "threads": benchmarks.threads,
        "subword": benchmarks.subword,
        "glove": benchmarks.glove,
        "whole": benchmarks.whole,
        "encode": small.encode,
        "analogy": small.analogy,
        "questions": small.questions,
        "avx2": small.avx2,
        **{f"cold-{job}": partial(small.cold, job) for job in embed_small.JOBS},
        **{f"{way}-w14": partial(benchmarks.train, way, "w14") for way in WAYS},
        **{f"quality-{way}": partial(quality.compare, *WAYS[way]) for way in WAYS},
    }
    return Suite(
        benchmarks=named,
        warm_up=benchmarks.files.warm_up,
        facts=benchmarks.facts,
        tidy=benchmarks.files.tidy,
    )


class Embed:
    """The benchmarks of training."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.peers = Peers(runner)
        self.files = Files(runner)

    def facts(self) -> dict[str, str]:
        """Return what to know about texts and peers."""
        texts = {name: str(corpus) for name, corpus in self.files.corpora.items()}
        return {**texts, **self.peers.facts()}

    def train(self, way: str, name: str) -> Result:
        """Training with two threads."""
        corpus = self.files.corpora[name]
        arch, loss = WAYS[way]
        scratch = self.files.scratch
        contenders: list[Contender] = []
        for epochs in EPOCHS:
            job = Job(text=corpus.path, arch=arch, loss=loss, epochs=epochs)
            contenders += [
                self.files.fit(job, scratch(f"model-{epochs}")),
                self.peers.word2vec(job, scratch("c.bin")),
                self.peers.word2vec(job, scratch("ofast.bin"), ofast=True),
                self.peers.gensim(job, scratch("gensim.bin")),
            ]
        series = self.runner.alternate(contenders)
        pairs = _pairs(series, EPOCHS)
        ours = pairs.pop("lmkit")
        targets = TARGETS[way]
        checks = [
            trains_faster(ours, theirs, targets.get(peer, 1.0)) for peer, theirs in pairs.items()
        ]
        if (way, name) == ("sg", "w14"):
            checks.append(times_faster(ours[1], pairs["word2vec C"][1], WHOLE_TARGET))
        if loss == "negative":
            checks.append(self._memory(name, ours))
        return Result(
            title=f"{job.title}, two threads, {corpus.tokens:,} words",
            series=series,
            checks=checks,
        )

    def _memory(self, name: str, ours: tuple[Series, Series]) -> Check:
        """Check peak memory against 1.5 times ids and two matrices, and 200 MB."""
        corpus = self.files.corpora[name]
        work = ours[0].runs[-1].reading.work
        words, size = (int(part.replace(",", "")) for part in work.split() if part[0].isdigit())
        needed = 4 * (corpus.tokens + corpus.lines) + 2 * 4 * words * size
        most = max(one.memory() for one in ours)
        return at_most("peak memory of lmkit", most, (1.5 * needed + 200e6) / 1e6, "MB")

    def threads(self) -> Result:
        """Two threads against one."""
        corpus = self.files.corpora["w14"]
        contenders = []
        for threads in (1, 2):
            for epochs in EPOCHS:
                job = Job(text=corpus.path, epochs=epochs, threads=threads)
                one = self.files.fit(job, self.files.scratch(f"threads-{epochs}"))
                contenders.append(replace(one, name=f"lmkit on {threads}, {job.duration}"))
        series = self.runner.alternate(contenders)
        pairs = _pairs(series, EPOCHS)
        return Result(
            title=f"{job.title}, one thread and two, {corpus.tokens:,} words",
            series=series,
            checks=[trains_faster(pairs["lmkit on 2"], pairs["lmkit on 1"], 1.7)],
        )

    def subword(self) -> Result:
        """Skip-gram with character n-grams."""
        corpus = self.files.corpora["w4"]
        contenders = []
        for epochs in EPOCHS:
            job = Job(text=corpus.path, epochs=epochs)
            contenders += [
                self.files.fit(job, self.files.scratch("subword"), "--subword", "3-6"),
                self.peers.fasttext(job, self.files.scratch("fasttext")),
            ]
        series = self.runner.alternate(contenders)
        pairs = _pairs(series, EPOCHS)
        check = trains_faster(
            pairs["lmkit"],
            pairs["fastText"],
            12.0,
            measure=Series.processor,
            what="training alone, processor time",
        )
        remove(self.files.scratch("fasttext").with_suffix(".bin"))
        return Result(
            title=f"skip-gram with n-grams of 3 to 6 characters, {corpus.tokens:,} words",
            series=series,
            checks=[check],
            notes=[
                "fastText runs with ten threads: with fewer it leaves a part of its matrix "
                "uninitialised. Processor time is compared."
            ],
        )

    def glove(self) -> Result:
        """GloVe, one core, the same number of epochs."""
        corpus = self.files.corpora["w4"]
        folder = self.files.scratch("glove-c")
        self.peers.count_cells(corpus.path, folder)
        contenders = []
        for epochs in GLOVE_EPOCHS:
            job = Job(text=corpus.path, epochs=epochs)
            contenders += [
                self.files.fit_glove(job, self.files.scratch("glove")),
                self.peers.glove(job, folder),
            ]
        series = self.runner.alternate(contenders)
        remove(folder)
        pairs = _pairs(series, GLOVE_EPOCHS)
        ours, theirs = pairs["lmkit"], pairs["GloVe C"]
        check = trains_faster(
            ours, theirs, 3.0, measure=Series.processor, what="training alone, processor time"
        )
        return Result(
            title=f"GloVe, one thread, {corpus.tokens:,} words",
            series=series,
            checks=[check, _cost(ours[1], theirs[1])],
            notes=["GloVe C counted and shuffled the cells beforehand; lmkit does so in each run."],
        )

    def whole(self) -> Result:
        """A text of 23 MB to a model, five epochs, whole process."""
        corpus = self.files.corpora["w4"]
        job = Job(text=corpus.path, epochs=WHOLE_EPOCHS)
        series = self.runner.alternate([self.files.fit(job, self.files.scratch("whole"))])
        return Result(
            title=f"{corpus.bytes / 1e6:.1f} MB of text to a model, {job.title}",
            series=series,
            checks=[at_most("whole process", series[0].seconds(), 4.0, "s")],
        )


def _pairs(series: list[Series], epochs: tuple[int, int]) -> dict[str, tuple[Series, Series]]:
    """Return the short and the long run of each contender, by its name without the epochs."""
    names = dict.fromkeys(one.name.rpartition(",")[0] for one in series)
    short, long = map(duration, epochs)
    return {
        name: (find(series, f"{name}, {short}"), find(series, f"{name}, {long}")) for name in names
    }


def _cost(ours: Series, theirs: Series) -> Check:
    """Check that the cost reached is no higher than that of the peer, but for two percent."""
    remarks = [one.runs[-1].reading.remark for one in (ours, theirs)]
    costs = [float(remark.split()[-1]) if remark else float("nan") for remark in remarks]
    return Check(
        what="cost after the long run",
        target="<= 1.02 x that of GloVe C",
        measured=f"{costs[0]:.4f} against {costs[1]:.4f}",
        passed=costs[0] <= 1.02 * costs[1],
    )
