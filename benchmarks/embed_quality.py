"""How good vectors are at equal epochs: three runs of word2vec C and three seeds of lmkit.

word2vec C has no seed. So the lines of the text are shuffled, and run number N of either program
reads them in the order of seed N. Both tables are judged by ``lmkit embed eval``: analogies with
the 30,000 most frequent words, Spearman's correlation with the judgements of people. Within the
spread means: the median of lmkit is not below the worst of word2vec C.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

from embed_files import Files
from embed_peers import Arch, Job, Loss, Peers
from measure import Outcome
from results import Check, Reading, Result, Series
from runner import Contender, remove

SEEDS = (1, 2, 3)
EPOCHS = 3
TESTS = {
    "analogies": "analogy/questions-words.txt",
    "WordSim-353": "similarity/wordsim353.tsv",
    "SimLex-999": "similarity/simlex999.tsv",
    "MEN": "similarity/men-3000.tsv",
}

Figures = dict[str, float]


class Quality:
    """Comparisons of quality."""

    def __init__(self, files: Files, peers: Peers) -> None:
        self._files = files
        self._peers = peers

    def compare(self, arch: Arch, loss: Loss) -> Result:
        """Train with every seed and judge."""
        found: dict[str, list[Figures]] = {"lmkit": [], "word2vec C": []}
        series: list[Series] = []
        for seed in SEEDS:
            job = Job(text=self._files.shuffled(seed), arch=arch, loss=loss, epochs=EPOCHS)
            model, table = self._files.scratch("judged"), self._files.scratch("judged.bin")
            contenders = [
                self._judged(self._files.fit(job, model, seed=seed), model, found["lmkit"], seed),
                self._judged(self._peers.word2vec(job, table), table, found["word2vec C"], seed),
            ]
            series += self._files.runner.alternate(contenders, runs=1)
            remove(model)
            remove(table)
        return Result(
            title=f"{job.title}: quality after {EPOCHS} epochs, three orders of the lines",
            series=series,
            checks=[_within(name, *found.values()) for name in TESTS],
            notes=["word2vec C has no seed: run N of both reads the lines in the order of seed N."],
        )

    def _judged(
        self, contender: Contender, vectors: Path, found: list[Figures], seed: int
    ) -> Contender:
        """Return ``contender`` with its figures as the remark; ``found`` grows by each run's."""

        def read(outcome: Outcome) -> Reading:
            figures = self._judge(vectors)
            found.append(figures)
            remark = ", ".join(f"{name} {100 * value:.2f}" for name, value in figures.items())
            return Reading(work=contender.read(outcome).work, remark=remark)

        return Contender(
            name=f"{contender.name}, seed {seed}",
            commands=contender.commands,
            read=read,
            fresh=contender.fresh,
        )

    def _judge(self, vectors: Path) -> Figures:
        files = [str(self._files.gold(name)) for name in TESTS.values()]
        runner = self._files.runner
        said = runner.run(*runner.lmkit("embed", "eval", "-m", vectors, *files, "--json")).stdout
        records = [json.loads(line) for line in said.splitlines()]
        figures = {}
        for name, record in zip(TESTS, records, strict=True):
            value = record["accuracy"] if "accuracy" in record else record["spearman"]
            figures[name] = float(value)
        return figures


def _within(name: str, ours: list[Figures], theirs: list[Figures]) -> Check:
    own, other = ([figures[name] for figures in one] for one in (ours, theirs))
    return Check(
        what=name,
        target=f"median >= {100 * min(other):.2f}, the worst of word2vec C",
        measured=f"lmkit {_listed(own)}; word2vec C {_listed(other)}",
        passed=median(own) >= min(other),
    )


def _listed(values: list[float]) -> str:
    return " ".join(f"{100 * value:.2f}" for value in values)
