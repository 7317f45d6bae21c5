"""Cells from blocks are the cells of the workbook, and those of a changed one are read anew."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from sat_retriever import InputError, PathNotFoundError, SheetIndex
from sat_retriever.records.area import Area
from sat_retriever.serve.blocks import BlockReader
from tests.builders import indexed
from tests.serve.conftest import LONG_COLUMNS, LONG_ROWS, long_value

LONG = "pumps/Readings.xlsx#Long"


@pytest.fixture(scope="module")
def reading(index_file):
    with SheetIndex.open(index_file) as opened:
        yield BlockReader(opened), opened.records([LONG])[LONG]


edges = st.sampled_from([1, 39, 40, 41, 80, 81, 93, 94, 499, 500, 501, 502, 729, 730, 731])
places = st.one_of(edges, st.integers(1, 800))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(top=places, left=places, height=st.integers(1, 100), width=st.integers(1, 40))
def test_any_part_of_a_sheet_is_what_stands_there(reading, top, left, height, width):
    reader, record = reading
    found = reader.read(record, Area(top, left, top + height - 1, left + width - 1))
    bottom, right = min(top + height - 1, LONG_ROWS), min(left + width - 1, LONG_COLUMNS)
    if top > LONG_ROWS or left > LONG_COLUMNS:
        assert (found.area, found.rows) == (None, ())
        return
    assert found.area == Area(top, left, bottom, right)
    assert found.used == Area(1, 1, LONG_ROWS, LONG_COLUMNS)
    assert found.rows == tuple(
        tuple(long_value(row, column) for column in range(left, right + 1))
        for row in range(top, bottom + 1)
    )


def test_a_workbook_that_has_changed_is_read_anew(tmp_path):
    file = tmp_path / "books" / "a.xlsx"
    file.parent.mkdir()

    def write(value: int, day: int) -> None:
        book = Workbook()
        book.active.title = "a"
        book.active["C3"] = value
        book.save(file)
        os.utime(file, (day * 86_400,) * 2)

    write(1, 1)
    with indexed(file.parent, tmp_path / "a.sat") as index:
        record = index.records(["a.xlsx#a"])["a.xlsx#a"]
        reader, whole = BlockReader(index), Area(1, 1, 9, 9)
        assert reader.read(record, whole).rows == ((1,),)
        assert reader.read(record, whole).area == Area(3, 3, 3, 3)
        write(2, 2)
        assert reader.read(record, whole).rows == ((2,),)
        file.write_bytes(b"PK")
        with pytest.raises(InputError, match="cannot be read"):
            reader.read(record, whole)
        file.unlink()
        with pytest.raises(PathNotFoundError):
            reader.read(record, whole)
