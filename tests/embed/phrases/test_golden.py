"""The same phrases as word2phrase and gensim find."""

import json

import numpy as np
import pytest
from shared_data import shared

from lmkit.embed.phrases.config import PhrasesConfig
from lmkit.embed.phrases.counting import Neighbours
from lmkit.embed.phrases.joining import Joiner
from lmkit.embed.phrases.scores import score_pairs
from lmkit.tasks.phrases_embed import join_phrases, learn_phrases
from lmkit.text.lines import read_blocks


def test_word2phrase_byte_for_byte() -> None:
    source = str(shared("golden", "embed", "phrase_in.txt"))
    expected = shared("golden", "embed", "phrase_w2phrase_t50_m3.txt").read_bytes()
    config = PhrasesConfig(min_count=3, thresholds=(50.0,))
    table = learn_phrases([source], config)
    joined = b"".join(join_phrases([source], table))
    # word2phrase writes a space before the first word of a line too
    assert b"".join(b" " + line + b"\n" for line in joined.split(b"\n")[:-1]) == expected
    (block,) = read_blocks([source])
    by_kernels = Joiner(table).block_by_kernels(block)
    assert by_kernels.data[: by_kernels.size].tobytes() == joined


@pytest.mark.parametrize(
    ("score", "threshold", "name"),
    [("word2vec", 10.0, "phrases_default_min3_thr10"), ("npmi", 0.5, "phrases_npmi_min3_thr0.5")],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_gensim(score: str, threshold: float, name: str, compiled: bool) -> None:
    source = str(shared("golden", "embed", "phrase_in.txt"))
    expected = json.loads(shared("golden", "embed", "expected_gensim.json").read_bytes())[name]
    neighbours = Neighbours(1 << 20, compiled=compiled)
    for number, block in enumerate(read_blocks([source])):
        neighbours.add(neighbours.encode(block, number))
    table, counts, _ = neighbours.words.result()
    keys, pairs = neighbours.pairs()
    left, right = (keys >> 32).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    # gensim scales its default score by the number of different words and pairs
    different = np.count_nonzero(counts) + len(keys)
    num_words = different if score == "word2vec" else int(np.sum(counts))
    scores = score_pairs(
        score,  # type: ignore[arg-type]
        pairs, np.asarray(counts)[left], np.asarray(counts)[right],
        min_count=3, num_words=num_words,
    )  # fmt: skip
    found = np.flatnonzero((scores > threshold) & (pairs >= 3))
    assert len(found) == expected["n"]
    names = {f"{table.word(left[i]).decode()}_{table.word(right[i]).decode()}": i for i in found}
    for phrase, value in expected["top"]:
        assert scores[names[phrase]] == pytest.approx(value, rel=1e-6, abs=1e-6)
