"""A question: made once, right in every part, and never out of date."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import date

import numpy as np
import pytest

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import query_words
from sat_retriever.text.period.question import asked_times
from tests.fakes import HashedEncoder

NAMES = ("Sales 2021", "Sales 2022", "Sales notes", "Payroll 2022")
TODAY = date(2022, 5, 10)


def records(*names):
    return [SheetRecord(name, name) for name in names]


@pytest.fixture
def index(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as made:
        made.add_records(records(*NAMES), find_links=False)
        yield made


def test_a_question_holds_all_that_stages_read_of_a_query(index):
    text = "Which sales\ud83d of last year?"
    question = index.question(text, today=TODAY)
    assert question.text == "Which sales? of last year?"
    assert np.array_equal(question.token, HashedEncoder().encode_queries([question.text])[0])
    assert question.words == tuple(query_words(text))
    assert question.times == asked_times(text, TODAY)
    assert (question.today, question.dense_weight) == (TODAY, index.dense_weight)
    with pytest.raises(FrozenInstanceError):
        question.read_as = "another"


def test_a_question_without_times_names_none(index):
    assert not index.question("sales 2021", times=False).times
    assert index.question("sales 2021").times


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({"query": " \t"}, EmptyInputError), ({"query": "a", "dense_weight": 1.5}, InputError)],
)
def test_an_empty_query_and_a_share_out_of_range_are_refused(index, wrong, error):
    with pytest.raises(error):
        index.question(**wrong)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("query", ["sales 2021", "sales"])
def test_a_question_weighed_anew_scores_as_if_made_with_that_weight(index, query, weight):
    weighed = index.question(query).weighing(weight)
    made = index.question(query, dense_weight=weight)
    assert weighed.dense_weight == weight
    assert index.candidates(weighed, 9) == index.candidates(made, 9)
    with pytest.raises(InputError, match="dense_weight is 2"):
        weighed.weighing(2)


def test_a_text_is_asked_as_its_question_without_options(index):
    assert index.candidates("sales 2021") == index.candidates(index.question("sales 2021"))


def test_a_question_from_before_a_write_is_answered_from_the_present_sheets(index):
    question = index.question("sales 2021")
    index.add_records(records("Sales 2021 Q1", "Stock"), find_links=False)
    index.remove(["Sales 2022"])
    fresh = index.question("sales 2021")
    names = index.sheet_ids()
    assert index.candidates(question, 9) == index.candidates(fresh, 9)
    assert index.search.score_sheets(question, names) == index.search.score_sheets(fresh, names)
    assert {c.sheet_id for c in index.candidates(question, 9)} == set(names)


def test_a_question_of_one_index_is_scored_anew_by_another(index, tmp_path):
    question = index.question("sales 2021")
    with SheetIndex.create(tmp_path / "b.sat", HashedEncoder()) as other:
        other.add_records(records("Stock", "Sales", "Sales 2021", "Staff"), find_links=False)
        assert other.candidates(question, 9) == other.candidates("sales 2021", 9)
