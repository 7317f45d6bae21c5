"""BM25 against a slow loop written from the formula."""

import math

import numpy as np
import pytest

from sat_retriever import Column, SheetIndex, SheetRecord, Table
from sat_retriever.text.lexical import (
    FIELD_WEIGHTS,
    K1,
    WORD_COST,
    B,
    Bm25,
    LexicalScorer,
    QueryWords,
    query_words,
    sheet_words,
)
from tests.fakes import HashedEncoder

RECORDS = [
    SheetRecord("1", "Sales_2020", "acme.xlsx", "2020/acme.xlsx", (Column("Region"),)),
    SheetRecord(
        "2", "Sales_2021", "acme.xlsx", "2021/acme.xlsx", (Column("Region"), Column("Sales"))
    ),
    SheetRecord("3", "Payroll", "hr.xlsx", "2021/hr.xlsx", (Column("Employee Name"),)),
    SheetRecord("4", "Notes"),
]


def slow_scores(query):
    """BM25 as written in `Bm25`'s docstring, one sheet and word at a time."""
    fields = [sheet_words(record) for record in RECORDS]
    lengths = [sum(len(words) for words in field) for field in fields]
    mean = sum(lengths) / len(lengths)
    scores, limit = [0.0] * len(RECORDS), 0.0
    for word in query_words(query):
        tf = [
            sum(w for w, words in zip(FIELD_WEIGHTS, field, strict=True) if word in words)
            for field in fields
        ]
        df = sum(t > 0 for t in tf)
        if df == 0:
            continue
        idf = math.log(1 + (len(RECORDS) - df + 0.5) / (df + 0.5))
        limit += idf * (K1 + 1)
        for i, t in enumerate(tf):
            if t:
                scores[i] += idf * (K1 + 1) * t / (t + K1 * (1 - B + B * lengths[i] / mean))
    return [score / limit if limit else 0.0 for score in scores]


@pytest.fixture
def index(index):
    index.add_records(RECORDS)
    return index


@pytest.mark.parametrize(
    "query",
    [
        "sales",
        "sales 2021 region",
        "employees",
        "2021 acme payroll names",
        "absent words",
        "the of",
    ],
)
def test_the_index_scores_words_as_the_slow_loop_does(index, query):
    found = {c.sheet_id: c.lexical for c in index.candidates(query, 10)}
    wanted = dict(zip("1234", slow_scores(query), strict=True))
    assert found == pytest.approx(wanted, abs=1e-6)


def test_a_score_never_exceeds_the_words_limit():
    lengths = np.float32([0, 1, 3])
    for formula, counts in (
        (Bm25.of_names(lengths), np.float32([6, 3, 1])),
        (Bm25.of_contents(lengths), np.ones(3, dtype=np.float32)),
    ):
        found = formula.word(np.arange(3), counts, 2)
        assert (found.scores > 0).all()
        assert found.scores.max() <= found.limit * (1 + 1e-6)


def test_kept_words_are_bounded_and_scores_stay_the_same():
    asked = []

    def find(word):
        asked.append(word)
        return np.arange(5), np.ones(5, dtype=np.float32)

    scorer = LexicalScorer(
        find, Bm25.of_names(np.ones(10, dtype=np.float32)), max_kept=2 * (WORD_COST + 5) + 2
    )
    first = scorer.scores(["a", "b"])
    scorer.scores(["c"])  # pushes "a" out
    assert (scorer.scores(["a", "b"]) == first).all()
    assert asked == ["a", "b", "c", "a", "b"]


def test_words_that_no_sheet_has_are_looked_up_once_and_count_towards_the_bound():
    asked = []

    def find(word):
        asked.append(word)
        rows = np.arange(5 if word == "known" else 0)
        return rows, np.ones(len(rows), dtype=np.float32)

    scorer = LexicalScorer(
        find, Bm25.of_names(np.ones(10, dtype=np.float32)), max_kept=2 * WORD_COST + 5 + 3
    )
    for _ in range(2):
        scorer.scores(["known", "10001"])
    assert asked == ["known", "10001"]
    scorer.scores(["10002"])  # pushes "known" out
    scorer.scores(["10001", "known"])
    assert asked == ["known", "10001", "10002", "known"]


def test_stop_words_count_only_when_there_is_nothing_else():
    assert query_words("show me the list of all orders") == ["order"]
    assert query_words("what is it") == ["what", "is", "it"]


def test_a_reason_names_the_words_as_the_user_spelled_them_and_the_headers():
    record = RECORDS[1]
    assert QueryWords("Sale by REGIONS 2021").matched(record) == (
        ("sale", "regions", "2021"), ("Region", "Sales"),
    )  # fmt: skip


def test_a_reason_names_a_word_of_a_trade_once_and_a_part_only_where_no_whole_matched():
    record = SheetRecord("a#PM2.5", "PM2.5", columns=(Column("LDVs"), Column("ISO 9001")))
    words, headers = QueryWords("pm2.5 of an LDV under iso9001").matched(record)
    assert words == ("pm2.5", "ldv", "iso")
    assert headers == ("LDVs", "ISO 9001")


def test_signs_inside_a_word_are_found_in_an_index(tmp_path):
    names = ("PM2.5", "P&L", "BX-7740/2", "v2.1")
    records = [SheetRecord(name, name) for name in (*names, "PM", "P", "BX", "v1")]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records)
        scorer = LexicalScorer.of(sorted(records, key=lambda each: each.sheet_id))
        for name in names:
            (first, *_) = index.candidates(index.question(name, dense_weight=0))
            assert (first.sheet_id, first.lexical) == (
                name, pytest.approx(float(scorer.scores(query_words(name)).max())),
            )  # fmt: skip


def test_headers_of_every_table_are_searchable():
    tables = tuple(Table("A1:A3", 1, 1, False, 2, (Column(n),)) for n in ("Income", "Expense"))
    record = SheetRecord("a", "a", columns=tables[0].columns, tables=tables)
    assert sheet_words(record)[2] == ["incom", "expens"]


def test_characters_of_matched_pairs_are_not_repeated_among_the_reasons():
    record = SheetRecord("a#b", "三月", columns=(Column("出库数量"), Column("日期")))
    assert QueryWords("三月 出库").matched(record) == (("三月", "出库"), ("出库数量",))
    assert QueryWords("一月").matched(record)[0] == ("月",)


def test_records_give_the_scores_that_an_index_of_them_gives(tmp_path):
    odd = SheetRecord(
        "5", "Größe_2021", "Café \"Q1\".xlsx", "2021/Café.xlsx",
        (Column("净利润"), Column("netProfit_2021"), Column("Sales sales")),
    )  # fmt: skip
    records = [*RECORDS, odd]
    scorer = LexicalScorer.of(records)
    assert len(scorer) == 5
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(records, find_links=False)
        for query in ("sales in 2021", "净利润", "größe", "café Q1", "net profit", "nothing known"):
            scores = scorer.scores(query_words(query))
            for found in index.search.score_sheets(index.question(query), index.sheet_ids()):
                assert found.lexical == pytest.approx(scores[int(found.sheet_id) - 1], abs=1e-6)
    assert scorer.scores(query_words("净利润"))[4] > 0.3
