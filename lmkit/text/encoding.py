"""What all tokenizers share: normalisation before, the layout of an encoded block after."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.language_model import EOS, Ids, Mode
from lmkit.text.lines import Block, block_of

Form = Literal["none", "nfc", "nfkc"]

NEWLINE, CARRIAGE_RETURN = 10, 13


@dataclass(frozen=True, slots=True)
class Normalizer:
    """What is done to text before it is cut into tokens; stored with the model.

    Normalising twice gives what normalising once gives, and no line ends come or go.

    Attributes:
        lower: lower-case by Unicode's rules, whatever the locale.
        form: the Unicode normalization form: ``"nfc"`` composes accents, ``"nfkc"`` also replaces
            compatibility characters (ligatures, full width letters, superscripts).
    """

    lower: bool = False
    form: Form = "none"

    def __post_init__(self) -> None:
        """Check the form, which may come from a file."""
        if self.form not in ("none", "nfc", "nfkc"):
            raise UserError(f"no normalization form {self.form!r}", "Use none, nfc or nfkc")

    @property
    def identity(self) -> bool:
        """Whether text stays as it is."""
        return not self.lower and self.form == "none"

    def __call__(self, text: str) -> str:
        """Return ``text`` normalised."""
        if self.form == "none":
            return text.lower() if self.lower else text
        form: Literal["NFC", "NFKC"] = "NFC" if self.form == "nfc" else "NFKC"
        text = unicodedata.normalize(form, text)
        # Lower-casing may leave the form (İ becomes i and a dot), hence twice.
        return unicodedata.normalize(form, text.lower()) if self.lower else text

    def block(self, block: Block) -> Block:
        """Return ``block`` normalised: the block itself where nothing changes."""
        if self.identity:
            return block
        raw = block.data[: block.size].tobytes()
        if raw.isascii():
            return block_of(raw.lower(), block.source, block.line) if self.lower else block
        # Line by line: most lines are ASCII or normalised already, which is quickly seen.
        lines = [
            (line.lower() if self.lower else line)
            if line.isascii()
            else self(line.decode()).encode()
            for line in raw.split(b"\n")
        ]
        return block_of(b"\n".join(lines), block.source, block.line)

    def spec(self) -> dict[str, Any]:
        """Return the settings for a model card."""
        return {"lower": self.lower, "form": self.form}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Self:
        """Rebuild a normalizer from a mapping with the keys of :meth:`spec`."""
        return cls(lower=bool(spec.get("lower", False)), form=spec.get("form", "none"))


@dataclass(slots=True)
class Encoded:
    """The ids of a block of lines.

    Attributes:
        ids: uint32 [T]. Sentence mode: each line is closed by id 2 (``</s>``). Document mode: no
            id 2 except for breaks between documents.
        line_sizes: int64 [L], how many ids each line has, its 2s counted; they add up to T.
    """

    ids: Ids
    line_sizes: NDArray[np.int64]


def close_lines(ids: Ids, newlines: NDArray[np.int64], mode: Mode) -> Encoded:
    """Return what a block of characters or bytes encodes to, one id for each symbol.

    Args:
        ids: [T], the ids of all symbols, line ends included; changed in place.
        newlines: [L], where in ``ids`` the line ends stand; the last one at T - 1.
        mode: in sentence mode line ends become ``</s>``, in document mode they stay.
    """
    if mode == "sentence":
        ids[newlines] = EOS
    return Encoded(ids, np.diff(newlines, prepend=-1))


def find_lines(symbols: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    r"""Return code points or bytes without the \r of line ends, and where the line ends stand."""
    newlines = np.flatnonzero(symbols == NEWLINE)
    before = newlines[newlines > 0] - 1
    returns = before[symbols[before] == CARRIAGE_RETURN]
    if returns.size:
        symbols = np.delete(symbols, returns)
        newlines = np.flatnonzero(symbols == NEWLINE)
    return symbols, newlines


def split_sentences(ids: Sequence[int] | Ids) -> list[NDArray[np.int64]]:
    """Return ``ids`` cut at each id 2; a final 2 opens no empty part behind it."""
    array = np.asarray(ids, dtype=np.int64)
    ends = np.flatnonzero(array == EOS)
    parts = [part[part != EOS] for part in np.split(array, ends)]
    if ends.size and ends[-1] == len(array) - 1:
        parts.pop()
    return parts


def check_ids(ids: Sequence[int] | Ids, num_tokens: int) -> None:
    """Raise ValueError where an id is not one of 0 .. ``num_tokens`` - 1."""
    array = np.asarray(ids, dtype=np.int64)
    if array.size and (array.min() < 0 or array.max() >= num_tokens):
        raise ValueError(f"token ids must lie in 0..{num_tokens - 1}")


def printable(codepoint: int) -> str:
    """Return a character as one word of its own: itself, or <U+0020> where it is not visible."""
    character = chr(codepoint)
    visible = character.isprintable() and not character.isspace()
    return character if visible else f"<U+{codepoint:04X}>"


def fingerprint(spec: Mapping[str, Any], *parts: bytes) -> str:
    """Return the SHA-256 (hex) of a tokenizer's settings and the data that belong to them."""
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
