"""Maps word vectors into the space of others and measures it: the work of ``lmkit embed align``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lmkit.embed.align import Alignment, fit_alignment
from lmkit.embed.formats import kind_of_suffix
from lmkit.embed.model import FAMILY, save_vectors
from lmkit.embed.vectors import LIMIT, Vectors, row_norms
from lmkit.errors import UserError
from lmkit.events import SILENT, Listener
from lmkit.language_model import Errors
from lmkit.measures.analogies import unit_vectors
from lmkit.measures.gold import read_pairs
from lmkit.measures.lookup import find_word
from lmkit.measures.translation import TranslationScores, measure_translation
from lmkit.store.artifact import ArtifactWriter, open_artifact
from lmkit.store.home import mark_last, resolve_model, resolve_out
from lmkit.tasks.open_vectors import is_vectors_file, open_vectors

_BLOCK = 1 << 14
"""Rows mapped at a time."""

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class AlignConfig:
    """How two spaces are aligned and what is measured."""

    normalize: bool = True
    """Give the vectors of the pairs length 1 before the rotation is fitted."""
    center: bool = False
    """Move the mean of each side of the pairs to 0 before."""
    held_out: float = 0.1
    """Share of the source words of the pairs (at least one word, unless 0) that are kept for
    measuring, when no other pairs are given for it."""
    limit: int = LIMIT
    """Translations are sought among the first so many words; 0: among all."""
    seed: int = 1
    """Of the draw of the words that are kept."""
    errors: Errors = "strict"
    """What to do with bytes that are not UTF-8: stop, or replace them."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.limit < 0:
            raise UserError(f"--limit {self.limit} is below 0")
        if not 0 <= self.held_out < 1:
            raise UserError(f"--held-out {self.held_out:g} is not a share from 0 to below 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Aligned:
    """What came of an alignment."""

    path: Path | None
    """Where the mapped vectors lie, if they were written."""
    pairs: int
    """Pairs that were given."""
    unknown: int
    """Those with a word that its side lacks."""
    fitted: int
    """Pairs by which the rotation was fitted."""
    cosine: float
    """Mean cosine of those after mapping."""
    scores: TranslationScores
    """How well other pairs are found, which the fit did not see."""

    def record(self) -> dict[str, Any]:
        """Return everything by name, as JSON can hold it."""
        return {
            "out": None if self.path is None else str(self.path),
            "pairs": self.pairs,
            "oov_pairs": self.unknown,
            "fitted_pairs": self.fitted,
            "fitted_mean_cosine": self.cosine,
            **{f"test_{name}": value for name, value in self.scores.record().items()},
        }


class _Pair(NamedTuple):
    """A pair both of whose words are known."""

    word: str
    """The source word as it is given."""
    source: int
    """Its row."""
    target: int
    """The row of the target word."""


def align_embed(
    source: str,
    target: str,
    pairs: str | Path,
    *,
    test: str | Path | None = None,
    out: str | None = None,
    force: bool = False,
    config: AlignConfig | None = None,
    listener: Listener = SILENT,
) -> Aligned:
    """Rotate the vectors called ``source`` into the space of those called ``target``.

    Args:
        source: the vectors to be mapped.
        target: the vectors that stay.
        pairs: a file of words that should coincide, one of the source and one of the target.
        test: a file of pairs to measure by; else a share of ``pairs`` is kept for it.
        out: the model to be made, or a file of vectors by its suffix; None makes none.
        force: replace what lies there.
        config: how.
        listener: is told of the progress.

    Raises:
        TextError: a file of pairs cannot be read.
        ModelError: there are no such vectors, or ``out`` is in the way.
        UserError: no pair is known to both sides, or they differ in size.
    """
    config = config or AlignConfig()
    path = None if out is None else resolve_out(out, "aligned", force)
    given = read_pairs(pairs, errors=config.errors)
    tested = None if test is None else read_pairs(test, errors=config.errors)
    sides = open_vectors(source, listener=listener), open_vectors(target, listener=listener)
    known = _known(sides, given)
    fitted, kept = (known, _known(sides, tested)) if tested else _split(known, config)
    if len(fitted) < sides[0].size:
        listener.warn(
            f"{len(fitted):,} pairs do not determine a rotation in {sides[0].size} dimensions"
        )
    listener.phase("aligning")
    rows = np.array([(pair.source, pair.target) for pair in fitted], dtype=np.int64).reshape(-1, 2)
    x, y = (side.matrix[rows[:, i]] for i, side in enumerate(sides))
    alignment = fit_alignment(x, y, normalize=config.normalize, center=config.center)
    mapped = _mapped(sides[0], alignment, listener)
    cosines = (unit_vectors(mapped, rows[:, 0]) * unit_vectors(sides[1], rows[:, 1])).sum(axis=1)
    if shared := len({pair.source for pair in kept} & {pair.source for pair in fitted}):
        listener.warn(f"{shared:,} words of {test} are also in {pairs}, so they are no fair test")
    listener.phase("translating")
    asked = {word for word, _ in tested} if tested else {pair.word for pair in kept}
    scores = _translate(mapped, sides[1], kept, asked, config)
    if path is not None:
        _write(path, mapped, source, target, config, force=force, listener=listener)
    listener.finish()
    return Aligned(
        path=path,
        pairs=len(given),
        unknown=len(given) - len(known),
        fitted=len(fitted),
        cosine=float(cosines.mean()),
        scores=scores,
    )


def _known(sides: tuple[Vectors, Vectors], pairs: Pairs) -> list[_Pair]:
    """Return the pairs of which both words are known."""
    found = [_Pair(a, find_word(sides[0], a), find_word(sides[1], b)) for a, b in pairs]
    return [pair for pair in found if pair.source >= 0 and pair.target >= 0]


def _split(known: list[_Pair], config: AlignConfig) -> tuple[list[_Pair], list[_Pair]]:
    """Return pairs to fit by and pairs to measure by, which have no source word in common."""
    words = np.unique([pair.source for pair in known])
    count = 0
    if config.held_out > 0 and len(words) > 1:
        count = min(max(round(config.held_out * len(words)), 1), len(words) - 1)
    kept = set(np.random.default_rng(config.seed).permutation(words)[:count].tolist())
    parts: tuple[list[_Pair], list[_Pair]] = ([], [])
    for pair in known:
        parts[pair.source in kept].append(pair)
    return parts


def _mapped(source: Vectors, alignment: Alignment, listener: Listener) -> Vectors:
    """Return ``source`` in the target's space; subwords turn with it where the map is linear."""
    matrix = np.empty((len(source), source.size), dtype=np.float32)
    for begin in range(0, len(source), _BLOCK):
        matrix[begin : begin + _BLOCK] = alignment(source.matrix[begin : begin + _BLOCK])
    subwords = source.subwords
    if subwords is not None:
        if alignment.source_mean.any() or alignment.target_mean.any():
            listener.warn("the vectors of subwords are left out, for centring does not keep sums")
            subwords = None
        else:
            rotation = alignment.rotation.astype(np.float32)
            subwords = replace(subwords, rows=subwords.rows.astype(np.float32) @ rotation)
    return replace(source, matrix=matrix, norms=row_norms(matrix), subwords=subwords)


def _translate(
    mapped: Vectors, target: Vectors, pairs: list[_Pair], asked: set[str], config: AlignConfig
) -> TranslationScores:
    """Measure by those of ``pairs`` that lie within the limit, of which ``asked`` are all words."""
    sizes = [min(len(side), config.limit or len(side)) for side in (mapped, target)]
    near = [pair for pair in pairs if pair.source < sizes[0] and pair.target < sizes[1]]
    return measure_translation(
        unit_vectors(mapped, slice(0, sizes[0])),
        unit_vectors(target, slice(0, sizes[1])),
        [(pair.source, pair.target) for pair in near],
        unknown=len(asked - {pair.word for pair in near}),
    )


def _write(
    path: Path,
    mapped: Vectors,
    source: str,
    target: str,
    config: AlignConfig,
    *,
    force: bool,
    listener: Listener,
) -> None:
    if kind_of_suffix(path.name) is not None:
        from lmkit.embed.formats import write

        write(path, mapped, force=force)
        return
    names = {"source": Path(source).name, "target": Path(target).name}
    settings = {"normalize": config.normalize, "center": config.center}
    card = {"arch": "aligned", **names, **settings}
    with ArtifactWriter(path, force) as writer:
        save_vectors(
            writer, mapped, config=card, settings=settings, data=_data(source), seed=config.seed
        )
    mark_last(FAMILY, path, listener)


def _data(source: str) -> list[dict[str, Any]]:
    """Return what the card of ``source`` says about its text; nothing if it is a file."""
    if is_vectors_file(source):
        return []
    card = open_artifact(resolve_model(source, (FAMILY,))[0], families=(FAMILY,)).card
    return list(card["data"])
