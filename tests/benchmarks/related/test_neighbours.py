"""Figures about neighbours, each counted by hand."""

import pytest

from benchmarks.related.neighbours import Neighbourhood, Ranked, bounds, measure, reach
from benchmarks.related.scoring import Searched
from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.links import Link
from tests.benchmarks.related.test_scoring import QUERIES, RECORDS
from tests.fakes import HashedEncoder

LINKS = [
    Link("a", "b", "join_key"), Link("b", "c", "formula_reference"), Link("a", "x", "join_key"),
    Link("a", "y", "sibling_period"),
]  # fmt: skip
NEAR = Neighbourhood.made(LINKS, {"a": "1", "b": "1", "x": "1", "c": "2"})


def question(walk):
    query = Query("q", ("a", "b", "c"))
    scores = {"b": 0.4, "x": 0.5, "c": 0.3}
    return Ranked(query, "a", frozenset("bc"), tuple(walk), scores), NEAR


def test_neighbours_of_a_kind_are_counted_in_both_directions():
    found = reach([question("zaxyb")], "join_key")
    assert found == {
        "reached": 0.5, "complete": 0.0, "false": 1.0, "first": 0.0, "lost": 1.0,
        "lost_reached": 0.0,
    }  # fmt: skip
    assert NEAR.of_sheet("c", "formula_reference") == frozenset("b")
    assert NEAR.of_sheet("a", "same_workbook") == frozenset("bx")
    assert NEAR.of_sheet("a", "sibling_period") == frozenset()


def test_relevant_sheets_are_connected_over_other_relevant_ones_only():
    assert NEAR.around("a", {"a", "b", "c"}) == {"b", "c"}
    assert NEAR.around("a", {"a", "c"}) == set()


def test_orders_move_sheets_behind_the_anchor_or_the_first_sheet():
    one, _ = question("zaqrstb")
    assert one.with_behind({"b", "c"}) == [*"zabcqrst"]
    assert one.with_behind({"b", "x"}) == [*"zaxbqrst"]
    assert one.with_behind({"b"}, "z") == [*"zbaqrst"]
    found = bounds([question("zaqrstb")])
    assert found["walk"]["AllRelevant@5"] == 0
    assert found["told"]["AllRelevant@5"] == 1
    assert found["untold"]["AllRelevant@5"] == 0
    assert found["trusting"] == found["walk"]


def test_a_log_is_told_how_many_of_all_questions_are_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.progress._SECONDS", 0.0)
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(RECORDS, find_links=False)
        measure("three corpora", [Searched(index, QUERIES)] * 3)
    said = capsys.readouterr().err
    assert "three corpora: 4 of 6, about 0 min left\nthree corpora: 6 of 6" in said


def test_a_set_is_measured_from_its_index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(RECORDS, [Link("1", "0", "join_key")], find_links=False)
        found = measure("spider_keys", [Searched(index, QUERIES)]).metrics
    assert found["questions"] == found["with_anchor"] == 2
    assert found["connected"] == 1.0
    assert set(found["kinds"]) == {"join_key", "any", "same_workbook"}
    assert found["kinds"]["any"]["reached"] == pytest.approx(1.0)
