"""The self-organising map: each step by the equations, and animals sorted by kind."""

from collections.abc import Iterable

import numpy as np
import pytest
from embed.maps.animals import ANIMALS, BIRDS, GRAZERS, HUNTERS, attributes, inputs

from lmkit.embed.maps import som
from lmkit.embed.maps.pca import principal_axes
from lmkit.embed.maps.som import MapConfig, SelfOrganisingMap, num_steps, train_map

CONFIG = MapConfig(rows=10, columns=10)
BLANK = np.zeros((len(ANIMALS), len(ANIMALS)), dtype=np.float32)


def territory(grid: SelfOrganisingMap) -> np.ndarray:
    """Return which animal's attributes each unit is nearest to, as [R, C]."""
    known = np.hstack([BLANK, attributes()])
    units = grid.units.copy()
    units[:, :, : len(ANIMALS)] = 0.0
    distances = np.linalg.norm(units[:, :, None] - known, axis=3)
    return np.argmin(distances, axis=2)


def regions(inside: np.ndarray) -> int:
    """Return of how many connected parts (eight neighbours) a set of cells consists."""
    left = set(map(tuple, np.argwhere(inside).tolist()))
    parts = 0
    while left:
        parts += 1
        edge = [left.pop()]
        while edge:
            row, column = edge.pop()
            around = {(row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= around
            edge += around
    return parts


def numbers(names: Iterable[str]) -> list[int]:
    return [ANIMALS.index(name) for name in names]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_animals_are_sorted_by_kind(seed: int) -> None:
    rows = inputs()
    grid = train_map(rows, MapConfig(rows=10, columns=10, seed=seed))
    assert grid.topographic_error(rows) < 0.2
    owners = territory(grid)
    for kind in (BIRDS, HUNTERS, GRAZERS):
        assert regions(np.isin(owners, numbers(kind))) == 1, kind
    places = grid.places(rows)
    assert len(np.unique(places, axis=0)) == len(ANIMALS), "every animal has a cell of its own"
    kinds = [[*numbers(kind)] for kind in (BIRDS, HUNTERS, GRAZERS)]
    centres = np.array([places[kind].mean(axis=0) for kind in kinds])
    for kind, own in zip(kinds, range(3), strict=True):
        far = np.linalg.norm(places[kind][:, None] - centres, axis=2)
        assert (far.argmin(axis=1) == own).all(), "each is nearest to the middle of its kind"


def test_a_map_is_better_than_where_it_began() -> None:
    rows = inputs()
    flat = SelfOrganisingMap(som._flat_grid(rows, CONFIG))
    trained = train_map(rows, CONFIG)
    assert trained.quantisation_error(rows) < 0.5 * flat.quantisation_error(rows)


def test_the_same_seed_gives_the_same_map() -> None:
    rows = inputs()
    config = MapConfig(rows=4, columns=3, steps=500, seed=7)
    first, again = train_map(rows, config), train_map(rows, config)
    other = train_map(rows, MapConfig(rows=4, columns=3, steps=500, seed=8))
    assert first.units.tobytes() == again.units.tobytes()
    assert first.units.tobytes() != other.units.tobytes()


def test_steps_are_those_of_the_equations() -> None:
    rows = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    config = MapConfig(rows=3, columns=4, steps=60, first_radius=2.0, seed=3)
    units = som._flat_grid(rows, config).astype(np.float64)
    generator = np.random.default_rng(3)
    for step in range(60):
        if step % 5 == 0:
            order = generator.permutation(5)
        shown = rows[order[step % 5]].astype(np.float64)
        time = step / 59
        radius, rate = 2.0 * (0.5 / 2.0) ** time, 0.8 * (0.05 / 0.8) ** time
        winner = min(np.ndindex(3, 4), key=lambda r: float(((shown - units[r]) ** 2).sum()))
        for place in np.ndindex(3, 4):
            apart = (place[0] - winner[0]) ** 2 + (place[1] - winner[1]) ** 2
            units[place] += rate * np.exp(-apart / (2 * radius**2)) * (shown - units[place])
    assert train_map(rows, config).units == pytest.approx(units, abs=1e-5)


def test_a_grid_begins_in_the_plane_of_most_variance() -> None:
    generator = np.random.default_rng(2)
    rows = (generator.normal(size=(40, 6)) * [9.0, 3.0, 1.0, 0.1, 0.1, 0.1]).astype(np.float32)
    axes = principal_axes(rows).axes
    wide = som._flat_grid(rows, MapConfig(rows=3, columns=5))
    high = som._flat_grid(rows, MapConfig(rows=5, columns=3))
    for first, longer in ((wide[0, -1] - wide[0, 0], 0), (high[-1, 0] - high[0, 0], 0)):
        cosine = first @ axes[longer] / np.linalg.norm(first)
        assert cosine == pytest.approx(1.0, abs=1e-5)


def test_errors_and_relief_of_a_known_map() -> None:
    units = np.array([[[0.0], [1.0], [10.0]], [[0.5], [2.0], [11.0]]], dtype=np.float32)
    grid = SelfOrganisingMap(units)
    rows = np.array([[0.1], [10.6]], dtype=np.float32)
    assert grid.places(rows).tolist() == [[0, 0], [1, 2]]
    assert grid.quantisation_error(rows) == pytest.approx((0.1 + 0.4) / 2)
    assert grid.topographic_error(rows) == 0.0
    across, down = grid.frontiers()
    assert across.tolist() == [[1.0, 9.0], [1.5, 9.0]]
    assert down.tolist() == [[0.5, 1.0, 1.0]]
    assert grid.relief()[0] == pytest.approx([(1.0 + 0.5) / 2, (1.0 + 9.0 + 1.0) / 3, 5.0])
    torn = SelfOrganisingMap(np.array([[[0.0], [9.0], [1.0]]], dtype=np.float32))
    assert torn.topographic_error(np.array([[0.4], [8.0]], dtype=np.float32)) == 0.5


def test_one_cell_is_the_mean_of_its_words() -> None:
    rows = np.array([[0.0, 1.0], [2.0, 1.0]], dtype=np.float32)
    grid = train_map(rows, MapConfig(rows=1, columns=1))
    assert grid.units[0, 0] == pytest.approx([1.0, 1.0], abs=0.1)
    assert (grid.topographic_error(rows), grid.relief().tolist()) == (0.0, [[0.0]])


def test_progress_adds_up() -> None:
    told: list[int] = []
    train_map(inputs(), CONFIG, told.append)
    assert sum(told) == num_steps(CONFIG, len(ANIMALS)) == 2000
    assert (num_steps(CONFIG, 100), num_steps(CONFIG, 10**6)) == (4000, 100_000)


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"last_radius": 0.0}, {"first_rate": 1.5}])
def test_bad_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        MapConfig(**{"rows": 2, "columns": 2, **wrong})  # type: ignore[arg-type]
