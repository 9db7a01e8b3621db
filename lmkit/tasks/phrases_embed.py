"""Learns the phrases of a text and joins them: the work behind ``lmkit embed phrases``.

The text is read once to count for each pass and once more to join. Memory grows with the number
of different words and pairs, not with the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmkit.embed.phrases.config import PhrasesConfig
from lmkit.embed.phrases.joining import Joiner
from lmkit.embed.phrases.learning import learn
from lmkit.embed.phrases.table import PhraseTable
from lmkit.errors import TextError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.tasks.encoding import ARRIVING_SIZE, BLOCK_SIZE, ahead
from lmkit.text.lines import Block, read_blocks, total_size
from lmkit.text.sources import STDIN_NAME


def learn_phrases(
    sources: Sequence[str],
    config: PhrasesConfig,
    *,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> PhraseTable:
    """Learn the phrases of the files ``sources``, which are read once for each pass.

    Raises:
        TextError: the text cannot be read, or holds no words at all.
        UserError: no word is seen ``min_count`` times.
    """
    size = total_size(sources)
    number = 0

    def blocks() -> Iterator[Block]:
        nonlocal number
        number += 1
        of = f" {number} of {len(config.thresholds)}" if len(config.thresholds) > 1 else ""
        listener.phase(f"counting pairs{of}", size, "B")
        return read_blocks(sources, errors=errors, block_size=BLOCK_SIZE, listener=listener)

    try:
        table = learn(blocks, config, threads=threads, listener=listener)
    except TextError as error:
        if not error.what.startswith("no words"):
            raise
        names = ", ".join(STDIN_NAME if source == "-" else source for source in sources)
        raise TextError(f"{names}: {error.what}", error.hint) from None
    listener.finish()
    for number, (threshold, one) in enumerate(
        zip(config.thresholds, table.passes, strict=True), start=1
    ):
        phrases = "1 phrase scores" if len(one) == 1 else f"{len(one):,} phrases score"
        listener.note(f"pass {number}: {phrases} above {threshold:g}")
    return table


def join_phrases(
    sources: Sequence[str],
    table: PhraseTable,
    *,
    streaming: bool = False,
    errors: Errors = "strict",
    threads: int = 1,
    listener: Listener = SILENT,
) -> Iterator[memoryview]:
    r"""Yield the text of ``sources`` with its phrases joined: whole lines, each ended by ``\n``.

    Streaming, the lines that are there are answered before the next are read.

    Raises:
        TextError: a source cannot be read, or is not text.
    """
    listener.phase("joining phrases", total_size(sources), "B")
    joiner = Joiner(table)
    size = ARRIVING_SIZE if streaming else BLOCK_SIZE
    blocks = read_blocks(
        sources, errors=errors, block_size=size, at_once=streaming, listener=listener
    )
    for _, joined in ahead(blocks, joiner.block, 1 if streaming else threads):
        yield joined.data[: joined.size].data
    listener.finish()
