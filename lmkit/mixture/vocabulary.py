"""One vocabulary for models that know different words.

The union of the words of all parts. A part that does not know a word of the union takes it for
``<unk>``, and the probability of its ``<unk>`` is divided evenly among all entries of the union
that it takes for ``<unk>`` (``<unk>`` itself is one), so that each part's probabilities still sum
to 1 over the union.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmkit.errors import ModelError
from lmkit.language_model import UNK, Ids, LanguageModel, Logprobs, Tokenizer
from lmkit.text.vocab import WordTokenizer


@dataclass(frozen=True, slots=True)
class PartVocabulary:
    """How one part sees the vocabulary of the mixture."""

    ids: Ids
    """[V] the part's id of each token of the mixture."""
    shares: Logprobs
    """[V] log of how many tokens of the mixture share that id: 0.0 but for ``<unk>``."""

    @classmethod
    def of(cls, ids: Ids) -> PartVocabulary:
        """Work out the shares."""
        unknown = ids == UNK
        return cls(ids, np.where(unknown, np.log(np.count_nonzero(unknown)), 0.0))


def unite(
    parts: Sequence[LanguageModel],
) -> tuple[Tokenizer, tuple[PartVocabulary | None, ...]]:
    """Return a tokenizer for all ``parts``, and how each sees it (None: just as it is).

    Raises:
        ModelError: the parts cannot predict the same tokens.
    """
    first = parts[0]
    for number, part in enumerate(parts[1:], start=2):
        if part.mode != first.mode:
            raise ModelError(
                f"model 1 is in {first.mode} mode, model {number} in {part.mode} mode",
                "Mix models that were fitted with the same --mode",
            )
        if part.tokenizer.unit != first.tokenizer.unit:
            raise ModelError(
                f"model 1 predicts {first.tokenizer.unit} units, model {number} "
                f"{part.tokenizer.unit} units",
                "Mix models that were fitted with the same --unit",
            )
    if len({part.tokenizer.fingerprint() for part in parts}) == 1:
        return first.tokenizer, (None,) * len(parts)
    tokenizers = [part.tokenizer for part in parts]
    words = [tokenizer for tokenizer in tokenizers if isinstance(tokenizer, WordTokenizer)]
    if len(words) < len(tokenizers):
        raise ModelError(
            f"the models have different {first.tokenizer.unit} vocabularies",
            "Fit them with one tokenizer; only vocabularies of words can be united",
        )
    return _unite_words(words)


def _unite_words(
    tokenizers: Sequence[WordTokenizer],
) -> tuple[WordTokenizer, tuple[PartVocabulary, ...]]:
    if any(tokenizer.normalizer != tokenizers[0].normalizer for tokenizer in tokenizers):
        raise ModelError(
            "the models normalise text differently",
            "Mix models that were fitted with the same --lower and --normalize",
        )
    lists = [tokenizer.table.words() for tokenizer in tokenizers]
    union = list(dict.fromkeys(word for words in lists for word in words))
    places = {word: place for place, word in enumerate(union)}
    vocabularies = []
    for words in lists:
        ids = np.full(len(union), UNK, dtype=np.uint32)
        ids[[places[word] for word in words]] = np.arange(len(words), dtype=np.uint32)
        vocabularies.append(PartVocabulary.of(ids))
    tokenizer = WordTokenizer.from_words(union, None, tokenizers[0].normalizer)
    return tokenizer, tuple(vocabularies)
