import math

import pytest

from sat_retriever import Column, Link, SheetIndex, SheetRecord
from sat_retriever.datasets.labels import Query
from sat_retriever.evaluation.methods import bm25, fused, link_reranker, rag, second_stage, stage1
from sat_retriever.rank.load import load_reranker
from tests.fakes import HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_spec


@pytest.fixture
def index(tmp_path):
    records = [
        SheetRecord("summary", "summary", columns=(Column("Total sales"),)),
        SheetRecord("q1", "q1", columns=(Column("Region"), Column("Amount"))),
        SheetRecord("q2", "q2", columns=(Column("Region"), Column("Amount"))),
        *(SheetRecord(f"note {n:02}", f"note {n:02}") for n in range(60)),
    ]
    links = [Link("summary", "q1", "formula_reference", 1.0, "summary!A1 =q1!A1")]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(512), dense_weight=0.5) as opened:
        opened.add_records(records, links, find_links=False)
        yield opened


def names(method, question):
    return [sheet.sheet_id for sheet in method.rank(question)]


def test_bm25_ranks_no_sheet_that_shares_no_word(index):
    assert names(bm25(index), "total sales") == ["summary"]
    assert bm25(index).run({0: Query("nothing alike", ("q1",))}) == {0: []}


def test_bm25_needs_no_encoder(index, monkeypatch):
    monkeypatch.setattr(HashedEncoder, "encode_queries", None)
    assert names(bm25(index), "total sales") == ["summary"]


def test_rag_and_stage_1_rank_by_the_cosine_alone(index):
    found = rag(index).rank("region amount")
    # "name: q1 ; columns: Region | Amount": 5 words, "name" and "columns" among them
    assert [sheet.sheet_id for sheet in found[:2]] == ["q1", "q2"]
    assert found[0].score == found[0].dense == pytest.approx(2 / math.sqrt(2 * 5), abs=0.01)
    assert names(stage1(index), "region amount") == names(rag(index), "region amount")


def test_fused_takes_the_share_of_the_index_unless_told_another(index):
    own = fused(index).rank("total sales")[0]
    assert own.score == pytest.approx((own.dense + own.lexical) / 2)
    most = fused(index, 0.9).rank("total sales")[0]
    assert most.score == pytest.approx(0.9 * most.dense + 0.1 * most.lexical)


def test_links_raise_what_the_best_sheet_depends_on(index):
    before, after = (names(of(index), "total sales") for of in (fused, link_reranker))
    assert before[0] == after[0] == "summary"
    assert "q1" not in before  # it shares no word, and notes come first
    assert after[1] == "q1"


def test_a_reranker_orders_as_many_candidates_as_its_model_was_trained_on(index, tmp_path):
    folder = save_small_model(tmp_path / "model", small_spec(index, candidates=5))
    method = second_stage(index, load_reranker(index, folder))
    assert len(method.rank("total sales")) == 5
    assert names(method, "total sales")[:2] == ["summary", "note 00"]


def test_a_run_has_fifty_sheets_a_question_and_reports_each(index):
    told = []
    queries = {4: Query("total sales", ("summary",)), 9: Query("region", ("q1", "q2"))}
    run = rag(index).run(queries, lambda done, total: told.append((done, total)))
    assert list(run) == [4, 9]
    assert [len(ranking) for ranking in run.values()] == [50, 50]
    assert run[4][0].sheet_id == "summary"
    assert told == [(1, 2), (2, 2)]
