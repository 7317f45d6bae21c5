"""Types of delimited text: a column, and the file around it, decide what its texts mean."""

import csv
import datetime as dt
import io
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.workbook.formats.text.columns import Part, parts_of, typed_rows
from sat_retriever.workbook.values.window import other_text, plain_value

DAY = dt.date(2024, 2, 3)


def column(text, delimiter=",", place=-1):
    """The values of a column (the last one) below its header."""
    fields = list(csv.reader(io.StringIO(text.strip() + "\n"), delimiter=delimiter))
    rows = typed_rows(fields, delimiter)
    return [row[place] if len(row) > place else None for row in rows[1:]]


TEXT_COLUMNS = {
    "exponents of codes": ["12E5", "34E1", "1E10", "7"],
    "huge exponent": ["123e456", "12"],
    "versions with a patch": ["1.9", "1.10", "1.10.1", "2.0"],
    "versions counted up": ["1.1", "1.10", "1.2"],
    "versions of a language": ["3.8", "3.9", "3.10", "3.11"],
    "leading zeros": ["007", "12", "90210"],
    "one zero in front at the end": ["10115", "80331", "01067"],
    "telephones": ["+49301234", "+4330999"],
    "telephones with blanks": ["030 12345", "040 5555", "12345"],
    "telephones with hyphens": ["555-1234", "5551234"],
    "sixteen digits": ["1234567890123456", "12"],
    "rooms": ["101", "102", "10A"],
    "rooms with letters first": ["A101", "102"],
    "parts": ["12-001", "12", "13"],
    "addresses": ["10.0.0.1", "10.0.0.2"],
    "weeks": ["2024-W01", "5"],
    "fractions": ["1/2", "3/4", "1"],
    "two marks before decimals": ["1.5", "1,5"],
    "two units": ["12 kg", "3 g", "5"],
    "numbering": ["(1)", "(2)", "(3)"],
    "days of no calendar": ["30.02.2024", "5"],
}


@pytest.mark.parametrize("texts", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_one_code_makes_a_column_text_as_written(texts):
    lines = "\n".join(f'x,"{text}"' for text in texts)
    assert column(f"name,value\n{lines}") == texts


NUMBER_COLUMNS = {
    "decimal commas": (";", ["1.234,50", "2.155", "-12,00", "12.000"], [1234.5, 2155, -12, 12000]),
    "points for thousands": (";", ["12.345", "1.234.567", "980"], [12345, 1234567, 980]),
    "points for thousands, small ones": (";", ["2.155", "573"], [2155, 573]),
    "points for thousands, alone": (";", ["2.155", "1.000"], [2155, 1000]),
    "commas for thousands, small ones": (";", ["2,155", "573"], [2155, 573]),
    "three decimals behind commas": (";", ["2,155", "4500"], [2.155, 4500]),
    "three decimals": (",", ["2.155", "0.573"], [2.155, 0.573]),
    "three decimals beside large ones": (";", ["2.155", "4500"], [2.155, 4500]),
    "commas for thousands": (",", ["1,250.00", "3,400"], [1250, 3400]),
    "blanks for thousands": (";", ["1 234,50", "12 000"], [1234.5, 12000]),
    "narrow blanks": (";", ["1\u202f234", "5"], [1234, 5]),
    "apostrophes": (",", ["1'234.50", "7"], [1234.5, 7]),
    "lakhs": (",", ["12,34,567", "1,000"], [1234567, 1000]),
    "minus behind": (";", ["1.234,50-", "200,00"], [-1234.5, 200]),
    "brackets": (",", ["(1,000)", "20"], [-1000, 20]),
    "real minus": (",", ["−3", "4"], [-3, 4]),
    "plus among minus": (",", ["+3", "-4", "0"], [3, -4, 0]),
    "powers": (",", ["1.2E-5", "9e+3"], [1.2e-5, 9000]),
    "prices": (",", ["1.10", "1.90", "10.00"], [1.1, 1.9, 10]),
    "prices by hand": (",", ["1.5", "2.50", "3.75", "12.05"], [1.5, 2.5, 3.75, 12.05]),
    "without a zero": (",", [".5", "-.25"], [0.5, -0.25]),
    "all digits of a float": (",", ["0.30000000000000004", "1"], [0.30000000000000004, 1]),
    "words": (",", ["8", "n.d.", "closed", "9"], [8, "n.d.", "closed", 9]),
    "limits": (",", ["0.5", "<0.05", "0.7"], [0.5, "<0.05", 0.7]),
    "gaps": (",", ["n/a", "-", "5", ""], ["n/a", "-", 5, None]),
    "notes": (",", ["5", "see note 3", "12*"], [5, "see note 3", "12*"]),
    "booleans": (",", ["true", "FALSE"], [True, False]),
}


@pytest.mark.parametrize(
    ("delimiter", "texts", "values"), NUMBER_COLUMNS.values(), ids=NUMBER_COLUMNS
)
def test_a_column_of_numbers_is_read_in_its_one_notation(delimiter, texts, values):
    lines = "\n".join(f'x{delimiter}"{text}"' for text in texts)
    found = column(f"name{delimiter}value\n{lines}", delimiter)
    assert found == values


DATE_COLUMNS = {
    "days first": (["03.02.2024", "14.02.2024"], [DAY, dt.date(2024, 2, 14)]),
    "months first": (["02/03/2024", "02/14/2024"], [DAY, dt.date(2024, 2, 14)]),
    "days first with slashes": (["03/02/2024", "14/02/2024"], [DAY, dt.date(2024, 2, 14)]),
    "one digit": (["3.2.2024"], [DAY]),
    "years first": (["2024-02-03", "2024/2/3"], [DAY, DAY]),
    "with times": (["03.02.2024 14:05"], [dt.datetime(2024, 2, 3, 14, 5)]),
    "afternoons": (["02/14/2024 1:30 PM"], [dt.datetime(2024, 2, 14, 13, 30)]),
    "same day in both": (["02/02/2024"], [dt.date(2024, 2, 2)]),
    "open": (["03/02/2024", "04/02/2024"], ["03/02/2024", "04/02/2024"]),
    "both orders": (["14/02/2024", "02/14/2024"], ["14/02/2024", "02/14/2024"]),
    "to be told": (["2024-02-03", "to be told", "-"], [DAY, "to be told", "-"]),
}


@pytest.mark.parametrize(("texts", "values"), DATE_COLUMNS.values(), ids=DATE_COLUMNS)
def test_a_column_of_dates_is_read_in_its_one_order(texts, values):
    assert column("name,day\n" + "\n".join(f"x,{text}" for text in texts)) == values


def test_another_column_settles_what_a_column_leaves_open():
    text = "state;cases;rate\nA;2.155;19,47\nB;1.692;12,94\nC;3.042;5,46"
    assert column(text, ";", 1) == [2155, 1692, 3042]
    text = "a,from,to\nx,03/02/2024,14/02/2024\ny,04/02/2024,15/02/2024"
    assert column(text, place=1) == [DAY, dt.date(2024, 2, 4)]
    text = "a;day;sum\nx;03/02/2024;1,50"  # a decimal comma: days come first
    assert column(text, ";", 1) == [DAY]


def test_a_unit_stays_with_its_number_in_digits_that_stand_alone():
    assert column("name;sum\nx;12,50 €\ny;9,90 €", ";") == ["12,50 €", "9,90 €"]
    text = "name;sum;rate\nx;1.234 €;1,5\ny;2.155 €;2,5"
    assert column(text, ";", 1) == ["1234 €", "2155 €"]


def test_headers_titles_and_notes_do_not_make_a_column_text():
    text = "Air,PM10\nReport 2024,\nStation,PM10\nA,8\nB,9\nPM10 by the state,\n"
    rows = typed_rows([line.split(",") for line in text.split("\n")], ",")
    assert [row[1] for row in rows[3:5]] == [8, 9]
    assert rows[2] == ["Station", "PM10"]


def test_years_of_a_header_are_numbers_and_its_versions_are_texts():
    assert typed_rows([["Name", "2023"], ["A", "5"]], ",")[0] == ["Name", 2023]
    assert typed_rows([["Name", "v1.10"], ["A", "5"]], ",") == [["Name", "v1.10"], ["A", 5]]


def test_a_repeated_header_is_no_code_among_the_numbers():
    assert column("id,PM10\n1,8\nid,PM10\n2,9") == [8, "PM10", 9]


def test_tables_below_each_other_have_columns_of_their_own():
    text = "id,code\n1,007\n2,008\n\nid,count\n1,5\n2,6\n"
    rows = typed_rows([line.split(",") if line else [] for line in text.split("\n")], ",")
    assert [row[1] for row in rows[1:3]] == ["007", "008"]
    assert [row[1] for row in rows[5:7]] == [5, 6]


def test_a_blank_line_behind_every_line_leaves_a_table_one():
    fields = [["id", "code"], [], ["A", "007"], [], ["B", "12"], [], ["C", "x"], []]
    assert list(parts_of(fields)) == [Part(0, 0, 8)]
    assert [row[1] for row in typed_rows(fields, ",")[2::2]] == ["007", "12", "x"]


def test_a_blank_line_within_a_table_leaves_it_one():
    fields = [["id", "zip"], ["1", "01067"], [], ["2", "80331"]]
    assert list(parts_of(fields)) == [Part(0, 0, 4)]
    assert typed_rows(fields, ",")[3] == [2, "80331"]


FIELD = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=8),
    st.text("0123456789.,-+()/ eE€%:", max_size=10),
)
FIELDS = st.lists(st.lists(FIELD, max_size=5), max_size=12)


@settings(max_examples=300, deadline=None)
@given(FIELDS, st.sampled_from(",;\t"))
def test_no_field_is_lost_and_rows_keep_their_width(fields, delimiter):
    fields = [line[: len(line) - next((n for n, each in enumerate(reversed(line)) if each.strip()),
                                      len(line))] for line in fields]  # fmt: skip
    rows = typed_rows(list(fields), delimiter)
    assert list(map(len, rows)) == list(map(len, fields))
    for line, row in zip(fields, rows, strict=True):
        for text, value in zip(line, row, strict=True):
            assert (value is None) == (not text.strip())
            shown = other_text(text, value) or str(plain_value(value))
            assert value is None or isinstance(value, bool) or shown == text.strip()


AMOUNTS = st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=8)


@settings(max_examples=200)
@given(AMOUNTS, st.booleans(), st.booleans())
def test_the_number_written_is_the_number_read_in_both_notations(amounts, comma, grouped):
    texts = [f"{amount:,}" if grouped else f"{amount}" for amount in amounts]
    if comma:
        texts = [text.translate(str.maketrans(",.", ".,")) for text in texts]
    rows = typed_rows([["name", "sum"], *(["x", text] for text in texts)], ";")
    for amount, (_, value) in zip(amounts, rows[1:], strict=True):
        assert math.isclose(value, float(amount), abs_tol=1e-9)
