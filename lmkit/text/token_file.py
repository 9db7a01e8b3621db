"""Text of any size as one flat file of ids, mapped into memory.

``ids.bin`` holds the ids as uint16 (uint32 for more than 65,536 tokens), ``facts.json`` what they
are. Text streams through the tokenizer a block at a time, so that memory stays small whatever the
size. :func:`cached_tokens` keeps the files by the content of the text, the tokenizer and the mode.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS, Errors, Mode
from lmkit.text.corpus import BlockTokenizer
from lmkit.text.encoding import Encoded
from lmkit.text.lines import read_blocks, total_size

IDS, FACTS = "ids.bin", "facts.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFacts:
    """What the ids of a token file are."""

    size: int
    """Ids in the file, ends of sentences and breaks counted."""
    num_tokens: int
    """Tokens of the text, without ends of sentences and breaks."""
    num_lines: int
    """Lines of the text."""
    num_bytes: int
    """Bytes of the text, line ends counted."""
    vocabulary: int
    """Size of the vocabulary."""
    sha256: str
    """SHA-256 (hex) of the text as read."""
    fingerprint: str
    """Of the tokenizer."""
    mode: Mode
    """How line ends were taken."""


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A mapped token file."""

    ids: NDArray[Any]
    """[size] uint16 or uint32, read-only."""
    facts: TokenFacts
    """What they are."""

    @classmethod
    def open(cls, directory: Path) -> Self | None:
        """Map the token file in ``directory``; None where there is none or it is damaged."""
        try:
            facts = TokenFacts(**json.loads((directory / FACTS).read_bytes()))
            kind = id_type(facts.vocabulary)
            if (directory / IDS).stat().st_size != facts.size * kind.itemsize:
                return None
            if facts.size == 0:
                return cls(np.empty(0, dtype=kind), facts)
            return cls(np.memmap(directory / IDS, dtype=kind, mode="r"), facts)
        except (OSError, ValueError, TypeError):
            return None


def id_type(vocabulary: int) -> np.dtype[Any]:
    """Return the smallest type that holds the ids of a vocabulary."""
    return np.dtype("<u2" if vocabulary <= 1 << 16 else "<u4")


def write_tokens(
    sources: Sequence[str],
    tokenizer: BlockTokenizer,
    directory: Path,
    *,
    mode: Mode,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> TokenFile:
    """Encode the text of ``sources`` into a new token file in ``directory``.

    Raises:
        TextError: a source cannot be read.
        UserError: the disk is full or not writable.
    """
    staging = directory.with_name(f".{directory.name}.tmp-{os.getpid()}")
    try:
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(parents=True)
        facts = _encode_into(
            staging, sources, tokenizer, mode, errors, threads=threads, listener=listener
        )
        (staging / FACTS).write_bytes(json.dumps(asdict(facts), sort_keys=True).encode())
        shutil.rmtree(directory, ignore_errors=True)
        staging.rename(directory)
    except OSError as error:
        raise UserError(
            f"cannot keep the tokens in {directory.parent}: {error.strerror}",
            "Free some space, or set LMKIT_HOME to another disk",
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    written = TokenFile.open(directory)
    assert written is not None, "a token file just written does not open"
    return written


def _encode_into(
    directory: Path,
    sources: Sequence[str],
    tokenizer: BlockTokenizer,
    mode: Mode,
    errors: Errors,
    *,
    threads: int,
    listener: Listener,
) -> TokenFacts:
    kind = id_type(tokenizer.num_tokens)
    digest = hashlib.sha256()
    size = ends = lines = num_bytes = 0
    listener.phase("reading", total_size(sources), "B")
    with (directory / IDS).open("wb") as file, ThreadPoolExecutor(threads) as pool:

        def blocks() -> Iterator[Callable[[], Encoded]]:
            nonlocal num_bytes
            pending: deque[Future[Encoded]] = deque()
            for block in read_blocks(sources, errors=errors, listener=listener, digest=digest):
                num_bytes += block.size
                pending.append(pool.submit(tokenizer.encode_block, block, mode))
                if len(pending) > 2 * threads:
                    yield pending.popleft().result
            yield from (future.result for future in pending)

        for result in blocks():
            encoded = result()
            file.write(encoded.ids.astype(kind).data)
            size += len(encoded.ids)
            ends += int(np.count_nonzero(encoded.ids == EOS))
            lines += len(encoded.line_sizes)
        file.flush()
        os.fsync(file.fileno())
    return TokenFacts(
        size=size,
        num_tokens=size - ends,
        num_lines=lines,
        num_bytes=num_bytes,
        vocabulary=tokenizer.num_tokens,
        sha256=digest.hexdigest(),
        fingerprint=tokenizer.fingerprint(),
        mode=mode,
    )


def cached_tokens(
    sources: Sequence[str],
    tokenizer: BlockTokenizer,
    cache: Path,
    *,
    mode: Mode,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> TokenFile:
    """Return the token file of ``sources`` from ``cache``, making it where it is missing.

    The key is the content of the files, the tokenizer's fingerprint and the mode, so that a
    changed text or tokenizer never meets old ids.

    Args:
        sources: files, which are read twice.
        tokenizer: makes the ids.
        cache: a directory, which may not exist yet.
        mode: how line ends are taken.
        errors: what to do about bytes that are not UTF-8.
        threads: how many may encode.
        listener: hears of the progress.

    Raises:
        TextError: a source cannot be read.
        UserError: the disk is full or not writable, or a source cannot be read twice.
    """
    if total_size(sources) is None:
        raise UserError("only files can be kept in the cache, for they are read twice")
    key = hashlib.sha256(f"tokens {tokenizer.fingerprint()} {mode} {errors} ".encode())
    for _ in read_blocks(sources, errors=errors, digest=key):
        pass
    directory = cache / key.hexdigest()
    return TokenFile.open(directory) or write_tokens(
        sources, tokenizer, directory, mode=mode, errors=errors, threads=threads, listener=listener
    )


def split_tokens(
    ids: NDArray[Any], mode: Mode, fraction: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first part of a text, to train on, and the rest, to validate on.

    In sentence mode the cut falls behind the end of a sentence.

    Args:
        ids: [T].
        mode: ``"sentence"`` or ``"document"``.
        fraction: how much of the text the rest is, above 0 and below 1.

    Raises:
        UserError: one of the parts would be empty.
    """
    cut = len(ids) - max(1, round(len(ids) * fraction))
    if mode == "sentence" and len(ids):
        ends = np.flatnonzero(ids[:-1] == EOS) + 1  # where a sentence may begin
        place = min(int(np.searchsorted(ends, cut)), len(ends) - 1)
        cut = int(ends[place]) if len(ends) else 0
    if cut < 1 or cut >= len(ids):
        raise UserError(
            f"the text is too small to hold out {fraction:.0%} of it: {len(ids)} tokens",
            "Give more text, or a text of its own with --valid",
        )
    return ids[:cut], ids[cut:]
