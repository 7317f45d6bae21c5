"""Cells by their place alone."""

import pytest

from sat_retriever.records.area import Area
from sat_retriever.workbook.values.grid import Places


def test_cells_outside_of_any_sheet_are_left_out():
    assert len(Places(9, [(0, 1), (1, 0), (1_048_577, 1), (1, 16_385)])) == 0
    places = Places(9, [(1_048_576, 16_384), (1, 1)])
    assert [each.tolist() for each in places.indices()] == [[1_048_576, 1], [16_384, 1]]


@pytest.mark.parametrize(("room", "kept"), [(6, 6), (5, 1), (0, 0)])
def test_an_area_without_room_is_kept_by_its_first_cell(room, kept):
    places = Places(room)
    places.fill(Area(2, 3, 3, 5))
    assert len(places) == kept
    assert places.area == {6: Area(2, 3, 3, 5), 1: Area(2, 3, 2, 3), 0: None}[kept]


def test_those_above_a_row_are_told_from_the_others():
    places = Places(9, [(1, 1), (2, 16_384), (3, 1)])
    assert places.above(2) == Places(9, [(1, 1), (2, 16_384)])
    assert len(places) == 3
