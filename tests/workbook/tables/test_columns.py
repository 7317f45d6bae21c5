"""Column types and examples."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Serialization, SheetRecord
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import record_from_json, to_json
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import ColumnType
from sat_retriever.text.serialize import serialize
from sat_retriever.workbook.tables.columns import (
    NOTE_LENGTH,
    ColumnCells,
    describe_column,
    is_free_text,
    placeholder,
)
from sat_retriever.workbook.values.cells import Kind, kinds_of, plain_text
from sat_retriever.workbook.values.grid import CellError


def described(name, values, privacy=EVERYTHING, kinds=None):
    kinds = kinds_of(values) if kinds is None else np.array(kinds, dtype=np.uint8)
    return describe_column(name, ColumnCells(kinds, values), None, privacy)


@pytest.mark.parametrize(
    ("kinds", "values", "expected"),
    [
        ([Kind.UNKNOWN] * 3, [None] * 3, ColumnType.UNKNOWN),
        ([Kind.ERROR, Kind.UNKNOWN], [CellError("#N/A"), None], ColumnType.UNKNOWN),
        ([Kind.UNKNOWN] * 9 + [Kind.TEXT], [None] * 9 + ["a"], ColumnType.TEXT),
        ([Kind.UNKNOWN] * 9 + [Kind.INTEGER], [None] * 9 + [5], ColumnType.INTEGER),
    ],
)
def test_formulas_without_values_say_nothing_beside_values(kinds, values, expected):
    assert described("", values, kinds=kinds).type == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ColumnType.EMPTY),
        ([None, None], ColumnType.EMPTY),
        (["a", "b", 1.0], ColumnType.TEXT),
        ([1.0, 2.0, "n/a"], ColumnType.INTEGER),
        ([1, 2.5], ColumnType.NUMBER),
        ([True, False], ColumnType.BOOLEAN),
        ([dt.datetime(2024, 1, 1), dt.date(2024, 1, 2)], ColumnType.DATE),
        ([dt.time(9), dt.timedelta(hours=30)], ColumnType.TIME),
        ([CellError("#N/A")], ColumnType.ERROR),
        ([CellError("#N/A"), CellError("#N/A"), 1.5], ColumnType.NUMBER),
        (["a", 1.0], ColumnType.TEXT),
        ([True, 1.0], ColumnType.UNKNOWN),
    ],
)
def test_the_type_is_what_most_cells_are(values, expected):
    assert described("", values).type == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, "0.1"),
        (1e-05, "1e-05"),
        (7.0, "7"),
        (True, "true"),
        (dt.datetime(2024, 1, 2), "2024-01-02"),
        (dt.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),
        (dt.timedelta(hours=30, minutes=5), "30:05:00"),
        ("  two\n lines ", "two lines"),
        ("word " * 20, f"{('word ' * 12)[:59].rstrip()}…"),
        ("x" * 60, "x" * 60),
        ("x" * 61, f"{'x' * 59}…"),
    ],
)
def test_the_example_is_plain_text_without_locale(value, expected):
    assert described("Header", [None, value]).example == expected


def test_a_column_without_values_has_no_example():
    assert described("Header", [None, " "]).example is None


def test_an_error_is_an_example_only_where_there_is_nothing_else():
    assert described("Header", [CellError("#N/A"), 2.5]).example == "2.5"
    assert described("Header", [CellError("#N/A")]).example == "#N/A"


def test_without_examples_the_type_is_kept_and_the_value_is_not():
    values = ["secret", "other"]
    column = described(values, "Key", Privacy(ContentsPolicy.NAMES))
    assert (column.example, column.type) == (None, ColumnType.TEXT)


LONG = "Delivered late, and the lid of the second crate was broken, so half of it went back."
NAMES = [f"Alan Smithee the {n}th" for n in range(12)]
REMARKS = [f"{LONG} {LONG} Number {n}." for n in range(9)]


@pytest.mark.parametrize(
    ("name", "values", "example", "encoded"),
    [
        ("Author", NAMES, "Alan Smithee the 0th", "Author_0001"),
        ("Remarks", REMARKS, f"{LONG[:59]}…", "Note_0001"),
        ("Place", [LONG, LONG], f"{LONG[:59]}…", LONG[:59]),
        ("Movie", ["Movie_0001", "Movie_0002"], "Movie_0001", None),
    ],
)
def test_an_example_is_a_cell_and_a_placeholder_is_for_the_encoder_alone(
    name, values, example, encoded
):
    column = described(name, values)
    assert (column.example, column.encoded) == (example, encoded)
    record = SheetRecord("a#b", "b", columns=(column,))
    assert record_from_json(to_json(record, compact=True)) == record
    text = f"{name} = {encoded or example}"
    assert serialize(record, Serialization(examples=True)).endswith(text)
    for shown in (str(to_json(record)), repr(record)):
        assert "encoded" not in shown
        assert ("_0001" in shown) == (name == "Movie")


@pytest.mark.parametrize("privacy", [Privacy(ContentsPolicy.NAMES), Privacy(skip_columns="author")])
def test_of_a_column_that_keeps_nothing_an_encoder_reads_the_header_alone(privacy):
    bare = described("Author", NAMES, privacy)
    assert (bare.example, bare.encoded) == (None, None)
    record = SheetRecord("a#b", "b", columns=(described("Author", NAMES),))
    limited = privacy.limited(record).columns[0]
    assert (limited.example, limited.encoded) == (None, None)


def test_a_placeholder_that_an_older_index_kept_as_an_example_is_shown_nowhere():
    old = {"sheet_id": "a#b", "sheet": "b", "columns": [{"name": "Remark", "example": "Note_0001"}]}
    record = record_from_json(old)
    assert record.columns[0].example is None
    assert serialize(record, Serialization(examples=True)).endswith("Remark = Note_0001")


CELLS = st.one_of(
    st.text("ab 0_1é", max_size=70),
    st.sampled_from([*NAMES, *REMARKS, "Note_0001", "Text_0001", LONG, "", " "]),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
)


@given(st.sampled_from(["Author", "Note", "", "Full name"]), st.lists(CELLS, max_size=24))
def test_an_encoder_reads_what_it_always_read(name, values):
    record = SheetRecord("a#b", "b", columns=(described(name, values),))
    stored = record_from_json(to_json(record, compact=True))
    assert stored == record
    column = stored.columns[0]
    assert (column.encoded or column.example) == as_first_written(name, values)


def as_first_written(name, values):
    """The one text of a column's cells that records had before examples were cells."""
    filled = [each for each in values if each is not None and plain_text(each)]
    if not filled:
        return None
    texts = [each for each in values if isinstance(each, str)]
    if isinstance(filled[0], str):
        free = 2 * len(texts) > len(values) and is_free_text(texts)
        if len(filled[0]) > NOTE_LENGTH or free:
            return placeholder(name, filled[0])
    return plain_text(filled[0])[:60].rstrip()
