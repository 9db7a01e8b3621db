r"""Trains word vectors with gensim; run by a Python that has it, not by lmkit's.

    python benchmarks/embed_gensim.py TEXT OUT --arch skipgram --loss negative --epochs 3 \
        --threads 2

writes OUT as word2vec's binary format and prints one JSON object: seconds of train(), words, size.
"""

from __future__ import annotations

import argparse
import json
import sys
import time


def main() -> int:
    """Train and save."""
    parser = argparse.ArgumentParser(description="Train word vectors with gensim.")
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("--arch", choices=("skipgram", "cbow"), required=True)
    parser.add_argument("--loss", choices=("negative", "hierarchical"), required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    arguments = parser.parse_args()
    from gensim.models import Word2Vec

    hierarchical = arguments.loss == "hierarchical"
    skipgram = arguments.arch == "skipgram"
    model = Word2Vec(
        vector_size=100,
        window=5,
        min_count=5,
        sample=1e-3,
        negative=0 if hierarchical else 5,
        hs=int(hierarchical),
        sg=int(skipgram),
        alpha=0.025 if skipgram else 0.05,
        workers=arguments.threads,
        epochs=arguments.epochs,
        seed=1,
    )
    model.build_vocab(corpus_file=arguments.text)
    start = time.perf_counter()
    model.train(
        corpus_file=arguments.text,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=arguments.epochs,
    )
    seconds = time.perf_counter() - start
    model.wv.save_word2vec_format(arguments.out, binary=True)
    words, size = model.wv.vectors.shape
    print(json.dumps({"seconds": seconds, "words": words, "size": size}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
