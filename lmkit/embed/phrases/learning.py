"""Learns phrases pass by pass: counts neighbours, scores them, joins the best, counts again.

Only pairs within a line count (word2phrase also counts the last word of a line with the first of
the next). A pair is its two words: a word of the text that already looks like a phrase
(``new_york``) does not add to the pair (new, york), as it does in word2phrase.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.phrases.config import PhrasesConfig
from lmkit.embed.phrases.counting import FIRST_WORD, Neighbours
from lmkit.embed.phrases.joining import Joiner
from lmkit.embed.phrases.scores import score_pairs
from lmkit.embed.phrases.table import PhrasePass, PhraseTable
from lmkit.errors import TextError, UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Ids
from lmkit.text.lines import Block
from lmkit.text.vocab import WordTable

SMALL = 1 << 20
"""Bytes of text up to which NumPy is quicker than loading the compiled kernels."""


def learn(
    blocks: Callable[[], Iterable[Block]],
    config: PhrasesConfig,
    *,
    threads: int = 1,
    listener: Listener = SILENT,
) -> PhraseTable:
    """Learn the phrases of a text.

    Args:
        blocks: gives the text, from its beginning each time; called once a pass.
        config: the settings.
        threads: with two or more, one reads while another counts; the result is the same.
        listener: hears what was found.

    Raises:
        TextError: there is not one word.
        UserError: no word is frequent enough.
    """
    table = PhraseTable(config, [])
    for threshold in config.thresholds:
        neighbours = _count(blocks(), table, config.max_pairs, threads, listener)
        found = _choose(neighbours, config, threshold, listener)
        table = PhraseTable(config, [*table.passes, found])
    return table


def _count(
    blocks: Iterable[Block], table: PhraseTable, max_pairs: int, threads: int, listener: Listener
) -> Neighbours:
    """Count words and neighbours of the text in which the phrases of ``table`` are joined."""
    remaining = iter(blocks)
    head: list[Block] = []
    size = 0
    for block in remaining:
        head.append(block)
        size += block.size
        if size > SMALL:
            break
    neighbours = Neighbours(max_pairs, compiled=size > SMALL, listener=listener)
    joiner = Joiner(table)

    def encode(number: int, block: Block) -> Ids:
        return neighbours.encode(joiner.block(block), number)

    for ids in _one_ahead(encode, enumerate(chain(head, remaining)), threads > 1):
        neighbours.add(ids)
    return neighbours


def _one_ahead(
    encode: Callable[[int, Block], Ids], blocks: Iterator[tuple[int, Block]], ahead: bool
) -> Iterator[Ids]:
    """Yield the ids of each block; ``ahead``: the next are made in one other thread meanwhile."""
    if not ahead:
        yield from (encode(number, block) for number, block in blocks)
        return
    with ThreadPoolExecutor(1) as pool:
        pending: deque[Future[Ids]] = deque()
        for number, block in blocks:
            pending.append(pool.submit(encode, number, block))
            if len(pending) > 2:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _choose(
    neighbours: Neighbours, config: PhrasesConfig, threshold: float, listener: Listener
) -> PhrasePass:
    """Return the pairs that score above ``threshold``, the best first."""
    words, counts, _ = neighbours.words.result()
    counts = np.asarray(counts, dtype=np.int64)
    keys, pair_counts = neighbours.pairs()
    num_words = int(counts.sum() - counts[1:FIRST_WORD].sum())
    _check(words, counts, config.min_count)
    left = (keys >> np.uint64(32)).astype(np.int64)
    right = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    enough = pair_counts >= config.min_count  # then both words are frequent enough too
    left, right, pair_counts = left[enough], right[enough], pair_counts[enough]
    scores = score_pairs(
        config.score, pair_counts, counts[left], counts[right],
        min_count=config.min_count, num_words=num_words,
    )  # fmt: skip
    chosen = np.flatnonzero(scores > threshold)
    if not len(chosen):
        listener.warn(_nothing_found(words, left, right, scores, config, threshold))
    order = chosen[np.lexsort((right[chosen], left[chosen], -scores[chosen]))]
    return PhrasePass(
        [words.word(i).decode() for i in left[order].tolist()],
        [words.word(i).decode() for i in right[order].tolist()],
        scores[order].tolist(),
        pair_counts[order].tolist(),
    )


def _check(words: WordTable, counts: NDArray[np.int64], min_count: int) -> None:
    """Refuse a text without words, or without any that is frequent enough."""
    seen = counts.copy()
    seen[:FIRST_WORD] = 0
    if not seen.any():
        raise TextError("no words in the text", "Give a text with at least one word")
    best = int(seen.argmax())
    if seen[best] < min_count:
        raise UserError(
            f"0 of {np.count_nonzero(seen):,} words reach --min-count {min_count}; the most "
            f"frequent has {seen[best]:,} ({words.word(best).decode()})",
            "Lower --min-count",
        )


def _nothing_found(
    words: WordTable,
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    scores: NDArray[np.float64],
    config: PhrasesConfig,
    threshold: float,
) -> str:
    if not len(scores):
        return f"no pair of words is seen {config.min_count} times (--min-count): no phrases"
    best = int(scores.argmax())
    pair = " ".join(words.word(int(side[best])).decode() for side in (left, right))
    return f"no pair of words scores above {threshold:g}; the best has {scores[best]:.4g} ({pair})"
