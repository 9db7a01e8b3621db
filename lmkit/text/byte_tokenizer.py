"""Bytes as tokens: the vocabulary that never meets an unknown word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.language_model import SPECIALS, UNK, Ids, Mode
from lmkit.text.encoding import (
    Encoded,
    Normalizer,
    check_ids,
    close_lines,
    find_lines,
    fingerprint,
    split_sentences,
)
from lmkit.text.lines import Block

_FIRST = len(SPECIALS)


@dataclass(frozen=True, slots=True)
class ByteTokenizer:
    """Every byte of the UTF-8 text is a token: id = byte + 3.

    In document mode the newline is a token like any other; in sentence mode ``</s>`` stands in its
    place. Markers such as ``<s>`` in the text are plain text.
    """

    normalizer: Normalizer = field(default_factory=Normalizer)
    unit: str = "byte"

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary: 259."""
        return _FIRST + 256

    def encode(self, line: str) -> Ids:
        """Return the ids of the bytes of ``line``."""
        return np.frombuffer(self.normalizer(line).encode(), np.uint8).astype(np.uint32) + _FIRST

    def encode_block(self, block: Block, mode: Mode) -> Encoded:
        """Return the ids of all lines of ``block``."""
        block = self.normalizer.block(block)
        symbols, newlines = find_lines(block.data[: block.size])
        ids = symbols.astype(np.uint32)
        ids += _FIRST
        return close_lines(ids, newlines, mode)

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the text of ``ids``; U+FFFD for bytes that are not UTF-8 and for ``<unk>``."""
        check_ids(ids, self.num_tokens)
        return "\n".join(
            np.where(part == UNK, 0xFF, part - _FIRST)[(part == UNK) | (part >= _FIRST)]
            .astype(np.uint8)
            .tobytes()
            .decode("utf-8", "replace")
            for part in split_sentences(ids)
        )

    def token(self, index: int) -> str:
        """Return a byte as its visible ASCII character, or as <0x0A>."""
        check_ids([index], self.num_tokens)
        if index < _FIRST:
            return SPECIALS[index]
        byte = index - _FIRST
        return chr(byte) if 0x21 <= byte <= 0x7E else f"<0x{byte:02X}>"

    def spec(self) -> dict[str, Any]:
        """Return what a model card says about this tokenizer."""
        return {"unit": self.unit, **self.normalizer.spec()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store with a model: none."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return the files to store with a model: none."""
        return {}

    @classmethod
    def restore(cls, spec: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild a tokenizer from :meth:`spec` and :meth:`arrays`."""
        del arrays
        return cls(Normalizer.from_spec(spec))

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the settings."""
        return fingerprint(self.spec())
