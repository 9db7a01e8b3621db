"""Draws texts from a language model: the work behind ``lmkit sample``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from lmkit.decode.sample import Request, SamplingConfig, draw_samples, max_rows
from lmkit.language_model import EOS, Ids, LanguageModel


@dataclass(frozen=True, slots=True)
class Sample:
    """A text drawn from a model."""

    prompt: str
    """What was given."""
    text: str
    """The prompt and its continuation; may contain line ends."""
    index: int
    """Which sample of this prompt, from 0."""
    logprob: float | None
    """Natural log of the probability that the model gives the drawn tokens after the prompt,
    whatever temperature and filters they were drawn with; None unless it was asked for."""
    tokens: int
    """Drawn tokens, ``</s>`` included."""
    finished: bool
    """Whether the text came to its end; False: cut at the greatest number of tokens."""

    @property
    def line(self) -> str:
        """The text in one line: each line end in it has become a space."""
        return self.text.replace("\n", " ")


def sample(
    model: LanguageModel,
    prompts: Iterable[str] = ("",),
    *,
    count: int = 1,
    config: SamplingConfig | None = None,
    streaming: bool = False,
    threads: int = 1,
    logprobs: bool = False,
) -> Iterator[Sample]:
    """Yield ``count`` samples for each of ``prompts``, in order.

    Sample i of prompt number n depends on the seed, n, i and the prompt, and on nothing else.

    Args:
        model: the model to draw from.
        prompts: what the texts begin with; an empty one: nothing.
        count: samples of each prompt.
        config: how to draw.
        streaming: answer each prompt before the next is asked for.
        threads: how many may work out log probabilities; drawing itself takes one.
        logprobs: work out the log probability of each sample too.
    """
    config = config or SamplingConfig()
    rows = max_rows(model, config)
    numbered = enumerate(prompts)
    together = 1 if streaming else max(1, rows // max(count, 1))
    while group := list(islice(numbered, together)):
        wanted = (
            (prompt, Request(context, (number, index)))
            for number, prompt in group
            for context in (model.tokenizer.encode(prompt),)
            for index in range(count)
        )
        while batch := list(islice(wanted, rows)):
            requests = [request for _, request in batch]
            drawn = draw_samples(model, requests, config)
            scores = _logprobs(model, requests, drawn, threads) if logprobs else [None] * len(batch)
            for (prompt, request), ids, score in zip(batch, drawn, scores, strict=True):
                text = _continued(model, prompt, request.context, ids)
                finished = bool(len(ids) and ids[-1] == EOS)
                yield Sample(prompt, text, request.stream[1], score, len(ids), finished)


def _logprobs(
    model: LanguageModel, requests: list[Request], drawn: list[Ids], threads: int
) -> list[float | None]:
    """Return the log probability of each drawn sequence after its context."""
    end = np.array([EOS], dtype=np.uint32)
    parts = [part for r, ids in zip(requests, drawn, strict=True) for part in (r.context, ids, end)]
    scored = model.batch_logprobs(np.concatenate(parts), threads)
    logprobs = iter(np.split(scored, _ends(parts)))
    return [float(own.sum()) for _, own, _ in zip(logprobs, logprobs, logprobs, strict=False)]


def _ends(parts: list[Ids]) -> Ids:
    return np.cumsum([len(part) for part in parts])[:-1]


def _continued(model: LanguageModel, prompt: str, context: Ids, ids: Ids) -> str:
    """Return ``prompt`` as it was given, then what ``ids`` say behind its tokens ``context``."""
    tokenizer = model.tokenizer
    if not prompt:
        return tokenizer.decode(ids)
    text, start = tokenizer.decode(np.concatenate([context, ids])), tokenizer.decode(context)
    if start == prompt or not text.startswith(start):
        return text
    given = prompt.rstrip() if tokenizer.unit == "word" else prompt
    return given + text[len(start) :]
