"""R-01 and R-01b: Kneser-Ney's perplexities on the Brown corpus, and how sparse its n-grams are."""

import gzip
import sys
from pathlib import Path

from programs import run
from shared_data import shared

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "history" / "r01_brown.py"


def r01(data: Path) -> tuple[int, list[list[str]]]:
    """Run the script on the texts in ``data``; return its exit code and the rows of its table."""
    ended = run("--data", str(data), program=(sys.executable, str(SCRIPT)))
    assert not ended.stderr
    rows = [line.strip("| ").split(" | ") for line in ended.stdout.splitlines()]
    return ended.returncode, rows[2:]


def test_the_figures_are_those_of_the_literature() -> None:
    data = shared("data", "brown").parent
    code, rows = r01(data)
    assert [row[-1] for row in rows] == ["PASS"] * 9, rows
    assert code == 0
    perplexities = [float(row[1]) for row in rows[1:5]]
    assert perplexities == sorted(perplexities, reverse=True)  # order 2 > 3 > 4 > 5
    assert perplexities[1] / perplexities[3] <= 1.03  # a long context stops helping


def test_other_texts_miss(tmp_path: Path) -> None:
    brown = tmp_path / "brown"
    brown.mkdir()
    text = "the king is here\nthe queen is there\n" * 4
    (brown / "brown.train.txt.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("brown.valid.txt", "brown.test.txt"):
        (brown / name).write_text(text, encoding="utf-8")
    code, rows = r01(tmp_path)
    assert code == 1
    assert {row[0]: row[1] for row in rows}["vocabulary, <unk> counted"] == "7"
    assert [row[-1] for row in rows[-3:]] == ["MISS"] * 3  # nothing in the test text is new
