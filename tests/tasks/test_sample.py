"""Texts drawn from models, with and without prompts."""

import pytest
from toy import random_bigram

from lmkit.decode.sample import SamplingConfig
from lmkit.tasks.sample import Sample, sample
from lmkit.tasks.score import score_lines

WORDS = ["a", "b", "c"]
CONFIG = SamplingConfig(seed=3, max_tokens=6)


def test_each_prompt_gets_its_samples_in_order() -> None:
    model = random_bigram(WORDS, seed=1)
    prompts = ["a b", "", "c"]
    drawn = list(sample(model, prompts, count=3, config=CONFIG))
    assert [one.prompt for one in drawn] == [prompt for prompt in prompts for _ in range(3)]
    assert [one.index for one in drawn] == [0, 1, 2] * 3
    for one in drawn:
        assert one.text.startswith(one.prompt)
        assert one.tokens == len(one.text.split()) - len(one.prompt.split()) + one.finished
    assert list(sample(model, prompts, count=3, config=CONFIG, streaming=True)) == drawn


def test_more_samples_leave_the_first_as_they_were() -> None:
    model = random_bigram(WORDS, seed=1)
    few = list(sample(model, count=2, config=CONFIG))
    assert list(sample(model, count=1500, config=CONFIG))[:2] == few


def test_prompts_differ_in_their_random_numbers() -> None:
    model = random_bigram(WORDS, seed=1, mode="document")
    first, second = sample(model, ["", ""], config=SamplingConfig())
    assert first.text != second.text


def test_streaming_answers_each_prompt_before_it_asks_for_the_next() -> None:
    asked: list[str] = []

    def prompts() -> "object":
        for prompt in ("a", "b"):
            asked.append(prompt)
            yield prompt

    answers = sample(random_bigram(WORDS, 1), prompts(), streaming=True)  # type: ignore[arg-type]
    next(answers)
    assert asked == ["a"]


@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_logprob_is_what_score_says(mode: "object") -> None:
    model = random_bigram(WORDS, seed=1, mode=mode)  # type: ignore[arg-type]
    config = SamplingConfig(max_tokens=8, temperature=2.0)
    checked = 0
    for one in sample(model, ["", "a b"], count=20, config=config, logprobs=True):
        lines, given = score_lines(model, [one.text, one.prompt])
        (_, logprobs, prompt) = (lines.sizes, lines.token_logprobs, given.sizes[0] - 1)
        size = len(logprobs) if one.finished else len(logprobs) - 1
        assert one.logprob == pytest.approx(logprobs[prompt:size].sum(), rel=1e-12)
        checked += one.finished or mode == "document"
    assert checked > 20


def test_prompt_stays_as_it_was_written() -> None:
    model = random_bigram(WORDS, seed=1, mode="document")
    for one in sample(model, ["zebra  a ", "c"], count=5, config=CONFIG):
        assert one.text.startswith(one.prompt.rstrip() + " ")
        assert len(one.text.split()) == len(one.prompt.split()) + 6


def test_line_ends_in_a_text_become_spaces() -> None:
    assert Sample("", "a\nb\n", 0, None, 3, True).line == "a b "
