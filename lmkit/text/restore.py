"""Tokenizers as part of a model: what is stored and how any of them comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from lmkit.errors import ModelError
from lmkit.language_model import Ids, Mode
from lmkit.text.encoding import Encoded
from lmkit.text.lines import Block


class StoredTokenizer(Protocol):
    """A tokenizer with all that models need of it."""

    @property
    def unit(self) -> str:
        """``"word"``, ``"char"``, ``"byte"`` or ``"sentencepiece"``."""

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary, the three specials included."""

    def encode(self, line: str) -> Ids:
        """Return the ids of one line."""

    def encode_block(self, block: Block, mode: Mode) -> Encoded:
        """Return the ids of the lines of a block."""

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the text of ``ids``."""

    def token(self, index: int) -> str:
        """Return token ``index`` in printable form."""

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of everything that decides the ids."""

    def spec(self) -> dict[str, Any]:
        """Return what a model card says about the tokenizer."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store with a model."""

    def files(self) -> dict[str, bytes]:
        """Return the files to store with a model."""


def restore_tokenizer(
    spec: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], directory: Path
) -> StoredTokenizer:
    """Rebuild a tokenizer from its spec, the arrays of the model and the model's directory."""
    unit = spec.get("unit")
    if unit == "word":
        from lmkit.text.vocab import WordTokenizer

        return WordTokenizer.restore(spec, arrays)
    if unit == "char":
        from lmkit.text.char_tokenizer import CharTokenizer

        return CharTokenizer.restore(spec, arrays)
    if unit == "byte":
        from lmkit.text.byte_tokenizer import ByteTokenizer

        return ByteTokenizer.restore(spec, arrays)
    if unit == "sentencepiece":
        from lmkit.text.sentencepiece_tokenizer import SentencePieceTokenizer

        return SentencePieceTokenizer.restore(spec, directory)
    raise ModelError(f"{directory} is damaged: it has no tokenizer of unit {unit!r}")
