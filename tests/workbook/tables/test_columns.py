"""Column types and examples."""

import datetime as dt

import numpy as np
import pytest

from sat_retriever.records.contents import Kept
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import ColumnType
from sat_retriever.workbook.tables.columns import (
    ColumnCells,
    describe_column,
    example_text,
)
from sat_retriever.workbook.values.cells import Kind, kinds_of
from sat_retriever.workbook.values.grid import CellError


def described(values, name="", privacy=EVERYTHING, kinds=None):
    kinds = kinds_of(values) if kinds is None else np.array(kinds, dtype=np.uint8)
    return describe_column(name, ColumnCells(kinds, values), None, privacy)


def type_of(values):
    return described(values).type


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
    assert described(values, kinds=kinds).type == expected


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
    assert type_of(values) == expected


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
        ("word " * 20, ("word " * 12).strip()),
    ],
)
def test_the_example_is_plain_text_without_locale(value, expected):
    assert example_text("Header", [None, value]) == expected


def test_a_column_without_values_has_no_example():
    assert example_text("Header", [None, " "]) is None


def test_an_error_is_an_example_only_where_there_is_nothing_else():
    assert example_text("Header", [CellError("#N/A"), 2.5]) == "2.5"
    assert example_text("Header", [CellError("#N/A")]) == "#N/A"


def test_without_examples_the_type_is_kept_and_the_value_is_not():
    values = ["secret", "other"]
    column = described(values, "Key", Privacy(Kept.NAMES))
    assert (column.example, column.type) == (None, ColumnType.TEXT)
