"""Text to ids block by block, ahead of the caller."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar, cast

from lmkit.language_model import LanguageModel, Mode
from lmkit.text.encoding import Encoded
from lmkit.text.lines import Block

if TYPE_CHECKING:
    from lmkit.text.restore import StoredTokenizer

Item = TypeVar("Item")
Result = TypeVar("Result")

BLOCK_SIZE = 1 << 20
"""Bytes of text encoded and scored at a time."""
ARRIVING_SIZE = 1 << 16
"""The same at most when lines are answered as they arrive: what a pipe holds."""


def encode_block(model: LanguageModel, block: Block, mode: Mode) -> Encoded:
    """Return the ids of the lines of ``block`` as ``model`` wants them in ``mode``."""
    return cast("StoredTokenizer", model.tokenizer).encode_block(block, mode)


def ahead(
    items: Iterable[Item], work: Callable[[Item], Result], threads: int
) -> Iterator[tuple[Item, Result]]:
    """Yield every item with what ``work`` makes of it, in order, working ahead of the caller.

    With more than one thread, and if there is more than one item, up to ``threads`` items are
    worked on meanwhile. Items are read in the caller's thread; with one thread each is yielded
    before the next is read.
    """
    if threads == 1:
        yield from ((item, work(item)) for item in items)
        return
    remaining = iter(items)
    head = list(islice(remaining, 2))
    if len(head) < 2:
        yield from ((item, work(item)) for item in head)
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        pending: deque[tuple[Item, Future[Result]]] = deque()
        for item in chain(head, remaining):
            pending.append((item, pool.submit(work, item)))
            if len(pending) > threads + 1:
                done, future = pending.popleft()
                yield done, future.result()
        for done, future in pending:
            yield done, future.result()
