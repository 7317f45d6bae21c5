"""What answers are worth, and what replaces what."""

from __future__ import annotations

import json

import pytest

from sat_retriever.adapt.judging import Marks, Row, first_row, marks, next_row
from sat_retriever.datasets.labels import Query
from sat_retriever.metrics import ndcg, recall
from sat_retriever.records.jsonform import to_json
from sat_retriever.retriever import SheetRetriever
from tests.training.sheet_world import index as world

HALF = (0.5,) * 40


def test_marks_are_those_of_the_first_five_hits_of_a_search(tmp_path):
    queries = [Query("blue sky", ("blue#sky", "blue#stone")), Query("a red car", ("red#car",))]
    told = []
    with world(tmp_path / "w.sat") as index:
        found = marks(index, "links", queries, lambda *numbers: told.append(numbers))
        search = SheetRetriever(index)
        hits = [[hit.sheet_id for hit in search.retrieve(query.text, 5)] for query in queries]
    gold = [query.positives for query in queries]
    assert found.ndcg == tuple(ndcg(a, b, 5) for a, b in zip(hits, gold, strict=True))
    assert found.recall == tuple(recall(a, b, 5) for a, b in zip(hits, gold, strict=True))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("new", "sure", "kept"),
    [
        (HALF, True, False),  # as good is not better
        (HALF, False, False),
        ((0.6,) * 40, True, True),
        ((0.4,) * 40, False, False),
        ((1.0, 0.1) * 20, True, False),  # ahead by .05, and it may be chance
        ((*(1.0,) * 23, *(0.1,) * 17), True, True),  # ahead by .1175, which is hardly chance
        ((1.0, 0.1) * 20, False, True),
    ],
)
def test_only_what_is_better_replaces_what_there_is(new, sure, kept):
    row = next_row("new", Marks(new, HALF), Marks(HALF, HALF), range(40), sure=sure)
    assert row.kept is kept
    assert row.ahead.mean == pytest.approx(sum(new) / 40 - 0.5)


def test_questions_about_the_same_families_are_no_independent_evidence():
    new, now = Marks((0.9,) * 20 + (0.4,) * 20, HALF), Marks(HALF, HALF)
    apart = next_row("new", new, now, range(40), sure=True)
    two = next_row("new", new, now, (0,) * 20 + (1,) * 20, sure=True)
    one = next_row("new", new, now, (0,) * 40, sure=True)
    assert (apart.kept, two.kept, one.kept) == (True, False, False)
    assert two.ahead.low < 0 < apart.ahead.low
    assert next_row("new", new, now, (0,) * 40, sure=False).kept


def test_rows_come_back_from_a_file_as_they_were():
    now = Marks(HALF, HALF)
    new = next_row("new", Marks((0.7,) * 40, HALF), now, range(40), sure=True)
    for row in (first_row("now", now), new):
        assert Row.from_json(json.loads(json.dumps(to_json(row)))) == row
