import csv
import datetime as dt
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import Limits
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.text.read import detect_delimiter, text_values
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.opening.encoding import find_encoding

LIMITS = Limits()


def rows(text, encoding="utf-8", *, limits=LIMITS, strict=False):
    raw = text if isinstance(text, bytes) else text.encode(encoding)
    file = io.BytesIO(raw)
    found = text_values(file, find_encoding(file).name, Budget(limits), strict=strict)
    return found.values.grid.rows, found.values.area, found.format


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode_encodings_are_told(encoding):
    found, _, _ = rows("Straße;Größe\r\nÄhre;1\r\n", encoding)
    assert found == [["Straße", "Größe"], ["Ähre", 1]]


@pytest.mark.parametrize("encoding", ["cp1252", "cp1251", "shift_jis"])
def test_old_code_pages_are_guessed(encoding):
    words = {
        "cp1252": "Größe;Straße;Übergröße;Käufer;natürlich möglich;für die Länder",
        "cp1251": "Название;Количество;Стоимость;Дата отгрузки;Покупатель;Город",
        "shift_jis": "商品名;数量;単価;合計金額;これは日本語の文章です;東京都",
    }[encoding]
    text = "\n".join([words] * 8)
    assert rows(text, encoding)[0][0] == words.split(";")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_told_even_beside_others(delimiter):
    lines = [delimiter.join(["name", "x, y; z" if delimiter == "\t" else "note", str(n)])
             for n in range(5)]  # fmt: skip
    assert detect_delimiter("\n".join(lines)) == (delimiter, 0)


def test_decimal_commas_do_not_win_over_semicolons():
    assert detect_delimiter("a;b;c\n1,5;2,5;3,5\n1,5;2,5;3,5\n") == (";", 0)
    assert rows("a;b\n1,5;1.234,50\n")[0][1] == [1.5, 1234.5]


def test_a_sep_line_names_the_delimiter_and_is_no_row():
    found, area, _ = rows("sep=^\r\na^b\r\n1^2\r\n")
    assert found == [["a", "b"], [1, 2]]
    assert area == Area(2, 1, 3, 2)


def test_quoted_newlines_and_delimiters_stay_in_their_cell():
    found, _, _ = rows('name,note\n"Ada","one\ntwo, three"\n"Al","x"\n')
    assert found == [["name", "note"], ["Ada", "one\ntwo, three"], ["Al", "x"]]


def test_cells_get_the_types_that_no_locale_changes():
    text = "a,b,c,d,e,f,g\n1,-2.5,1e+3,007,2024-02-29,2024-02-29T10:30,true\n"
    assert rows(text)[0][1] == [
        1, -2.5, 1000.0, "007", dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 10, 30), True,
    ]  # fmt: skip
    assert rows("a,b,c\n2024-02-30,1.2.3,12/11/2024\n")[0][1] == [
        "2024-02-30",
        "1.2.3",
        "12/11/2024",
    ]


def test_the_used_range_leaves_out_empty_edges():
    _, area, kind = rows(",,\n,a,b\n,1,2\n,,\n")
    assert area == Area(2, 2, 3, 3)
    assert kind == "csv"
    assert rows("a\tb\n1\t2\n")[2] == "tsv"


def test_a_long_file_is_cut_but_its_range_is_true():
    found, area, _ = rows("a,b\n" + "1,2\n" * 5000, limits=Limits(cells=100))
    assert len(found) == 50
    assert area == Area(1, 1, 5001, 2)


def test_blank_rows_count_towards_the_limit():
    found, area, _ = rows("a,b\n" + "\n" * 5000 + "1,2\n", limits=Limits(cells=100))
    assert 100 < len(found) < 1000
    assert area == Area(1, 1, 5002, 2)


def test_prose_is_refused_when_the_name_promises_no_table():
    with pytest.raises(Refused) as refused:
        rows("Dear all,\nthis is a letter.\nYours\n", strict=True)
    assert refused.value.reason is SkipReason.NOT_A_SPREADSHEET
    with pytest.raises(Refused):
        rows('[\n{"a": 1, "b": 2},\n{"a": 1, "b": 2},\n{"a": 1, "b": 2}]', strict=True)
    assert rows("one column\nonly\n")[0] == [["one column"], ["only"]]


def test_an_empty_text_has_no_range():
    assert rows("\r\n , ,\r\n")[1] is None


def test_nul_characters_do_not_end_the_reading():
    assert rows("a,b\n1,\x002\n")[0] == [["a", "b"], [1, 2]]


CELL = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


@settings(max_examples=150)
@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1, max_size=8))
def test_written_tables_come_back_cell_by_cell(table):
    table = [[f"x{cell}" for cell in row] for row in table]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";").writerows([["h1", "h2"], *table])
    text = "sep=;\r\n" + out.getvalue()
    found, _, _ = rows(text)
    cleaned = [[cell.replace("\0", "").strip() for cell in row] for row in table]
    assert found[1:] == cleaned


@settings(max_examples=200)
@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_refused(content):
    try:
        found, area, kind = rows(content)
    except Refused as refused:
        assert refused.message
    else:
        assert (area is None) == (not any(found))
        assert kind in ("csv", "tsv")


TABLE = "Größe;Stadt;Σ\r\n1,5;Köln;x\r\n2,5;Łódź;日本\r\n" * 3


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 5)), min_size=1, max_size=60))
@settings(max_examples=200, deadline=None)
def test_zero_bytes_anywhere_in_a_text_change_nothing_of_it(places):
    content = bytearray(TABLE.encode())
    for place, count in places:
        at = place % (len(content) + 1)
        content[at:at] = bytes(count)
    assert rows(bytes(content)) == rows(TABLE)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8-sig"])
def test_zero_bytes_at_the_end_of_a_text_are_no_part_of_it(encoding):
    text = "Name,City\r\nJosé,Málaga\r\nZoë,Köln\r\n" * 20
    assert rows(text.encode(encoding) + bytes(40)) == rows(text)


def test_an_accent_far_behind_the_first_bytes_of_wide_text_is_kept():
    text = "Name,City\n" + "Ada,Rome\n" * 20_000 + "Zoë,Köln\n"
    assert rows(text.encode("utf-16-le"))[0][-1] == ["Zoë", "Köln"]


def test_fields_that_are_filled_up_with_zero_bytes_are_read():
    line = "".join(each.ljust(20, "\0") + end for each, end in (("name", ","), ("age", "\n")))
    assert rows(line + line.replace("age", "41 "))[0] == [["name", "age"], ["name", 41]]
