"""Times that questions name, in search: what they hold back, and what they leave alone."""

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import numpy as np
import pytest

from sat_retriever import (
    Column,
    Filters,
    Link,
    LinkReranker,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
)
from sat_retriever.datasets.labels import Query
from sat_retriever.index.search.fusion import time_factors
from sat_retriever.index.store import schema
from sat_retriever.rank.cross_encoder import CrossEncoderReranker
from sat_retriever.rank.mixed import Passage, rerank_mixed
from sat_retriever.train.adapt.outcome import answer_rows
from tests.fakes import HashedEncoder
from tests.index.store.older import WITHOUT_CHECKSUMS

INSIDE, OPEN, OUTSIDE = 1.0, 0.8, 0.5


def sheet(name, book="book.xlsx", header="Amount"):
    return SheetRecord(f"{book}#{name}", name, workbook=book, columns=(Column(header),))


RECORDS = [
    sheet("Sales 2021 Q1"), sheet("Sales 2021 Q2"), sheet("Sales 2022 Q1"), sheet("Sales 2022"),
    sheet("Sales notes"), sheet("Jan", "Payroll 2022.xlsx"), sheet("Feb", "Payroll 2022.xlsx"),
]  # fmt: skip


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as opened:
        opened.add_records(RECORDS, find_links=False)
        yield opened


def timeless(index):
    """The same file, opened so that times do not count."""
    return SheetIndex.open(index.path, HashedEncoder(), times=False)


def times(index, query):
    return {c.sheet_id.partition("#")[2]: c.time for c in index.candidates(query, 20)}


@pytest.mark.parametrize(
    ("query", "inside", "open_"),
    [
        ("sales 2022", {"Sales 2022 Q1", "Sales 2022", "Jan", "Feb"}, {"Sales notes"}),
        ("sales in the first quarter of 2021", {"Sales 2021 Q1"}, {"Sales notes"}),
        ("sales Q1 2022", {"Sales 2022 Q1", "Jan", "Feb"}, {"Sales notes", "Sales 2022"}),
        ("payroll of January", {"Jan"}, {"Sales notes", "Sales 2021 Q1", "Sales 2022 Q1",
                                         "Sales 2022"}),
        ("since 2022", {"Sales 2022 Q1", "Sales 2022", "Jan", "Feb"}, {"Sales notes"}),
    ],
)  # fmt: skip
def test_sheets_of_other_times_are_held_back(index, query, inside, open_):
    for name, time in times(index, query).items():
        wanted = INSIDE if name in inside else OPEN if name in open_ else OUTSIDE
        assert time == pytest.approx(wanted), name


def test_the_score_is_what_time_leaves_of_the_fused_one(index):
    timed = {c.sheet_id: c for c in index.candidates("sales 2022", 20)}
    plain = {c.sheet_id: c for c in index.candidates(index.question("sales 2022", times=False), 20)}
    assert timed.keys() == plain.keys()
    for sheet_id, candidate in timed.items():
        assert candidate.score == pytest.approx(plain[sheet_id].score * candidate.time)
        assert (candidate.dense, candidate.lexical) == (
            plain[sheet_id].dense, plain[sheet_id].lexical,
        )  # fmt: skip
        assert plain[sheet_id].time == 1


@pytest.mark.parametrize("query", ["sales", "sales of 1999", "sales in June 2021", "2000 items"])
def test_a_question_without_a_time_of_any_sheet_is_scored_without(index, query):
    assert set(times(index, query).values()) == {1.0}


def test_the_same_index_answers_with_and_without_times_in_turn(index):
    for _ in range(2):
        assert min(times(index, "sales 2022").values()) == OUTSIDE
        plain = index.question("sales 2022", times=False)
        assert {c.time for c in index.candidates(plain, 20)} == {1.0}
    with timeless(index) as again:
        assert set(times(again, "sales 2022").values()) == {1.0}
        timed = again.question("sales 2022", times=True)
        assert min(c.time for c in again.candidates(timed, 20)) == OUTSIDE


def test_times_are_right_after_sheets_came_and_went(index):
    times(index, "sales 2022")
    index.add_records([sheet("Sales 2022 Q3"), sheet("Sales 2020")], find_links=False)
    index.remove(["book.xlsx#Sales 2021 Q1"])
    found = times(index, "sales 2022")
    assert (found["Sales 2022 Q3"], found["Sales 2020"]) == (INSIDE, OUTSIDE)
    assert found["Sales 2021 Q2"] == OUTSIDE
    assert "Sales 2021 Q1" not in found


def test_filters_do_not_change_what_time_leaves(index):
    allowed = Filters(workbook="book.xlsx")
    found = index.candidates("sales 2022", 20, allowed)
    assert sorted({c.time for c in found}) == pytest.approx([OUTSIDE, OPEN, INSIDE])


def test_only_sheets_that_meet_the_filters_decide_whether_times_count(index):
    allowed, query = Filters(workbook="Payroll 2022.xlsx"), "payroll paid for 2021"
    assert {c.time for c in index.candidates(query, 20, allowed)} == {1.0}
    plain = index.candidates(index.question(query, times=False), 20, allowed)
    assert [c.score for c in index.candidates(query, 20, allowed)] == [c.score for c in plain]
    assert OUTSIDE in {c.time for c in index.candidates(query, 20)}
    ids = [c.sheet_id for c in plain]
    assert {c.time for c in index.search.score_sheets(index.question(query), ids, allowed)} == {1.0}
    assert {c.time for c in index.search.score_sheets(index.question(query), ids)} == {OUTSIDE}


def test_a_hit_says_which_of_the_times_it_is(index):
    hits = {hit.record.sheet: hit for hit in SheetRetriever(index).retrieve("sales Q1 2022", 20)}
    assert hits["Sales 2022 Q1"].why.period == "2022 Q1"
    assert hits["Sales 2022 Q1"].to_dict()["why"]["period"] == "2022 Q1"
    assert hits["Jan"].why.period == "2022-01"
    assert hits["Sales 2022"].why.period is None
    assert hits["Sales notes"].why.period is None
    assert all(hit.why.period is None for hit in SheetRetriever(index).retrieve("sales", 20))
    with timeless(index) as plain:
        hits = SheetRetriever(plain).retrieve("sales Q1 2022", 20)
        assert all(hit.why.period is None for hit in hits)


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("sales of 2023", ["2023"]),
        ("sales Q1 2019 or in March 2020", ["January to March 2019", "March 2020"]),
        ("since 2023", ["2023 or later"]),
        ("sales 2022", []),
        ("sales of 2021 and 2023", []),  # some are there
        ("sales in June 2021", []),  # in the second quarter
        ("payroll of June", []),  # in the whole year 2022
        ("sales", []),
    ],
)
def test_times_are_missing_if_all_sheets_are_of_others(index, query, missing):
    assert [span.label for span in index.search.missing_times(query)] == missing
    with timeless(index) as plain:
        assert plain.search.missing_times(query) == ()
    assert all(each in SheetRetriever(index).retrieve(query).note for each in missing)
    assert bool(SheetRetriever(index).retrieve(query).note) == bool(missing)


def test_only_sheets_that_meet_the_filters_decide_whether_times_are_missing(index):
    allowed = Filters(workbook="Payroll 2022.xlsx")
    assert index.search.missing_times("paid in 2021", allowed)
    assert not index.search.missing_times("paid in 2021")
    assert not index.search.missing_times("paid in 2021", Filters(workbook="none.xlsx"))


@pytest.mark.parametrize("names", [["Sales", "Notes"], ["Jan", "Feb"], []])
def test_no_time_is_missing_where_no_sheet_has_one(tmp_path, names):
    with SheetIndex.create(tmp_path / "b.sat", HashedEncoder()) as index:
        index.add_records(map(sheet, names), find_links=False)
        assert index.search.missing_times("sales of 2023") == ()


def test_a_month_of_an_unknown_year_is_none_of_a_year_asked_for(tmp_path):
    with SheetIndex.create(tmp_path / "b.sat", HashedEncoder()) as index:
        index.add_records(map(sheet, ["Jan", "Feb", "2024"]), find_links=False)
        assert index.search.missing_times("sales of 2023")
        index.add_records([sheet("FY24")], find_links=False)
        assert not index.search.missing_times("sales of 2023")  # a fiscal year may begin in it


def test_a_cross_encoder_keeps_what_time_leaves(index):
    class Model:
        class spec:  # noqa: N801 - stands for an attribute
            dense_weight, candidates, blend = 1.0, 20, 0.0

        def logits(self, query, texts):
            return np.full(len(texts), 30.0, dtype=np.float32)  # all next to certain

    reranker = CrossEncoderReranker.__new__(CrossEncoderReranker)
    reranker._serialization, reranker.model = index.serialization, Model()
    found = index.candidates("sales 2021", 20)
    ranked = reranker.rerank(index.search.candidate_set(index.question("sales 2021"), found))
    assert [c.score for c in ranked] == pytest.approx(sorted((c.time for c in found), reverse=True))
    assert {c.sheet_id for c in ranked[:2]} == {
        "book.xlsx#Sales 2021 Q1", "book.xlsx#Sales 2021 Q2",
    }  # fmt: skip


_VERSION_2 = f"""{WITHOUT_CHECKSUMS}
    ALTER TABLE tokens DROP COLUMN months;
    PRAGMA user_version = 2;
"""


def test_an_index_of_an_older_version_learns_its_sheets_times(tmp_path, monkeypatch):
    file = tmp_path / "old.sat"
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.add_records(RECORDS, find_links=False)
        expected = times(index, "sales Q1 2022")
    with sqlite3.connect(file) as connection:
        connection.executescript(_VERSION_2)
    connection.close()
    assert len(schema.MIGRATIONS) == 13
    with SheetIndex.open(file, HashedEncoder()) as again:
        assert times(again, "sales Q1 2022") == expected


def test_many_may_open_an_old_index_at_once(tmp_path):
    file = tmp_path / "old.sat"
    with SheetIndex.create(file, HashedEncoder()) as index:
        index.add_records(RECORDS, find_links=False)
    with sqlite3.connect(file) as connection:
        connection.executescript(_VERSION_2)
    connection.close()
    together = threading.Barrier(4)

    def opened(_):
        together.wait()
        with SheetIndex.open(file, HashedEncoder()) as again:
            return times(again, "sales Q1 2022")["Sales 2022 Q1"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(opened, range(4))) == [1.0] * 4


def test_no_times_leave_every_score_as_it_is():
    assert time_factors(np.zeros((3, 5), dtype=np.int16), ()).tolist() == [1.0, 1.0, 1.0]


# ---- times that count from today

TODAY = date(2022, 2, 10)


def test_last_year_is_that_before_the_day_of_the_question(index):
    for day, wanted in ((TODAY, "2021 Q1"), (date(2023, 2, 10), "2022 Q1")):
        found = SheetRetriever(index).retrieve("sales Q1 last year", 20, today=day)
        assert found[0].record.sheet == f"Sales {wanted}"
        assert found[0].why.period == wanted
        assert SheetRetriever(index).times("sales Q1 last year", today=day).label == (
            f'January to March {wanted[:4]} (from "last year")'
        )


@pytest.mark.parametrize("reranker", ["links", None])
def test_every_way_to_ask_takes_the_day(index, reranker):
    retriever, query = SheetRetriever(index, reranker), "sales last year"
    asked = retriever.retrieve(query, 20, today=TODAY)
    assert asked == asyncio.run(retriever.aretrieve(query, 20, today=TODAY))
    assert asked == retriever.retrieve("sales last year", 20, today=date(2022, 12, 31))
    assert retriever.retrieve_set(query, today=TODAY)[0] == asked[0]
    assert {hit.record.sheet for hit in asked[:2]} == {"Sales 2021 Q1", "Sales 2021 Q2"}
    assert "named for 2029" in retriever.retrieve(query, today=date(2030, 1, 1)).note
    assert retriever.retrieve(query, today=TODAY).note == ""


def test_without_a_day_it_is_the_present_one(index):
    retriever = SheetRetriever(index)
    years = {date.today().year}
    [span] = retriever.times("sales this year").spans
    years.add(date.today().year)
    assert span.first_year == span.last_year
    assert span.first_year in years


def test_stage_1_alone_counts_from_no_day_unless_it_is_given_one(index):
    query, ids = "sales last year", [record.sheet_id for record in RECORDS]
    assert {c.time for c in index.candidates(query, 20)} == {1.0}
    assert {c.time for c in index.search.score_sheets(index.question(query), ids)} == {1.0}
    assert index.search.missing_times(query) == ()
    timed = {c.sheet_id: c.time for c in index.candidates(index.question(query, today=TODAY), 20)}
    assert min(timed.values()) == OUTSIDE
    assert {
        c.sheet_id: c.time
        for c in index.search.score_sheets(index.question(query, today=TODAY), ids)
    } == timed
    assert index.search.missing_times(query, today=date(2030, 1, 1)) != ()
    with timeless(index) as plain:
        assert not plain.search.asked_times(query, today=TODAY)


def test_sheets_that_links_add_are_held_back_as_of_the_same_day(tmp_path):
    links = [Link("b#Sales 2021", f"b#Costs {year}", "formula_reference") for year in (2020, 2021)]
    with SheetIndex.create(tmp_path / "b.sat", HashedEncoder()) as index:
        names = ("Sales 2021", "Costs 2020", "Costs 2021")
        index.add_records([sheet(name, "b") for name in names], links, find_links=False)
        question = index.question("sales last year", today=TODAY)
        start = index.candidates(question, 1)
        found = {
            c.sheet_id: c
            for c in LinkReranker().rerank(index.search.candidate_set(question, start))
        }
        assert set(found) == {f"b#{name}" for name in names}
        assert found["b#Costs 2021"].time == INSIDE
        assert found["b#Costs 2020"].time == OUTSIDE


def test_words_shared_between_threads_keep_each_question_s_own_day(index):
    retriever = SheetRetriever(index)

    def first(year):
        day = date(year + 1, 6, 1)
        return retriever.retrieve("sales Q1 last year", 1, today=day)[0].record.sheet

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first, [2021, 2022] * 20)) == ["Sales 2021 Q1", "Sales 2022 Q1"] * 20


def test_a_frameworks_passages_are_ranked_as_of_the_day(index):
    names = [f"book.xlsx#Sales {year} Q1" for year in (2021, 2022)]
    passages = [Passage("", name) for name in names]
    for day, best in ((TODAY, 0), (date(2023, 5, 1), 1)):
        ranked = rerank_mixed(LinkReranker(), index, "sales last year", passages, today=day)
        assert ranked[0][0] == best


def test_adaptation_judges_the_same_whatever_the_day(index):
    queries = [Query("sales Q1 last year", ("book.xlsx#Sales 2022 Q1",))]
    with timeless(index) as plain:
        assert answer_rows(index, "links", queries) == answer_rows(plain, "links", queries)
