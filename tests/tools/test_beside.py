"""Comments, shapes and charts in an index: found, cited as what they are, and read anew once."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from sat_retriever import Content, SheetIndex, SheetRetriever, SheetTools, hit_text
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.serve.grid import Marker
from sat_retriever.serve.searchform import SearchForm
from sat_retriever.serve.searchpage import HitView
from tests.beside_cells import anchor, drawn, made_book, plain_book, shape
from tests.fakes import HashedEncoder
from tests.index.store.older import WITHOUT_NAMES

SHAPE = CellText("D2", "Scrappage of light <vehicles>", TextKind.SHAPE)
NOTE = CellText("B3", "Estimated from registrations", TextKind.COMMENT)
FLEET = (("Year", "Left"), ("Petrol", 31), ("Diesel", 44), ("Hybrid", 52))
BOX = anchor(3, 1, shape("Scrappage of light", "&lt;vehicles&gt;"))


def books(folder):
    folder.mkdir()
    drawn(folder / "fleet.xlsx", BOX, rows=FLEET)
    made_book(folder / "made.xlsx")
    plain_book(folder / "other.xlsx", rows=(("Town", "Height"), ("Oslo", 23), ("Rome", 21)))
    return folder


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = books(tmp_path_factory.mktemp("beside") / "books")
    with SheetIndex.create(folder.parent / "i.sat", HashedEncoder(), dense_weight=0) as index:
        index.sync(folder)
        yield index


def best(index, question):
    return SheetRetriever(index).retrieve(question)[0]


@pytest.mark.parametrize(
    ("question", "sheet", "cell"),
    [
        ("scrappage of light vehicles", "fleet.xlsx#7.1", SHAPE),
        ("what was estimated from registrations", "made.xlsx#7.1", NOTE),
        (
            "deregistered",
            "made.xlsx#7.1",
            CellText("D6", "Deregistered vehicles; Kind of vehicle", TextKind.CHART),
        ),
    ],
)
def test_a_sheet_is_found_by_what_stands_beside_its_cells(index, question, sheet, cell):
    hit = best(index, question)
    assert (hit.sheet_id, hit.why.cells[0]) == (sheet, cell)
    told = hit.to_dict()["why"]["cells"][0]
    assert told == {"cell": cell.cell, "text": cell.text, "kind": cell.kind.value}
    assert f"cells: {cell.kind} at {cell.cell}: " in str(SheetTools(index).find_sheets(question))


def test_texts_for_a_model_tell_it_and_show_the_cells_as_they_are(index):
    text = hit_text(index, best(index, "scrappage of light vehicles"))
    assert text.endswith("shape at D2: Scrappage of light <vehicles>")
    assert "| Petrol | 31 |" in text
    text = hit_text(index, best(index, "scrappage of light vehicles"), Content("html"))
    assert "light &lt;vehicles&gt;" in text
    assert "<vehicles>" not in text


def test_it_fits_where_there_is_little_room(index):
    hit = best(index, "estimated from registrations")
    for most in range(16, 120):
        assert len(hit_text(index, hit, Content(max_tokens=most))) <= 4 * most


@pytest.mark.parametrize("sheets", [None, ["fleet.xlsx#7.1"]])
def test_a_search_of_cells_tells_that_a_shape_holds_it(index, sheets):
    found = SheetTools(index).search_cells("scrappage", sheets)
    assert [(each.kind, each.citation) for each in found.cells] == [
        (TextKind.SHAPE, "fleet.xlsx#7.1!D2")
    ]
    assert str(found).startswith("shape at fleet.xlsx#7.1!D2: Scrappage")
    [cell] = SheetTools(index).search_cells("Petrol", ["fleet.xlsx#7.1"]).cells
    assert (cell.kind, cell.citation) == (TextKind.CELL, "fleet.xlsx#7.1!A2")


def test_the_page_lists_it_and_marks_no_cell_as_if_it_held_it(index):
    form, mark = SearchForm(q="scrappage"), Marker("scrappage")
    view = HitView.of(best(index, "scrappage"), form, mark, (), bare=False)
    assert view.cells[0].cell == "shape at D2"
    assert "D2" not in view.url


def test_a_value_of_a_table_is_what_its_cell_holds(index):
    hit = best(index, "what was estimated from registrations")
    assert [column.values for column in hit.table().columns] == [["Car", "Van", "Truck"], [3, 4, 5]]


def test_an_older_index_reads_its_workbooks_anew_once(tmp_path):
    folder = books(tmp_path / "books")
    file = tmp_path / "i.sat"
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.sync(folder)
    with closing(sqlite3.connect(file)) as older:
        older.executescript(f"{WITHOUT_NAMES} PRAGMA user_version = 12;")
    with SheetIndex.open(file, HashedEncoder()) as index:
        assert len(index) == 3
        assert index.sync(folder).changed == 3
        assert index.sync(folder).changed == 0
    with SheetIndex.open(file, HashedEncoder()) as again:
        found = again.records(["fleet.xlsx#7.1"], contents=True)["fleet.xlsx#7.1"]
    assert found.contents.notes == (SHAPE,)
