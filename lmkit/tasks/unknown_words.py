"""What people are told about questions that have no answer."""

from __future__ import annotations

from collections.abc import Iterable

from lmkit.embed.spelling import Spellings
from lmkit.embed.vectors import Vectors
from lmkit.events import Listener

SHOWN = 10
"""Unknown words, and questions that are none, that get a note of their own; others are counted."""


class UnknownWordNotes:
    """Tells a listener about unknown words, each once and with suggestions, and other problems."""

    def __init__(self, vectors: Vectors, listener: Listener) -> None:
        self._vectors = vectors
        self._spellings = Spellings(vectors.words)
        self._listener = listener
        self._told: set[str] = set()
        self._left_out = 0

    def tell(self, words: Iterable[str]) -> None:
        """Tell about those of ``words`` that are new."""
        for word in words:
            if word not in self._told and self._room():
                self._told.add(word)
                self._listener.note(self.describe(word))

    def tell_problem(self, line: int, problem: str) -> None:
        """Tell what is wrong with the question on line ``line``."""
        if self._room():
            self._told.add(f"line {line}")
            self._listener.note(f"line {line}: {problem}")

    def _room(self) -> bool:
        """Tell whether another note may be made; count it otherwise."""
        full = len(self._told) >= SHOWN
        self._left_out += full
        return not full

    def describe(self, word: str) -> str:
        """Return one line that names ``word`` and words it may have been meant for."""
        close = self._spellings.suggest(self._vectors.normalizer(word))
        if not close:
            return f"no word {word!r}"
        *others, last = map(repr, close)
        guess = f"{', '.join(others)} or {last}" if others else last
        return f"no word {word!r}; did you mean {guess}?"

    def finish(self) -> None:
        """Tell how much was left out."""
        if self._left_out:
            self._listener.note(f"such words and lines {self._left_out} times more")
