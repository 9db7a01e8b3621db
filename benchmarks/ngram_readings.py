"""What the runs of the n-gram benchmarks did, read from what they wrote."""

from __future__ import annotations

import json
from pathlib import Path

from measure import Outcome
from peers import arpa_counts
from results import Reading


def card_reading(model: Path, outcome: Outcome) -> Reading:
    """Read a model of lmkit: how many n-grams, how large."""
    card = json.loads((model / "card.json").read_text(encoding="utf-8"))
    size = sum(file.stat().st_size for file in model.iterdir())
    return Reading(work=_ngrams(card["config"]["counts"]), remark=_size(size))


def head_reading(arpa: Path, outcome: Outcome) -> Reading:
    """Read the head of an ARPA file."""
    return Reading(work=_ngrams(arpa_counts(arpa)), remark=_size(arpa.stat().st_size))


def binary_reading(arpa: Path, binary: Path, outcome: Outcome) -> Reading:
    """Read the head of the ARPA file that a binary was made from, and the binary's size."""
    return Reading(work=_ngrams(arpa_counts(arpa)), remark=_size(binary.stat().st_size))


def evaluation_reading(outcome: Outcome) -> Reading:
    """Read what ``lmkit eval --json`` wrote."""
    facts = json.loads(outcome.stdout)
    return Reading(
        work=f"{facts['tokens']:,} tokens, {facts['oov']:,} OOVs",
        remark=f"perplexity {facts['perplexity']:.4f}",
        rate=facts["tokens"] / outcome.wall,
    )


def sample_reading(samples: Path, outcome: Outcome) -> Reading:
    """Count what ``lmkit sample`` wrote; each line ends in a token of its own."""
    lines = words = 0
    with open(samples, "rb") as text:
        for line in text:
            lines += 1
            words += len(line.split())
    tokens = lines + words
    return Reading(work=f"{tokens:,} tokens, {lines:,} texts", rate=tokens / outcome.wall)


def inside_reading(counted: str, outcome: Outcome) -> Reading:
    """Read what ``ngram_inside.py`` wrote; the rate is of what ``counted`` names."""
    facts = json.loads(outcome.stdout)
    seconds = facts.pop("seconds")
    log10 = facts.pop("log10", None)
    return Reading(
        work=", ".join(f"{name} {value:,}" for name, value in facts.items()),
        remark="" if log10 is None else f"log10 probability {log10:,.1f}",
        seconds=seconds,
        rate=facts[counted] / seconds,
    )


def _ngrams(counts: list[int]) -> str:
    return f"{sum(counts):,} n-grams ({', '.join(f'{count:,}' for count in counts)})"


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB on disk"
