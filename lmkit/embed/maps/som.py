"""The self-organising map (Kohonen 1982), for words as Ritter and Kohonen drew them.

A grid of units, each with a vector. One input after the other is shown to the grid; the unit that
is nearest to it, the winner, and its neighbours on the grid move towards it. Neighbours so come to
stand for similar inputs, and the grid becomes a map of them. Ritter and Kohonen, Self-organizing
semantic maps, Biological Cybernetics 61 (1989); the equations below are theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.maps.pca import principal_axes

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

_BLOCK = 1 << 12
"""Rows whose winners are found at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapConfig:
    """How a map is made."""

    rows: int
    """Units from top to bottom."""
    columns: int
    """Units from left to right."""
    steps: int = 0
    """Inputs shown; 0: forty times each, but at least 2,000 and at most 100,000 in all."""
    first_radius: float = 0.0
    """Radius of the neighbourhood at the first step, in units; 0: half the grid's longer side."""
    last_radius: float = 0.5
    """The radius at the last step."""
    first_rate: float = 0.8
    """How far the winner goes towards the input at the first step: 1 is the whole way."""
    last_rate: float = 0.05
    """The same at the last step."""
    seed: int = 1
    """Of the order in which inputs are shown."""

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.rows < 1 or self.columns < 1:
            raise ValueError("a map has at least one row and one column")
        if not (self.last_radius > 0.0 and 0.0 < self.last_rate <= self.first_rate <= 1.0):
            raise ValueError("radius and rate shrink, and stay above 0")


@dataclass(frozen=True, slots=True, eq=False)
class SelfOrganisingMap:
    """A trained grid."""

    units: Floats
    """[R, C, D], the vector of each unit."""

    def winners(self, inputs: NDArray[np.floating], count: int = 1) -> tuple[Ints, Floats]:
        """Return the ``count`` units nearest to each of ``inputs`` [N, D], nearest first.

        Returns:
            Their numbers [N, count], row by row through the grid, and their distances [N, count].
        """
        flat = self.units.reshape(-1, self.units.shape[2]).astype(np.float64)
        numbers = np.empty((len(inputs), count), dtype=np.int64)
        distances = np.empty((len(inputs), count), dtype=np.float32)
        for begin in range(0, len(inputs), _BLOCK):
            block = np.asarray(inputs[begin : begin + _BLOCK], dtype=np.float64)
            squares = (flat**2).sum(1) - 2 * block @ flat.T + (block**2).sum(1)[:, None]
            best = np.argsort(squares, axis=1, kind="stable")[:, :count]
            numbers[begin : begin + _BLOCK] = best
            nearest = np.take_along_axis(squares, best, axis=1)
            distances[begin : begin + _BLOCK] = np.sqrt(np.maximum(nearest, 0.0))
        return numbers, distances

    def places(self, inputs: NDArray[np.floating]) -> Ints:
        """Return row and column [N, 2] of the winner of each of ``inputs`` [N, D]."""
        numbers = self.winners(inputs)[0][:, 0]
        return np.stack(np.divmod(numbers, self.units.shape[1]), axis=1)

    def quantisation_error(self, inputs: NDArray[np.floating]) -> float:
        """Return the mean distance of ``inputs`` [N, D] to their winners."""
        return float(self.winners(inputs)[1].mean(dtype=np.float64))

    def topographic_error(self, inputs: NDArray[np.floating]) -> float:
        """Return the share of ``inputs`` [N, D] whose two best units are not neighbours.

        Neighbours are the eight around a unit (Kiviluoto 1996). A map without this error is a
        continuous image of its inputs.
        """
        rows, columns, _ = self.units.shape
        if rows * columns < 2:
            return 0.0
        both = np.stack(np.divmod(self.winners(inputs, 2)[0], columns), axis=2)
        apart = np.abs(both[:, 0] - both[:, 1]).max(axis=1) > 1
        return float(apart.mean())

    def frontiers(self) -> tuple[Floats, Floats]:
        """Return the distances between the vectors of units that are neighbours.

        Returns:
            Of those beside each other [R, C - 1], and of those above each other [R - 1, C].
        """
        across = np.linalg.norm(np.diff(self.units, axis=1), axis=2)
        down = np.linalg.norm(np.diff(self.units, axis=0), axis=2)
        return across, down

    def relief(self) -> Floats:
        """Return each unit's mean distance to its neighbours in the four directions [R, C].

        High ground parts regions of similar units (the U-matrix of Ultsch and Siemon 1990).
        """
        rows, columns, _ = self.units.shape
        across, down = self.frontiers()
        total = np.zeros((rows, columns), dtype=np.float32)
        neighbours = np.zeros((rows, columns), dtype=np.float32)
        for distances, here, there in (
            (across, np.s_[:, :-1], np.s_[:, 1:]),
            (down, np.s_[:-1], np.s_[1:]),
        ):
            for side in (here, there):
                total[side] += distances
                neighbours[side] += 1
        return np.asarray(total / np.maximum(neighbours, 1), dtype=np.float32)


def train_map(
    inputs: NDArray[np.floating],
    config: MapConfig,
    advance: Callable[[int], None] | None = None,
) -> SelfOrganisingMap:
    """Return a map of ``inputs`` [N, D].

    At step t = 0 .. T the unit at place r moves by ``rate(t) h(t) (input - unit)``, where h(t) =
    exp(-|r - winner|^2 / (2 radius(t)^2)), and rate and radius fall from their first to their last
    value as ``first (last / first)^(t / T)``. Inputs are shown in random order, all of them once
    before one comes again. The grid starts out flat in the plane of the principal components, its
    longer side along the first, and not at random: maps of other seeds so look alike.

    Args:
        inputs: one row for each word.
        config: the grid and how it is trained.
        advance: is told from time to time how many more steps are done.

    Raises:
        ValueError: there are no inputs, or one holds NaN or infinity.
    """
    rows = np.asarray(inputs, dtype=np.float32)
    units = _flat_grid(rows, config).reshape(-1, rows.shape[1])
    places = np.argwhere(np.ones((config.rows, config.columns))).astype(np.float32)
    apart = ((places[:, None] - places) ** 2).sum(axis=2)  # [U, U]
    steps = num_steps(config, len(rows))
    first_radius = config.first_radius or max(config.rows, config.columns) / 2
    first_radius = max(first_radius, config.last_radius)
    times = np.linspace(0.0, 1.0, steps)
    radii = first_radius * (config.last_radius / first_radius) ** times
    rates = config.first_rate * (config.last_rate / config.first_rate) ** times
    generator = np.random.default_rng(config.seed)
    order = np.empty(0, dtype=np.int64)
    for step in range(steps):
        turn = step % len(rows)
        if turn == 0:
            order = generator.permutation(len(rows))
        difference = rows[order[turn]] - units
        winner = int(np.argmin(np.einsum("ud,ud->u", difference, difference)))
        pull = np.float32(rates[step]) * np.exp(apart[winner] / np.float32(-2 * radii[step] ** 2))
        units += pull[:, None] * difference
        if advance is not None and step % _REPORT == _REPORT - 1:
            advance(_REPORT)
    return SelfOrganisingMap(units.reshape(config.rows, config.columns, -1))


_REPORT = 1000
"""Steps between two reports."""


def num_steps(config: MapConfig, num_inputs: int) -> int:
    """Return how many inputs are shown to a map of ``num_inputs`` different ones."""
    return config.steps or int(np.clip(40 * num_inputs, 2_000, 100_000))


def _flat_grid(rows: Floats, config: MapConfig) -> Floats:
    """Return units [R, C, D] in the plane of the two greatest variances, two deviations wide."""
    principal = principal_axes(rows)
    first, second = principal.axes * principal.project(rows).std(axis=0)[:, None]
    along_rows, along_columns = (
        (second, first) if config.columns >= config.rows else (first, second)
    )
    down = np.linspace(-1.0, 1.0, config.rows) if config.rows > 1 else np.zeros(1)
    right = np.linspace(-1.0, 1.0, config.columns) if config.columns > 1 else np.zeros(1)
    plane = down[:, None, None] * along_rows + right[None, :, None] * along_columns
    return np.asarray(principal.mean + plane, dtype=np.float32)
