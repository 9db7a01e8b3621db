"""Makes the corpora that models are timed on from real text: tokenised, shuffled, always the same.

The folder of the texts holds brown/, ptb/, large_en/ and so on, see the lists below; c33.txt is all
there is. Texts that are tokenised already stay as they are, but for ``<unk>``, which becomes
``UNKNOWN``: not every peer can count it. The rest is split by :data:`TOKEN`. Blank lines are
dropped, all others shuffled with a fixed seed and dealt out:

    t.txt    the first lines, 500,000 tokens: held out
    t10.txt  t.txt ten times over, for queries long enough to be timed; t40.txt forty times
    c10.txt  the lines that follow, 10.1 million tokens
    c33.txt  all lines but those of t.txt

A line of t.txt that also stands elsewhere in the texts (short ones do) is in c33.txt too.

    python benchmarks/corpora.py --data DIR --work DIR        # prints the size of each as JSON
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 1
HELD_OUT_TOKENS = 500_000
SMALL_TOKENS = 10_100_000
REPEATED = {"t10": 10, "t40": 40}
"""The held-out text several times over."""
NAMES = ("t", "c10", "c33")

TOKEN = re.compile(r"\w+(?:[-']\w+)*|[^\w\s]")
"""A word, joined by hyphens and apostrophes, or one other character."""

TOKENISED = (
    "brown/brown.train.txt.gz",
    "brown/brown.valid.txt",
    "brown/brown.test.txt",
    "ptb/ptb.train.txt.gz",
    "ptb/ptb.valid.txt",
    "ptb/ptb.test.txt",
    "wikitext-2/wiki.valid.tokens",
    "wikitext-2/wiki.test.tokens",
)
RAW = (
    *(f"multi30k/train.{language}.gz" for language in ("en", "de", "fr")),
    *(f"multi30k/val.{language}" for language in ("en", "de", "fr")),
    *(f"multi30k/test_2016_flickr.{language}" for language in ("en", "de", "fr")),
    "large_en/wiki_en.txt.gz",
    "large_en/novels_en.txt.gz",
    "tinyshakespeare/input.txt",
)
COLUMNS = {
    "ag_news/ag_news.train.tsv.gz": ("text",),
    "ag_news/ag_news.dev.tsv": ("text",),
    "ag_news/ag_news.test.tsv": ("text",),
    "blimp/blimp.tsv.gz": ("good", "bad"),
    "sst2/sst2.train.tsv": ("sentence",),
    "sst2/sst2.dev.tsv": ("sentence",),
    "sst2/sst2.test.tsv": ("sentence",),
    "trec/trec.train.tsv": ("question",),
    "trec/trec.test.tsv": ("question",),
}
"""TAB-separated files, whose first line names the columns, and the columns that hold text."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A tokenised text on disk."""

    path: Path
    lines: int
    tokens: int
    bytes: int

    @property
    def name(self) -> str:
        """Its file's name, without the suffix."""
        return self.path.stem

    def __str__(self) -> str:
        """Say how large it is."""
        return f"{self.tokens:,} tokens, {self.lines:,} lines, {self.bytes / 1e6:.1f} MB"


def path_of(work: Path, name: str) -> Path:
    """Return where corpus ``name`` lies."""
    return work / f"{name}.txt"


def make(data: Path, work: Path) -> None:
    """Write the corpora to ``work`` from the texts in ``data``."""
    lines = [line for line in _texts(data) if line]
    random.Random(SEED).shuffle(lines)
    begin = _write(path_of(work, "t"), lines, 0, HELD_OUT_TOKENS)
    _write(path_of(work, "c10"), lines, begin, SMALL_TOKENS)
    _write(path_of(work, "c33"), lines, begin, None)


def _texts(data: Path) -> Iterator[str]:
    """Yield the lines of all texts, their tokens separated by single spaces."""
    for name in TOKENISED:
        for line in _lines(data / name):
            yield " ".join(line.split()).replace("<unk>", "UNKNOWN")
    for name in RAW:
        for line in _lines(data / name):
            yield " ".join(TOKEN.findall(line))
    for name, columns in COLUMNS.items():
        lines = _lines(data / name)
        header = next(lines).rstrip("\n").split("\t")
        places = [header.index(column) for column in columns]
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            for place in places:
                yield " ".join(TOKEN.findall(cells[place]))


def _lines(path: Path) -> Iterator[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as lines:
        yield from lines


def _write(path: Path, lines: list[str], begin: int, max_tokens: int | None) -> int:
    """Write lines from number ``begin`` on until there are ``max_tokens``; return the next one."""
    tokens = 0
    partial = path.with_suffix(".partial")
    with open(partial, "w", encoding="utf-8", newline="\n") as out:
        while begin < len(lines) and (max_tokens is None or tokens < max_tokens):
            out.write(lines[begin] + "\n")
            tokens += lines[begin].count(" ") + 1
            begin += 1
    partial.rename(path)
    return begin


def repeat(source: Path, target: Path, times: int) -> None:
    """Write ``source`` to ``target``, ``times`` times over, unless that has been done."""
    if target.exists() and target.stat().st_size == times * source.stat().st_size:
        return
    partial = target.with_suffix(".partial")
    with open(partial, "wb") as out:
        for _ in range(times):
            with open(source, "rb") as text:
                while piece := text.read(1 << 20):
                    out.write(piece)
    partial.rename(target)


def count(path: Path) -> Corpus:
    """Return the size of a corpus."""
    lines = tokens = size = 0
    with open(path, "rb") as text:
        for line in text:
            lines += 1
            tokens += len(line.split())
            size += len(line)
    return Corpus(path, lines, tokens, size)


def main() -> int:
    """Make the corpora that are not there yet and print the sizes of all."""
    parser = argparse.ArgumentParser(description="Make the corpora of the benchmarks.")
    parser.add_argument("--data", type=Path, help="the folder of the texts")
    parser.add_argument("--work", type=Path, required=True, help="where the corpora go")
    arguments = parser.parse_args()
    if not all(path_of(arguments.work, name).exists() for name in NAMES):
        if arguments.data is None:
            parser.error(f"{arguments.work} lacks corpora; say with --data what to make them from")
        arguments.work.mkdir(parents=True, exist_ok=True)
        make(arguments.data, arguments.work)
    for name, times in REPEATED.items():
        repeat(path_of(arguments.work, "t"), path_of(arguments.work, name), times)
    for name in (*NAMES, *REPEATED):
        corpus = count(path_of(arguments.work, name))
        facts = {"lines": corpus.lines, "tokens": corpus.tokens, "bytes": corpus.bytes}
        print(json.dumps({"name": name, **facts}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
