"""Evaluation: perplexities known exactly, independent of blocks and threads."""

from pathlib import Path

import numpy as np
import pytest
from toy import random_bigram, uniform_model

from lmkit.errors import TextError
from lmkit.language_model import Mode
from lmkit.measures.perplexity import Evaluation
from lmkit.tasks.evaluate import CONTEXT_SIZE, evaluate, extend_context
from lmkit.tasks.score import score

WORDS = ["a", "b", "c"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    rng = np.random.default_rng(11)
    words = [*WORDS, "zebra"]
    lines = [" ".join(rng.choice(words, size=rng.integers(0, 12))) for _ in range(400)]
    path = tmp_path / "text"
    path.write_text("\n".join(lines))
    return path


def numbers(result: Evaluation) -> dict[str, object]:
    return {name: value for name, value in result.record().items() if not isinstance(value, str)}


@pytest.mark.parametrize(("mode", "size"), [("sentence", 5), ("document", 4)])
def test_uniform_model_has_the_perplexity_of_its_vocabulary(
    mode: Mode, size: int, text: Path
) -> None:
    result = evaluate(uniform_model(WORDS, mode), [text])
    assert result.perplexity == pytest.approx(size, rel=1e-12)
    assert result.perplexity_excluding_oov == pytest.approx(size, rel=1e-12)
    assert result.vocabulary == size


@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_result_depends_neither_on_blocks_nor_on_threads(mode: Mode, text: Path) -> None:
    model = random_bigram(WORDS, seed=3, mode=mode)
    whole = evaluate(model, [text])
    for block_size in (1, 50, 1000):
        parts = evaluate(model, [text], block_size=block_size)
        assert numbers(parts) == pytest.approx(numbers(whole), rel=1e-12)
        assert evaluate(model, [text], block_size=block_size, threads=2) == parts


def test_document_goes_on_in_the_next_file(text: Path, tmp_path: Path) -> None:
    head, tail = tmp_path / "head", tmp_path / "tail"
    lines = text.read_text().split("\n")
    head.write_text("\n".join(lines[:100]))
    tail.write_text("\n".join(lines[100:]))
    model = random_bigram(WORDS, seed=3, mode="document")
    parts, whole = evaluate(model, [head, tail]), evaluate(model, [text])
    assert numbers(parts) == pytest.approx(numbers(whole), rel=1e-12)


def test_counts_and_sum_agree_with_the_scores_of_the_lines(text: Path) -> None:
    model = random_bigram(WORDS, seed=3)
    lines = [line for lines in score(model, [text]) for line in lines]
    result = evaluate(model, [text])
    assert result.logprob == pytest.approx(sum(line.logprob for line in lines), rel=1e-12)
    assert result.tokens == sum(line.tokens for line in lines)
    assert result.oov == sum(line.oov for line in lines) > 0
    assert result.lines == result.sentences == len(lines) == 400
    assert result.words == len(text.read_text().split())
    assert result.bytes == text.stat().st_size + 1  # the newline that the last line lacks


def test_empty_text_and_missing_text(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    model = random_bigram(WORDS, seed=3)
    result = evaluate(model, [empty])
    assert (result.tokens, result.lines, result.record()["perplexity"]) == (0, 0, None)
    with pytest.raises(TextError, match="absent"):
        evaluate(model, [tmp_path / "absent"])


def test_context_ends_with_the_last_tokens_of_the_document() -> None:
    def ids(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
        return np.array(values, dtype=np.uint32)

    assert extend_context(None, ids(3, 4)).tolist() == [3, 4]
    assert extend_context(ids(3, 4), ids(5)).tolist() == [3, 4, 5]
    assert extend_context(ids(3, 4), ids()).tolist() == [3, 4]
    assert extend_context(ids(3, 4), ids(5, 2, 6)).tolist() == [6]
    assert extend_context(ids(3, 4), ids(5, 2)).tolist() == []
    long = np.arange(3, CONTEXT_SIZE + 10, dtype=np.uint32)
    assert extend_context(ids(7), long).tolist() == long[-CONTEXT_SIZE:].tolist()
    assert extend_context(long, ids(9)).tolist() == [*long[-CONTEXT_SIZE + 1 :].tolist(), 9]
