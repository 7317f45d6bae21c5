"""Where a sheet stands: against the order that a search answers in, on real workbooks."""

from __future__ import annotations

import json

import pytest

from sat_retriever import EmptyInputError, Filters, InputError, SheetRetriever
from tests.builders import indexed, save_book

QUESTION = "revenue of the harbour 2023 zirconium"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standing")
    for year in (2021, 2022, 2023):
        rows = [["Region", "Revenue", "Harbour"], ["North", 1, "Kiel"], ["South", 2, "Genoa"]]
        save_book(
            folder / "b" / f"Sales {year}.xlsx", Sales=rows, Staff=[["Name", "Pay"], ["Ada", 1]]
        )
    whole = (folder / "b" / "Sales 2021.xlsx").read_bytes()
    (folder / "b" / "torn.xlsx").write_bytes(whole[: len(whole) // 2])
    with indexed(folder / "b", folder / "i.sat") as made:
        yield made


@pytest.mark.parametrize("reranker", [None, "links"])
@pytest.mark.parametrize("candidates", [2, 50])
def test_ranks_and_the_sheets_above_are_those_of_the_answer(index, reranker, candidates):
    retriever = SheetRetriever(index, reranker, candidates=candidates)
    best = [hit.sheet_id for hit in retriever.retrieve(QUESTION, candidates)]
    for rank, sheet_id in enumerate(best, start=1):
        found = retriever.why(QUESTION, sheet_id)
        assert found.placed.hit.rank == rank
        above = found.above and found.above.hit.sheet_id
        assert above == (best[rank - 2] if rank > 1 else None)


def test_ranks_before_the_reranker_are_those_of_all_sheets(index):
    retriever = SheetRetriever(index, None)
    ranked = index.candidates(QUESTION, 100)
    for candidate in ranked:
        placed = retriever.why(QUESTION, candidate.sheet_id).placed
        assert (placed.found_rank, placed.found_score) == (candidate.rank, candidate.score)
    assert retriever.why(QUESTION, ranked[0].sheet_id).sheets == len(ranked) == 6


def test_words_have_their_shares_and_those_that_no_sheet_has_are_told(index):
    found = SheetRetriever(index, None).why(QUESTION, "Sales 2023.xlsx#Sales").placed
    parts = {part.word: part for part in found.words}
    assert set(parts) == {"revenue", "harbour", "2023", "zirconium"}
    assert (parts["zirconium"].share, parts["zirconium"].most) == (0, 0)
    assert 0 < parts["revenue"].share <= parts["revenue"].most
    assert sum(part.share for part in found.words) == pytest.approx(found.hit.why.lexical, abs=1e-5)


def test_what_the_sheet_above_has_more_of_comes_most_telling_first(index):
    staff = SheetRetriever(index, None).why("revenue of the harbour", "Sales 2022.xlsx#Staff")
    own = {part.word: part.share for part in staff.placed.words}
    gains = [part.share - own[part.word] for part in staff.lacking]
    assert gains == sorted(gains, reverse=True)
    assert all(gain > 0 for gain in gains)


def test_filters_that_are_not_met_are_named_and_the_rank_is_without_them(index):
    retriever = SheetRetriever(index, None)
    filters = Filters(workbook="Sales 2021.xlsx", path="*.xlsx")
    found = retriever.why(QUESTION, "Sales 2023.xlsx#Sales", filters)
    assert (found.filters, found.sheets) == (("workbook",), 6)
    kept = retriever.why(QUESTION, "Sales 2021.xlsx#Sales", filters)
    assert (kept.filters, kept.sheets, kept.placed.hit.rank) == ((), 2, 1)


def test_a_time_that_holds_a_sheet_back_is_told(index):
    retriever = SheetRetriever(index, None)
    assert retriever.why("revenue 2023", "Sales 2021.xlsx#Sales").placed.time == 0.5
    there = retriever.why("revenue 2023", "Sales 2023.xlsx#Sales").placed
    assert (there.time, there.hit.why.period) == (1.0, "2023")


def test_a_workbook_that_was_not_read_is_answered_with_the_reason(index):
    found = SheetRetriever(index, None).why(QUESTION, "torn.xlsx#Sales")
    assert found.placed is None
    assert [skip.path for skip in found.skipped] == ["torn.xlsx"]
    assert json.loads(json.dumps(found.to_dict()))["skipped"][0]["reason"] == "damaged"


def test_an_unknown_sheet_and_an_empty_question_are_refused(index):
    retriever = SheetRetriever(index, None)
    with pytest.raises(InputError, match="'no#no'"):
        retriever.why(QUESTION, "no#no")
    with pytest.raises(EmptyInputError):
        retriever.why(" ", "Sales 2023.xlsx#Sales")


def test_the_explanation_is_plain_json(index):
    found = SheetRetriever(index).why(QUESTION, "Sales 2023.xlsx#Staff")
    told = json.loads(json.dumps(found.to_dict()))
    assert told["placed"]["citation"] == "Sales 2023.xlsx#Staff!A1:B2"
    assert told["above"]["rank"] == told["placed"]["rank"] - 1
    assert told["lacking"] == [part.word for part in found.lacking]
