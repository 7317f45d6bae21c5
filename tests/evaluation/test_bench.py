"""Methods side by side: the same questions, every figure from stored rankings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import pytest

from sat_retriever import Candidate, EmptyInputError, InputError, Link, OutputError, SheetIndex
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.rows import metrics_of
from sat_retriever.errors import LanguageModelError
from sat_retriever.evaluation.bench import bench, judged, results_of
from sat_retriever.evaluation.latency import Timing
from sat_retriever.evaluation.maintable import COLUMNS, NONE, Cell, cells, notes
from sat_retriever.evaluation.methods import Method, encoder_label, fused, named_methods
from tests.evaluation.books import BAD, PLAN, Q1, QUERIES, STAFF, SUMMARY, indexed
from tests.fakes import CountingEncoder

UNTIMED = Timing(questions=0)


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Iterator[SheetIndex]:
    with indexed(tmp_path_factory.mktemp("bench")) as opened:
        yield opened


def always(*sheet_ids: str, via: Link | None = None) -> Method:
    """A method that finds the same sheets whatever is asked."""
    found = [
        Candidate(sheet_id, rank, 1 / rank, 0.0, 0.0, 1, None, via)
        for rank, sheet_id in enumerate(sheet_ids, start=1)
    ]
    return Method(lambda _: found)


def test_each_method_is_scored_on_the_same_questions_and_compared_with_the_row_above(index):
    methods = {"worse": always(PLAN, Q1), "better": always(Q1, STAFF), "same": always(Q1)}
    found = bench(index, QUERIES[:1], methods, UNTIMED)
    worse, better, same = found.scored
    assert (worse.name, better.name, same.name) == ("worse", "better", "same")
    assert same.difference.mean == 0.0
    assert worse.metrics["NDCG@5"] == pytest.approx(1 / math.log2(3))
    assert worse.metrics["HN-FPR@1"] == 1.0
    assert (better.metrics["NDCG@5"], better.metrics["HN-FPR@1"]) == (1.0, 0.0)
    assert worse.difference is None
    assert better.difference.mean == pytest.approx(1 - 1 / math.log2(3))
    assert [ranked.sheet_id for ranked in better.run[0]] == [Q1, STAFF]
    assert [found.sheet_ids[number] for number in better.rows[0]["sheets"]] == [Q1, STAFF]


def test_every_row_can_be_compared_with_a_named_one(index):
    methods = {"worse": always(PLAN, Q1), "better": always(Q1, STAFF), "default": always(PLAN, Q1)}
    found = bench(index, QUERIES[:1], methods, UNTIMED, against="better")
    worse, better, default = found.scored
    behind = 1 / math.log2(3) - 1
    assert [worse.difference.mean, default.difference.mean] == pytest.approx([behind, behind])
    assert better.difference is None
    assert [found.compared_with(row) for row in range(3)] == [1, None, 1]
    [said] = [note for note in notes(found) if note.startswith("Δ")]
    assert "NDCG@5 minus that of better, with its 95 % interval" in said
    results = results_of(found, {})
    assert results["against"] == "better"
    first, second, _ = results["methods"]
    assert second["ndcg_difference"] is None
    told = dataclasses.asdict(worse.difference)
    assert first["ndcg_difference"] == {"to": "better", **told}
    assert {"mean", "low", "high"} <= told.keys()


def test_nothing_is_compared_with_a_row_that_is_left_out(index):
    methods = {"a": always(Q1), "model": failing(LanguageModelError("it broke")), "b": always(Q1)}
    found = bench(index, QUERIES, methods, UNTIMED, against="model")
    assert [one.difference for one in found.scored] == [None, None]
    assert not [note for note in notes(found) if note.startswith("Δ")]
    assert "Left out: model, as it broke" in notes(found)


def test_a_row_that_is_not_there_is_refused_with_those_there_are_before_anything_is_asked(index):
    methods = {"a": always(Q1), "b": failing(ZeroDivisionError())}
    with pytest.raises(InputError, match=r"there is no row 'bm25' to compare .* are: a, b$"):
        bench(index, QUERIES, methods, UNTIMED, against="bm25")


def test_metrics_follow_from_the_rows(index):
    for scored in bench(index, QUERIES, named_methods(index), UNTIMED).scored:
        assert dict(scored.metrics) == metrics_of(scored.rows)
        assert len(scored.rows) == len(QUERIES)


def test_the_rows_of_the_table_are_words_tokens_both_times_and_links(index):
    found = bench(index, QUERIES, named_methods(index), UNTIMED)
    assert [one.name for one in found.scored] == [
        "BM25", "RAG (hashed)", "fused", "+ times", "+ link reranker",
    ]  # fmt: skip
    words = found.scored[0].run
    assert words[0][0].sheet_id == Q1
    assert words[2] == []  # "how much do people earn" has no word of any sheet
    assert found.scored[0].rows[2]["hits"] == []


def test_a_link_that_lifted_a_sheet_is_kept_with_the_question(index):
    link = Link(SUMMARY, Q1, "formula_reference")
    found = bench(index, QUERIES[:2], {"plain": always(Q1), "linked": always(Q1, via=link)})
    plain, linked = found.scored
    assert plain.lifted == {}
    assert linked.lifted == {0: {Q1: link}, 1: {Q1: link}}


def test_without_annotated_hard_negatives_those_ruled_out_count_as_such(index):
    queries = (Query("revenue", (Q1,), negatives=(PLAN,)), Query("staff", (STAFF,)))
    (scored,) = bench(index, queries, {"plan first": always(PLAN, Q1)}, UNTIMED).scored
    assert [row["hard"] for row in scored.rows] == [True, None]
    assert scored.metrics["HN-FPR@1"] == 1.0
    assert judged(QUERIES) == list(QUERIES)  # one has annotated ones: nothing is added


NEITHER = (Query("revenue", (Q1,)),)
RULED_OUT = (Query("revenue", (Q1,), negatives=(PLAN,)),)


@pytest.mark.parametrize(
    ("queries", "said", "kept"),
    [(RULED_OUT, True, "ruled out by the labels"), (QUERIES, False, "as annotated"),
     (NEITHER, False, "as annotated")],
)  # fmt: skip
def test_that_ruled_out_sheets_count_as_hard_negatives_is_said(index, queries, said, kept):
    found = bench(index, queries, {"a": always(Q1)}, UNTIMED)
    assert any("No hard negatives are annotated" in note for note in notes(found)) is said
    assert results_of(found, {})["hard_negatives"] == kept


def failing(error: Exception, after: int = 0) -> Method:
    asked = []

    def find(query: str) -> list[Candidate]:
        asked.append(query)
        if len(asked) > after:
            raise error
        return []

    return Method(find)


@pytest.mark.parametrize("error", [LanguageModelError("it broke"), OutputError("it broke")])
def test_a_method_that_fails_late_gives_no_row_and_takes_no_other_away(index, error):
    methods = {"a": always(PLAN), "model": failing(error, 2), "b": always(Q1)}
    found = bench(index, QUERIES, methods, UNTIMED)
    assert [one.name for one in found.scored] == ["a", "b"]
    assert found.scored[1].difference is not None  # to the row that is above it now
    assert found.left_out == {"model": "it broke"}
    assert "Left out: model, as it broke" in notes(found)
    assert results_of(found, {}, per_query=False)["left_out"] == {"model": "it broke"}


def test_a_bench_without_a_row_is_an_error(index):
    with pytest.raises(LanguageModelError, match="it broke"):
        bench(index, QUERIES, {"model": failing(LanguageModelError("it broke"))}, UNTIMED)


def test_a_mistake_in_a_method_is_not_hidden(index):
    with pytest.raises(ZeroDivisionError):
        bench(index, QUERIES, {"a": always(Q1), "b": failing(ZeroDivisionError())}, UNTIMED)


def test_every_question_is_timed_up_to_a_number_and_slow_methods_less(index):
    def times(seconds: float) -> int:
        timing = Timing(questions=3, seconds=seconds)
        (scored,) = bench(index, QUERIES, {"one": always(Q1)}, timing).scored
        assert 0 < scored.latency.joint.p50 <= scored.latency.joint.p95
        return scored.latency.calls

    assert times(60.0) == 3
    asked = [Query(f"revenue {number}", (Q1,)) for number in range(30)]
    slow = bench(index, asked, {"one": always(Q1)}, Timing(seconds=0.0)).scored[0]
    assert slow.latency.calls == 10


def test_one_question_is_encoded_anew_in_every_timed_call(index):
    """The index remembers no question: a time of one question is a time of the whole work."""
    encoder = CountingEncoder(index.width)
    with SheetIndex.open(index.path, encoder) as counted:
        (scored,) = bench(counted, QUERIES[:1], {"one": fused(counted)}).scored
    # Once for the run, once to warm up, then each timed call jointly and apart.
    assert encoder.asked == [QUERIES[0].text] * (2 + 2 * scored.latency.calls)


def test_a_method_that_times_itself_is_not_asked_again(index):
    calls = []

    def find(query: str) -> list[Candidate]:
        calls.append(query)
        return []

    timing = Timing(own={"model": lambda: [2.0, 4.0]})
    (scored,) = bench(index, QUERIES[:1], {"model": Method(find)}, timing).scored
    assert calls == [QUERIES[0].text]
    assert scored.latency.joint.p50 == 3000.0
    assert scored.latency.calls == 2


def test_progress_names_the_method_and_what_is_done(index):
    told = []
    bench(index, QUERIES[:2], {"a": always(Q1)}, told=lambda *step: told.append(step))
    assert told[:2] == [("a", 1, 2), ("a", 2, 2)]
    assert told[-1] == ("a: timing", 2, 2)


@pytest.mark.parametrize(
    ("queries", "methods", "error", "says"),
    [
        ((), {"a": always(Q1)}, EmptyInputError, "nothing to compare"),
        (QUERIES, {}, EmptyInputError, "nothing to compare"),
        ((Query("x", ("no.xlsx#such",)),), {"a": always(Q1)}, InputError, "'no.xlsx#such'"),
    ],
)
def test_what_cannot_be_compared_is_refused(index, queries, methods, error, says):
    with pytest.raises(error, match=says):
        bench(index, queries, methods)


# ---- the table


def column(found, title: str) -> list[Cell]:
    place = [each.title for each in COLUMNS].index(title)
    return [row[place] for row in cells(found)]


def test_the_best_of_a_column_is_marked_unless_all_are_equal(index):
    methods = {"worse": always(PLAN, Q1), "better": always(Q1), "same": always(Q1, STAFF)}
    found = bench(index, QUERIES[:1], methods, UNTIMED)
    assert column(found, "NDCG@5") == [Cell(".631"), Cell("1.000", True), Cell("1.000", True)]
    assert column(found, "HN-FPR@1") == [Cell("1.000"), Cell(".000", True), Cell(".000", True)]
    assert column(found, "Hit@5") == [Cell("1.000")] * 3
    assert column(found, "p50 ms") == [Cell(NONE)] * 3


def test_without_hard_negatives_there_is_no_rate_of_them(index):
    found = bench(index, [Query("staff", (STAFF,))], {"a": always(STAFF)}, UNTIMED)
    assert column(found, "HN-FPR@1") == [Cell(NONE)]


@pytest.mark.parametrize(("number", "warns"), [(1, True), (49, True), (50, False)])
def test_few_questions_are_warned_of(index, number, warns):
    queries = [Query(f"staff {each}", (STAFF,)) for each in range(number)]
    found = bench(index, queries, {"a": always(STAFF)}, UNTIMED)
    assert any(note.startswith("Only ") for note in notes(found)) is warns


@pytest.mark.parametrize(
    ("name", "label"),
    [("hashed", "hashed"), ("BAAI/bge-base-en-v1.5", "bge-base-en-v1.5"), ("/", "/"),
     ("/data/runs/mine/encoder", "mine"), ("minilm:int8", "minilm:int8")],
)  # fmt: skip
def test_an_encoder_is_named_shortly(name, label):
    assert encoder_label(name) == label


def test_results_hold_what_every_figure_follows_from(index):
    found = bench(index, QUERIES, {"a": always(BAD), "b": always(Q1)}, UNTIMED)
    results = results_of(found, {"index": "books.sat"})
    assert (results["format"], results["index"], results["questions"]) == (2, "books.sat", 4)
    first = results["methods"][0]
    assert first["metrics"] == metrics_of(first["per_query"])
    assert first["per_query"][3]["sheets"] == [BAD]
    assert results["queries"][3]["positives"] == [BAD, STAFF]
    assert results["methods"][0]["ndcg_difference"] is None
    ahead = results["methods"][1]["ndcg_difference"]
    assert (ahead["to"], ahead["mean"]) == ("a", found.scored[1].difference.mean)
    assert results["against"] is None
    short = results_of(found, {}, per_query=False)
    assert "queries" not in short
    assert all("per_query" not in method for method in short["methods"])
