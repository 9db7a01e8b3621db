"""Subwords of the sentencepiece library (unigram and BPE), trained here or given as a file.

Kudo 2018 (unigram), Sennrich et al. 2016 (BPE), Kudo and Richardson 2018 (the library). The
library is loaded only when a tokenizer of this kind is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import ModelError
from lmkit.language_model import BOS, EOS, SPECIALS, UNK, Ids, Mode
from lmkit.text.encoding import (
    Encoded,
    Normalizer,
    check_ids,
    fingerprint,
    printable,
    split_sentences,
)
from lmkit.text.lines import Block, block_lines

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

FILE_NAME = "tokenizer.model"

_FIRST = len(SPECIALS)
_SPACE = "\u2581"
# The library takes some 50 bytes of memory for each character of a line.
_LONGEST = 1 << 20


@dataclass(slots=True)
class SentencePieceTokenizer:
    """The pieces of a sentencepiece model, renumbered: 0, 1, 2 are ours, then its pieces in order.

    Pieces that text never yields (control symbols, unused pieces) get no id. Lines are encoded
    one by one; in document mode a line end is what stands before the first piece of a line: a
    space. Markers such as ``<s>`` in the text are plain text.

    Attributes:
        model: the bytes of the .model file.
        normalizer: what is done to the text before the library's own normalization.

    Raises:
        ModelError: ``model`` is not a sentencepiece model.
    """

    model: bytes = field(repr=False)
    normalizer: Normalizer = field(default_factory=Normalizer)
    unit: str = "sentencepiece"
    _processor: SentencePieceProcessor = field(init=False, repr=False)
    _to_ours: NDArray[np.uint32] = field(init=False, repr=False)
    _to_theirs: NDArray[np.int64] = field(init=False, repr=False)
    _splits_at_spaces: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Load the model and number its pieces."""
        self._processor = processor = _load(self.model)
        size = processor.piece_size()
        kept = [
            i
            for i in range(size)
            if not (processor.is_control(i) or processor.is_unknown(i) or processor.is_unused(i))
        ]
        self._to_theirs = np.array([processor.unk_id(), -1, -1, *kept], dtype=np.int64)
        self._to_ours = np.full(size, UNK, dtype=np.uint32)
        self._to_ours[kept] = np.arange(_FIRST, _FIRST + len(kept), dtype=np.uint32)
        words_begin_pieces = all(
            _SPACE not in processor.id_to_piece(i).lstrip(_SPACE) for i in kept
        )
        starts = processor.encode("a", out_type=str)[0].startswith(_SPACE)
        self._splits_at_spaces = words_begin_pieces and starts

    @classmethod
    def from_file(cls, path: str | Path, normalizer: Normalizer | None = None) -> Self:
        """Open a .model file.

        Raises:
            ModelError: the file cannot be read, or is not a sentencepiece model.
        """
        try:
            model = Path(path).read_bytes()
        except OSError as error:
            raise ModelError(f"{path}: {error.strerror or error}", "Check the path") from None
        try:
            return cls(model, normalizer or Normalizer())
        except ModelError as error:
            raise ModelError(f"{path}: {error.what}", error.hint) from None

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary, the three specials included."""
        return len(self._to_theirs)

    def encode(self, line: str) -> Ids:
        """Return the ids of the pieces of ``line``."""
        return self._encode_lines([self.normalizer(line)], threads=1)[0]

    def encode_block(self, block: Block, mode: Mode, threads: int = 1) -> Encoded:
        """Return the ids of all lines of ``block``; the result does not depend on ``threads``."""
        ids, sizes = self._encode_lines(block_lines(self.normalizer.block(block)), threads)
        if mode == "document":
            return Encoded(ids, sizes)
        ids = np.insert(ids, np.cumsum(sizes), np.uint32(EOS))
        return Encoded(ids, sizes + 1)

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the text of ``ids``, as the library puts pieces together."""
        check_ids(ids, self.num_tokens)
        parts = [self._to_theirs[part[part != BOS]].tolist() for part in split_sentences(ids)]
        return "\n".join(self._processor.decode(parts)) if parts else ""

    def token(self, index: int) -> str:
        """Return a piece; U+2581 in it stands for a space, <U+0009> for a TAB."""
        check_ids([index], self.num_tokens)
        if index < _FIRST:
            return SPECIALS[index]
        piece: str = self._processor.id_to_piece(int(self._to_theirs[index]))
        return "".join(printable(ord(character)) for character in piece)

    def spec(self) -> dict[str, Any]:
        """Return what a model card says about this tokenizer."""
        return {"unit": self.unit, **self.normalizer.spec()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store with a model: none."""
        return {}

    def files(self) -> dict[str, bytes]:
        """Return the files to store with a model."""
        return {FILE_NAME: self.model}

    @classmethod
    def restore(cls, spec: Mapping[str, Any], directory: Path) -> Self:
        """Rebuild a tokenizer from :meth:`spec` and the directory that holds :meth:`files`."""
        return cls.from_file(directory / FILE_NAME, Normalizer.from_spec(spec))

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the model file and settings."""
        return fingerprint(self.spec(), self.model)

    def _encode_lines(self, lines: Sequence[str], threads: int) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of ``lines`` one behind the other, and how many each line has."""
        parts: list[str] = []
        firsts: list[int] = []
        for line in lines:
            firsts.append(len(parts))
            parts += [line] if len(line) <= _LONGEST else self._cut(line)
        pieces = self._processor.encode(parts, out_type=int, num_threads=threads)
        sizes = np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
        flat = np.fromiter(chain.from_iterable(pieces), dtype=np.int64, count=int(sizes.sum()))
        if len(parts) > len(lines):
            sizes = np.add.reduceat(sizes, firsts)
        return self._to_ours[flat], sizes

    def _cut(self, line: str) -> list[str]:
        """Cut a very long line at spaces where that changes no piece: the space goes into the cut.

        Each part is encoded with a space before it. No piece may run over the cut, so nothing is
        cut where the model has pieces with a space inside, or adds no space.
        """
        parts: list[str] = []
        start = 0
        while self._splits_at_spaces and len(line) - start > _LONGEST:
            cut = line.find(" ", start + _LONGEST // 2)
            while cut >= 0 and not (line[cut - 1].isalnum() and line[cut + 1 : cut + 2].isalnum()):
                cut = line.find(" ", cut + 1)
            if cut < 0:
                break
            parts.append(line[start:cut])
            start = cut + 1
        return [*parts, line[start:]]


def _load(model: bytes) -> SentencePieceProcessor:
    import sentencepiece

    if not model:
        raise ModelError("an empty sentencepiece model")
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except RuntimeError:
        raise ModelError("not a sentencepiece model", "Name a .model file") from None
