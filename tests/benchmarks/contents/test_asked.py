"""Shares of made questions about contents."""

from benchmarks.contents.asked import metrics_of, rows_of
from sat_retriever.datasets.labels import Query


def test_ranks_are_those_of_the_first_sheet_that_answers():
    questions = [
        Query("TH-1", ("b",), query_type="value"),
        Query("TH-2", ("c", "a"), query_type="value"),
        Query("TH-3", ("z",), query_type="value"),
        Query("ships", (), query_type="unanswerable"),
    ]
    rows = rows_of(lambda _text: ["a", "b", "c"], questions)
    assert [row["rank"] for row in rows] == [2, 1, 0, 0]
    found = metrics_of(rows)
    assert (found["value_questions"], found["value_unique"]) == (3, 2)
    assert (found["value_recall@1"], found["value_recall@10"]) == (0.0, 0.5)
    assert abs(found["value_hit@1"] - 1 / 3) < 1e-9
    assert (found["note_recall@1"], found["unanswerable_questions"]) == (None, 1)
