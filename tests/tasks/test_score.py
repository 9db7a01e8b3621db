"""Scoring lines: one by one and in blocks, columns, tokens."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import random_bigram

from lmkit.errors import TextError, UserError
from lmkit.language_model import LanguageModel, Mode
from lmkit.tasks import score as score_module
from lmkit.tasks.score import ScoreConfig, Scored, score, score_lines, sum_segments

WORDS = ["a", "b", "c"]


def scored(model: LanguageModel, path: Path, **settings: object) -> list[Scored]:
    config = ScoreConfig(**settings)  # type: ignore[arg-type]
    return [line for lines in score(model, [path], config) for line in lines]


@pytest.mark.parametrize("mode", ["sentence", "document"])
@pytest.mark.parametrize("threads", [1, 2])
def test_streaming_equals_blocks(
    mode: Mode, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    words = [*WORDS, "unheard", "</s>", "\t", "\r", ""]
    lines = [" ".join(rng.choice(words, size=rng.integers(0, 40))) for _ in range(500)]
    path = tmp_path / "text"
    path.write_bytes("\n".join(lines).encode())
    monkeypatch.setattr(score_module, "BLOCK_SIZE", 999)
    model = random_bigram(WORDS, seed=1, mode=mode)
    by_block = scored(model, path, threads=threads)
    monkeypatch.setattr(score_module, "ARRIVING_SIZE", 100)
    assert scored(model, path, streaming=True) == by_block  # bit for bit
    alone = score_lines(model, [line.removesuffix("\r") for line in lines])
    assert [line for lines in alone for line in lines] == by_block
    assert [line.line for line in by_block] == [line.removesuffix("\r") for line in lines]


def test_logprob_is_the_sum_over_tokens_and_sentence_end() -> None:
    model = random_bigram(WORDS, seed=2)
    (lines,) = score_lines(model, ["a b"])
    (line,) = lines
    by_hand = model.log_table[1, 3] + model.log_table[3, 4] + model.log_table[4, 2]
    assert line.logprob == pytest.approx(by_hand, rel=1e-14)
    assert (line.tokens, line.oov) == (3, 0)


def test_blank_line_is_the_empty_sentence() -> None:
    model = random_bigram(WORDS, seed=2)
    (lines,) = score_lines(model, [""])
    assert list(lines) == [Scored(float(model.log_table[1, 2]), 1, 0, "", "")]


def test_blank_line_of_a_document_has_no_tokens() -> None:
    model = random_bigram(WORDS, seed=2, mode="document")
    (lines,) = score_lines(model, [""])
    assert list(lines) == [Scored(0.0, 0, 0, "", "")]


def test_sentence_marks_inside_a_line_are_predicted() -> None:
    model = random_bigram(WORDS, seed=3)
    two, apart = (list(score_lines(model, lines)) for lines in (["a </s> b"], ["a", "b"]))
    (line,) = two[0]
    assert line.tokens == 4
    assert line.logprob == pytest.approx(sum(part.logprobs[0] for part in apart), rel=1e-14)


def test_columns_pass_through_and_one_is_scored(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("a b\t-3.5\tx\na\t-1\ty\n")
    model = random_bigram(WORDS, seed=4)
    plain = [line.logprob for lines in score_lines(model, ["a b", "a"]) for line in lines]
    result = scored(model, path)
    assert [line.logprob for line in result] == plain
    assert [line.line for line in result] == ["a b\t-3.5\tx", "a\t-1\ty"]
    assert [line.text for line in result] == ["a b", "a"]
    assert [line.oov for line in scored(model, path, column=3)] == [1, 1]
    assert [line.oov for line in scored(model, path, column=0)] == [2, 2]


@pytest.mark.parametrize("streaming", [True, False])
def test_missing_column_names_the_line(streaming: bool, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("a\tb\na\n")
    with pytest.raises(TextError, match=r"2: 1 TAB-separated columns.*--column"):
        scored(random_bigram(WORDS, seed=4), path, column=2, streaming=streaming)


def test_negative_column_is_refused() -> None:
    with pytest.raises(UserError, match="--column"):
        ScoreConfig(column=-1)


def test_each_line_is_answered_before_the_next_is_read() -> None:
    asked: list[str] = []

    def lines() -> "object":
        for line in ("a", "b"):
            asked.append(line)
            yield line

    answers = score_lines(random_bigram(WORDS, seed=4), lines())  # type: ignore[arg-type]
    next(answers)
    assert asked == ["a"]


def test_lines_of_a_pipe_are_answered_as_they_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    model = random_bigram(WORDS, seed=4)
    with open(reader, encoding="utf-8") as stdin, open(writer, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdin", stdin)
        answers = score(model, ["-"], ScoreConfig(streaming=True, threads=2))
        pipe.write(b"a\n")
        assert [line.text for line in next(answers)] == ["a"]
        pipe.write(b"b\nc\na b")
        assert [line.text for line in next(answers)] == ["b", "c"]
        pipe.close()
        assert [line.text for lines in answers for line in lines] == ["a b"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a b\r\n\nc")))
    lines = [line for lines in score(random_bigram(WORDS, seed=4), ["-"]) for line in lines]
    assert [line.line for line in lines] == ["a b", "", "c"]


@pytest.mark.parametrize(("mode", "ends"), [("sentence", 1), ("document", 0)])
def test_token_scores_add_up_and_name_unknown_words(mode: Mode, ends: int) -> None:
    model = random_bigram(WORDS, seed=5, mode=mode)
    for text in ("a zebra <unk> b", "", "<s> zebra a"):
        (lines,) = score_lines(model, [text])
        (tokens,) = lines.token_scores(model)
        words = [word for word in text.split() if word != "<s>"] + ["</s>"] * ends
        assert [token.token for token in tokens] == words
        assert [token.oov for token in tokens] == [w in ("zebra", "<unk>") for w in words]
        assert sum(token.logprob for token in tokens) == pytest.approx(lines.logprobs[0])


def test_token_scores_of_several_lines_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("a b\n\nc\n")
    model = random_bigram(WORDS, seed=5)
    (lines,) = score(model, [path])
    names = [[token.token for token in tokens] for tokens in lines.token_scores(model)]
    assert names == [["a", "b", "</s>"], ["</s>"], ["c", "</s>"]]


@given(st.lists(st.lists(st.floats(-50, 0), max_size=300), max_size=20))
def test_a_stretch_sums_alike_wherever_it_stands(stretches: list[list[float]]) -> None:
    sizes = np.array([len(part) for part in stretches], dtype=np.int64)
    values = np.array([value for part in stretches for value in part])
    together = sum_segments(values, sizes)
    alone = [sum_segments(np.array(p, dtype=float), np.array([len(p)]))[0] for p in stretches]
    assert together.tolist() == alone
    assert together == pytest.approx([sum(part) for part in stretches])
