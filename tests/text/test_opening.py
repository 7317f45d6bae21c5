"""The text of names and contents for the encoder: the order of the sheet, its lines, bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sat_retriever import Column, SheetRecord, Table
from sat_retriever.records.contents import CellText, SheetContents, TableContents, TextKind
from sat_retriever.text.serialize import contents_text

COLUMNS = (Column("City"), Column("Country"))


def cells(**texts: str) -> tuple[CellText, ...]:
    return tuple(CellText(cell, text) for cell, text in texts.items())


def rows(count: int, first: int = 2) -> TableContents:
    """A table of a label and a value in each of some rows."""
    at = range(first, first + count)
    labels = tuple(CellText(f"A{n}", f"city {n}") for n in at)
    return TableContents(None, labels, tuple(CellText(f"B{n}", f"land {n}") for n in at))


def shape(ref: str, *names: str, transposed: bool = False) -> Table:
    columns = tuple(map(Column, names))
    return Table(ref, 1, 1, transposed=transposed, num_rows=1, columns=columns)


def sheet(
    *tables: TableContents, notes: tuple[CellText, ...] = (), shapes: tuple[Table, ...] = ()
) -> SheetRecord:
    contents = SheetContents(notes, tables)
    return SheetRecord("a#Q1", "Q1", "a.xlsx", columns=COLUMNS, contents=contents, tables=shapes)


def lines(record: SheetRecord) -> list[str]:
    """The lines below those of the names and of the record's own headers."""
    names, headers, *rest = (contents_text(record) or "").split("\n")
    assert (names, headers) == ("a.xlsx | Q1", "City | Country")
    return rest


def test_texts_of_one_row_stand_together_whatever_column_they_are_kept_with():
    table = TableContents(
        None, cells(A2="Oslo", A3="Bergen", A4="Paris"), cells(C2="x", B2="Norway", B4="France")
    )
    assert lines(sheet(table)) == ["Oslo | Norway | x", "Bergen", "Paris | France"]


def test_columns_are_in_the_order_of_the_sheet_beyond_z():
    table = TableContents(None, (), cells(AA2="27th", B2="2nd", Z2="26th"))
    assert lines(sheet(table)) == ["2nd | 26th | 27th"]


def test_the_names_are_those_of_path_workbook_and_sheet():
    record = replace(sheet(rows(1)), path="fares/a.xlsx")
    assert (contents_text(record) or "").startswith("fares/a.xlsx | a.xlsx | Q1\nCity | Country\n")
    bare = SheetRecord("Q1", "Q1", contents=record.contents)
    assert contents_text(bare) == "Q1\ncity 2 | land 2"


def test_all_tables_and_notes_stand_in_the_order_of_the_sheet():
    main = replace(rows(2, first=12), caption=CellText("A10", "Towns"))
    first = replace(rows(1, first=3), caption=CellText("A5", "Source: survey"))
    record = sheet(
        main,
        first,
        notes=cells(A1="Census", D12="capital", A20="End"),
        shapes=(shape("A11:B13", "City", "Land"), shape("A2:B3", "River", "Sea")),
    )
    assert (contents_text(record) or "").split("\n") == [
        "a.xlsx | Q1",
        "Census",
        "River | Sea",
        "city 3 | land 3",
        "Source: survey",
        "Towns",
        "City | Land",
        "city 12 | land 12 | capital",
        "city 13 | land 13",
        "End",
    ]


def test_tables_side_by_side_share_their_lines():
    right = TableContents(None, cells(E2="Seine"), cells(F2="Channel"))
    record = sheet(
        rows(1), right, shapes=(shape("A1:B2", "City", "Land"), shape("E1:F2", "River", "Sea"))
    )
    assert (contents_text(record) or "").split("\n") == [
        "a.xlsx | Q1",
        "City | Land | River | Sea",
        "city 2 | land 2 | Seine | Channel",
    ]


def test_a_transposed_table_is_read_row_by_row_below_its_headers():
    table = TableContents(None, cells(B1="Oslo", C1="Paris"), cells(B2="Norway", C2="France"))
    shapes = (shape("A1:C2", "City", "Country", transposed=True),)
    assert lines(sheet(table, shapes=shapes)) == ["Oslo | Paris", "Norway | France"]


def test_a_table_of_numbers_has_its_headers():
    record = sheet(TableContents(), notes=cells(A1="Census"), shapes=(shape("A3:B9", "Year", "t"),))
    assert contents_text(record) == "a.xlsx | Q1\nCensus\nYear | t"


def test_comments_stand_behind_their_cell_and_shapes_below_their_row():
    notes = (
        CellText("A2", "a chart", TextKind.CHART),
        CellText("A2", "a comment", TextKind.COMMENT),
        CellText("A2", "a box", TextKind.SHAPE),
    )
    assert lines(sheet(rows(2), notes=notes)) == [
        "city 2 | a comment | land 2",
        "a chart | a box",
        "city 3 | land 3",
    ]


def test_the_text_is_bounded_whatever_the_cells_hold():
    long = "x " * 500_000
    table = TableContents(
        CellText("A1", long),
        tuple(CellText(f"A{n}", long) for n in range(2, 60)),
        tuple(CellText(f"B{n}", long) for n in range(2, 60)),
    )
    record = sheet(table, notes=(CellText("H1", long),) * 60)
    record = replace(record, sheet=long, columns=(Column(long),) * 20_000)
    found = contents_text(record) or ""
    assert len(found) == 1_000
    assert max(map(len, found.split("\n"))) == 240


def test_of_a_million_texts_only_the_first_are_looked_at():
    class Counted(tuple[CellText, ...]):
        looked_at = 0

        def __iter__(self) -> Iterator[CellText]:
            for each in super().__iter__():
                self.looked_at += 1
                yield each

    labels = Counted((CellText("A9", "x"),) * 1_000_000)
    notes = Counted((CellText("A8", "y"),) * 1_000_000)
    record = SheetRecord("a", "Q1", contents=SheetContents(notes, (TableContents(None, labels),)))
    assert (contents_text(record) or "").startswith("Q1\ny | y | y")
    assert labels.looked_at <= 20_001  # one more to give up on the rest
    assert notes.looked_at <= 501


def test_texts_without_an_address_come_first_in_one_row():
    table = TableContents(None, (CellText("", "Oslo"), CellText("?", "Paris")))
    assert lines(sheet(table)) == ["Oslo | Paris"]


def test_without_contents_there_is_no_text():
    assert contents_text(SheetRecord("a", "Q1", columns=COLUMNS)) is None
    assert contents_text(sheet(TableContents())) is None
    assert lines(sheet(notes=(CellText("A1", " "),))) == []
