"""Contents of the best candidates, read: tables that say what is asked raise their sheets."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import SheetIndex
from sat_retriever.rank.links.reading import (
    BEST,
    BY_CONTENTS,
    ENOUGH,
    NGRAM_OF_DOCUMENTATION,
    read_closely,
)
from sat_retriever.records.contents import Role
from tests.builders import save_book
from tests.fakes import HashedEncoder

RATES = [["Security", "Rate"], *[[f"KV-{n}", n * 37 % 11] for n in range(58_700, 58_740)]]
LIST = [["Listed securities", "Venue"], *[[f"Share {n}", "Kiel"] for n in range(40)]]
GUIDE = [
    ["KV-58725 and all other securities are explained by the risk department on request."],
    [],
    [],
    ["Steps"],
    ["Step", "Owner"],
    *[[f"Step {n}", f"Person {n}"] for n in range(9)],
]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    save_book(folder / "b" / "Rates.xlsx", Rates=RATES, Guide=GUIDE)
    save_book(folder / "b" / "List.xlsx", List=LIST)
    for number in range(BEST + BY_CONTENTS):
        rows = [["Name", "Amount"], *[[f"{number}-{n}", n] for n in range(3)]]
        save_book(folder / "b" / f"Other {number}.xlsx", Other=rows)
    with SheetIndex.create(folder / "i.sat", HashedEncoder()) as made:
        made.sync(folder / "b")
        yield made


def read(index, text, top_k=50):
    question = index.question(text)
    before = index.candidates(question, top_k)
    after = read_closely(index.search.candidate_set(question, before))
    assert [each.sheet_id for each in after] == [each.sheet_id for each in before]
    return {old.sheet_id: (old.score, new.score) for old, new in zip(before, after, strict=True)}


def test_a_sheet_whose_table_has_what_is_asked_rises_and_stays_below_one(index):
    found = read(index, "rate of KV-58725")
    before, after = found.pop("Rates.xlsx#Rates")
    assert before + 0.1 < after < 1
    assert all(old == pytest.approx(new, abs=0.01) for old, new in found.values())


def test_single_words_of_a_note_raise_nothing(index):
    before, after = read(index, "KV-58725 explained")["Rates.xlsx#Guide"]
    assert before == after


def test_a_note_with_the_words_of_a_question_in_their_order_rises_half_as_documentation(index):
    said = "securities are explained by the risk department"
    before, after = read(index, f"where is it written: {said}")["Rates.xlsx#Guide"]
    [guide] = index.records(["Rates.xlsx#Guide"]).values()
    assert guide.role is Role.DOCUMENTATION
    assert before < after < before + NGRAM_OF_DOCUMENTATION * (1 - before)
    asked, more = read(index, f"documentation: {said}")["Rates.xlsx#Guide"]
    assert (more - asked) / (1 - asked) > (after - before) / (1 - before)
    mixed = read(index, "the department explained risk securities")["Rates.xlsx#Guide"]
    assert mixed[0] == mixed[1]


def test_beyond_the_best_only_sheets_with_words_of_the_question_are_read(index):
    text = "where is KV-58725 listed in share or name 3-1"
    question = index.question(text)
    found = index.candidates(question, 50)
    after = read_closely(index.search.candidate_set(question, found))
    rising = {new.sheet_id for old, new in zip(found, after, strict=True) if old != new}
    last = [replace(each, score=0.0) for each in reversed(found)]
    risen = {
        each.sheet_id
        for each in read_closely(index.search.candidate_set(question, last))
        if each.score
    }
    enough = {each.sheet_id for each in found if each.contents > ENOUGH}
    assert rising <= enough | {each.sheet_id for each in found[:BEST]}
    assert "Rates.xlsx#Rates" in risen & enough
    assert risen <= enough | {each.sheet_id for each in last[:BEST]}


words = st.sampled_from(["kv-58725", "share", "kiel", "securities", "rate", "7", "zirconium"])


@settings(max_examples=30, deadline=None)
@given(st.lists(words, min_size=1, max_size=12))
def test_no_score_falls_and_none_exceeds_one_even_if_words_repeat(index, asked):
    assert all(old <= new <= 1 for old, new in read(index, " ".join(asked)).values())


def test_an_index_of_names_is_not_read(index, tmp_path):
    with SheetIndex.create(tmp_path / "n.sat", HashedEncoder(), contents="names") as names:
        names.sync(index.path.parent / "b")
        assert all(old == new for old, new in read(names, "rate of KV-58725").values())
