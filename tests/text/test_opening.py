"""The text of a sheet's contents for the encoder: notes, rows from addresses, bounds."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.records.contents import CellText, SheetContents, TableContents, TextKind
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


def test_texts_of_one_row_stand_together_whatever_column_they_are_kept_with():
    table = TableContents(
        None, cells(A2="Oslo", A3="Bergen", A4="Paris"), cells(C2="x", B2="Norway", B4="France")
    )
    wanted = "City | Country ; Oslo | Norway | x ; Bergen ; Paris | France"
    assert contents_text(sheet(table)) == wanted


def test_columns_are_in_the_order_of_the_sheet_beyond_z():
    table = TableContents(None, (), cells(AA2="27th", B2="2nd", Z2="26th"))
    assert contents_text(sheet(table)) == "City | Country ; 2nd | 26th | 27th"


def test_a_transposed_table_is_read_column_by_column():
    shape = Table("A1:C2", None, 1, transposed=True, num_rows=2, columns=COLUMNS)
    table = TableContents(None, cells(B1="Oslo", C1="Paris"), cells(B2="Norway", C2="France"))
    found = contents_text(replace(sheet(table), tables=(shape,)))
    assert found == "City | Country ; Oslo | Norway ; Paris | France"


def test_the_first_four_rows_are_read_after_the_caption():
    table = replace(rows(400), caption=CellText("A1", "Towns"))
    lines = [f"city {n} | land {n}" for n in range(2, 6)]
    assert contents_text(sheet(table)) == " ; ".join(["Towns", "City | Country", *lines])


def test_the_first_four_notes_stand_before_the_table():
    notes = tuple(CellText(f"H{n}", f"note {n}") for n in range(1, 9))
    four = "note 1 ; note 2 ; note 3 ; note 4"
    assert contents_text(sheet(rows(1), notes=notes)) == (
        f"{four} ; City | Country ; city 2 | land 2"
    )
    assert contents_text(sheet(notes=notes)) == four


def test_the_first_table_with_a_text_is_read_under_its_own_headers():
    shapes = tuple(
        Table(ref, 1, 1, transposed=False, num_rows=1, columns=(Column(name),))
        for ref, name in (("A1:B2", "City"), ("A9:B10", "River"), ("A19:B20", "Lake"))
    )
    found = sheet(TableContents(), rows(1, first=10), rows(1, first=20))
    assert contents_text(replace(found, tables=shapes)) == "River ; city 10 | land 10"


def test_headers_without_a_letter_are_left_out_and_only_the_first_twelve_are_read():
    years = tuple(Column(str(year)) for year in range(1990, 2050))
    record = replace(sheet(rows(1)), columns=(Column("Fuel"), *years, Column("Q4 2050")))
    assert contents_text(record) == "Fuel | Q4 2050 ; city 2 | land 2"
    record = replace(record, columns=tuple(Column(f"h{n}") for n in range(40)))
    wanted = " | ".join(f"h{n}" for n in range(12))
    assert contents_text(record) == f"{wanted} ; city 2 | land 2"


def test_the_text_is_bounded_whatever_the_cells_hold():
    long = "x" * 5_000
    table = TableContents(
        CellText("A1", long),
        tuple(CellText(f"A{n}", long) for n in range(2, 60)),
        tuple(CellText(f"B{n}", long) for n in range(2, 60)),
    )
    found = contents_text(sheet(table, notes=(CellText("H1", long),) * 60))
    assert found is not None
    assert 1_000 < len(found) < 1_600


def test_texts_without_an_address_are_one_row():
    table = TableContents(None, (CellText("", "Oslo"), CellText("?", "Paris")))
    assert contents_text(sheet(table)) == "City | Country ; Oslo | Paris"


def test_without_contents_there_is_no_text():
    assert contents_text(SheetRecord("a", "Q1", columns=COLUMNS)) is None
    assert contents_text(sheet(TableContents())) is None
    assert contents_text(sheet(notes=(CellText("A1", " "),))) == " "


def test_comments_and_shapes_get_half_of_the_notes_or_what_cells_leave():
    shapes = tuple(CellText(f"A{n}", f"shape {n}", TextKind.SHAPE) for n in range(1, 7))
    own = cells(A7="note 7", A8="note 8", A9="note 9")

    def told(notes):
        return (contents_text(sheet(notes=notes)) or "").split(" ; ")

    assert told(shapes) == ["shape 1", "shape 2", "shape 3", "shape 4"]
    assert told((*shapes, *own[:1])) == ["shape 1", "shape 2", "shape 3", "note 7"]
    assert told((*shapes, *own)) == ["shape 1", "shape 2", "note 7", "note 8"]
    assert told((*own, *shapes)) == ["note 7", "note 8", "note 9", "shape 1"]
