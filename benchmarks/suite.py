"""What a suite of benchmarks offers to the program that runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from results import Result


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Benchmarks that share texts, models and peers."""

    benchmarks: dict[str, Callable[[], Result]]
    """By name, in the order in which they are run."""
    warm_up: Callable[[], None]
    """Compiles the kernels and fills the caches, once, before anything is timed."""
    facts: Callable[[], dict[str, str]]
    """What to know about texts and peers, by name."""
    tidy: Callable[[], None]
    """Removes what was made on the way."""

    def select(self, beginnings: Sequence[str]) -> list[str]:
        """Return the names that begin with one of ``beginnings``; all if there are none.

        Raises:
            ValueError: nothing begins like that.
        """
        for beginning in beginnings:
            if not any(name.startswith(beginning) for name in self.benchmarks):
                raise ValueError(f"no benchmark {beginning!r} in {', '.join(self.benchmarks)}")
        if not beginnings:
            return list(self.benchmarks)
        return [name for name in self.benchmarks if name.startswith(tuple(beginnings))]
