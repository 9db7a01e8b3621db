"""Work inside one Python process for the benchmarks of word vectors.

    python benchmarks/embed_inside.py encode TEXT         text to ids in one thread, timed when warm
    python benchmarks/embed_inside.py table OUT.bin       200,000 random vectors with a royal family
    python benchmarks/embed_inside.py modules ARGS...     runs lmkit, then lists what it imported

The first prints one JSON object; the last writes the modules behind ``LOADED`` on stderr.
"""

from __future__ import annotations

import json
import sys
import time

WORDS = 200_000
SIZE = 100
ROYALS = ("king", "man", "woman", "queen")


def encode(path: str) -> dict[str, float | int]:
    """Time how a text becomes ids, its vocabulary learned on the way."""
    from lmkit.text.corpus import learn_words
    from lmkit.text.encoding import Normalizer
    from lmkit.text.vocab import VocabularyConfig

    for _ in range(2):  # the first round loads the kernels
        start = time.perf_counter()
        corpus, _ = learn_words(
            [path], VocabularyConfig(min_count=5), Normalizer(), mode="sentence", threads=1
        )
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "bytes": corpus.num_bytes, "tokens": corpus.num_tokens}


def table(path: str) -> None:
    """Write random vectors in word2vec's binary format; queen is king - man + woman."""
    import numpy as np

    rows = np.random.default_rng(1).normal(size=(WORDS, SIZE)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    places = [1000, 2000, 3000, 4000]
    rows[places[3]] = rows[places[0]] - rows[places[1]] + rows[places[2]]
    words = [f"w{number}" for number in range(WORDS)]
    for place, word in zip(places, ROYALS, strict=True):
        words[place] = word
    with open(path, "wb") as out:
        out.write(f"{WORDS} {SIZE}\n".encode())
        for word, row in zip(words, rows, strict=True):
            out.write(word.encode() + b" " + row.tobytes() + b"\n")


def modules(arguments: list[str]) -> None:
    """Run lmkit and name on stderr the packages that are loaded at its end."""
    from lmkit.cli.app import main

    sys.argv = ["lmkit", *arguments]
    try:
        main()
    finally:
        loaded = sorted({name.partition(".")[0] for name in sys.modules})
        print("LOADED", *loaded, file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1] == "encode":
        print(json.dumps(encode(sys.argv[2])))
    elif sys.argv[1] == "table":
        table(sys.argv[2])
    elif sys.argv[1] == "modules":
        modules(sys.argv[2:])
    else:
        sys.exit(__doc__)
