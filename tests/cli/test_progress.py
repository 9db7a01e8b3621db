"""Progress: on stderr, in the form that suits the reader."""

import io
import json
import os
import pty
import select
import subprocess
import sys

import pytest
from programs import environment

from lmkit.cli.bars import BarProgress
from lmkit.cli.progress import JsonProgress, PlainProgress, clock, listener_for, quantity
from lmkit.events import Listener


class Clock:
    """A clock that moves when told."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def work(listener: Listener, time: Clock) -> None:
    listener.phase("counting", 4_000_000, "B")
    for _ in range(3):
        time.now += 6
        listener.advance(1_000_000)
    listener.note("five n-grams pruned")
    listener.warn("discounts of order 5 fell back")
    listener.phase("sorting")
    time.now += 1
    listener.advance(1)
    listener.finish()


def test_plain_lines() -> None:
    stream, time = io.StringIO(), Clock()
    work(PlainProgress(stream, every=10, clock=time), time)
    assert stream.getvalue() == (
        "lmkit: counting: 2 MB of 4 MB (50%), 167 kB/s, 12s left\n"
        "lmkit: five n-grams pruned\n"
        "lmkit: warning: discounts of order 5 fell back\n"
        "lmkit: counting: 3 MB in 18s\n"
    )


def test_quiet_shows_warnings_only() -> None:
    stream, time = io.StringIO(), Clock()
    listener = listener_for(True, "auto", stream)
    work(listener, time)
    assert stream.getvalue() == "lmkit: warning: discounts of order 5 fell back\n"


def test_json_lines() -> None:
    stream, time = io.StringIO(), Clock()
    work(JsonProgress(stream, every=10, clock=time), time)
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event["event"] for event in events] == [
        "phase",
        "progress",
        "note",
        "warning",
        "finish",
        "phase",
        "finish",
    ]
    assert events[1] == {
        "event": "progress",
        "phase": "counting",
        "done": 2_000_000,
        "total": 4_000_000,
        "unit": "B",
        "seconds": 12.0,
    }


def test_bars_without_a_terminal_leave_one_line_a_phase() -> None:
    stream, time = io.StringIO(), Clock()
    work(BarProgress(stream, clock=time), time)
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if line.startswith("lmkit")] == [
        "lmkit: five n-grams pruned",
        "lmkit: warning: discounts of order 5 fell back",
    ]
    assert "\x1b" not in stream.getvalue()


def test_choice() -> None:
    stream = io.StringIO()
    assert isinstance(listener_for(False, "auto", stream), PlainProgress)
    assert isinstance(listener_for(False, "json", stream), JsonProgress)
    assert isinstance(listener_for(False, "rich", stream), BarProgress)


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [
        (0, "lines", "0 lines"),
        (17, "lines", "17 lines"),
        (999, "", "999"),
        (1000, "", "1k"),
        (1_253_000, "tokens", "1.25M tokens"),
        (34_100_000, "B", "34.1 MB"),
        (0.25, "steps", "0.25 steps"),
        (999_999, "", "1000k"),
    ],
)
def test_quantity(amount: float, unit: str, text: str) -> None:
    assert quantity(amount, unit) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.84, "0.8s"), (42.4, "42s"), (59.7, "1m00s"), (185, "3m05s"), (7620, "2h07m")],
)
def test_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


WORK = """
import time
from lmkit.cli.progress import listening
with listening() as listener:
    listener.phase("counting", 100, "lines")
    for _ in range(4):
        time.sleep(0.1)
        listener.advance(25)
    listener.note("half way")
    print("result")
"""


def on_a_terminal(**variables: str) -> tuple[str, str]:
    """Run WORK with stderr on a terminal; return what stdout and stderr got."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", WORK],
        stdout=subprocess.PIPE,
        stderr=follower,
        env=environment(**variables),
    ) as process:
        os.close(follower)
        seen = b""
        while process.poll() is None or select.select([leader], [], [], 0)[0]:
            if not select.select([leader], [], [], 0.05)[0]:
                continue
            try:
                chunk = os.read(leader, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
        assert process.stdout is not None
        result = process.stdout.read().decode()
    os.close(leader)
    return result, seen.decode()


def test_terminal_gets_a_bar() -> None:
    result, seen = on_a_terminal(TERM="xterm")
    assert result == "result\n"
    assert "counting" in seen and "100 lines" in seen and "half way" in seen
    assert "\x1b[?25h" in seen, "the cursor is shown again"


def test_dumb_terminal_gets_plain_lines() -> None:
    result, seen = on_a_terminal(TERM="dumb")
    assert result == "result\n"
    assert seen == "lmkit: half way\r\n"
