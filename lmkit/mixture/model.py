"""Linear mixtures of language models (Jelinek and Mercer 1980): p(w|h) = sum of w_m p_m(w|h).

A mixture of any models that predict the same kind of tokens is a language model like any other:
it scores, samples, evaluates and can itself be mixed. Words need not be the same in all parts,
see ``lmkit.mixture.vocabulary``. Letters of shapes: M parts, T tokens, B sequences, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from lmkit.errors import ModelError
from lmkit.language_model import EOS, Ids, LanguageModel, Logprobs, Tokenizer
from lmkit.mixture.vocabulary import PartVocabulary, unite
from lmkit.store.artifact import Artifact, ArtifactWriter
from lmkit.store.parts import add_part, open_part
from lmkit.text.vocab import WordTokenizer

if TYPE_CHECKING:
    from lmkit.text.restore import StoredTokenizer

_MAX_CELLS = 1 << 22  # of the [B, V] distributions that draw() holds at a time


class MixtureModel(LanguageModel):
    """A weighted sum of the probabilities of other models.

    Attributes:
        parts: the models [M].
        weights: theirs [M], at least 0, of sum 1.
    """

    family: str = "mixture"

    def __init__(
        self,
        parts: Sequence[LanguageModel],
        weights: Sequence[float] | NDArray[np.float64] | None = None,
        vocabulary: tuple[Tokenizer, tuple[PartVocabulary | None, ...]] | None = None,
    ) -> None:
        """Mix ``parts``.

        Args:
            parts: at least one model.
            weights: what each counts, scaled to sum 1; None: all the same.
            vocabulary: what :func:`lmkit.mixture.vocabulary.unite` says of the parts, if known.

        Raises:
            ModelError: the parts do not fit together.
        """
        self.parts = tuple(parts)
        self.tokenizer, self.vocabularies = vocabulary or unite(self.parts)
        self.mode = self.parts[0].mode
        given = np.ones(len(self.parts)) if weights is None else np.asarray(weights, np.float64)
        assert given.shape == (len(self.parts),) and (given >= 0).all() and given.sum() > 0
        self.weights: NDArray[np.float64] = given / given.sum()
        with np.errstate(divide="ignore"):
            self._log_weights = np.log(self.weights)

    def with_weights(self, weights: NDArray[np.float64]) -> MixtureModel:
        """Return the mixture of the same parts in other proportions."""
        return MixtureModel(self.parts, weights, (self.tokenizer, self.vocabularies))

    def part_logprobs(
        self, ids: Ids, threads: int = 1, context: Ids | None = None
    ) -> NDArray[np.float64]:
        """Return the log probabilities [M, T] that each part alone gives to ``ids`` [T]."""
        rows = []
        for part, vocabulary in zip(self.parts, self.vocabularies, strict=True):
            if vocabulary is None:
                rows.append(part.batch_logprobs(ids, threads, context=context))
                continue
            before = None if context is None else vocabulary.ids[context]
            logprobs = part.batch_logprobs(vocabulary.ids[ids], threads, context=before)
            rows.append(logprobs - vocabulary.shares[ids])
        return np.stack(rows)

    def logprobs(self, ids: Ids) -> Logprobs:
        """Return ln p(ids[t] | start, ids[:t]), shape [T]."""
        return self.batch_logprobs(ids)

    def batch_logprobs(self, ids: Ids, threads: int = 1, *, context: Ids | None = None) -> Logprobs:
        """Return the same for a long stream of many sentences or a document after ``context``."""
        mixed = self._mix(self.part_logprobs(ids, threads, context))
        return mixed if self.mode == "sentence" else np.where(ids == EOS, 0.0, mixed)

    def next_logprobs(self, context: Ids) -> Logprobs:
        """Return ln p(w | start, context) for every w, shape [V]."""
        rows = [
            part.next_logprobs(context)
            if vocabulary is None
            else part.next_logprobs(vocabulary.ids[context])[vocabulary.ids] - vocabulary.shares
            for part, vocabulary in zip(self.parts, self.vocabularies, strict=True)
        ]
        return self._mix(np.stack(rows))

    def start(self, batch: int) -> Any:
        """Return the state of ``batch`` sequences: that of each part."""
        return tuple(part.start(batch) for part in self.parts)

    def next_from(self, state: Any) -> Logprobs:
        """Return the next-token log probabilities [B, V]."""
        rows = [
            part.next_from(own)
            if vocabulary is None
            else part.next_from(own)[:, vocabulary.ids] - vocabulary.shares
            for part, vocabulary, own in zip(self.parts, self.vocabularies, state, strict=True)
        ]
        return self._mix(np.stack(rows))

    def advance(self, state: Any, tokens: Ids) -> Any:
        """Return the state after each sequence has read its token of ``tokens`` [B]."""
        return tuple(
            part.advance(own, tokens if vocabulary is None else vocabulary.ids[tokens])
            for part, vocabulary, own in zip(self.parts, self.vocabularies, state, strict=True)
        )

    def reorder(self, state: Any, indices: NDArray[np.int64]) -> Any:
        """Return the state whose row i is row ``indices[i]`` of ``state``."""
        return tuple(
            part.reorder(own, indices) for part, own in zip(self.parts, state, strict=True)
        )

    def verify(self) -> None:
        """Check the parts."""
        for part in self.parts:
            part.verify()

    def draw(self, state: Any, uniforms: NDArray[np.float64]) -> Ids:
        """Draw a token a row: with one vocabulary by drawing a part, then a token from it.

        A uniform number that falls into the stretch of a part is, stretched to [0, 1), the
        number with which that part draws.
        """
        if any(vocabulary is not None for vocabulary in self.vocabularies):
            return self._draw_from_sum(state, uniforms)
        ends = self.weights.cumsum()
        ends[-1] = max(ends[-1], 1.0)
        chosen = np.searchsorted(ends, uniforms, side="right")
        drawn = np.empty(len(uniforms), dtype=np.uint32)
        for number, (part, own) in enumerate(zip(self.parts, state, strict=True)):
            rows = np.flatnonzero(chosen == number)
            if len(rows):
                start, size = ends[number] - self.weights[number], self.weights[number]
                inside = np.clip((uniforms[rows] - start) / size, 0.0, np.nextafter(1.0, 0.0))
                drawn[rows] = part.draw(part.reorder(own, rows), inside)
        return drawn

    def _draw_from_sum(self, state: Any, uniforms: NDArray[np.float64]) -> Ids:
        rows_at_a_time = max(1, _MAX_CELLS // self.tokenizer.num_tokens)
        drawn = np.empty(len(uniforms), dtype=np.uint32)
        for first in range(0, len(uniforms), rows_at_a_time):
            rows = np.arange(first, min(first + rows_at_a_time, len(uniforms)))
            drawn[rows] = super().draw(self.reorder(state, rows), uniforms[rows])
        return drawn

    def _mix(self, logprobs: NDArray[np.float64]) -> Logprobs:
        """Return ln of the weighted sum over the first axis of ``logprobs`` [M, ...]."""
        log_weights = self._log_weights.reshape(-1, *[1] * (logprobs.ndim - 1))
        return cast("Logprobs", np.logaddexp.reduce(logprobs + log_weights, axis=0))

    def save(
        self,
        path: Path,
        sources: Sequence[Path],
        *,
        force: bool = False,
        data: Sequence[Mapping[str, Any]] = (),
        metrics: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the mixture as a model directory with its parts inside.

        Args:
            path: the directory to be.
            sources: the model directories of the parts [M].
            force: replace a model that lies there.
            data: the texts the weights were tuned on, as the card describes texts.
            metrics: figures worth keeping.
            settings: the settings of the run.

        Raises:
            ModelError: something is in the way, or the disk is full or not writable.
        """
        assert len(sources) == len(self.parts)
        spec = cast("StoredTokenizer", self.tokenizer).spec()
        with ArtifactWriter(path, force) as writer:
            digests = [add_part(writer, number, part) for number, part in enumerate(sources)]
            united = isinstance(self.tokenizer, WordTokenizer) and None not in self.vocabularies
            if united:
                with writer.add_tensors() as tensors:
                    for name, array in cast("WordTokenizer", self.tokenizer).arrays().items():
                        tensors.append(name, array)
                    for number, vocabulary in enumerate(self.vocabularies):
                        tensors.append(f"part{number}", cast("PartVocabulary", vocabulary).ids)
            writer.describe(
                family=self.family,
                config={"weights": self.weights.tolist(), "parts": digests, "united": united},
                tokenizer={"spec": spec, "fingerprint": self.tokenizer.fingerprint()},
                data=data,
                metrics=metrics,
                settings=settings,
            )

    @classmethod
    def open(cls, artifact: Artifact, open_model: Callable[[Path], LanguageModel]) -> Self:
        """Open the mixture in ``artifact``, its parts by ``open_model``.

        Raises:
            ModelError: it is damaged.
        """
        config = artifact.config
        if len(config["weights"]) != len(config["parts"]) or not config["parts"]:
            raise ModelError(f"{artifact.path} is damaged: its weights do not match its parts")
        parts = [
            open_model(open_part(artifact, number, digest))
            for number, digest in enumerate(config["parts"])
        ]
        if not config["united"]:
            vocabulary = parts[0].tokenizer, (None,) * len(parts)
            return cls(parts, config["weights"], vocabulary)
        tokenizer = WordTokenizer.restore(artifact.tokenizer["spec"], artifact.arrays)
        own = (PartVocabulary.of(artifact.array(f"part{i}")) for i in range(len(parts)))
        return cls(parts, config["weights"], (tokenizer, tuple(own)))
