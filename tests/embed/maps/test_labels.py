"""Labels: near their points, off one another, inside the frame."""

import numpy as np
import pytest

from lmkit.embed.maps.labels import follow, place_labels

FRAME = (0.0, 0.0, 400.0, 300.0)


def overlapping(centres: np.ndarray, sizes: np.ndarray) -> int:
    apart = np.abs(centres[:, None] - centres)
    room = (sizes[:, None] + sizes) / 2
    return int(((apart < room - 1e-9).all(axis=2).sum() - len(centres)) / 2)


def test_a_lone_label_stands_on_the_right() -> None:
    centres = place_labels(np.array([[100.0, 100.0]]), np.array([[40.0, 10.0]]), FRAME, gap=4)
    assert centres.tolist() == [[124.0, 100.0]]


def test_labels_do_not_leave_the_frame() -> None:
    points = np.array([[395.0, 150.0], [5.0, 5.0], [200.0, 299.0]])
    sizes = np.full((3, 2), (60.0, 12.0))
    centres = place_labels(points, sizes, FRAME, gap=4)
    assert (centres - sizes / 2 >= 0).all()
    assert (centres + sizes / 2 <= [400.0, 300.0]).all()


@pytest.mark.parametrize("seed", range(5))
def test_labels_keep_apart_where_there_is_room(seed: int) -> None:
    generator = np.random.default_rng(seed)
    points = generator.uniform((20, 20), (380, 280), (45, 2))
    sizes = np.stack([generator.uniform(15, 45, 45), np.full(45, 9.0)], axis=1)
    centres = place_labels(points, sizes, FRAME, gap=4)
    beside = points + [1, 0] * (sizes / 2 + 4)
    assert overlapping(beside, sizes) > 3
    assert overlapping(centres, sizes) == 0
    assert np.abs(centres - points).max() < 80


def test_labels_keep_off_points_and_obstacles() -> None:
    points = np.array([[100.0, 100.0], [120.0, 100.0]])
    sizes = np.full((2, 2), (50.0, 10.0))
    line = np.stack([np.linspace(124, 175, 20), np.full(20, 100.0)], axis=1)
    centres = place_labels(points, sizes, FRAME, gap=4, obstacles=line)
    for centre in centres:
        covered = np.abs(np.concatenate([points, line]) - centre) < sizes[0] / 2
        assert not covered.all(axis=1).any()


def test_labels_of_one_place_still_get_one_each() -> None:
    centres = place_labels(np.zeros((30, 2)) + 200, np.full((30, 2), (50.0, 10.0)), FRAME, gap=4)
    assert np.isfinite(centres).all()
    assert len(np.unique(centres, axis=0)) > 15


def test_no_labels() -> None:
    assert place_labels(np.empty((0, 2)), np.empty((0, 2)), FRAME, gap=4).shape == (0, 2)


def test_a_far_label_is_followed() -> None:
    size = np.array([20.0, 10.0])
    assert follow(np.array([14.0, 0.0]), size, np.zeros(2), 4.0) is None
    end = follow(np.array([40.0, 0.0]), size, np.zeros(2), 4.0)
    assert end is not None and end.tolist() == [30.0, 0.0]
