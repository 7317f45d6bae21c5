"""Tables behind the mean follow from the rows of results, by hand-computed values."""

from __future__ import annotations

import math

import pytest

from benchmarks import results
from benchmarks.tables import breakdown
from benchmarks.training.methods import RECIPES
from sat_retriever.datasets.metrics.rows import PER_QUERY, metrics_of

SECOND = 1 / math.log2(3)  # NDCG of one relevant sheet at rank 2


def result(method, seed, ranks, split="standard"):
    """A result of questions 0, 1, …, each with one relevant sheet at a rank."""
    rows = [
        {"query": place, "relevant": 1, "hits": [rank], "hard": False}
        for place, rank in enumerate(ranks)
    ]
    return {
        "method": method, "dataset": "industrytab_1k", "split": split, "seed": seed,
        "metrics": metrics_of(rows), "per_query": rows,
    }  # fmt: skip


TYPES = ("semantic_lookup", "semantic_lookup", "comparison", "join_key_reasoning")
COUNTED = [
    {
        "dataset": "industrytab_1k",
        "per_query": [
            {"query": place, "type": kind, "dependency_type": "", "dependency_heavy": place > 1}
            for place, kind in enumerate(TYPES)
        ],
    }
]


def cells(table, title, nth=0):
    """Cells of the nth row of a name."""
    found = [line for line in table.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in found[nth].split("|")[2:-1]]


def test_each_type_has_its_own_mean_and_deviation_over_seeds():
    files = [result("graph", 42, [1, 2, 1, 1]), result("graph", 43, [1, 1, 1, 20])]
    found = breakdown.by_kind(files, breakdown.types_of(COUNTED))
    lookup = ((1 + SECOND) / 2, 1.0)
    assert found["semantic_lookup"].mean == pytest.approx(sum(lookup) / 2)
    assert found["semantic_lookup"].sd == pytest.approx((lookup[1] - lookup[0]) / math.sqrt(2))
    assert found["comparison"] == breakdown.Spread(1.0, 0.0)
    assert found["join_key_reasoning"].mean == 0.5


def test_the_table_of_types_has_sizes_the_authors_figures_and_what_was_not_run():
    files = [result("graph", 42, [1, 2, 1, 1]), result("bm25", None, [20, 20, 1, 2])]
    table = breakdown.types_table(files, COUNTED, "standard")
    assert cells(table, "test queries") == ["", "2", "1", "0", "1", "0", "0"]
    assert cells(table, RECIPES["graph"].title) == ["1", ".815", "1.000", "–", "1.000", "–", "–"]
    assert cells(table, "BM25") == ["1", ".000", "1.000", "–", ".631", "–", "–"]
    assert cells(table, "RAG + LLM")[0] == "not run"
    assert cells(table, "*authors: SAT*") == ["", ".934", ".996", ".953", ".715", ".955", "1.000"]
    assert "*authors" not in breakdown.types_table(files, COUNTED, "grouped")


def test_test_sets_that_differ_by_seed_are_given_as_a_range():
    files = [result("bm25", 42, [1, 1, 1], "grouped"), result("bm25", 43, [1], "grouped")]
    table = breakdown.types_table(files, COUNTED, "grouped")
    assert cells(table, "test queries")[1:3] == ["1 to 2", "0 to 1"]


def test_questions_are_parted_by_whether_their_sheets_depend_on_each_other():
    table = breakdown.dependency_table([result("bm25", None, [1, 2, 1, 20])], COUNTED, "standard")
    assert cells(table, "test queries") == ["", "2", "2"]
    assert cells(table, "BM25") == ["1", ".500", ".815"]


def test_without_counted_types_the_table_says_what_to_run():
    table = breakdown.types_table([result("bm25", None, [1])], [], "standard")
    assert table == breakdown.NO_TYPES


def test_candidates_stand_beside_the_papers_ceilings():
    files = [result("stage1", 42, [1, 20]), result("stage1", 43, [1, 60])]
    table = breakdown.candidates_table(files, "standard")
    row = cells(table, RECIPES["stage1"].title)
    assert row[:2] == ["2", ".750 ± .354"]
    assert row[-1] == ".500 ± .000"
    assert cells(table, "*paper: SAT, seed 42*") == ["1", ".947", ".994", ".866", ".790", ".753"]
    assert "LLM-only" not in table  # it has no candidates
    assert "*paper" not in breakdown.candidates_table(files, "grouped")


def test_each_row_is_compared_with_the_nearest_one_above_that_was_run():
    files = [
        result("bm25", None, [2, 1]),
        result("stage1", 42, [1, 1]),
        result("stage1", 43, [2, 1]),
        result("graph", 43, [1, 1]),
    ]
    first, second = breakdown.neighbours(files, "standard")
    assert (first.method, first.other, first.seeds) == ("stage1", "bm25", 2)
    assert first.by.mean == pytest.approx((1 - SECOND) / 4)
    assert (second.method, second.other, second.seeds) == ("graph", "stage1", 1)
    assert second.by.mean == pytest.approx((1 - SECOND) / 2)


def test_a_difference_beyond_chance_is_called_so():
    better = [result("graph", 42, [1] * 8), result("base", 42, [2] * 8)]
    table = breakdown.neighbours_table(better, "standard")
    assert cells(table, "+ GNN (SAT) (`graph`)") == [
        "+ base scorer (`base`)", "1", "+0.3691", "+0.3691 to +0.3691", "yes",
    ]  # fmt: skip
    equal = [result("graph", 42, [1, 2]), result("base", 42, [2, 1])]
    assert "| no |" in breakdown.neighbours_table(equal, "standard")
    assert "+0.0016 to +0.0097" in breakdown.neighbours_table(equal, "standard")


def test_methods_without_a_common_seed_are_not_compared():
    files = [result("base", 42, [1]), result("graph", 43, [1])]
    assert breakdown.neighbours(files, "standard") == []
    assert breakdown.neighbours_table(files, "standard").startswith("*not run")


def test_committed_results_give_their_own_mean_back_over_the_types():
    trained, counted = results.read_results("trained"), results.read_results("statistics")
    kinds = breakdown.types_of(counted)
    if not trained or not kinds:
        pytest.skip("no committed results")
    file = trained[0]
    found = breakdown.by_kind([file], kinds)
    asked = [kinds[row["query"]] for row in file["per_query"]]
    whole = sum(spread.mean * asked.count(kind) for kind, spread in found.items()) / len(asked)
    assert whole == pytest.approx(file["metrics"]["NDCG@5"])
    assert whole == pytest.approx(
        sum(PER_QUERY["NDCG@5"](row) for row in file["per_query"]) / len(asked)
    )
