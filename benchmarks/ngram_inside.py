"""Times work inside one Python process, once everything is loaded and compiled.

    python benchmarks/ngram_inside.py score MODEL TEXT --threads N     lmkit, a list of sentences
    python benchmarks/ngram_inside.py score-kenlm BINARY TEXT          KenLM, sentence by sentence
    python benchmarks/ngram_inside.py next MODEL TEXT --rows N         next-word distributions
    python benchmarks/ngram_inside.py encode MODEL TEXT                words to ids

Each prints one JSON object: seconds, and counts of what was done in them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

WARM_UP = 20_000
"""Sentences scored before the clock starts: enough for lmkit to load its kernels."""
CONTEXT = 8
"""Words read of each sentence; behind each a distribution is formed."""
LANES = 16
"""Sentences read side by side."""

Facts = dict[str, float | int]


def sentences_of(path: str) -> list[str]:
    """Return the lines of a text."""
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n") for line in lines]


def score(model_path: str, text: str, threads: int) -> Facts:
    """Score a list of sentences with lmkit: encoding and sums by sentence included."""
    import lmkit

    model = lmkit.load(model_path)
    sentences = sentences_of(text)
    tokens = sum(len(sentence.split()) + 1 for sentence in sentences)
    for _ in range(2):  # the first round loads the kernels
        start = time.perf_counter()
        sums = lmkit.score(model, sentences, threads=threads)
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "tokens": tokens, "log10": float(sums.sum()) / math.log(10)}


def score_kenlm(binary: str, text: str) -> Facts:
    """Score a list of sentences with KenLM's module, which takes one a call."""
    import kenlm

    model = kenlm.Model(binary)
    sentences = sentences_of(text)
    tokens = sum(len(sentence.split()) + 1 for sentence in sentences)
    for sentence in sentences[:WARM_UP]:
        model.score(sentence)
    start = time.perf_counter()
    scores = [model.score(sentence) for sentence in sentences]
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "tokens": tokens, "log10": math.fsum(scores)}


def next_words(model_path: str, text: str, rows: int) -> Facts:
    """Form whole next-word distributions, ``LANES`` sentences side by side, word after word."""
    import numpy as np

    from lmkit.tasks.families import open_model

    model = open_model(model_path)
    chosen = [ids for ids in map(model.tokenizer.encode, sentences_of(text)) if len(ids) > CONTEXT]
    columns = np.stack([ids[:CONTEXT] for ids in chosen[: rows // CONTEXT // LANES * LANES]])
    batches = columns.reshape(-1, LANES, CONTEXT)
    for timed in (False, True):  # the first round loads the kernels
        start = time.perf_counter()
        for batch in batches if timed else batches[:20]:
            state = model.start(LANES)
            for words in batch.T:
                made, state = model.step(state, np.ascontiguousarray(words))
        seconds = time.perf_counter() - start
    total = float(np.exp(made[0]).sum())
    assert abs(total - 1) < 1e-4, f"probabilities sum to {total}"
    return {"seconds": seconds, "rows": batches.size, "vocabulary": made.shape[1]}


def encode(model_path: str, text: str) -> Facts:
    """Turn a text in memory into ids, in one thread, with the vocabulary of a model."""
    from lmkit.tasks.encoding import encode_block
    from lmkit.tasks.families import open_model
    from lmkit.text.lines import read_blocks

    model = open_model(model_path)
    blocks = list(read_blocks([text]))
    encode_block(model, blocks[0], model.mode)
    start = time.perf_counter()
    tokens = sum(len(encode_block(model, block, model.mode).ids) for block in blocks)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "tokens": tokens, "bytes": sum(block.size for block in blocks)}


def main() -> int:
    """Do what was asked for and print how long it took."""
    parser = argparse.ArgumentParser(description="Time work inside one process.")
    parser.add_argument("what", choices=("score", "score-kenlm", "next", "encode"))
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=500)
    asked = parser.parse_args()
    if asked.what == "score":
        facts = score(asked.model, asked.text, asked.threads)
    elif asked.what == "score-kenlm":
        facts = score_kenlm(asked.model, asked.text)
    elif asked.what == "next":
        facts = next_words(asked.model, asked.text, asked.rows)
    else:
        facts = encode(asked.model, asked.text)
    print(json.dumps(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
