"""Makes the texts that word vectors are trained on: Wikipedia, lower-cased, letters only.

From large_en/wiki_en.txt.gz: each line is lower-cased by Unicode's rules; a character that is
neither a letter nor a mark (general categories L and M) becomes a space; runs of spaces become one;
lines without a word are dropped. Nothing else is changed, and lines stay in order.

    w14.txt        all lines, 14.4 million words
    w4.txt         the first lines, 23.4 MB, 4 million words
    w14-1.txt ...  the lines of w14.txt, shuffled with that seed (--shuffled 1)

    python benchmarks/embed_corpora.py --data DIR --work DIR [--shuffled SEED]

prints the size of each as JSON.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from corpora import count, path_of

SOURCE = "large_en/wiki_en.txt.gz"
SMALL_BYTES = 23_400_000
NAMES = ("w14", "w4")


class _Letters(dict[int, str]):
    """Maps each character to itself if it is a letter or mark, else to a space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = character if unicodedata.category(character)[0] in "LM" else " "
        self[code] = kept
        return kept


def words_of(line: str, letters: _Letters) -> str:
    """Return the words of a line, lower-cased, with single spaces between them."""
    return " ".join(line.lower().translate(letters).split())


def make(data: Path, work: Path) -> None:
    """Write the texts that are not there to ``work`` from the text in ``data``."""
    letters = _Letters()
    with gzip.open(data / SOURCE, "rt", encoding="utf-8", newline="\n") as lines:
        _write(path_of(work, "w14"), filter(None, (words_of(line, letters) for line in lines)))
    with open(path_of(work, "w14"), encoding="utf-8", newline="\n") as lines:
        _write(path_of(work, "w4"), _first((line.rstrip("\n") for line in lines), SMALL_BYTES))


def shuffle(work: Path, seed: int) -> None:
    """Write the lines of w14.txt in another order, unless that has been done."""
    path = path_of(work, f"w14-{seed}")
    if not path.exists():
        with open(path_of(work, "w14"), encoding="utf-8", newline="\n") as lines:
            all_lines = [line.rstrip("\n") for line in lines]
        random.Random(seed).shuffle(all_lines)
        _write(path, iter(all_lines))


def _first(lines: Iterator[str], size: int) -> Iterator[str]:
    """Yield the first lines that together have at most ``size`` bytes."""
    for line in lines:
        size -= len(line.encode()) + 1
        if size < 0:
            return
        yield line


def _write(path: Path, lines: Iterator[str]) -> None:
    partial = path.with_suffix(".partial")
    with open(partial, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(f"{line}\n" for line in lines)
    partial.rename(path)


def main() -> int:
    """Make the texts that are not there yet and print the sizes of all."""
    parser = argparse.ArgumentParser(description="Make the texts of the benchmarks.")
    parser.add_argument("--data", type=Path, help="the folder of the texts")
    parser.add_argument("--work", type=Path, required=True, help="where the texts go")
    parser.add_argument("--shuffled", type=int, help="make w14 in the order of this seed instead")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    if not all(path_of(arguments.work, name).exists() for name in NAMES):
        if arguments.data is None:
            parser.error(f"{arguments.work} lacks texts; say with --data what to make them from")
        make(arguments.data, arguments.work)
    names: tuple[str, ...] = NAMES
    if arguments.shuffled is not None:
        shuffle(arguments.work, arguments.shuffled)
        names = (f"w14-{arguments.shuffled}",)
    for name in names:
        text = count(path_of(arguments.work, name))
        facts = {"lines": text.lines, "tokens": text.tokens, "bytes": text.bytes}
        print(json.dumps({"name": name, **facts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
