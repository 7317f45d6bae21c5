"""Large indexes: a question scored against a pool of sheets, against all of them scored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.latency import queries, records
from sat_retriever import Column, Filters, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.index.search import columns, pool, tokens
from sat_retriever.records.contents import CellText, SheetContents
from tests.fakes import HashedEncoder

SHEETS = 600


def made(folder, *, contents=False):
    path = folder / "a.sat"
    with SheetIndex.create(path, HashedEncoder(256)) as index:
        index.add_records(records(SHEETS, contents=contents))
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return made(tmp_path_factory.mktemp("large"))


@pytest.fixture(scope="module")
def with_contents(tmp_path_factory):
    return made(tmp_path_factory.mktemp("contents"), contents=True)


@pytest.fixture
def large(monkeypatch):
    """Make 600 sheets many, and pools small."""
    monkeypatch.setattr(columns, "ALL", 100)
    monkeypatch.setattr(pool, "WORDED", 100)
    monkeypatch.setattr(tokens, "NEAREST", 64)
    monkeypatch.setattr(pool, "EXACT", 50)
    monkeypatch.setattr(pool, "_POOLED", 200)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=60),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_the_best_by_words_are_found_as_a_plain_loop_finds_them(numbers, drawn):
    total, mask = np.array(numbers, dtype=np.uint16), np.array(drawn[: len(numbers)])
    found = pool.worded(total, [None, mask], 4)
    for own, rows in ((total, found[0]), (np.where(mask, total, 0), found[1])):
        least = np.sort(own)[::-1][:4].min()
        assert set(np.flatnonzero(own > least)) <= set(rows.tolist())
        assert (own[rows] > 0).all()
        assert len(set(rows.tolist())) == len(rows) <= 2 * 4


@pytest.mark.parametrize("filters", [None, Filters(path="Acme/*"), Filters(path="*/20*")])
@pytest.mark.parametrize("kept", ["path", "with_contents"])
def test_a_pool_finds_what_all_sheets_scored_give(kept, large, filters, monkeypatch, request):
    path, asked = request.getfixturevalue(kept), queries(30)
    with SheetIndex.open(path, HashedEncoder(256)) as index:
        found = {text: index.candidates(index.question(text), 20, filters) for text in asked}
        told = {text: index.search.evidence(index.question(text), filters) for text in asked}
        assert len(index.question(asked[0]).scores.snapshot.ids) < SHEETS
    monkeypatch.setattr(columns, "ALL", 10_000)
    shares = []
    with SheetIndex.open(path, HashedEncoder(256)) as index:
        for text in asked:
            exact = {
                each.sheet_id: each for each in index.candidates(index.question(text), 20, filters)
            }
            here = {each.sheet_id: each for each in found[text]}
            shares.append(len(exact.keys() & here.keys()) / max(len(exact), 1))
            for sheet_id in exact.keys() & here.keys():
                assert here[sheet_id].score == pytest.approx(exact[sheet_id].score, abs=1e-6)
                assert here[sheet_id].time == exact[sheet_id].time
            evidence = index.search.evidence(index.question(text), filters)
            if filters is None:
                assert told[text].fit == pytest.approx(evidence.fit, abs=0.01)
                # How many sheets have a word in either place is counted, and here foreseen.
                about = 1e-4 if kept == "path" else 0.02
                assert told[text].surprise == pytest.approx(evidence.surprise, abs=about)
    assert np.mean(shares) >= 0.99


def test_a_sheet_far_from_the_best_has_its_score_and_its_place(path, large, monkeypatch):
    text = queries(1)[0]
    with SheetIndex.open(path, HashedEncoder(256)) as index:
        question = index.question(text)
        inside = set(question.scores.snapshot.ids.tolist())
        rows = index._store.row_ids(index.sheet_ids())
        far = next(sheet for sheet, row in rows.items() if row not in inside)
        [scored] = index.search.score_sheets(question, [far])
        place = index.search.standing(question, far)
        shares = index.search.word_shares(question, [far])
    monkeypatch.setattr(columns, "ALL", 10_000)
    with SheetIndex.open(path, HashedEncoder(256)) as index:
        question = index.question(text)
        [exact] = index.search.score_sheets(question, [far])
        assert scored.score == pytest.approx(exact.score, abs=1e-6)
        assert [each.rank for each in place] == [
            each.rank for each in index.search.standing(question, far)
        ]
        np.testing.assert_allclose(
            shares.shares, index.search.word_shares(question, [far]).shares, atol=1e-6
        )


def test_words_in_cells_of_a_sheet_far_from_the_best_count_as_names_of_all_cover(
    tmp_path, large, monkeypatch
):
    cells = SheetContents((CellText("A1", "rate"),))
    sheets = [
        SheetRecord(f"s{n}", f"stock {n}", "stock.xlsx", columns=(Column("stock"),), contents=cells)
        for n in range(300)
    ]
    sheets.append(SheetRecord("named", "exchange rate", "rate.xlsx", columns=(Column("rate"),)))
    text = "exchange rate"
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(64)) as index:
        index.add_records(sheets)
        question = index.question(text)
        inside = set(question.scores.snapshot.ids.tolist())
        rows = index._store.row_ids(index.sheet_ids())
        far = next(sheet for sheet, row in rows.items() if row not in inside)
        [scored] = index.search.score_sheets(question, [far])
        place = index.search.standing(question, far)
        assert 0 < question.scores.matches.covered < 1
    monkeypatch.setattr(columns, "ALL", 10_000)
    with SheetIndex.open(tmp_path / "a.sat", HashedEncoder(64)) as index:
        [exact] = index.search.score_sheets(index.question(text), [far])
        assert 0 < scored.together == pytest.approx(exact.together, abs=1e-6)
        assert place[0].together == pytest.approx(exact.together, abs=1e-6)


def test_more_candidates_than_a_pool_has_are_found_among_all(path, large):
    with SheetIndex.open(path, HashedEncoder(256)) as index:
        assert len(index.candidates(index.question("sales"), SHEETS)) == SHEETS


def test_a_phrase_in_a_cell_is_found_among_many(tmp_path, large):
    rare = SheetContents((CellText("A1", "the quick brown fox of stock"),))
    sheets = [
        SheetRecord(f"s{n}", f"stock {n}", "stock.xlsx", columns=(Column("stock"),))
        for n in range(300)
    ]
    sheets.append(SheetRecord("held", "other", columns=(Column("Amount"),), contents=rare))
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(64)) as index:
        index.add_records(sheets)
        best = SheetRetriever(index, None).retrieve('stock of "quick brown fox"', 1)
    assert best[0].sheet_id == "held"
