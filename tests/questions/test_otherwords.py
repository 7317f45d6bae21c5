"""Questions whose quoted words are said as other sheets say them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sat_retriever.datasets.labels import Query
from sat_retriever.questions.paraphrase import in_other_words
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.records.tokens import FloatArray

RECORDS = [
    SheetRecord("a#Budgets", "Budgets", "May", "a", columns=(Column("Spending"), Column("Spend"))),
    SheetRecord("b#Costs", "Costs", "b", "b", columns=(Column("Salary"), Column("Region"))),
    SheetRecord("c#Outlay", "Outlay", "c", "c", columns=(Column("Wages"), Column("销售额"))),
]
# Words that mean the same lie in one direction; their order in it is that of the list.
MEANINGS = (("budgets", "spending", "spend", "costs", "outlay"), ("salary", "wages"), ("region",))


def meanings(words: Sequence[str]) -> FloatArray:
    """Unit vectors: by meaning, then by the place in the list; unknown words are apart."""
    made = np.zeros((len(words), 2 * len(MEANINGS) + 1), dtype=np.float32)
    for row, word in enumerate(words):
        made[row, -1] = 1
        for number, group in enumerate(MEANINGS):
            if word in group:
                angle = 0.1 * group.index(word)
                made[row, -1] = 0
                made[row, 2 * number : 2 * number + 2] = np.cos(angle), np.sin(angle)
    return made


def said(text: str, *sheets: str, share: float = 1.0, seed: int = 0) -> str:
    [query] = in_other_words([Query(text, sheets)], RECORDS, meanings, share=share, seed=seed)
    return query.text


def test_a_quoted_word_becomes_its_nearest_neighbour_that_is_no_form_of_it():
    assert said("Where is the salary by Region?", "b#Costs").startswith("Where is the wages by ")
    # "spending" and "spend" are one word, and nearer than "costs" is
    assert said("our spending", "a#Budgets") == "our budgets"
    assert said("show spend, please", "a#Budgets") == "show budgets, please"


def test_any_form_of_a_word_is_quoted():
    assert said("the salaries of all", "b#Costs") == "the wages of all"


def test_what_no_answer_says_stays():
    assert said("salary and wages", "a#Budgets") == "salary and wages"
    assert said("salary and outlay", "c#Outlay", "a#Budgets") != "salary and outlay"


@pytest.mark.parametrize(
    "text", ["销售额 2024", "May 2024", "May", "the of and", "", "C 7 x1", "ﹰﹰﹰ"]
)
def test_times_numbers_function_words_and_unspaced_scripts_stay(text):
    every = tuple(record.sheet_id for record in RECORDS)
    assert said(text, *every) == text


def test_a_share_of_the_quoted_words_is_replaced_and_the_seed_says_which():
    queries = [Query(f"salary {number}", ("b#Costs",), ("c#Outlay",)) for number in range(400)]
    half = in_other_words(queries, RECORDS, meanings, share=0.5, seed=3)
    changed = [query.text.startswith("wages") for query in half]
    assert 150 < sum(changed) < 250
    assert half == in_other_words(queries, RECORDS, meanings, share=0.5, seed=3)
    assert half != in_other_words(queries, RECORDS, meanings, share=0.5, seed=4)
    assert [query.negatives for query in half] == [("c#Outlay",)] * 400
    assert in_other_words(queries, RECORDS, meanings, share=0.0) == tuple(queries)


def test_a_word_without_neighbours_stays():
    alone = [SheetRecord("d#Rent", "Rent", "d", "d", columns=(Column("rents"),))]
    [query] = in_other_words([Query("rent", ("d#Rent",))], alone, meanings, share=1.0)
    assert query.text == "rent"


def test_no_questions_and_sheets_that_are_gone_are_no_error():
    assert in_other_words([], RECORDS, meanings) == ()
    assert said("salary", "gone#x") == "salary"
