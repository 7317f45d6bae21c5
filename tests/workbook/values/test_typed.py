"""Types of columns: one type for all values, or they stay as they are."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import ColumnKind
from sat_retriever.workbook.values.grid import CellError
from sat_retriever.workbook.values.typed import typed

NOON, DAY = dt.datetime(2024, 1, 2, 12), dt.datetime(2024, 1, 2)
COLUMNS = [
    ([1, 2.5, None], "number", [1, 2.5, None]),
    (["12", 3, "n/a"], "number", [12, 3, None]),
    ([3, "-"], "number", [3, None]),
    (["5", "x"], "text", ["5", "x"]),
    (["n/a", "-"], "text", ["n/a", "-"]),
    ([5, "x"], "mixed", [5, "x"]),
    ([True, 1], "mixed", [True, 1]),
    ([True, "FALSE", None], "boolean", [True, False, None]),
    ([DAY, None], "date", [DAY.date(), None]),
    ([DAY, NOON], "datetime", [DAY, NOON]),
    (["2024-01-02", DAY], "date", [DAY.date(), DAY.date()]),
    (["2024-01-02 12:00", "n/a"], "datetime", [NOON, None]),
    (["2024-02-30"], "text", ["2024-02-30"]),
    ([DAY, 5], "mixed", [DAY, 5]),
    ([dt.time(9), "n/a"], "time", [dt.time(9), None]),
    ([dt.timedelta(hours=30)], "duration", [dt.timedelta(hours=30)]),
    ([CellError("#DIV/0!"), 2], "number", [None, 2]),
    ([CellError("#N/A"), None], "empty", [None, None]),
    ([None], "empty", [None]),
    ([], "empty", []),
]  # fmt: skip


@pytest.mark.parametrize(("cells", "kind", "values"), COLUMNS, ids=str)
def test_a_column_has_the_one_type_that_fits_all_its_cells(cells, kind, values):
    found = typed(cells)
    assert (found.kind, found.values) == (kind, values)
    assert list(map(type, found.values)) == list(map(type, values))  # True is not 1
    assert found.errors == sum(isinstance(cell, CellError) for cell in cells)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8),
    st.datetimes(), st.times(), st.timedeltas(), st.sampled_from(["n/a", "12 kg", "2024-01-02"]),
)  # fmt: skip
TYPES = {
    ColumnKind.NUMBER: (int, float), ColumnKind.BOOLEAN: (bool,), ColumnKind.DATE: (dt.date,),
    ColumnKind.DATETIME: (dt.datetime,), ColumnKind.TIME: (dt.time,), ColumnKind.TEXT: (str,),
    ColumnKind.DURATION: (dt.timedelta,), ColumnKind.EMPTY: (),
}  # fmt: skip


@given(st.lists(VALUES))
def test_no_value_is_lost_or_of_another_type_than_its_column(cells):
    found = typed(cells)
    assert len(found.values) == len(cells)
    if found.kind in (ColumnKind.TEXT, ColumnKind.MIXED):
        blank = [isinstance(cell, str) and not cell.strip() for cell in cells]
        assert list(found.values) == [None if b else c for b, c in zip(blank, cells, strict=True)]
    else:
        assert {type(value) for value in found.values} <= {*TYPES[found.kind], type(None)}
        pairs = zip(found.values, cells, strict=True)
        assert all(value is None for value, cell in pairs if cell is None)
