"""Gives each line of a text its log probability: the work behind ``lmkit score``.

A line is scored on its own, from the start context: in sentence mode as ``<s> line </s>`` (a
blank line is the empty sentence), in document mode as the beginning of a document (a blank line
has no tokens, log probability 0.0). A line may have TAB-separated columns, one of which is the
text. Lines are scored one by one, as they arrive, or in large blocks, which is fastest; the
numbers are the same, bit for bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import TextError, UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS, UNK, Errors, Ids, LanguageModel, Logprobs
from lmkit.tasks.encoding import ARRIVING_SIZE, BLOCK_SIZE, ahead, encode_block
from lmkit.text.encoding import Encoded
from lmkit.text.lines import Block, block_lines, block_of, read_blocks, total_size

_SEPARATORS = re.compile("[ \t\r\n\0]+")
_GROUP = 1 << 12
"""Sentences encoded and scored at a time."""
_TAB = 9

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreConfig:
    """How lines are read and scored."""

    column: int | None = None
    """Which TAB-separated column is the text; 0: the whole line; None: the first, said once."""
    streaming: bool = False
    """Score lines as they arrive, before the next are read, instead of filling blocks."""
    threads: int = 1
    """Threads of the model."""
    errors: Errors = "strict"
    """What to do with bytes that are not UTF-8: stop, or replace them."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.column is not None and self.column < 0:
            raise UserError(f"--column {self.column} is below 0")


@dataclass(frozen=True, slots=True)
class TokenScore:
    """One token of a scored line."""

    token: str
    """The token in printable form; one that is not in the vocabulary as the text spells it."""
    logprob: float
    """Natural log of its probability given what precedes it."""
    oov: bool
    """Whether it is not in the vocabulary."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One scored line."""

    logprob: float
    """Natural log of the probability of the text; the sum over its tokens."""
    tokens: int
    """Predicted tokens, ``</s>`` included."""
    oov: int
    """Tokens that are not in the vocabulary."""
    text: str
    """The text that was scored."""
    line: str
    """The whole line as it was read: all columns."""


@dataclass(frozen=True, slots=True)
class ScoredLines:
    """Consecutive scored lines: L lines of T tokens together."""

    lines: list[str]
    """[L] lines as they were read, without their ends."""
    texts: list[str]
    """[L] the column of each that was scored."""
    ids: Ids
    """[T] their tokens, each line closed by id 2."""
    token_logprobs: Logprobs
    """[T]"""
    sizes: NDArray[np.int64]
    """[L] entries of ``ids`` that belong to each line."""
    logprobs: Logprobs
    """[L] sums of ``token_logprobs``."""
    tokens: NDArray[np.int64]
    """[L] predicted tokens."""
    oov: NDArray[np.int64]
    """[L] tokens that are not in the vocabulary."""

    def __iter__(self) -> Iterator[Scored]:
        """Yield the lines one by one."""
        columns = (self.logprobs.tolist(), self.tokens.tolist(), self.oov.tolist())
        return map(Scored, *columns, self.texts, self.lines)

    def token_scores(self, model: LanguageModel) -> Iterator[list[TokenScore]]:
        """Yield the predicted tokens of each line, ``model`` being the one that scored them."""
        names: dict[int, str] = {}
        ends = np.cumsum(self.sizes).tolist()
        starts = [0, *ends[:-1]]
        for text, start, end in zip(self.texts, starts, ends, strict=True):
            ids = self.ids[start:end].tolist()
            logprobs = self.token_logprobs[start:end].tolist()
            written = iter(_written_tokens(model.tokenizer.unit, text, ids))
            scores = []
            for index, logprob in zip(ids, logprobs, strict=True):
                spelling = "" if index == EOS else next(written, "")
                if index == EOS and model.mode == "document":
                    continue
                if index not in names:
                    names[index] = model.tokenizer.token(index)
                known = index != UNK or not spelling.isprintable()
                name = names[index] if known or not spelling else spelling
                scores.append(TokenScore(name, logprob, index == UNK))
            yield scores


def score(
    model: LanguageModel,
    sources: Sequence[str | Path],
    config: ScoreConfig | None = None,
    listener: Listener = SILENT,
) -> Iterator[ScoredLines]:
    """Score all lines of ``sources`` in order; streaming, those that are there at once.

    Raises:
        TextError: a source cannot be read, or a line lacks the column of the text.
    """
    config = config or ScoreConfig()
    listener.phase("scoring", total_size(sources), "B")
    blocks = read_blocks(
        sources,
        errors=config.errors,
        block_size=ARRIVING_SIZE if config.streaming else BLOCK_SIZE,
        at_once=config.streaming,
        listener=listener,
    )

    column = 1 if config.column is None else config.column
    said = config.column is not None

    def encode(block: Block) -> tuple[_Text, Encoded]:
        nonlocal said
        if not said and np.any(block.data[: block.size] == _TAB):
            said = True
            listener.note("lines have TABs: the first column is scored; --column chooses another")
        text, chosen = _choose_column(block, column)
        return text, encode_block(model, chosen, "sentence")

    workers = 1 if config.streaming else config.threads
    for _, (text, encoded) in ahead(blocks, encode, workers):
        logprobs = model.batch_logprobs(encoded.ids, config.threads)
        yield _summed(model, text, encoded.ids, encoded.line_sizes, logprobs)
    listener.finish()


def score_lines(
    model: LanguageModel, lines: Iterable[str], column: int = 1
) -> Iterator[ScoredLines]:
    """Score ``lines`` one by one, each as soon as it comes."""
    end = np.array([EOS], dtype=np.uint32)
    for number, line in enumerate(lines, start=1):
        text = _column(line, column, f"line {number}")
        ids = np.concatenate([model.tokenizer.encode(text), end])
        sizes = np.array([len(ids)], dtype=np.int64)
        yield _summed(model, _Text([line], [text]), ids, sizes, model.logprobs(ids))


def sentence_logprobs(model: LanguageModel, sentences: Sequence[str], threads: int = 1) -> Logprobs:
    """Return the natural log probability of each sentence [N], ``</s>`` included.

    An inner line end is taken as a space.
    """
    parts = [sentences[i : i + _GROUP] for i in range(0, len(sentences), _GROUP)]

    def score_part(part: Sequence[str]) -> Logprobs:
        joined = "\n".join(part)
        if joined.count("\n") >= len(part) or "\r\n" in joined or joined.endswith("\r"):
            joined = "\n".join(_one_line(sentence) for sentence in part)
        encoded = encode_block(model, block_of(joined + "\n"), "sentence")
        return sum_segments(model.batch_logprobs(encoded.ids), encoded.line_sizes)

    scored = [logprobs for _, logprobs in ahead(parts, score_part, threads)]
    return np.concatenate(scored) if scored else np.empty(0, dtype=np.float64)


def _one_line(sentence: str) -> str:
    """Return a sentence without line ends; one \r at its end stays, as text."""
    sentence = sentence.replace("\n", " ")
    return sentence + "\r" if sentence.endswith("\r") else sentence


@dataclass(frozen=True, slots=True)
class _Text:
    lines: list[str]
    texts: list[str]


def _choose_column(block: Block, column: int) -> tuple[_Text, Block]:
    """Return the lines of ``block`` and a block of their columns that hold the text."""
    lines = block_lines(block)
    if column == 0 or (column == 1 and not np.any(block.data[: block.size] == _TAB)):
        return _Text(lines, lines), block
    texts = [
        _column(line, column, f"{block.source}:{number}")
        for number, line in enumerate(lines, start=block.line)
    ]
    ends = ["\r\n" if text.endswith("\r") else "\n" for text in texts]  # its own \r stays
    joined = "".join(map(str.__add__, texts, ends))
    return _Text(lines, texts), block_of(joined, block.source, block.line)


def _column(line: str, column: int, place: str) -> str:
    if column == 0:
        return line
    columns = line.split("\t", column)
    if len(columns) < column:
        what = f"{place}: {len(columns)} TAB-separated columns, the text should be number {column}"
        raise TextError(what, "Choose it with --column; 0 takes the whole line")
    return columns[column - 1]


def _summed(
    model: LanguageModel, text: _Text, ids: Ids, sizes: NDArray[np.int64], logprobs: Logprobs
) -> ScoredLines:
    tokens = sizes
    if model.mode == "document":
        tokens = sizes - sum_segments((ids == EOS).astype(np.int64), sizes)
    oov = sum_segments((ids == UNK).astype(np.int64), sizes)
    sums = sum_segments(logprobs, sizes)
    return ScoredLines(text.lines, text.texts, ids, logprobs, sizes, sums, tokens, oov)


def sum_segments(values: NDArray[Number], sizes: NDArray[np.int64]) -> NDArray[Number]:
    """Return the sums of consecutive stretches of ``values`` [T], ``sizes`` [L] long each.

    A stretch has the same sum wherever it stands, bit for bit.
    """
    sums = np.zeros(len(sizes), dtype=values.dtype)
    filled = sizes > 0
    starts = (np.cumsum(sizes) - sizes)[filled]
    if len(starts):
        sums[filled] = np.add.reduceat(values, starts)
    return sums


def _written_tokens(unit: str, text: str, ids: list[int]) -> Sequence[str]:
    """Return the tokens of ``text`` as it spells them, if they are one for one those of ``ids``."""
    if unit == "word":
        words = [word for word in _SEPARATORS.split(text) if word not in ("", "<s>", "</s>")]
    elif unit == "char":
        words = list(text)
    else:
        return ()
    return words if len(words) == sum(index != EOS for index in ids) else ()
