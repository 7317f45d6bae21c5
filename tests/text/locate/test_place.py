"""The table that answers and the rows to cite, on records made by hand."""

from __future__ import annotations

import pytest

from sat_retriever import Column, SheetRecord, Table
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.locate import LONG, Place, QueryTerms, matches, place_of


def table(range_: str, *headers: str, row: int, rows: int = 5, **more) -> Table:
    fields = {"header_height": 1, "transposed": False} | more
    return Table(range_, row, num_rows=rows, columns=tuple(map(Column, headers)), **fields)


TWO = SheetRecord(
    "a#b",
    "b",
    tables=(table("A2:B7", "Region", "Revenue", row=2), table("A12:C17", "Region", "Open", row=12)),
    contents=SheetContents(
        tables=(
            TableContents(
                CellText("A1", "Sales"), (CellText("A3", "North"), CellText("A4", "South"))
            ),
            TableContents(
                CellText("A11", "Complaints"),
                (CellText("A13", "North"), CellText("A14", "Far East")),
                (CellText("C13", "Ada Novak"),),
            ),
        )
    ),
)


def place(question: str, record: SheetRecord = TWO) -> Place:
    asked, texts = QueryTerms.of(question), ForwardIndex.of(record)
    return place_of(asked, record.tables, texts, matches(asked, texts))


@pytest.mark.parametrize(
    ("question", "answering"),
    [
        ("complaints", 1),
        ("sales", 0),
        ("open cases in the North", 1),
        ("revenue of the North", 0),
        ("numbers of the far east", 1),
        ("who is Ada Novak", 1),
        ("North", 0),  # equally good: the first
        ("nothing of this", 0),
    ],
)
def test_the_table_is_told_by_caption_headers_labels_and_values(question, answering):
    assert place(question).table == answering


@pytest.mark.parametrize("question", ["?", "\x01", "…"])
def test_a_question_without_words_is_answered_by_the_main_table(question):
    assert place(question) == Place(0, None, ())


def test_cells_of_both_tables_are_named():
    assert [each.cell for each in place("North").cells] == ["A3", "A13"]


def test_a_sheet_without_contents_is_cited_by_its_main_table():
    assert place("sales", SheetRecord("a#b", "b", contents=SheetContents())) == Place()


def test_contents_of_fewer_tables_and_addresses_that_are_none_are_borne():
    odd = SheetContents(tables=(TableContents(labels=(CellText("nowhere", "North"),)),))
    record = SheetRecord("a#b", "b", tables=TWO.tables, contents=odd)
    assert place("North", record).cells == (CellText("nowhere", "North"),)
    assert place("open", record).table == 1
    long = SheetRecord("a#b", "b", tables=(long_table(),), contents=odd)
    assert place("North", long).part is None


def long_table(**more) -> Table:
    return table("A1:C1001", "Town", "Area", "Year", row=1, rows=1000, **more)


def long_record(cells: list[CellText], **more) -> SheetRecord:
    contents = SheetContents(tables=(TableContents(labels=tuple(cells)),))
    return SheetRecord("a#b", "b", tables=(long_table(**more),), contents=contents)


TOWNS = [CellText(f"A{row}", f"Town {row}") for row in range(2, 1002)]


def test_of_a_long_table_the_rows_around_the_matched_cell_are_cited():
    assert place("area of Town 444", long_record(TOWNS)).part == "A434:C454"
    assert place("area of Town 3", long_record(TOWNS)).part == "A2:C13"
    assert place("area of Town 1001", long_record(TOWNS)).part == "A991:C1001"
    assert place("Town 444 or Town 460", long_record(TOWNS)).part == "A434:C470"


def test_rows_go_on_to_the_next_known_text_of_a_sampled_column():
    sampled = long_record(TOWNS[::50])
    assert place("area of Town 452", sampled).part == "A442:C511"


def test_a_column_that_repeats_its_texts_does_not_tell_rows():
    """A text stands for its first cell; the others of "North" may be anywhere below."""
    regions = [CellText(f"A{row}", name) for row, name in enumerate(("North", "South"), start=2)]
    assert place("all of the North", long_record(regions)).part is None


def test_part_of_a_cell_does_not_tell_rows():
    assert place("area of towns", long_record(TOWNS)).part is None


def test_a_table_that_is_short_or_lies_on_its_side_is_cited_whole():
    assert place("area of Town 444", long_record(TOWNS, transposed=True)).part is None
    short = table(f"A1:C{LONG}", "Town", "Area", "Year", row=1)
    contents = SheetContents(tables=(TableContents(labels=tuple(TOWNS[: LONG - 1])),))
    record = SheetRecord("a#b", "b", tables=(short,), contents=contents)
    assert place("area of Town 60", record).part is None
