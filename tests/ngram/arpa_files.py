"""ARPA files for tests: made from dictionaries, read by a few plain lines of Python, and scored."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from lmkit.events import Listener
from lmkit.language_model import Ids
from lmkit.ngram.arpa import ArpaModel, read_arpa
from lmkit.ngram.model import NgramModel

Grams = dict[tuple[str, ...], tuple[float, float]]
"""log10 of probability and back-off of each n-gram."""

TOY: Grams = {
    ("<unk>",): (-2.0, 0.0),
    ("<s>",): (0.0, -0.25),
    ("</s>",): (-0.9, 0.0),
    ("a",): (-0.7, -0.5),
    ("b",): (-0.8, -0.125),
    ("<s>", "a"): (-0.4, -0.1),
    ("a", "b"): (-0.3, 0.2),
    ("a", "</s>"): (-0.6, 0.0),
    ("b", "a"): (-0.35, 0.0),
    ("<s>", "a", "b"): (-0.15, 0.0),
    ("a", "b", "a"): (-0.2, 0.0),
}


class Heard(Listener):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.phases: list[tuple[str, int | None]] = []
        self.advanced = 0

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        self.phases.append((name, total))

    def advance(self, amount: int) -> None:
        self.advanced += amount

    def note(self, message: str) -> None:
        self.notes.append(message)

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def arpa_text(grams: Mapping[tuple[str, ...], tuple[float, float]]) -> str:
    """Return the ARPA file of n-grams, in the order of the mapping."""
    order = max(map(len, grams))
    sections = [[gram for gram in grams if len(gram) == n] for n in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={len(s)}" for n, s in enumerate(sections, 1))]
    for n, section in enumerate(sections, 1):
        lines += ["", f"\\{n}-grams:"]
        for gram in section:
            logprob, backoff = grams[gram]
            fields = [repr(logprob), " ".join(gram), repr(backoff)]
            lines.append("\t".join(fields if n < order else fields[:2]))
    return "\n".join([*lines, "", "\\end\\", ""])


def parse_arpa(path: Path) -> Grams:
    """Return the n-grams of an orderly ARPA file."""
    opened = gzip.open if path.suffix == ".gz" else open
    found: Grams = {}
    with opened(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                backoff = float(fields[2]) if len(fields) > 2 else 0.0
                found[tuple(fields[1].split(" "))] = float(fields[0]), backoff
    return found


def model_of(arpa: ArpaModel) -> NgramModel:
    """Return what was read as a language model."""
    return NgramModel(arpa.records, arpa.tokenizer, arpa.mode, arpa.order, arpa.counts, {})


def read_text(tmp_path: Path, text: str | bytes, threads: int = 1) -> tuple[ArpaModel, Heard]:
    """Write a text to a file and read it as an ARPA file."""
    path = tmp_path / "m.arpa"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    heard = Heard()
    return read_arpa(path, threads=threads, listener=heard), heard


def grams_of(arpa: ArpaModel) -> Grams:
    """Return the n-grams of a model, walked down from its words."""
    words = [word.decode() for word in arpa.tokenizer.table.words()]
    records = arpa.records
    found: Grams = {}
    stack = [(state, (words[state],)) for state in range(arpa.counts[0])]
    for state, gram in stack:
        backoff = 0.0
        if state < records.num_inner:
            backoff = float(arpa.inner[state, 2:3].view(np.float32)[0]) / math.log(10)
            begin, end = records.row(state)
            children = records.words(begin, end).tolist()
            assert children == sorted(set(children))
            stack += [(begin + k, (*gram, words[w])) for k, w in enumerate(children)]
        logprob = float(records.logprobs(state, state + 1)[0]) / math.log(10)
        assert gram not in found
        found[gram] = logprob, backoff
    return found


def suffix_links(arpa: ArpaModel) -> Iterable[tuple[tuple[str, ...], tuple[str, ...] | None]]:
    """Yield each n-gram and the one its link leads to."""
    words = [word.decode() for word in arpa.tokenizer.table.words()]
    records = arpa.records
    stack = [(state, (words[state],)) for state in range(arpa.counts[0])]
    names = {}
    for state, gram in stack:
        names[state] = gram
        if state < records.num_inner:
            begin, end = records.row(state)
            children = records.words(begin, end).tolist()
            stack += [(begin + k, (*gram, words[w])) for k, w in enumerate(children)]
    for state, gram in names.items():
        yield gram, names.get(records.link(state))


def backed_off(grams: Grams, history: Sequence[str], word: str) -> float:
    """Return log10 p(word | history) by the definition of the format."""
    context = tuple(history)
    while True:
        if (*context, word) in grams:
            return grams[(*context, word)][0] + 0.0
        if not context:
            return grams[("<unk>",)][0]
        return grams.get(context, (0.0, 0.0))[1] + backed_off(grams, context[1:], word)


def score_words(grams: Grams, sentence: Sequence[str]) -> list[float]:
    """Return log10 p of each word of a sentence and of its end."""
    order = max(map(len, grams))
    known = [word if (word,) in grams else "<unk>" for word in sentence]
    stream = ["<s>", *known, "</s>"]
    begins = [max(0, t - order + 1) for t in range(len(stream))]
    return [backed_off(grams, stream[begins[t] : t], stream[t]) for t in range(1, len(stream))]


def encode(arpa: ArpaModel, sentence: Sequence[str]) -> Ids:
    """Return the ids of a sentence and of its end."""
    return np.append(arpa.tokenizer.encode(" ".join(sentence)), np.uint32(2)).astype(np.uint32)
