"""Fits n-gram models for tests and takes them apart again."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typer.testing import CliRunner

from lmkit.cli.app import app
from lmkit.language_model import BOS, EOS, Ids
from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate.result import Estimate
from lmkit.ngram.model import NgramModel
from lmkit.ngram.query.lookup import NONE
from lmkit.tasks.families import open_model
from lmkit.tasks.fit_ngram import FitNgramConfig, FittedNgram, fit_ngram
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import VocabularyConfig

Ended = CompletedProcess[str]
LETTERS = "abcdefghijkl"
Records = dict[int, tuple[NDArray[np.uint32], int]]
"""What a sink was given: by order the records and the state behind their last child."""


def random_lines(seed: int, lines: int, longest: int, words: Sequence[str] = LETTERS) -> list[str]:
    """Return lines of words with a Zipfian distribution, some of them blank."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, len(words) + 1)
    return [
        " ".join(rng.choice(list(words), size=rng.integers(0, longest), p=chances / chances.sum()))
        for _ in range(lines)
    ]


def settings(**given: Any) -> FitNgramConfig:
    """Return the settings of a fit, each by its own name, whichever part it belongs to."""

    def take(*names: str) -> dict[str, Any]:
        return {name: given.pop(name) for name in names if name in given}

    model = NgramConfig(**take("order", "prune", "mode", "fallback", "interpolate_unigrams"))
    vocabulary = VocabularyConfig(**take("min_count", "max_size", "words"))
    normalizer = Normalizer(**take("lower", "form"))
    return FitNgramConfig(model=model, vocabulary=vocabulary, normalizer=normalizer, **given)


def fit(out: Path, text: str | bytes | Sequence[Path], **given: Any) -> FittedNgram:
    """Fit a model to a text, or to files, and save it as the directory ``out``."""
    if isinstance(text, str | bytes):
        source = out.with_name(out.name + ".txt")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(text.encode() if isinstance(text, str) else text)
        text = [source]
    return fit_ngram([str(path) for path in text], out, settings(**given))


def fitted(out: Path, text: str | bytes | Sequence[Path], **given: Any) -> NgramModel:
    """Fit, save and open a model."""
    fit(out, text, **given)
    return opened(out)


def opened(path: Path) -> NgramModel:
    """Open an n-gram model."""
    model = open_model(path)
    assert isinstance(model, NgramModel)
    return model


def entries(model: NgramModel) -> dict[tuple[str, ...], tuple[float, float]]:
    """Return log10 of probability and back-off of every n-gram of a model, <s> left out."""
    records = model.records
    names = [model.tokenizer.token(index) for index in range(model.counts[0])]
    found: dict[tuple[str, ...], tuple[float, float]] = {}

    def walk(state: int, words: tuple[str, ...]) -> None:
        backoff = 0.0
        if state < records.num_inner:
            backoff = float(records.inner[state, 2:3].view(np.float32)[0])
            begin, end = records.row(state)
            for child in range(begin, end):
                walk(child, (*words, names[records.words(child, child + 1)[0]]))
        value = float(records.logprobs(state, state + 1)[0])
        found[words] = value / math.log(10), backoff / math.log(10)

    for index, name in enumerate(names):
        walk(index, (name,))
    del found["<s>",]
    return found


def matched_orders(model: NgramModel, ids: Ids) -> list[int]:
    """Return how many words the n-gram has with which each token is predicted."""
    records = model.records
    orders = []
    history: list[int] = [BOS] if model.mode == "sentence" else []
    for word in ids.tolist():
        for start in range(max(0, len(history) - model.order + 1), len(history) + 1):
            state = _record(records, [*history[start:], word])
            if state >= 0:
                orders.append(len(history) - start + 1)
                break
        history = [BOS] if word == EOS else [*history, word]
    return orders


def _record(records: Any, words: list[int]) -> int:
    state = words[0]
    for word in words[1:]:
        state = records.child(state, word)
        if state < 0:
            return -1
    return state


def captured(
    estimate: Callable[..., Estimate], ids: Ids, num_words: int, config: NgramConfig, threads: int
) -> tuple[Estimate, Records]:
    """Run an estimator; return what it returns and copies of what it hands to its sink."""
    records: Records = {}

    def sink(n: int, of_order: NDArray[np.uint32], end: int) -> Callable[[], None]:
        assert n not in records
        records[n] = of_order.copy(), end
        return lambda: None

    return estimate(ids, num_words, config, sink, threads=threads), records


def files_of(directory: Path) -> dict[str, bytes]:
    """Return the contents of every file of a directory."""
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def continued(model: NgramModel, context: Sequence[int]) -> int:
    """Return the state of a model that has read ``context``, from Python's own walk."""
    state = BOS if model.mode == "sentence" else NONE
    for word in context:
        state = model.records.advance(state, word, model.mode == "sentence")
    return state


def lmkit(*arguments: str, cwd: Path, code: int = 0, stdin: bytes = b"") -> Ended:
    """Run lmkit in this process, which is quicker than in one of its own.

    Args:
        arguments: what stands behind ``lmkit``.
        cwd: the folder to run in; its subfolder ``home`` is the home of the models.
        code: how the run should end.
        stdin: standard input.
    """
    variables = {"LMKIT_HOME": str(cwd / "home"), "NO_COLOR": "1", "COLUMNS": "80"}
    before = os.getcwd()
    os.chdir(cwd)
    try:
        done = CliRunner(env=variables).invoke(app, arguments, input=stdin)
    finally:
        os.chdir(before)
    assert done.exit_code == code, done.output
    return Ended(arguments, code, done.stdout, done.stderr)


def assert_one_line(done: Ended, *parts: str) -> None:
    """Check that a run said what is wrong in one line, and nothing else."""
    assert done.stdout == ""
    assert done.stderr.startswith("lmkit: error: ") and done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr


def names(directory: Path) -> list[str]:
    """Return the names of what lies in a directory, sorted."""
    return sorted(path.name for path in directory.iterdir())


def large_text(path: Path) -> Path:
    """Write a text that takes a second to fit, by the compiled kernels."""
    path.write_text("".join(f"w{k % 977} v{k % 1013} u{k % 31}\n" for k in range(60_000)))
    return path
