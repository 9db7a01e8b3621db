"""Text to ids block by block: the next block is encoded while the caller uses the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar, cast

from lmkit.language_model import LanguageModel, Mode
from lmkit.text.lines import Block
from lmkit.text.tokenizers import Encoded

if TYPE_CHECKING:
    from lmkit.text.restore import StoredTokenizer

Item = TypeVar("Item")
Code = TypeVar("Code")

BLOCK_SIZE = 1 << 20
"""Bytes of text encoded and scored at a time."""
ARRIVING_SIZE = 1 << 16
"""The same at most when lines are answered as they arrive: what a pipe holds."""


def encode_block(model: LanguageModel, block: Block, mode: Mode) -> Encoded:
    """Return the ids of the lines of ``block`` as ``model`` wants them in ``mode``."""
    return cast("StoredTokenizer", model.tokenizer).encode_block(block, mode)


def encode_ahead(
    blocks: Iterable[Item], encode: Callable[[Item], Code], threads: int
) -> Iterator[tuple[Item, Code]]:
    """Yield every block with what ``encode`` makes of it.

    With more than one thread, and if there is more than one block, a thread of its own encodes
    the next block meanwhile. Blocks are read in the caller's thread; with one thread each is
    yielded before the next is read.
    """
    if threads == 1:
        yield from ((block, encode(block)) for block in blocks)
        return
    remaining = iter(blocks)
    head = list(islice(remaining, 2))
    if len(head) < 2:
        yield from ((block, encode(block)) for block in head)
        return
    together = chain(head, remaining)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        current = next(together)
        pending = pool.submit(encode, current)
        for block in together:
            following = pool.submit(encode, block)
            yield current, pending.result()
            current, pending = block, following
        yield current, pending.result()
