"""The protocol of every model that predicts text, from counted n-grams to GPT.

Scoring, sampling, evaluation and mixing are written once against :class:`LanguageModel`; a
family implements :meth:`~LanguageModel.logprobs`, :meth:`~LanguageModel.next_logprobs` and the
stepping methods, and overrides the rest where it knows a faster way.

Conventions: ids are ``uint32``; id 0 is ``<unk>``, 1 is ``<s>`` (context only, never predicted),
2 is ``</s>``. Log probabilities are natural logarithms in ``float64``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]
Logprobs = NDArray[np.float64]
Mode = Literal["sentence", "document"]
Errors = Literal["strict", "replace"]

UNK, BOS, EOS = 0, 1, 2
SPECIALS = ("<unk>", "<s>", "</s>")


class Tokenizer(Protocol):
    """Turns text into ids and back; travels inside the model directory."""

    @property
    def unit(self) -> str:
        """``"word"``, ``"char"``, ``"byte"`` or ``"sentencepiece"``."""

    @property
    def num_tokens(self) -> int:
        """Size of the vocabulary, the three specials included."""

    def encode(self, line: str) -> Ids:
        """Return the ids of one line, without ``<s>`` and without a final ``</s>``.

        Word units take the words ``<s>`` and ``</s>`` in the text as ends of sentences: id 2
        stands between the parts they separate; the word ``<unk>`` is id 0.
        """

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the text of ``ids``; a final ``</s>`` is dropped, others become line ends."""

    def token(self, index: int) -> str:
        """Return token ``index`` in printable form."""

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of everything that decides :meth:`encode`."""


class LanguageModel(ABC):
    """A probability distribution over token sequences.

    Attributes:
        family: the name under which ``lmkit.tasks.families`` knows the class.
        tokenizer: turns text into the ids that the model predicts.
        mode: ``"sentence"``: each line is ``<s> line </s>``; ``"document"``: the text is one
            stream without sentence marks.
    """

    family: str
    tokenizer: Tokenizer
    mode: Mode

    @abstractmethod
    def logprobs(self, ids: Ids) -> Logprobs:
        """Return ln p(ids[t] | start, ids[:t]) for a sequence [T] from the start context.

        In sentence mode id 2 is predicted and the context restarts at ``<s>`` behind it; in
        document mode id 2 is a break between documents: its entry is 0.0 and the context
        restarts empty.
        """

    def batch_logprobs(self, ids: Ids, threads: int = 1, *, context: Ids | None = None) -> Logprobs:
        """Return :meth:`logprobs` of a long stream [T] of many sentences, each closed by id 2.

        Args:
            ids: the stream.
            threads: how many may be used.
            context: what precedes the stream in the same document, when it does not begin at
                the start context.
        """
        del threads
        if context is None or not len(context):
            return self.logprobs(ids)
        return self.logprobs(np.concatenate([context, ids]))[len(context) :]

    def verify(self) -> None:  # noqa: B027  (most families have nothing left to check)
        """Check what opening the model took on trust.

        Raises:
            ModelError: the model is damaged.
        """

    @abstractmethod
    def next_logprobs(self, context: Ids) -> Logprobs:
        """Return ln p(w | start, context) for every w, shape [V]; -inf where never predicted."""

    @abstractmethod
    def start(self, batch: int) -> Any:
        """Return the state of ``batch`` sequences that have read nothing yet."""

    @abstractmethod
    def next_from(self, state: Any) -> Logprobs:
        """Return the next-token log probabilities [B, V] in ``state``."""

    @abstractmethod
    def advance(self, state: Any, tokens: Ids) -> Any:
        """Return the state after each of the B sequences has read its token of ``tokens`` [B]."""

    @abstractmethod
    def reorder(self, state: Any, indices: NDArray[np.int64]) -> Any:
        """Return the state whose row i is row ``indices[i]`` of ``state``."""

    def step(self, state: Any, tokens: Ids) -> tuple[Logprobs, Any]:
        """Read ``tokens`` [B]; return the next log probabilities [B, V] and the new state."""
        state = self.advance(state, tokens)
        return self.next_from(state), state

    def draw(self, state: Any, uniforms: NDArray[np.float64]) -> Ids:
        """Draw one token a row from the exact next-token distribution, given ``uniforms`` [B]."""
        cumulative = np.exp(self.next_from(state)).cumsum(axis=1)
        targets = uniforms * cumulative[:, -1]
        targets = np.minimum(targets, np.nextafter(cumulative[:, -1], 0.0))
        pairs = zip(cumulative, targets, strict=True)
        return np.array([np.searchsorted(c, t, side="right") for c, t in pairs], dtype=np.uint32)
