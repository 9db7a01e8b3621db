"""Modified Kneser-Ney in plain Python, from the formulas and over dicts: slow and easy to check.

Chen & Goodman 1999, eq. 16, 17 and the paragraph behind them, with lmplz's conventions: n-grams
below the highest order count by the number of distinct words to their left (the start of a
sentence or document counts as one), those that begin with <s> by their raw count; discounts come
from the counts before pruning; what pruning drops goes to the back-off of its context.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

Gram = tuple[str, ...]
BARRIER = "(nothing)"


@dataclass
class ModifiedKneserNey:
    """A model of sentences (lists of words without marks), or of documents."""

    sentences: Sequence[Sequence[str]]
    vocabulary: frozenset[str]
    """All words that can be predicted: <unk>, and </s> in sentence mode."""
    order: int
    document: bool = False
    prune: Sequence[int] = (0,)
    fallback: tuple[float, float, float] = (0.5, 1.0, 1.5)
    discounts: dict[int, tuple[float, ...]] = field(default_factory=dict)
    kept: dict[Gram, float] = field(default_factory=dict)
    """Probability of every n-gram of the model."""
    backoffs: dict[Gram, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        raw: dict[int, Counter[Gram]] = {n: Counter() for n in range(1, self.order + 1)}
        lefts: defaultdict[Gram, set[str]] = defaultdict(set)
        for sentence in self.sentences:
            words = list(sentence) if self.document else ["<s>", *sentence, "</s>"]
            for end in range(len(words)):
                for n in range(1, min(self.order, end + 1) + 1):
                    begin = end + 1 - n
                    gram = tuple(words[begin : end + 1])
                    raw[n][gram] += 1
                    lefts[gram].add(words[begin - 1] if begin else BARRIER)
        del raw[1]["<s>",]
        counts = {n: self._adjusted(n, raw[n], lefts) for n in raw}
        for n in raw:
            self.discounts[n] = self._discounts(counts[n])
        self._unigrams(counts[1])
        for n in range(2, self.order + 1):
            self._level(n, raw[n], counts[n])

    def _adjusted(self, n: int, raw: Counter[Gram], lefts: dict[Gram, set[str]]) -> dict[Gram, int]:
        if n == self.order:
            return dict(raw)
        return {g: c if g[0] == "<s>" else len(lefts[g]) for g, c in raw.items()}

    def _discounts(self, counts: dict[Gram, int]) -> tuple[float, ...]:
        n = Counter(counts.values())
        if not (n[1] and n[2] and n[3]):
            return (0.0, *self.fallback)
        y = n[1] / (n[1] + 2 * n[2])
        d = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
        if any(not 0 <= d[k - 1] <= k for k in (1, 2, 3)):
            return (0.0, *self.fallback)
        return (0.0, *d)

    def _unigrams(self, counts: dict[Gram, int]) -> None:
        d = self.discounts[1]
        total = sum(counts.values())
        free = sum(d[min(c, 3)] for c in counts.values()) / total
        for word in self.vocabulary:
            c = counts.get((word,), 0)
            self.kept[word,] = (c - d[min(c, 3)]) / total + free / len(self.vocabulary)

    def _level(self, n: int, raw: Counter[Gram], counts: dict[Gram, int]) -> None:
        d = self.discounts[n]
        threshold = self.prune[min(n, len(self.prune)) - 1]
        rows: defaultdict[Gram, list[Gram]] = defaultdict(list)
        for gram in counts:
            rows[gram[:-1]].append(gram)
        for context, grams in rows.items():
            total = sum(counts[g] for g in grams)
            stay = [g for g in grams if raw[g] > threshold]
            free = sum(d[min(counts[g], 3)] for g in stay)
            free += sum(counts[g] for g in grams if raw[g] <= threshold)
            self.backoffs[context] = free / total
            for gram in stay:
                c = counts[gram]
                lower = self.kept[gram[1:]]
                self.kept[gram] = (c - d[min(c, 3)]) / total + free / total * lower

    def probability(self, context: Sequence[str], word: str) -> float:
        """Return p(word | context); the context begins with <s> where a sentence does."""
        gram = (*context, word)[-self.order :]
        if gram in self.kept:
            return self.kept[gram]
        history = gram[:-1]
        known = history in self.kept or history == ("<s>",)
        return (self.backoffs.get(history, 1.0) if known else 1.0) * self.probability(
            history[1:], word
        )
