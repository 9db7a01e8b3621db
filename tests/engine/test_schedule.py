"""Schedules against their formulas' numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shared_data import shared

from lmkit.engine.schedule import ScheduleConfig, rate_factor
from lmkit.errors import UserError


def golden(name: str) -> Any:
    return json.loads(shared("golden", "lm", "schedules.json").read_text("utf-8"))[name]


def test_cosine() -> None:
    case = golden("cosine")
    floor = case["min_lr"] / case["lr"]
    config = ScheduleConfig(kind="cosine", warmup=case["warmup"], steps=case["decay"], floor=floor)
    for step, rate in case["values"].items():
        assert case["lr"] * rate_factor(config, int(step)) == pytest.approx(rate, rel=1e-9)


def test_wsd() -> None:
    case = golden("wsd")
    config = ScheduleConfig(
        kind="wsd", steps=case["steps"], warmup=case["warmup"],
        cooldown=case["cooldown"] / case["steps"],
    )  # fmt: skip
    for step, factor in case["values"].items():
        assert rate_factor(config, int(step)) == pytest.approx(factor, rel=1e-9)


def test_noam() -> None:
    case = golden("noam")
    config = ScheduleConfig(kind="noam", warmup=case["warmup"])
    peak = (case["d"] * case["warmup"]) ** -0.5
    for step, rate in case["values"].items():  # the paper counts steps from 1
        assert peak * rate_factor(config, int(step) - 1) == pytest.approx(rate, rel=1e-9)


def test_linear_and_constant() -> None:
    linear = ScheduleConfig(kind="linear", steps=10, floor=0.2)
    assert [rate_factor(linear, step) for step in (0, 5, 10)] == pytest.approx([1.0, 0.6, 0.2])
    constant = ScheduleConfig(kind="constant", steps=10, warmup=4)
    assert [rate_factor(constant, step) for step in (0, 3, 9)] == [0.25, 1.0, 1.0]


def test_a_plateau_shrinks_the_rate() -> None:
    config = ScheduleConfig(kind="plateau", patience=2, shrink=0.5)
    assert rate_factor(config, 5, [3.0, 2.0, 2.5]) == 1.0
    assert rate_factor(config, 5, [3.0, 2.0, 2.5, 2.1]) == 0.5
    assert rate_factor(config, 5, [3.0, 2.0, 2.5, 2.1, 2.2, 2.3]) == 0.25


def test_lengths_are_checked() -> None:
    with pytest.raises(UserError):
        ScheduleConfig(steps=0)
    with pytest.raises(UserError):
        ScheduleConfig(cooldown=1.5)
