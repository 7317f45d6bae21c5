"""What answers are worth, and what replaces what."""

from __future__ import annotations

import json

import pytest

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import row_of
from sat_retriever.records.jsonform import to_json
from sat_retriever.train.adapt.outcome import Verdict, answer_rows, first_verdict, next_verdict
from tests.train.sheet_world import index as world


def rows(*ranks):
    """Questions 0, 1, …, each with one relevant sheet at a rank; 9 is beyond the fifth."""
    return [{"query": n, "relevant": 1, "hits": [rank]} for n, rank in enumerate(ranks)]


THIRD = rows(*(3,) * 40)  # NDCG@5 of .5 each


def test_rows_are_those_of_the_first_five_hits_of_a_search(tmp_path):
    queries = [Query("blue sky", ("blue#sky", "blue#stone")), Query("a red car", ("red#car",))]
    told = []
    with world(tmp_path / "w.sat") as index:
        found = answer_rows(index, "links", queries, lambda *numbers: told.append(numbers))
        search = SheetRetriever(index)
        hits = [[hit.sheet_id for hit in search.retrieve(query.text, 5)] for query in queries]
    assert found == [row_of(n, hits[n], query.positives) for n, query in enumerate(queries)]
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("new", "sure", "kept"),
    [
        ((3,) * 40, True, False),  # as good is not better
        ((3,) * 40, False, False),
        ((2,) * 40, True, True),
        ((4,) * 40, False, False),
        ((1, 5) * 20, True, True),  # .19 ahead on average: never by chance in 40 questions
        ((1, *(5,) * 9) * 4, False, False),
        ((*(1,) * 21, *(9,) * 19), True, False),  # ahead by .025, and it may be chance
        ((*(1,) * 30, *(9,) * 10), True, True),  # ahead by .25, which is hardly chance
        ((*(1,) * 21, *(9,) * 19), False, True),
    ],
)
def test_only_what_is_better_replaces_what_there_is(new, sure, kept):
    verdict = next_verdict("new", rows(*new), THIRD, range(40), sure=sure)
    assert verdict.kept is kept
    assert verdict.ahead.mean == pytest.approx(verdict.ndcg - 0.5)


def test_questions_about_the_same_families_are_no_independent_evidence():
    new = rows(*(1,) * 20, *(5,) * 20)  # ahead by .5, and behind by .11
    apart = next_verdict("new", new, THIRD, range(40), sure=True)
    two = next_verdict("new", new, THIRD, (0,) * 20 + (1,) * 20, sure=True)
    one = next_verdict("new", new, THIRD, (0,) * 40, sure=True)
    assert (apart.kept, two.kept, one.kept) == (True, False, False)
    assert two.ahead.low < 0 < apart.ahead.low
    assert next_verdict("new", new, THIRD, (0,) * 40, sure=False).kept


def test_verdicts_come_back_from_a_file_as_they_were():
    new = next_verdict("new", rows(*(2,) * 40), THIRD, range(40), sure=True)
    for verdict in (first_verdict("now", THIRD), new):
        assert Verdict.from_json(json.loads(json.dumps(to_json(verdict)))) == verdict
