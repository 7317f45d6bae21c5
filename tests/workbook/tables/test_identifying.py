"""Which cells of a column identify, and which measure."""

import datetime as dt

import pytest

from sat_retriever.workbook.tables.identifying import (
    MAX_DATES,
    MAX_OF_COLUMN,
    MAX_TEXT,
    identifying,
)
from sat_retriever.workbook.values.cells import kinds_of

DAY = dt.date(2020, 1, 1)


def found(header, values):
    return identifying(
        header, kinds_of(values), lambda places: [values[place] for place in places.tolist()]
    )


def test_a_text_is_told_once_with_its_first_cell():
    assert found("Town", ["Riga", None, "Oslo", "Riga", 3]) == {"Riga": 0, "Oslo": 2}


def test_texts_stand_on_one_line_and_are_cut():
    [line, long] = found("Note", [" two\n lines ", "x" * 999])
    assert (line, long) == ("two lines", "x" * MAX_TEXT)


def test_what_says_nothing_is_left_out():
    assert found("Town", ["n/a", "--", "?", "…", "Riga", True, dt.time(9)]) == {"Riga": 4}


@pytest.mark.parametrize(
    ("header", "values", "kept"),
    [
        ("Year", [2021.0, 2020], ["2021", "2020"]),
        ("", [1999, 2000, 2001], ["1999", "2000", "2001"]),
        ("Seats", [1999, 2000], []),
        ("Customer No.", [4, 17, 4], ["4", "17"]),
        ("customerID", [4.0], ["4"]),
        ("ZIP code", [10115, 1067], ["10115", "1067"]),
        ("Paid", [10115, 1067], []),
        ("Number of employees", [10115, 1067], []),
        ("Part", list(range(100_007, 100_019)), [str(n) for n in range(100_007, 100_019)]),
        ("Salary", [n * 100 for n in range(300, 320)], []),
        ("Population", [17, 4_200, 98_000, 1_200_000, 5, 66, 787, 8_888], []),
        ("Code", [1.5, 2.0], []),
        ("Code", [-1, 2], []),
    ],
)  # fmt: skip
def test_numbers_count_where_they_identify(header, values, kept):
    assert list(found(header, values)) == kept


def test_amounts_written_as_texts_are_left_out_and_codes_are_not():
    assert found("Price", ["$1,200.50", "17 %", "(3.5)", "1.2e-5"]) == {}
    assert list(found("Article", ["007", "0815", "A-12"])) == ["007", "0815", "A-12"]


def test_few_dates_count_as_they_are_and_a_long_series_by_its_years():
    few = [DAY, dt.datetime(2021, 5, 6, 7, 8), DAY]
    assert found("Date", few) == {"2020-01-01": 0, "2021-05-06": 1}
    series = [DAY + dt.timedelta(days=day) for day in range(400)]
    assert found("Date", series) == {"2020": 0, "2021": 366}
    assert found("Date", [str(day) for day in series]) == {"2020": 0, "2021": 366}
    assert len(found("Date", series[:MAX_DATES])) == MAX_DATES


def test_of_a_long_column_a_bounded_sample_of_all_rows_is_told():
    names = [f"name {number}" for number in range(90_000)]
    kept = found("Name", names)
    assert len(kept) == MAX_OF_COLUMN
    assert all(names[place] == text for text, place in kept.items())
    assert sum(place >= 60_000 for place in kept.values()) > MAX_OF_COLUMN / 4
    codes = found("Code", list(range(90_000)))
    assert len(codes) == MAX_OF_COLUMN
    assert max(codes.values()) > 85_000
