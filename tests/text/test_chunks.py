"""Texts of a sheet's contents for the encoder: rows from addresses, spread evenly, bounded."""

from __future__ import annotations

import pytest

from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.sheets import Column, SheetRecord, Table
from sat_retriever.text.chunks import contents_chunks

COLUMNS = (Column("City"), Column("Country"))


def cells(**texts: str) -> tuple[CellText, ...]:
    return tuple(CellText(cell, text) for cell, text in texts.items())


def notes(count: int) -> tuple[CellText, ...]:
    return tuple(CellText(f"H{n}", f"note {n}") for n in range(1, count + 1))


def rows(count: int, first: int = 2) -> TableContents:
    """A table of a label and a value in each of some rows."""
    at = range(first, first + count)
    labels = tuple(CellText(f"A{n}", f"city {n}") for n in at)
    return TableContents(None, labels, tuple(CellText(f"B{n}", f"land {n}") for n in at))


def sheet(*tables: TableContents, notes: tuple[CellText, ...] = (), **more) -> SheetRecord:
    contents = SheetContents(notes, tables)
    return SheetRecord("a#Q1", "Q1", "a.xlsx", columns=COLUMNS, contents=contents, **more)


def test_texts_of_one_row_stand_together_whatever_column_they_are_kept_with():
    table = TableContents(
        None, cells(A2="Oslo", A3="Bergen", A4="Paris"), cells(C2="x", B2="Norway", B4="France")
    )
    wanted = "City | Country ; Oslo | Norway | x ; Bergen ; Paris | France"
    assert contents_chunks(sheet(table)) == (wanted,)


def test_columns_are_in_the_order_of_the_sheet_beyond_z():
    table = TableContents(None, (), cells(AA2="27th", B2="2nd", Z2="26th"))
    assert contents_chunks(sheet(table)) == ("City | Country ; 2nd | 26th | 27th",)


def test_a_transposed_table_is_read_column_by_column():
    shape = Table("A1:C2", None, 1, transposed=True, num_rows=2, columns=COLUMNS)
    table = TableContents(None, cells(B1="Oslo", C1="Paris"), cells(B2="Norway", C2="France"))
    found = contents_chunks(sheet(table, tables=(shape,)))
    assert found == ("City | Country ; Oslo | Norway ; Paris | France",)


def test_four_rows_stand_in_a_chunk_and_a_caption_before_the_headers():
    table = rows(6)
    captioned = TableContents(CellText("A1", "Towns"), table.labels, table.values)
    first, second = contents_chunks(sheet(captioned))
    assert first == "Towns ; City | Country ; " + " ; ".join(
        f"city {n} | land {n}" for n in range(2, 6)
    )
    assert second == "Towns ; City | Country ; city 6 | land 6 ; city 7 | land 7"


def test_four_chunks_are_spread_over_all_rows():
    found = contents_chunks(sheet(rows(400)))
    firsts = [int(chunk.split("city ")[1].split(" ")[0]) for chunk in found]
    assert len(found) == 4
    assert (firsts[0], firsts[-1]) == (2, 398)
    assert firsts == pytest.approx([2, 134, 266, 398], abs=4)


def test_notes_take_one_chunk_beside_rows_and_all_without_them():
    beside = contents_chunks(sheet(rows(400), notes=notes(400)))
    assert [chunk.startswith("note") for chunk in beside] == [True, False, False, False]
    alone = contents_chunks(sheet(notes=notes(400)))
    assert len(alone) == 4
    assert alone[0] == "note 1 ; note 2 ; note 3 ; note 4"
    assert alone[-1].endswith("note 400")


def test_every_table_has_its_own_headers():
    shapes = [
        Table(ref, 1, 1, transposed=False, num_rows=1, columns=(Column(name),))
        for ref, name in (("A1:B2", "City"), ("A9:B10", "River"))
    ]
    found = contents_chunks(sheet(rows(1), rows(1, first=10), tables=tuple(shapes)))
    assert found == ("City ; city 2 | land 2", "River ; city 10 | land 10")


def test_headers_without_a_letter_are_left_out_and_only_the_first_twelve_are_read():
    years = tuple(Column(str(year)) for year in range(1990, 2050))
    record = SheetRecord("a", "Q1", columns=(Column("Fuel"), *years, Column("Q4 2050")),
                         contents=SheetContents((), (rows(1),)))  # fmt: skip
    assert contents_chunks(record)[0].startswith("Fuel | Q4 2050 ; city")
    many = tuple(Column(f"h{n}") for n in range(40))
    record = SheetRecord("a", "Q1", columns=many, contents=SheetContents((), (rows(1),)))
    assert contents_chunks(record)[0].startswith("h0 | ")
    assert "h11 ; city" in contents_chunks(record)[0]


def test_chunks_are_bounded_whatever_the_texts():
    long = "x" * 5_000
    table = TableContents(
        CellText("A1", long),
        tuple(CellText(f"A{n}", long) for n in range(2, 60)),
        tuple(CellText(f"B{n}", long) for n in range(2, 60)),
    )
    found = contents_chunks(sheet(table, notes=(CellText("H1", long),) * 60))
    assert len(found) == 4
    assert max(map(len, found)) < 1_000


def test_texts_without_an_address_are_one_row():
    table = TableContents(None, (CellText("", "Oslo"), CellText("?", "Paris")))
    assert contents_chunks(sheet(table)) == ("City | Country ; Oslo | Paris",)


def test_without_contents_there_is_no_chunk_and_with_any_there_is_one():
    assert contents_chunks(SheetRecord("a", "Q1", columns=COLUMNS)) == ()
    assert contents_chunks(sheet(TableContents())) == ()
    assert contents_chunks(sheet(TableContents(CellText("A1", "Towns")))) == (
        "Towns ; City | Country",
    )
    assert len(contents_chunks(sheet(notes=(CellText("A1", " "),)))) == 1
