import random

import ir_measures
import pytest

from sat_retriever import InputError
from sat_retriever.datasets import metrics
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import (
    PER_QUERY,
    Ranked,
    metrics_of,
    row_of,
    rows_of,
    unsupported,
)

QUERIES = {
    3: Query("?", ("a", "b"), hard_negatives=("x",)),
    5: Query("?", ("c",), hard_negatives=("x",)),
    8: Query("?", ("d", "e", "f"), hard_negatives=()),
}
RANKINGS = {3: "xaybzwvu", 5: "cx", 8: "qrstuvd"}
NUMBERS = {sheet: number for number, sheet in enumerate("abcdefqrstuvwxyz")}


def rows():
    run = {
        place: [Ranked(sheet, 1 / rank) for rank, sheet in enumerate(names, start=1)]
        for place, names in RANKINGS.items()
    }
    return rows_of(QUERIES, run, NUMBERS)


def test_metrics_of_rows_are_those_of_the_rankings_themselves():
    found = metrics_of(rows())
    pairs = [(list(RANKINGS[place]), query.positives) for place, query in QUERIES.items()]
    for name, of, *arguments in (
        ("NDCG@5", metrics.ndcg, 5),
        ("NDCG@10", metrics.ndcg, 10),
        ("Recall@5", metrics.recall, 5),
        ("AllRelevant@10", metrics.all_relevant, 10),
        ("Hit@5", metrics.hit, 5),
        ("MRR@5", metrics.reciprocal_rank, 5),
        ("CandidateRecall@50", metrics.recall, 50),
        ("OracleRecall@5", metrics.oracle_recall, 5, 50),
    ):
        assert found[name] == metrics.mean([of(*pair, *arguments) for pair in pairs]), name
    assert found["HN-FPR@1"] == 0.5  # of two that have hard negatives, one is led by one


def test_metrics_of_a_run_are_those_of_ir_measures():
    rng = random.Random(3)
    sheets = [f"s{n}" for n in range(80)]
    queries = {n: Query("?", tuple(rng.sample(sheets, rng.randint(1, 9)))) for n in range(40)}
    run = {
        n: [Ranked(sheet, 1 / rank) for rank, sheet in enumerate(rng.sample(sheets, 50), start=1)]
        for n in queries
    }
    rows = rows_of(queries, run, {sheet: n for n, sheet in enumerate(sheets)})
    judged = [
        ir_measures.Qrel(str(n), sheet, 1)
        for n, query in queries.items()
        for sheet in query.positives
    ]
    answered = [
        ir_measures.ScoredDoc(str(n), ranked.sheet_id, ranked.score)
        for n, ranking in run.items()
        for ranked in ranking
    ]
    theirs = {
        "NDCG@5": ir_measures.nDCG @ 5,
        "NDCG@10": ir_measures.nDCG @ 10,
        "Recall@5": ir_measures.R @ 5,
        "Hit@5": ir_measures.Success @ 5,
        "MRR@5": ir_measures.RR @ 5,
        "CandidateRecall@50": ir_measures.R @ 50,
    }
    found = ir_measures.calc_aggregate(theirs.values(), judged, answered)
    ours = metrics_of(rows)
    assert {name: ours[name] for name in theirs} == pytest.approx(
        {name: found[measure] for name, measure in theirs.items()}
    )


def test_rows_name_sheets_by_number_and_hold_no_text():
    first, second, third = rows()
    assert first["sheets"] == [NUMBERS[sheet] for sheet in "xaybz"]
    assert (first["hits"], first["relevant"], first["hard"]) == ([2, 4], 2, True)
    assert (second["hard"], third["hard"]) == (False, None)


def test_a_ranking_without_any_sheet_is_no_hard_negative():
    (row,) = rows_of({0: Query("?", ("a",), hard_negatives=("x",))}, {0: []}, NUMBERS)
    assert (row["hits"], row["hard"], PER_QUERY["NDCG@5"](row)) == ([], False, 0.0)


def test_no_false_positive_rate_is_defined_where_no_query_has_hard_negatives():
    assert metrics_of(rows()[2:])["HN-FPR@1"] is None


def test_a_stored_metric_that_its_rows_do_not_give_is_named():
    stored = metrics_of(rows())
    assert unsupported(stored, rows()) == []
    wrong = stored | {"NDCG@5": 0.9, "HN-FPR@1": None}
    assert [line.partition(" is ")[0] for line in unsupported(wrong, rows())] == [
        "NDCG@5",
        "HN-FPR@1",
    ]


def test_metrics_that_rows_cannot_give_are_not_looked_at():
    bare = [{name: row[name] for name in ("query", "relevant", "hits")} for row in rows()]
    assert unsupported({"HN-FPR@1": 0.9, "load_s": 3.0}, bare) == []


def test_only_the_wanted_metrics_are_given_in_their_order():
    found = metrics_of(rows(), ("HN-FPR@1", "Hit@5"))
    assert found == {name: metrics_of(rows())[name] for name in ("Hit@5", "HN-FPR@1")}


def test_a_row_of_numbers_is_that_of_the_ids_they_stand_for():
    ids, gold = ["x", "a", "y", "b"], ["b", "a", "q"]
    number = {sheet: place for place, sheet in enumerate("xaybq")}
    by_number = row_of(3, [number[each] for each in ids], [number[each] for each in gold], (0,))
    assert by_number == row_of(3, ids, gold, ("x",)) == {
        "query": 3, "relevant": 3, "hits": [2, 4], "hard": True,
    }  # fmt: skip


def test_a_ranking_that_names_a_sheet_twice_has_no_row():
    with pytest.raises(InputError, match="'a' stands twice"):
        row_of(0, ["a", "a"], ["a"])
