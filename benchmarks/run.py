"""Runs a suite of benchmarks against its peers and writes what it found.

    python benchmarks/run.py ngram --peers DIR --data DIR [--only fit,query] [--runs 3] [--out FILE]
    python benchmarks/run.py embed --peers DIR --peer-python PYTHON --data DIR ...

A suite is a file beside this one with ``suite(runner) -> Suite``. Progress goes to stderr, the
table of targets to stdout. Exit code 0: every target met; 1: one missed, or a benchmark failed.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import sys
from pathlib import Path

import machine
import measure
import report
from measure import CommandError
from results import Result
from runner import Folders, Runner
from suite import Suite

SUITES = ("ngram", "embed")
RESULTS = Path(__file__).with_name("results")


def main() -> int:
    """Run what was asked for."""
    parser = _parser()
    arguments = parser.parse_args()
    work: Path = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    data = arguments.data.resolve() if arguments.data else None
    python = arguments.peer_python.absolute() if arguments.peer_python else None
    folders = Folders(peers=arguments.peers.resolve(), data=data, work=work, python=python)
    runner = Runner(folders, arguments.runs)
    module = importlib.import_module(arguments.suite)
    try:
        suite: Suite = module.suite(runner)
        names = suite.select(arguments.only.split(",") if arguments.only else [])
    except (CommandError, ValueError) as error:
        parser.error(str(error))
    facts = {**machine.describe(runner.environment), "load before": f"{machine.load():.2f}"}
    results, failures = _run(suite, names, runner)
    facts["load after"] = f"{machine.load():.2f}"
    facts |= suite.facts()
    facts["environment"] = (
        f"without {', '.join(measure.UNSET)}; LMKIT_HOME and NUMBA_CACHE_DIR in $WORK"
    )
    today = datetime.date.today().isoformat()
    page = report.markdown(
        f"{arguments.suite}: benchmarks of {today}", facts, results, failures, runner.shown
    )
    out = arguments.out or _unused(RESULTS / f"{today}-{arguments.suite}.md")
    report.write(out, page, report.json_lines(facts, results, failures))
    print(page.partition("## Targets")[2].partition("## Where")[0].strip())
    passed, missed = report.verdicts(list(results.values()))
    _say(f"{passed} targets met, {missed} missed, {len(failures)} benchmarks failed; see {out}")
    return 1 if missed or failures else 0


def _run(
    suite: Suite, names: list[str], runner: Runner
) -> tuple[dict[str, Result], dict[str, str]]:
    """Run the benchmarks called ``names``; return their results and why others have none."""
    results: dict[str, Result] = {}
    failures: dict[str, str] = {}
    _say("warming up")
    suite.warm_up()
    for name in names:
        _say(f"{name} (load {machine.load():.2f})")
        try:
            results[name] = suite.benchmarks[name]()
        except CommandError as error:
            failures[name] = runner.folders.shown(str(error))
            _say(f"    failed: {failures[name]}")
            continue
        for check in results[name].checks:
            _say(f"    {check.verdict} {check.what}: {check.measured}, target {check.target}")
    suite.tidy()
    return results, failures


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run benchmarks.")
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--peers", type=Path, required=True, help="folder of the peers' programs")
    parser.add_argument("--peer-python", type=Path, help="a Python that has the peers' modules")
    parser.add_argument("--data", type=Path, help="folder of the texts to make corpora from")
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("build/benchmarks"),
        help="folder for corpora and models, several GB; corpora found there are used",
    )
    parser.add_argument("--only", help="benchmarks to run, such as fit,query (beginnings of names)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each contender")
    parser.add_argument("--out", type=Path, help="the page to write; a .jsonl goes beside it")
    return parser


def _unused(path: Path) -> Path:
    """Return ``path``, or one with a number behind it where that exists: no result is lost."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_stem(f"{path.stem}-{number}")
    return candidate


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
