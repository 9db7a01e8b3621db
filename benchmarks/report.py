"""Writes what the benchmarks found: a page of Markdown, and every number in JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from measure import Command
from results import Result, Series

NOISY = 1.25
"""A series whose longest time is this many times its shortest is called noisy."""

Shown = Callable[[Command], str]


def markdown(
    title: str,
    facts: Mapping[str, str],
    results: Mapping[str, Result],
    failures: Mapping[str, str],
    shown: Shown,
) -> str:
    """Return the page.

    Args:
        title: its heading.
        facts: of machine and texts, by name.
        results: of each benchmark, by name.
        failures: why a benchmark could not be run, by name.
        shown: turns a command into text.
    """
    lines = [f"# {title}", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", "## Targets", ""]
    lines += ["| benchmark | what | target | measured | |", "|---|---|---|---|---|"]
    for name, result in results.items():
        for check in result.checks:
            row = (name, check.what, check.target, check.measured, check.verdict)
            lines.append(f"| {' | '.join(row)} |")
    for name, reason in failures.items():
        lines.append(f"| {name} | could not be run | | {_cell(reason)} | FAILED |")
    lines += ["", "## Where lmkit is behind", ""]
    behind = [item for result in results.values() for item in result.behind()]
    lines += [f"- {item}" for item in behind] or ["Nowhere in what was measured here."]
    for name, result in results.items():
        lines += ["", *_section(name, result, shown)]
    return "\n".join(lines) + "\n"


def _section(name: str, result: Result, shown: Shown) -> list[str]:
    lines = [f"## {name}: {result.title}", "", "```sh"]
    for series in result.series:
        lines.append(f"# {series.name}")
        lines += [shown(command) for command in series.commands]
    lines += ["```", ""]
    lines += ["| | s, median (least to most) | user + system s | peak MB | work | |"]
    lines += ["|---|---|---|---|---|---|"]
    lines += [_row(series) for series in result.series]
    notes = list(result.notes)
    if works := result.unequal():
        notes.append(f"The work was NOT equal: {'; '.join(works)}.")
    notes += [
        f"{series.name} is noisy: its longest run took {series.spread():.2f} times its shortest."
        for series in result.series
        if series.spread() >= NOISY
    ]
    if result.alike:
        notes += [
            f"{series.name} compiled kernels while it was timed."
            for series in result.series
            if series.compiled()
        ]
    if notes:
        lines += ["", *(f"- {note}" for note in notes)]
    return lines


def _row(series: Series) -> str:
    times = [run.seconds for run in series.runs]
    last = series.runs[-1].reading
    remarks = [last.remark] if last.remark else []
    if last.rate is not None:
        remarks.append(f"{series.rate():,.0f} a second")
    if last.seconds is not None:
        remarks.append("time inside the program")
    cells = (
        series.name,
        f"{series.seconds():.3f} ({min(times):.3f} to {max(times):.3f})",
        f"{series.processor():.2f}",
        f"{series.memory():,.0f}",
        last.work,
        ", ".join(remarks),
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def json_lines(
    facts: Mapping[str, str], results: Mapping[str, Result], failures: Mapping[str, str]
) -> str:
    """Return every run, one object a line, behind the facts of the machine."""
    objects: list[dict[str, object]] = [{"event": "machine", **facts}]
    for name, result in results.items():
        for series in result.series:
            objects += [_run(name, series, number) for number in range(len(series.runs))]
        objects += [
            {
                "event": "check",
                "benchmark": name,
                "what": check.what,
                "target": check.target,
                "measured": check.measured,
                "passed": check.passed,
            }
            for check in result.checks
        ]
    objects += [
        {"event": "failure", "benchmark": name, "reason": reason}
        for name, reason in failures.items()
    ]
    return "".join(json.dumps(one) + "\n" for one in objects)


def _run(name: str, series: Series, number: int) -> dict[str, object]:
    run = series.runs[number]
    return {
        "event": "run",
        "benchmark": name,
        "contender": series.name,
        "run": number + 1,
        "wall_s": round(run.outcome.wall, 4),
        "user_s": round(run.outcome.user, 4),
        "system_s": round(run.outcome.system, 4),
        "peak_bytes": run.outcome.memory,
        "inside_s": run.reading.seconds,
        "rate": run.reading.rate,
        "work": run.reading.work,
        "remark": run.reading.remark,
    }


def write(path: Path, page: str, lines: str) -> None:
    """Write the page to ``path`` and the lines beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    path.with_suffix(".jsonl").write_text(lines, encoding="utf-8")


def verdicts(results: Sequence[Result]) -> tuple[int, int]:
    """Return how many targets were met and how many missed."""
    passed = [check.passed for result in results for check in result.checks]
    return sum(passed), len(passed) - sum(passed)
