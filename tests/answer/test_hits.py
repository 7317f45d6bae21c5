"""Hits of real workbooks with several tables: what they cite, and what they name."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from sat_retriever import Hit, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.records.contents import CellText
from tests.builders import transit
from tests.fakes import HashedEncoder


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with SheetIndex.open(transit(tmp_path_factory.mktemp("hits")), HashedEncoder()) as opened:
        yield opened


def hit(index: SheetIndex, question: str, sheet: str) -> Hit:
    found = SheetRetriever(index, None).retrieve(question, 5)
    return next(each for each in found if each.record.sheet == sheet)


@pytest.mark.parametrize(
    ("question", "range_", "cell"),
    [
        ("trips of MTA New York City Transit", "A2:B5", "A3"),
        ("cost of a ferry", "A9:B13", "A12"),
        ("vehicle costs", "A9:B13", "A8"),
    ],
)
def test_the_citation_is_the_table_that_answers(index, question, range_, cell):
    found = hit(index, question, "Data")
    assert found.range == found.answering.range == range_
    assert found.citation == f"Transit.xlsx#Data!{range_}"
    assert found.why.cells[0].cell == cell
    assert next(column.name for column in found.columns) in ("Operator", "Model")
    assert found.header_row == int(range_[1 : range_.index(":")])


def test_of_a_long_table_the_matched_rows_are_cited(index):
    found = hit(index, "people of town 444", "Cities")
    assert found.part == found.range == "A436:C456"
    assert found.answering.range == "A1:C601"
    assert found.why.cells == (CellText("B446", "Town 444"),)


def test_a_hit_is_of_the_state_of_its_answer_though_it_is_read_later(tmp_path):
    place = transit(tmp_path)
    with SheetIndex.open(place, HashedEncoder()) as own:
        retriever = SheetRetriever(own)
        read, later, copied = (
            next(x for x in retriever.retrieve("people of town 444") if x.record.sheet == "Cities")
            for _ in range(3)
        )
        assert read.citation == "Transit.xlsx#Cities!A436:C456"
        copied = pickle.loads(pickle.dumps(copied))
        own.remove([later.sheet_id])
    assert later.why.cells == (CellText("B446", "Town 444"),)
    assert later.record.contents.tables[0].labels
    assert (later, repr(later)) == (read, repr(read))
    assert copied == later == copied
    assert type(copied) is Hit
    moved = replace(later, rank=7)
    assert (moved.rank, moved.part, moved.why) == (7, read.part, read.why)
    assert moved != later


def test_json_has_cells_table_and_citation(index):
    found = json.loads(json.dumps(hit(index, "people of town 444", "Cities").to_dict()))
    assert found["citation"] == "Transit.xlsx#Cities!A436:C456"
    assert (found["range"], found["table"], found["table_range"]) == ("A436:C456", 0, "A1:C601")
    assert found["why"]["cells"] == [{"cell": "B446", "text": "Town 444", "kind": "cell"}]
    assert found["role"] == "data"


def test_hits_of_sheets_without_contents_cite_the_main_table(tmp_path):
    with SheetIndex.open(transit(tmp_path, contents="names"), HashedEncoder()) as bare:
        bare.add_records([SheetRecord("x#y", "y", range="A1:D9"), SheetRecord("x#z", "z")])
        for found in SheetRetriever(bare, None).retrieve("trips of MTA", 5):
            assert found.citation == found.record.citation
            assert (found.table_place, found.part, found.why.cells) == (0, None, ())
            assert (found.range, found.columns) == (found.record.main_range, found.record.columns)


def test_the_rest_of_a_record_is_as_the_index_has_it(index):
    found = hit(index, "cost", "Data").record
    assert found == index.records([found.sheet_id], contents=True)[found.sheet_id]


@pytest.mark.parametrize(
    ("question", "sheet", "words", "inside"),
    [
        ("ferry", "Data", (), ("ferry",)),
        ("cost of a FERRY", "Data", ("cost",), ("ferry",)),
        ("town 444 people", "Cities", ("people",), ("town", "444")),
        ("zeppelin", "Data", (), ()),
    ],
)
def test_words_that_only_cells_hold_are_named_as_such(index, question, sheet, words, inside):
    why = hit(index, question, sheet).why
    assert (why.words, why.cell_words) == (words, inside)
