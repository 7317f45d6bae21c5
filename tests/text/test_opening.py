"""The text of a sheet's names and contents for the encoder: order, headers, bounds."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.sheets import Column, SheetRecord, Table
from sat_retriever.text.opening import contents_text

COLUMNS = (Column("City"), Column("Country"))


def cells(**texts: str) -> tuple[CellText, ...]:
    return tuple(CellText(cell, text) for cell, text in texts.items())


def rows(count: int, first: int = 2) -> TableContents:
    """A table of a label and a value in each of some rows."""
    at = range(first, first + count)
    labels = tuple(CellText(f"A{n}", f"city {n}") for n in at)
    return TableContents(None, labels, tuple(CellText(f"B{n}", f"land {n}") for n in at))


def sheet(*tables: TableContents, notes: tuple[CellText, ...] = ()) -> SheetRecord:
    contents = SheetContents(notes, tables)
    return SheetRecord("a#Q1", "Q1", "a.xlsx", columns=COLUMNS, contents=contents)


def lines_of(record: SheetRecord) -> list[str]:
    """The lines of a sheet's text below its name."""
    found = contents_text(record)
    assert found is not None
    name, _, rest = found.partition(" ; ")
    assert name == "name: a__Q1"
    return rest.split("\n")


def test_texts_of_one_row_stand_together_whatever_column_they_are_kept_with():
    table = TableContents(
        None, cells(A2="Oslo", A3="Bergen", A4="Paris"), cells(C2="x", B2="Norway", B4="France")
    )
    found = lines_of(sheet(table))
    assert found == ["City | Country", "Oslo | Norway | x", "Bergen", "Paris | France"]


def test_columns_are_in_the_order_of_the_sheet_beyond_z():
    table = TableContents(None, (), cells(AA2="27th", B2="2nd", Z2="26th"))
    assert lines_of(sheet(table)) == ["City | Country", "2nd | 26th | 27th"]


def test_notes_and_tables_are_read_in_the_order_of_the_sheet():
    shapes = tuple(
        Table(ref, 1, 1, transposed=False, num_rows=1, columns=(Column(name),))
        for ref, name in (("A9:B10", "River"), ("A3:B4", "City"))
    )
    below = replace(rows(1, first=10), caption=CellText("A8", "Waters"))
    found = sheet(below, rows(1, first=4), notes=cells(A20="Source: census", A1="Places"))
    assert lines_of(replace(found, tables=shapes)) == [
        "Places", "City", "city 4 | land 4",
        "Waters", "River", "city 10 | land 10", "Source: census",
    ]  # fmt: skip


def test_a_caption_without_cells_has_its_headers_below():
    table = TableContents(CellText("A1", "Towns"))
    assert lines_of(sheet(table)) == ["Towns", "City | Country"]


def test_a_sheet_without_names_begins_with_its_first_text():
    found = replace(sheet(rows(1)), sheet="", workbook="")
    assert contents_text(found) == "City | Country\ncity 2 | land 2"


def test_headers_without_a_letter_are_left_out_and_only_the_first_twelve_are_read():
    years = tuple(Column(str(year)) for year in range(1990, 2050))
    record = replace(sheet(rows(1)), columns=(Column("Fuel"), *years, Column("Q4 2050")))
    assert lines_of(record) == ["Fuel | Q4 2050", "city 2 | land 2"]
    record = replace(record, columns=tuple(Column(f"h{n}") for n in range(40)))
    assert lines_of(record)[0] == " | ".join(f"h{n}" for n in range(12))


def test_the_text_is_bounded_whatever_the_cells_hold():
    long = "x" * 5_000
    table = TableContents(
        CellText("A1", long),
        tuple(CellText(f"A{n}", long) for n in range(2, 60)),
        tuple(CellText(f"B{n}", long) for n in range(2, 60)),
    )
    found = lines_of(sheet(table, notes=(CellText("A1", long),)))
    assert found[:3] == [f"{'x' * 160} | {'x' * 160}", "City | Country", f"{'x' * 40} | {'x' * 40}"]
    assert sum(map(len, found)) < 1_000


def test_texts_without_an_address_are_one_row():
    table = TableContents(None, (CellText("", "Oslo"), CellText("?", "Paris")))
    assert lines_of(sheet(table)) == ["City | Country", "Oslo | Paris"]


def test_without_contents_there_is_no_text():
    assert contents_text(SheetRecord("a", "Q1", columns=COLUMNS)) is None
    assert contents_text(sheet(TableContents())) is None
    assert lines_of(sheet(notes=(CellText("A1", " "),))) == [" "]
