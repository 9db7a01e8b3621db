"""Small language models whose probabilities are known exactly, for tests of what uses models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import BOS, EOS, SPECIALS, UNK, Ids, LanguageModel, Logprobs, Mode
from lmkit.store.artifact import Artifact, ArtifactWriter
from lmkit.text.lines import Block, block_lines
from lmkit.text.tokenizers import Encoded
from lmkit.text.vocab import WordTokenizer


@dataclass
class ToyTokenizer:
    """Words between white space; ``<s>`` and ``</s>`` end sentences."""

    words: Sequence[str]
    unit: str = "word"

    def __post_init__(self) -> None:
        self.all = [*SPECIALS, *self.words]
        self.index = {word: i for i, word in enumerate(self.all)}

    @property
    def num_tokens(self) -> int:
        return len(self.all)

    def encode(self, line: str) -> Ids:
        ids: list[int] = []
        for word in line.split():
            index = self.index.get(word, UNK)
            if index not in (BOS, EOS):
                ids.append(index)
            elif ids and ids[-1] != EOS:
                ids.append(EOS)
        if ids and ids[-1] == EOS:
            ids.pop()
        return np.array(ids, dtype=np.uint32)

    def encode_block(self, block: Block, mode: Mode) -> Encoded:
        end = [EOS] if mode == "sentence" else []
        lines = [[*self.encode(line), *end] for line in block_lines(block)]
        sizes = np.array([len(line) for line in lines], dtype=np.int64)
        flat = [index for line in lines for index in line]
        return Encoded(np.array(flat, dtype=np.uint32), sizes)

    def decode(self, ids: Sequence[int] | Ids) -> str:
        words = [self.token(int(index)) for index in ids]
        if words and words[-1] == "</s>":
            words.pop()
        return " ".join("\n" if word == "</s>" else word for word in words)

    def token(self, index: int) -> str:
        return self.all[index]

    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.unit, self.all)).encode()).hexdigest()


class BigramTable(LanguageModel):
    """p(word | word before), given as a table [V, V]; the row of id 1 begins a text."""

    family: ClassVar[str] = "toy"

    def __init__(self, tokenizer: Any, table: NDArray[np.float64], mode: Mode = "sentence") -> None:
        self.tokenizer = tokenizer
        self.mode = mode
        self.table = table
        with np.errstate(divide="ignore"):
            self.log_table = np.log(table)
        assert np.allclose(table.sum(axis=1), 1.0)

    def logprobs(self, ids: Ids) -> Logprobs:
        return self.batch_logprobs(ids)

    def batch_logprobs(self, ids: Ids, threads: int = 1, *, context: Ids | None = None) -> Logprobs:
        before = BOS if context is None or not len(context) else int(context[-1])
        previous = np.concatenate([[before], ids[:-1]]).astype(np.int64)
        previous[previous == EOS] = BOS
        logprobs = self.log_table[previous[: len(ids)], ids]
        return logprobs if self.mode == "sentence" else np.where(ids == EOS, 0.0, logprobs)

    def next_logprobs(self, context: Ids) -> Logprobs:
        return self.next_from(context[-1:] if len(context) else self.start(1))[0]

    def start(self, batch: int) -> Any:
        return np.full(batch, BOS, dtype=np.uint32)

    def next_from(self, state: Any) -> Logprobs:
        return self.log_table[np.where(state == EOS, BOS, state)]

    def advance(self, state: Any, tokens: Ids) -> Any:
        return np.asarray(tokens)

    def reorder(self, state: Any, indices: NDArray[np.int64]) -> Any:
        return state[indices]

    def save(self, path: Path) -> None:
        with ArtifactWriter(path) as writer:
            with writer.add_tensors() as tensors:
                tensors.append("probabilities", self.table)
                for name, array in self.tokenizer.arrays().items():
                    tensors.append(name, array)
            tokenizer = {"spec": self.tokenizer.spec(), "fingerprint": ""}
            writer.describe(family="toy", config={"mode": self.mode}, tokenizer=tokenizer)

    @classmethod
    def open(cls, artifact: Artifact, open_model: Callable[[Path], LanguageModel]) -> Self:
        tokenizer = WordTokenizer.restore(artifact.tokenizer["spec"], artifact.arrays)
        return cls(tokenizer, artifact.array("probabilities"), artifact.config["mode"])


def word_tokenizer(words: Sequence[str]) -> WordTokenizer:
    """Return the tokenizer that models on disk have."""
    return WordTokenizer.from_words([word.encode() for word in words])


def uniform_model(words: Sequence[str], mode: Mode = "sentence") -> BigramTable:
    """Return the model that finds every token equally likely, whatever precedes it."""
    size = len(words) + len(SPECIALS)
    row = np.ones(size)
    row[BOS] = 0.0
    if mode == "document":
        row[EOS] = 0.0
    return BigramTable(ToyTokenizer(words), np.tile(row / row.sum(), (size, 1)), mode)


def random_bigram(
    words: Sequence[str], seed: int, mode: Mode = "sentence", *, on_disk: bool = False
) -> BigramTable:
    """Return a model with random probabilities; ``on_disk``: one that can be saved."""
    size = len(words) + len(SPECIALS)
    table = np.random.default_rng(seed).gamma(0.5, size=(size, size)) + 1e-3
    table[:, BOS] = 0.0
    if mode == "document":
        table[:, EOS] = 0.0
    tokenizer = word_tokenizer(words) if on_disk else ToyTokenizer(words)
    return BigramTable(tokenizer, table / table.sum(axis=1, keepdims=True), mode)
