"""What holds for the rows of any table: each is told once, wherever the table stands."""

from __future__ import annotations

import string
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SUMS, LeftOutReason
from sat_retriever.workbook.tables.header import find_layouts
from sat_retriever.workbook.tables.records import records_of
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import told

WORDS = [
    "Total",
    "Subtotal",
    "North Total",
    "Mean",
    "Max",
    "kg",
    "EUR",
    "Item",
    "Stock",
    "n/a",
    "a",
]
VALUES = st.one_of(
    st.none(),
    st.sampled_from(WORDS),
    st.integers(0, 9).map(float),
    st.sampled_from([0.1, 0.5, 120.0, -3.0, 1e308, float("inf"), float("nan")]),
    st.timedeltas(),
    st.datetimes(),
)
NAMES = st.text(string.ascii_lowercase, min_size=4, max_size=9).map(lambda word: f"{word}q")
MERGES = st.lists(
    st.builds(
        lambda top, left, height, width: Area(top, left, top + height, left + width),
        *(st.integers(1, 9), st.integers(1, 5), st.integers(0, 3), st.integers(0, 3)),
    ),
    max_size=3,
)


@st.composite
def grids(draw):
    """Rows of any values, often below a header, some of them repeated."""
    width = draw(st.integers(1, 5))
    lines = st.lists(VALUES, min_size=width, max_size=width)
    pool = draw(st.lists(lines, min_size=1, max_size=8))
    header = ["Item", "Stock", "Price", "Sold", "Cost"][:width]
    head = [header] if draw(st.booleans()) else []
    rows = [*head, *draw(st.lists(st.sampled_from([*pool, header]), max_size=20))]
    return rows


@settings(max_examples=200)
@given(grids(), MERGES)
def test_each_filled_row_below_a_header_is_a_record_or_is_left_out_and_never_both(rows, merges):
    cells = cells_of(Grid(rows), merges)
    for layout, _ in find_layouts(cells, ()):
        if layout.transposed:
            assert not layout.out
            continue
        area = layout.area
        head = area.top + layout.header_height
        records, out = records_of(cells, layout).tolist(), list(layout.out)
        assert out == sorted(set(out))
        assert all(head <= row <= area.bottom for row in out)
        assert not set(records) & set(out)
        assert all(layout.out.get(row, LeftOutReason.TOTAL) in SUMS for row in layout.doubtful)
        part = cells.kinds[head : area.bottom + 1, area.left : area.right + 1]
        filled = {head + row for row in part.any(axis=1).nonzero()[0].tolist()}
        assert filled == set(records) | (set(out) & filled)


@settings(max_examples=60)
@given(grids(), MERGES, st.integers(1, 400), st.integers(1, 40))
def test_what_is_left_out_does_not_depend_on_where_the_table_stands(rows, merges, down, right):
    here = told(Grid(rows), merges)
    moved = [
        Area(each.top + down, each.left + right, each.bottom + down, each.right + right)
        for each in merges
    ]
    there = told(Grid(rows, 1 + down, 1 + right), moved)

    def back(table):
        area = area_of(table.range)
        area = Area(area.top - down, area.left - right, area.bottom - down, area.right - right)
        return replace(
            table,
            range=area.a1(),
            records=[row - down for row in table.records],
            left_out={row - down: why for row, why in table.left_out.items()},
            doubtful=[row - down for row in table.doubtful],
        )

    assert [back(table) for table in there] == here


@st.composite
def tables(draw, least=3):
    """A header, and records with distinct names and numbers of many digits."""
    names = draw(st.lists(NAMES, min_size=least, max_size=14, unique=True))
    columns = draw(st.integers(2, 4))
    number = st.integers(100_000, 9_999_999).map(lambda whole: whole / 100)
    line = st.lists(number, min_size=columns, max_size=columns)
    numbers = draw(st.lists(line, min_size=len(names), max_size=len(names)))
    places = draw(st.permutations([f"place {n}" for n in range(len(names))]))
    header = ["Name", "Place", *["Stock", "Price", "Sold", "Cost"][:columns]]
    rows = zip(names, places, numbers, strict=True)
    return [header, *([name, place, *values] for name, place, values in rows)]


@st.composite
def totals(draw, rows):
    """A true total of some rows, with or without a word."""
    sums = [round(sum(column), 2) for column in zip(*(row[2:] for row in rows), strict=True)]
    return [draw(st.sampled_from(["Total", "Summe", "合计", None])), None, *sums]


@given(tables(), st.data())
def test_a_true_total_is_lost_and_no_other_row(rows, data):
    (found,) = told(Grid(rows))
    assume(not found.left_out)  # one number in some millions is the sum of others
    total = data.draw(totals(rows[1:]))
    (found,) = told(Grid([*rows, total]))
    assert found.left_out == {len(rows) + 1: "total"}
    assert found.records == list(range(2, len(rows) + 1))
    (found,) = told(Grid([rows[0], total, *rows[1:]]))
    assert found.left_out == {2: "total"}


@given(tables(least=6), st.data())
def test_true_subtotals_are_lost_and_no_other_row(rows, data):
    cut = data.draw(st.integers(3, len(rows) - 3))
    upper, lower = rows[1:cut], rows[cut:]
    parts = [data.draw(totals(part)) for part in (upper, lower)]
    (found,) = told(Grid([rows[0], *upper, parts[0], *lower, parts[1]]))
    assert [*found.left_out] == [cut + 1, len(rows) + 2]


@given(tables(), st.data())
def test_the_order_of_records_and_of_columns_of_numbers_does_not_matter(rows, data):
    total = data.draw(totals(rows[1:]))
    order = data.draw(st.permutations(range(2, len(rows[0]))))
    shuffled = [rows[0], *data.draw(st.permutations(rows[1:])), total]
    (found,) = told(Grid([[*row[:2], *(row[col] for col in order)] for row in shuffled]))
    assert found.left_out == {len(shuffled): "total"}
