"""The programs lmkit is measured against: how they are called, and what their output says.

KenLM (Heafield et al. 2013): ``lmplz`` estimates a model and writes it as ARPA, ``build_binary``
makes that quick to query, ``query`` scores text. Nothing here builds them: say where they are.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

from measure import Command, CommandError, Outcome
from results import Reading
from runner import Runner

PROGRAMS = ("lmplz", "build_binary", "query")


class KenLM:
    """KenLM's programs in a folder."""

    def __init__(self, runner: Runner) -> None:
        """Find the programs in the peers' folder of ``runner``.

        Raises:
            ValueError: one is not there.
        """
        self._runner = runner
        self._folder = runner.folders.peers
        missing = [name for name in PROGRAMS if not os.access(self._folder / name, os.X_OK)]
        if missing:
            raise ValueError(f"no program {', '.join(missing)} in {self._folder}")

    def facts(self) -> dict[str, str]:
        """Return the SHA-256 of the programs."""
        sums = []
        for name in PROGRAMS:
            with open(self._folder / name, "rb") as program:
                digest = hashlib.file_digest(program, "sha256").hexdigest()
            sums.append(f"{name} {digest[:12]}")
        return {"KenLM, SHA-256": ", ".join(sums)}

    def lmplz(self, text: Path, arpa: Path, *more: str, order: int, memory: str) -> Command:
        """Return the command that estimates a model of ``text``."""
        temporary = self._runner.folders.work / "tmp"
        temporary.mkdir(exist_ok=True)
        options = ("-o", str(order), "-S", memory, "-T", f"{temporary}/", *more)
        files = ("--text", str(text), "--arpa", str(arpa))
        return Command(argv=(str(self._folder / "lmplz"), *options, *files))

    def build_binary(self, arpa: Path, binary: Path) -> Command:
        """Return the command that makes an ARPA file quick to query: hashed, KenLM's fastest."""
        program = str(self._folder / "build_binary")
        return Command(argv=(program, "probing", str(arpa), str(binary)))

    def query(self, binary: Path, text: Path) -> Command:
        """Return the command that scores ``text`` and sums up."""
        argv = (str(self._folder / "query"), "-v", "summary", str(binary))
        return Command(argv=argv, stdin=text)

    def python(self, script: str, *arguments: str | Path) -> Command:
        """Return the command of a script beside this file that can import the module kenlm."""
        return Command(argv=self._runner.python(script, *arguments), variables=self._variables())

    def has_module(self) -> bool:
        """Tell whether Python can import KenLM's module from the folder."""
        try:
            self._runner.run(sys.executable, "-c", "import kenlm", **self._variables())
        except CommandError:
            return False
        return True

    def _variables(self) -> dict[str, str]:
        paths = [str(self._folder), self._runner.environment.get("PYTHONPATH", "")]
        return {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def read_summary(outcome: Outcome) -> Reading:
    """Read what ``query -v summary`` wrote."""
    values = dict(re.findall(r"^([\w ]+):\s+(\S+)$", outcome.stdout, re.MULTILINE))
    tokens, perplexity = int(values["Tokens"]), float(values["Perplexity including OOVs"])
    return Reading(
        work=f"{tokens:,} tokens, {int(values['OOVs']):,} OOVs",
        remark=f"perplexity {perplexity:.4f}",
        rate=tokens / outcome.wall,
    )


def arpa_counts(arpa: Path) -> list[int]:
    """Return the numbers of n-grams that the head of an ARPA file states, by order."""
    counts = []
    with open(arpa, encoding="utf-8") as lines:
        for line in lines:
            if match := re.fullmatch(r"ngram \d+=(\d+)\s*", line):
                counts.append(int(match[1]))
            elif counts:
                break
    return counts
