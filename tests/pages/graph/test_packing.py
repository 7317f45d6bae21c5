"""Rectangles on a floor: none over another, each as near to its goal as can be."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever import SheetRecord
from sat_retriever.pages.graph.layout import WINDOWS, place_sheets
from sat_retriever.pages.graph.rectangles import Floor


def apart(corners: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether no two rectangles overlap, looked at pair by pair."""
    for first in range(len(sizes)):
        for second in range(first):
            over = np.minimum(corners[first] + sizes[first], corners[second] + sizes[second])
            if (over - np.maximum(corners[first], corners[second]) > 1e-6).all():
                return False
    return True


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
def test_no_two_rectangles_overlap(shape):
    chance = np.random.default_rng(3)
    sizes = chance.uniform(10, 200, (60, 2))
    floor = Floor(sizes, shape)
    corners = np.array([floor.place(size, chance.normal(0, 50, 2)) for size in sizes])
    assert apart(corners, sizes)


def test_a_rectangle_is_set_on_the_free_place_nearest_to_its_goal():
    sizes = np.full((20, 2), 100.0)
    floor = Floor(sizes, 1.0)
    first = floor.place(sizes[0], np.zeros(2)) + 50
    second = floor.place(sizes[1], np.array([30.0, 0.0])) + 50
    assert np.abs(first).max() < 10
    assert 100 <= second[0] - first[0] < 120
    assert abs(second[1] - first[1]) < 20


def test_ground_that_was_taken_stays_free_of_rectangles():
    sizes = np.full((30, 2), 40.0)
    floor = Floor(sizes, 1.0)
    floor.occupy(np.array([-60.0, -60.0]), np.array([120.0, 120.0]))
    floor.occupy_lines(np.array([[-200.0, 0.0]]), np.array([[200.0, 0.0]]))
    corners = np.array([floor.place(size, np.zeros(2), 1.0) for size in sizes])
    boxes = np.concatenate([corners, corners + sizes], axis=1)
    over = (boxes[:, :2] < 60 - 5).all(axis=1) & (boxes[:, 2:] > -60 + 5).all(axis=1)
    assert not over.any()
    assert not ((boxes[:, 1] < -5) & (boxes[:, 3] > 5) & (np.abs(boxes[:, 0]) < 150)).any()


def test_a_floor_that_is_full_grows():
    sizes = np.full((4, 2), 10.0)
    floor = Floor(sizes, 1.0)
    corners = np.array([floor.place(np.full(2, 10.0), np.zeros(2)) for _ in range(80)])
    assert apart(corners, np.full((80, 2), 10.0))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("count", [30, 300])
def test_unlinked_workbooks_fill_the_shape_of_a_window(count, window):
    records = [
        SheetRecord(f"{book}.xlsx#{each}", f"Sheet {each}", f"{book}.xlsx", f"{book}.xlsx")
        for book in range(count)
        for each in range(1 + book % 5)
    ]
    cards = place_sheets(records, [], window).cards
    left, top = min(card.left for card in cards), min(card.top for card in cards)
    wide = max(card.left + card.width for card in cards) - left
    high = max(card.top + card.height for card in cards) - top
    assert 1 / 1.8 < wide / high / (window[0] / window[1]) < 1.8
    assert abs(left + wide / 2) < 0.1 * wide
