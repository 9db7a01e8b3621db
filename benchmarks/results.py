"""What was measured, what was promised, and whether the one keeps the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from measure import Command, Outcome

MEGABYTE = 1e6
COMPILING = "compiling kernels"
"""What lmkit says on stderr when it compiles."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What a run did, as its output tells."""

    work: str = ""
    """What was done; the same for all contenders, or they are not comparable."""
    remark: str = ""
    """What else the output says."""
    seconds: float | None = None
    """Time that the program took of itself; None: the time of the whole process counts."""
    rate: float | None = None
    """Things done a second, where that is what is asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One measured run."""

    outcome: Outcome
    reading: Reading

    @property
    def seconds(self) -> float:
        """The time that counts."""
        inside = self.reading.seconds
        return self.outcome.wall if inside is None else inside


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """All runs of one contender."""

    name: str
    commands: tuple[Command, ...]
    runs: list[Run] = field(default_factory=list)

    def seconds(self) -> float:
        """Return the median of the times."""
        return median(run.seconds for run in self.runs)

    def processor(self) -> float:
        """Return the median of user and system time together."""
        return median(run.outcome.user + run.outcome.system for run in self.runs)

    def memory(self) -> float:
        """Return the greatest memory of all runs, MB."""
        return max(run.outcome.memory for run in self.runs) / MEGABYTE

    def rate(self) -> float:
        """Return the median of the rates."""
        return median(run.reading.rate or 0.0 for run in self.runs)

    def compiled(self) -> bool:
        """Tell whether a run compiled kernels, which belongs before the clock starts."""
        return any(COMPILING in run.outcome.stderr for run in self.runs)

    def spread(self) -> float:
        """Return the longest time over the shortest."""
        times = [run.seconds for run in self.runs]
        return max(times) / min(times)


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A target and what came of it."""

    what: str
    target: str
    measured: str
    passed: bool

    @property
    def verdict(self) -> str:
        """PASS or MISS."""
        return "PASS" if self.passed else "MISS"


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A benchmark that was run."""

    title: str
    series: list[Series]
    checks: list[Check]
    notes: list[str] = field(default_factory=list)
    alike: bool = True
    """Whether the contenders do the same work, so that they can be compared."""
    ours: str = "lmkit"
    """How the names of our own contenders begin."""

    def unequal(self) -> list[str]:
        """Return the different works done, if they are more than one."""
        works = {run.reading.work for series in self.series for run in series.runs}
        return sorted(works) if self.alike and len(works) > 1 else []

    def behind(self) -> list[str]:
        """Return in which ways our best contender comes behind the best of the others."""
        ours = [series for series in self.series if series.name.startswith(self.ours)]
        theirs = [series for series in self.series if not series.name.startswith(self.ours)]
        if not self.alike or not ours or not theirs:
            return []
        measures: list[tuple[str, Callable[[Series], float]]] = [("time", Series.seconds)]
        if all(run.reading.seconds is None for series in self.series for run in series.runs):
            measures += [("processor time", Series.processor), ("memory", Series.memory)]
        found = []
        for what, value in measures:
            own, other = min(map(value, ours)), min(map(value, theirs))
            if own > other:
                found.append(f"{self.title}: {what}, {own / other:.2f} times as much")
        return found


def times_faster(ours: Series, theirs: Series, target: float) -> Check:
    """Check that ``ours`` is ``target`` times as fast as ``theirs``, by their medians."""
    ratio = theirs.seconds() / ours.seconds()
    paired = [b.seconds / a.seconds for a, b in zip(ours.runs, theirs.runs, strict=True)]
    return Check(
        what=f"{ours.name} against {theirs.name}",
        target=f">= {target:g} x as fast",
        measured=f"{ratio:.2f} x (pairs {min(paired):.2f} to {max(paired):.2f})",
        passed=ratio >= target,
    )


def at_most(what: str, value: float, target: float, unit: str) -> Check:
    """Check that ``value`` does not exceed ``target``."""
    return Check(
        what=what,
        target=f"<= {target:g} {unit}",
        measured=f"{_rounded(value)} {unit}",
        passed=value <= target,
    )


def at_least(what: str, value: float, target: float, unit: str) -> Check:
    """Check that ``value`` reaches ``target``."""
    return Check(
        what=what,
        target=f">= {target:,.0f} {unit}",
        measured=f"{_rounded(value)} {unit}",
        passed=value >= target,
    )


def find(series: Sequence[Series], name: str) -> Series:
    """Return the series called ``name``."""
    return next(one for one in series if one.name == name)


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
