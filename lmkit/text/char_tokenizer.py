"""Characters (Unicode code points) as tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import ModelError
from lmkit.language_model import SPECIALS, UNK, Ids, Mode
from lmkit.text.encoding import (
    NEWLINE,
    Encoded,
    Normalizer,
    check_ids,
    close_lines,
    find_lines,
    fingerprint,
    printable,
    split_sentences,
)
from lmkit.text.lines import Block
from lmkit.text.utf8 import REPLACEMENT

_FIRST = len(SPECIALS)
_NUM_CODEPOINTS = 0x110000
# Small enough that a piece, its indices and its ids stay in the cache.
_PIECE = 1 << 14

Codepoints = NDArray[np.uint32]


@dataclass(slots=True)
class CharTokenizer:
    """Every character seen in training is a token, the others are ``<unk>``.

    In document mode the newline is a character; in sentence mode ``</s>`` stands in its place.
    Markers such as ``<s>`` in the text are plain text.

    Attributes:
        codepoints: uint32 [V - 3]; ``codepoints[i]`` is the character of id i + 3.
        normalizer: what is done to the text first.
    """

    codepoints: Codepoints = field(repr=False)
    normalizer: Normalizer = field(default_factory=Normalizer)
    unit: str = "char"
    _ids: Ids = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Build the array from code points to ids; untouched pages of it take no memory."""
        if self.codepoints.size and (
            self.codepoints.max() >= _NUM_CODEPOINTS
            or len(np.unique(self.codepoints)) < len(self.codepoints)
        ):
            raise ModelError("the characters of the tokenizer are damaged", "Fit the model again")
        self._ids = np.zeros(_NUM_CODEPOINTS, dtype=np.uint32)
        self._ids[self.codepoints] = np.arange(_FIRST, self.num_tokens, dtype=np.uint32)

    @classmethod
    def fit(
        cls,
        blocks: Iterable[Block],
        mode: Mode,
        *,
        normalizer: Normalizer | None = None,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Self:
        """Collect the characters of ``blocks``, the most frequent first, then by code point.

        Args:
            blocks: the training text.
            mode: in document mode the newline is one of the characters.
            normalizer: what is done to the text first.
            min_count: leave out characters seen fewer times.
            max_size: keep no more than this many characters.
        """
        normalizer = normalizer or Normalizer()
        counts = np.zeros(_NUM_CODEPOINTS, dtype=np.int64)
        for block in blocks:
            symbols, newlines = find_lines(_codepoints(normalizer.block(block)))
            seen = np.bincount(symbols)
            counts[: len(seen)] += seen
            if mode == "sentence":
                counts[NEWLINE] -= len(newlines)
        (kept,) = np.nonzero(counts >= max(1, min_count))
        order = np.argsort(-counts[kept], kind="stable")
        return cls(kept[order][:max_size].astype(np.uint32), normalizer)

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary, the three specials included."""
        return _FIRST + len(self.codepoints)

    def encode(self, line: str) -> Ids:
        """Return the ids of the characters of ``line``."""
        return self._ids[_decoded(self.normalizer(line))]

    def encode_block(self, block: Block, mode: Mode) -> Encoded:
        """Return the ids of all lines of ``block``."""
        symbols, newlines = find_lines(_codepoints(self.normalizer.block(block)))
        ids = np.empty(len(symbols), dtype=np.uint32)
        for start in range(0, len(symbols), _PIECE):
            piece = slice(start, start + _PIECE)
            ids[piece] = self._ids[symbols[piece]]
        return close_lines(ids, newlines, mode)

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the text of ``ids``, with U+FFFD for ``<unk>``."""
        check_ids(ids, self.num_tokens)
        unknown = np.full(_FIRST, ord(REPLACEMENT), dtype=np.uint32)
        characters = np.concatenate([unknown, self.codepoints])
        return "\n".join(
            characters[part[(part == UNK) | (part >= _FIRST)]].tobytes().decode("utf-32-le")
            for part in split_sentences(ids)
        )

    def token(self, index: int) -> str:
        """Return a character as itself, or as <U+0020> where it is not visible."""
        check_ids([index], self.num_tokens)
        if index < _FIRST:
            return SPECIALS[index]
        return printable(int(self.codepoints[index - _FIRST]))

    def spec(self) -> dict[str, Any]:
        """Return what a model card says about this tokenizer."""
        return {"unit": self.unit, **self.normalizer.spec()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store with a model."""
        return {"codepoints": self.codepoints}

    def files(self) -> dict[str, bytes]:
        """Return the files to store with a model: none."""
        return {}

    @classmethod
    def restore(cls, spec: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a tokenizer from :meth:`spec` and :meth:`arrays`.

        Raises:
            ModelError: the array of characters is missing or damaged.
        """
        if "codepoints" not in arrays:
            raise ModelError("the characters of the tokenizer are missing", "Fit the model again")
        return cls(np.array(arrays["codepoints"], dtype=np.uint32), Normalizer.from_spec(spec))

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the characters and settings."""
        return fingerprint(self.spec(), self.codepoints.astype("<u4").tobytes())


def _decoded(text: str) -> Codepoints:
    return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")


def _codepoints(block: Block) -> NDArray[Any]:
    """Return the code points of ``block``: its bytes themselves where it is ASCII."""
    data = block.data[: block.size]
    return data if not data.size or data.max() < 0x80 else _decoded(block.text())
