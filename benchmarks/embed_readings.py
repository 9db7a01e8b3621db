"""What the runs of lmkit with word vectors did, and the comparison of training times."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from embed_peers import work_of
from measure import Outcome
from results import Check, Reading, Series


def card_reading(model: Path, outcome: Outcome) -> Reading:
    """Read the card of a model; the remark is the loss of the last epoch, if it is told."""
    card = json.loads((model / "card.json").read_text(encoding="utf-8"))
    losses = card.get("metrics", {}).get("losses") or re.findall(r"loss ([\d.]+)", outcome.stderr)
    return Reading(
        work=work_of(card["config"]["words"], card["config"]["size"]),
        remark=f"loss {float(losses[-1]):.4f}" if losses else "",
    )


def questions_reading(outcome: Outcome) -> Reading:
    """Read what ``lmkit embed eval --json`` wrote about one file of questions."""
    facts = json.loads(outcome.stdout)
    asked, correct = facts["questions"], facts["correct"]
    return Reading(work=f"{asked:,} questions, {correct:,} right", remark=f"{correct / asked:.2%}")


def encode_reading(outcome: Outcome) -> Reading:
    """Read what ``embed_inside.py encode`` wrote; the rate is of bytes."""
    facts = json.loads(outcome.stdout)
    return Reading(
        work=f"{facts['bytes']:,} bytes, {facts['tokens']:,} tokens",
        seconds=facts["seconds"],
        rate=facts["bytes"] / facts["seconds"],
    )


def lines_reading(outcome: Outcome) -> Reading:
    """Count the lines on standard output."""
    first = outcome.stdout.split("\n", 1)[0].replace("\t", " ")
    return Reading(remark=f"{outcome.stdout.count(chr(10))} lines, first: {first}")


def trains_faster(
    ours: tuple[Series, Series],
    theirs: tuple[Series, Series],
    target: float,
    *,
    measure: Callable[[Series], float] = Series.seconds,
    what: str = "training alone",
) -> Check:
    """Check how much faster training is: the time of a long run less that of a short one.

    What both runs do besides (starting, reading, writing) cancels, for every contender alike.

    Args:
        ours: a short run and one of more epochs.
        theirs: the same of the other contender.
        target: how many times as fast it should be.
        measure: the time that counts: wall clock, or processor.
        what: is put in front of the names.
    """
    own, other = (measure(long) - measure(short) for short, long in (ours, theirs))
    ratio = other / own if own > 0 else float("inf")
    names = [pair[0].name.partition(",")[0] for pair in (ours, theirs)]
    return Check(
        what=f"{what}: {names[0]} against {names[1]}",
        target=f">= {target:g} x as fast",
        measured=f"{ratio:.2f} x ({own:.2f} s against {other:.2f} s)",
        passed=ratio >= target,
    )
