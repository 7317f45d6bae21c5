"""Rows, measures and intervals on a corpus small enough to know the answers."""

import pytest

from benchmarks.related.related import measured
from benchmarks.related.scoring import MEASURES, Searched, answered, clusters, gaps
from benchmarks.related.sets import SETS
from benchmarks.related.systems import CANDIDATES, WALK, systems
from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from tests.fakes import HashedEncoder


def table(number, workbook, name, *headers):
    return SheetRecord(number, name, workbook, columns=tuple(Column(each) for each in headers))


RECORDS = (
    table("0", "Music", "Singer", "Singer_ID", "Name"),
    table("1", "Music", "Concert", "Concert_ID", "Singer_ID", "Year"),
    table("2", "School", "Pupil", "Pupil_ID", "Age"),
    table("3", "Zoo", "Visit", "Singer", "Year"),
)
QUERIES = (Query("year of the concert", ("1", "0")), Query("which year, concert", ("0", "1")))
ROWS = tuple(each for each in systems() if each.name.startswith((CANDIDATES, WALK)))


@pytest.fixture
def searched(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(RECORDS, [Link("1", "0", "join_key")], find_links=False)
        yield [Searched(index, QUERIES)]


def test_measures_are_those_counted_by_hand():
    row = {"hits": [1, 7], "relevant": 2, "set": 7}
    found = {name: of(row) for name, of in MEASURES.items()}
    assert found["AllRelevant@5"] == 0
    assert found["AllRelevant@10"] == 1
    assert found["NDCG@10"] == pytest.approx((1 + 1 / 3) / (1 + 1 / 1.5849625007), abs=1e-6)
    assert found["F1_of_set"] == pytest.approx(4 / 9)


def test_every_row_is_compared_with_rows_before_it(searched):
    found = list(measured(SETS["spider_keys"], searched, ROWS, "validation"))
    names = [each.method for each in found]
    assert names[:2] == [CANDIDATES, WALK]
    for place, each in enumerate(found):
        assert set(each.metrics["against"]) <= set(names[:place])
        assert bool(each.metrics["against"]) == (place > 0)
    assert found[0].metrics["queries"] == 2
    assert found[0].metrics["answers"] == 1
    assert [len(row["hits"]) for row in found[0].per_query] == [2, 2]


def test_only_kinds_of_links_that_a_corpus_has_are_left_out_in_turn(searched):
    found = [each.method for each in measured(SETS["spider_keys"], searched, ROWS, "validation")]
    assert found[2:] == [f"{WALK}_without_{each}" for each in ("join_key", "siblings", "links")]


def test_a_walk_without_any_link_keeps_the_candidates(searched):
    rows = {each.name: each for each in ROWS}
    plain, walk, without = (
        answered(rows[name], searched, lambda *_: None)
        for name in (CANDIDATES, WALK, f"{WALK}_without_links")
    )
    assert plain == without
    assert walk != plain


def test_questions_with_the_same_answer_are_drawn_together(searched):
    groups = clusters(searched)
    assert groups[0] == groups[1]
    ahead = [{"hits": [1, 2], "relevant": 2, "set": 2}] * 2
    behind = [{"hits": [1, 20], "relevant": 2, "set": 2}, {"hits": [1, 2], "relevant": 2, "set": 2}]
    together = gaps(ahead, behind, groups)["AllRelevant@5"]
    assert together == {"mean": 0.5, "low": 0.5, "high": 0.5}
    assert gaps(ahead, behind, [0, 1])["AllRelevant@5"]["low"] == 0
