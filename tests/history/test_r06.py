"""R-06: the tree's time grows with the logarithm of the vocabulary, the full softmax's with it."""

import sys
from pathlib import Path

from programs import run

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "history" / "r06_hierarchical.py"


def test_a_small_run_has_the_table() -> None:
    """From 1,000 to 16,000 words; what a busy machine measures is no verdict on the tree."""
    ended = run("--sizes", "1000", "16000", "--rounds", "1", program=(sys.executable, str(SCRIPT)))
    header, _, *rows = [line.strip("| ").split(" | ") for line in ended.stdout.splitlines()]
    assert header[1:3] == ["V = 1,000", "V = 16,000"]
    assert [row[0] for row in rows] == [
        "hierarchical, Zipf", "hierarchical, words alike", "full softmax"
    ]  # fmt: skip
    for row in rows:
        ratio = float(row[3].split(",")[0])
        first, last = (float(figure.replace(",", "")) for figure in row[1:3])
        assert abs(ratio - last / first) < 0.05 + 0.05 * ratio
    assert [row[-1] for row in rows][-1] == "PASS"  # 16 times the work
    assert ended.returncode == int("MISS" in [row[-1] for row in rows])


def test_sizes_that_will_not_do() -> None:
    ended = run("--sizes", "1000", program=(sys.executable, str(SCRIPT)))
    assert ended.returncode == 2
    assert "give two sizes" in ended.stderr
