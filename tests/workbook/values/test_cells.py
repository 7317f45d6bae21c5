"""Kind codes of a grid, and values as text."""

import datetime as dt

import pytest

from sat_retriever.records.area import Area
from sat_retriever.workbook.values.cells import MAX_CELLS, Kind, cells_of, header_text, sharp_kind
from sat_retriever.workbook.values.grid import CellError, Grid, Places


def test_every_kind_of_value_has_its_code():
    row = [None, "a", 1, 1.5, True, dt.date(2024, 1, 1), dt.time(9), CellError("#N/A")]
    codes = cells_of(Grid([row]), ()).kinds[0].tolist()
    assert codes == list(range(8))
    assert cells_of(Grid([[dt.datetime(2024, 1, 1), dt.timedelta(1)]]), ()).kinds[0].tolist() == [
        Kind.DATE,
        Kind.TIME,
    ]


def test_formulas_without_values_are_unknown_where_nothing_else_stands():
    grid = Grid([["a", None], [1.0]], 3, 2, Places(9, [(3, 2), (3, 3), (2, 5), (5, 1)]))
    cells = cells_of(grid, [Area(3, 2, 3, 3)])
    assert cells.origin == (2, 1)
    assert cells.kinds.tolist() == [
        [0, 0, 0, 0, Kind.UNKNOWN],
        [0, Kind.TEXT, Kind.UNKNOWN, 0, 0],
        [0, Kind.NUMBER, 0, 0, 0],
        [Kind.UNKNOWN, 0, 0, 0, 0],
    ]
    assert [cells.value(1, 1), cells.value(2, 1), cells.value(3, 0)] == ["a", 1.0, None]
    assert (cells.line(0, [0, 4]), cells.spread(1, 2)) == ([None, None], "a")
    assert cells_of(Grid([], unsaved=Places(9, [(7, 4)])), ()).origin == (7, 4)


def test_two_formulas_at_the_ends_of_a_sheet_stay_within_the_bound():
    far = Places(9, [(1, 1), (1_048_576, 16_384)])
    assert cells_of(Grid([["a"]], unsaved=far), ()).kinds.size <= MAX_CELLS


def test_short_rows_are_filled_up_with_empty_cells():
    kinds = cells_of(Grid([["a"], [], [None, 2.0, "b"]]), ()).kinds
    assert kinds.tolist() == [[1, 0, 0], [0, 0, 0], [0, 3, 1]]


def test_a_grid_beyond_the_bound_loses_the_smaller_part():
    deep = cells_of(Grid([*[[1.0]] * 9000, [1.0] * 16_000]), ())
    assert deep.kinds.size <= MAX_CELLS
    assert len(deep.rows) == 9001
    wide = cells_of(Grid([*[[1.0] * 16_000] * 10, *[[1.0]] * 9000]), ())
    assert wide.kinds.size <= MAX_CELLS
    assert wide.kinds.shape[1] == 16_000


def test_merged_cells_have_the_value_of_their_first_cell():
    cells = cells_of(Grid([["a", None], [None, None]], 3, 2), [Area(3, 2, 4, 3)])
    assert {cells.spread(row, col) for row in (0, 1) for col in (0, 1)} == {"a"}
    assert cells.value(1, 1) is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("Quarter 1", Kind.TEXT),
        ("04656-2020", Kind.CODE),
        ("ann@example.org", Kind.CODE),
        ("https://example.org/x", Kind.CODE),
        ("n/a", Kind.ERROR),
        ("  ", Kind.EMPTY),
        (2.5, Kind.NUMBER),
    ],
)
def test_codes_addresses_and_gaps_are_told_from_words(value, kind):
    assert sharp_kind(value) == kind


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2020.0, "2020"),
        (0.5, "0.5"),
        (dt.datetime(2024, 3, 1), "2024-03-01"),
        ("  a\t\nb ", "a b"),
        (CellError("#REF!"), ""),
        (None, ""),
    ],
)
def test_headers_are_canonical(value, expected):
    assert header_text(value) == expected
