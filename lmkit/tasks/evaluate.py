"""Measures how well a language model predicts a text: the work behind ``lmkit eval``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

import numpy as np

from lmkit.errors import ModelError
from lmkit.events import SILENT, Listener
from lmkit.language_model import EOS, Errors, Ids, LanguageModel
from lmkit.measures.perplexity import Accumulator, Evaluation, count_words
from lmkit.tasks.encoding import BLOCK_SIZE, ahead, encode_block
from lmkit.text.encoding import Encoded
from lmkit.text.lines import Block, read_blocks, total_size

CONTEXT_SIZE = 4096
"""How many tokens of a document the model is shown again before the next block of text."""


def evaluate(
    model: LanguageModel,
    sources: Sequence[str | Path],
    *,
    threads: int = 1,
    errors: Errors = "strict",
    block_size: int = BLOCK_SIZE,
    listener: Listener = SILENT,
) -> Evaluation:
    """Return how well ``model`` predicts the text of ``sources``, read one behind the other.

    In sentence mode each line is a sentence. In document mode all the sources are one stream, as
    if concatenated: a token may be predicted from the former file. The result is the same for
    any number of threads, byte for byte.

    Raises:
        TextError: a source cannot be read.
    """
    tokenizer = model.tokenizer
    total = Accumulator(num_tokens=tokenizer.num_tokens, unit=tokenizer.unit, mode=model.mode)
    listener.phase("evaluating", total_size(sources), "B")
    blocks = read_blocks(sources, errors=errors, block_size=block_size, listener=listener)
    size = total_size(sources)
    if threads > 1 and (size is None or size > block_size):
        # The kernels want it done before they begin; meanwhile they can be loaded.
        Thread(target=_verify, args=(model,), daemon=True).start()
    if model.mode == "sentence":
        measured = ahead(
            blocks, lambda block: _measure(model, block, _encode(model, block)), threads
        )
        for _, part in measured:
            total.merge(part)
    else:
        context = None
        for block, encoded in ahead(blocks, lambda block: _encode(model, block), threads):
            total.merge(_measure(model, block, encoded, threads, context))
            context = extend_context(context, encoded.ids)
    listener.finish()
    return total.result()


def _verify(model: LanguageModel) -> None:
    with suppress(ModelError):  # it is raised where the kernels want to begin
        model.verify()


def _encode(model: LanguageModel, block: Block) -> Encoded:
    return encode_block(model, block, model.mode)


def _measure(
    model: LanguageModel,
    block: Block,
    encoded: Encoded,
    threads: int = 1,
    context: Ids | None = None,
) -> Accumulator:
    """Return the sums of one block."""
    tokenizer = model.tokenizer
    part = Accumulator(num_tokens=tokenizer.num_tokens, unit=tokenizer.unit, mode=model.mode)
    ids = encoded.ids
    logprobs = model.batch_logprobs(ids, threads, context=context)
    words = None if tokenizer.unit == "word" else count_words(block.data[: block.size])
    lines = len(encoded.line_sizes)
    part.add(ids, logprobs, words=words, lines=lines, num_bytes=block.size)
    return part


def extend_context(context: Ids | None, ids: Ids) -> Ids:
    """Return the end of the document that ``ids`` continue, at most ``CONTEXT_SIZE`` tokens.

    What precedes a break (id 2) belongs to another document.
    """
    recent = ids[-CONTEXT_SIZE:]
    if context is not None and len(recent) < CONTEXT_SIZE:
        recent = np.concatenate([context, recent])[-CONTEXT_SIZE:]
    breaks = np.flatnonzero(recent == EOS)
    return recent[breaks[-1] + 1 :] if len(breaks) else recent
