"""Answers to many questions: one for each line, in order, whatever the line holds."""

import io
import sys
from pathlib import Path

import pytest
from toy_vectors import planted, vectors_of

from lmkit.errors import TextError, UserError
from lmkit.tasks.analogy import (
    AnalogyConfig,
    Answered,
    Question,
    answer,
    line_blocks,
    questions,
)

VECTORS = planted(12, 24, 1)


def answered(*lines: str, **settings: object) -> list[Answered]:
    return list(answer(VECTORS, questions(lines), AnalogyConfig(**settings)))  # type: ignore[arg-type]


def test_every_line_is_answered_in_order() -> None:
    lines = ["t1s1 t1s0 t2s0", "", "t1s1 zebra t2s9 zebra", "no sum", "t3s0 - t3s0", "t4s2"]
    found = answered(*lines, top=3)
    assert [result.text for result in found] == lines
    assert [len(result.answers) for result in found] == [3, 0, 0, 0, 0, 3]
    assert found[0].answers[0] == ("t2s1", pytest.approx(0.891, abs=1e-3))
    assert "no + or - before 'zebra'" in found[2].problem
    assert [result.unknown for result in found] == [[]] * 6
    assert found[3].problem.startswith("'no sum' is no sum of words")
    assert found[4].problem == "the vectors add up to zero"
    assert found[0].problem == found[1].problem == found[5].problem == ""


def test_unknown_words_are_listed() -> None:
    (found,) = answered("t1s1 - zebra + t2s9 - zebra")
    assert (found.answers, found.unknown, found.problem) == ([], ["zebra", "t2s9"], "")


def test_settings() -> None:
    text = "t1s1 t1s0 t2s0"
    assert len(answered(text, top=100)[0].answers) == len(VECTORS) - 3
    assert len(answered(text, top=100, include_inputs=True)[0].answers) == len(VECTORS)
    limited = answered(text, top=100, limit=6)[0].answers
    assert {word for word, _ in limited} == {"t0s0", "t0s1", "t0s2", "t0s3"}
    for method in ("add", "multiply", "direction"):
        assert answered(text, method=method)[0].answers[0][0] == "t2s1"
    scores = {method: answered(text, method=method)[0].answers for method in ("add", "multiply")}
    assert scores["add"] != scores["multiply"]


@pytest.mark.parametrize(("name", "value"), [("top", 0), ("limit", 0)])
def test_settings_that_will_not_do(name: str, value: int) -> None:
    with pytest.raises(UserError, match=f"--{name} 0 is below 1"):
        AnalogyConfig(**{name: value})  # type: ignore[arg-type]


def test_many_questions_are_answered_as_one_by_one() -> None:
    lines = [f"t{i % 12}s1 t{i % 12}s0 t{i % 7}s{i % 3}" for i in range(700)]
    together = answered(*lines)
    assert together == [answered(line)[0] for line in lines]


def test_questions_of_a_program_need_no_text() -> None:
    (blank,) = answer(VECTORS, [Question("anything")])
    assert blank == Answered("anything", [], [])


def test_a_table_of_one_word_has_no_answer() -> None:
    (found,) = answer(vectors_of(["only"], [[1.0, 2.0]]), questions(["only"]))
    assert found == Answered("only", [], [])


@pytest.mark.parametrize("streaming", [True, False])
def test_lines_are_read(streaming: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text"
    path.write_bytes("a\r\n\nb\x0b\u2028c".encode())
    blocks = line_blocks([path, path], streaming=streaming)
    assert [line for lines in blocks for line in lines] == ["a", "", "b\x0b\u2028c"] * 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\ny")))
    assert [line for lines in line_blocks(["-"], streaming=streaming) for line in lines] == [
        "x",
        "y",
    ]
    with pytest.raises(TextError, match="no-such-file"):
        list(line_blocks([tmp_path / "no-such-file"], streaming=streaming))
