"""Questions about contents: their sheets are all that hold the text, or none at all."""

from collections import Counter

import pytest

from sat_retriever.questions.contents.draw import KINDS, folded
from sat_retriever.questions.contents.make import MAX_POSITIVES, Contents, content_queries
from sat_retriever.text.contents import content_texts, holds
from tests.questions.contents.small_sheets import all_copies, no_copies, sheet, sheets

EVERY = dict.fromkeys(KINDS, 6)


def made(records, numbers=EVERY, seed=0, copies=no_copies, about=None):
    return content_queries(Contents(records, copies), numbers, seed, about=about)


def holding(records, text):
    """The sheets whose cells have a text, looked for one by one."""
    return {each.sheet_id for each in records if holds(content_texts(each.contents), text)}


def test_every_kind_is_made_and_its_sheets_are_all_that_hold_the_text():
    records = sheets()
    found = made(records)
    assert Counter(each.query.query_type for each in found) == {
        "value": 6,
        "note": 6,
        "label": 6,
        "unanswerable": 6,
    }
    for each in found:
        text = each.fixed[0]
        assert text in each.query.text
        assert set(each.query.positives) == holding(records, text)
        assert bool(each.query.positives) == (each.query.query_type != "unanswerable")


def test_the_words_of_an_unanswerable_question_are_together_in_no_sheet():
    records = sheets()
    for each in made(records, {"unanswerable": 10}):
        wanted = set(folded(each.fixed[0]))
        for record in records:
            held = {word for text in content_texts(record.contents) for word in folded(text)}
            assert not wanted <= held


def test_a_text_in_many_sheets_is_not_asked_for():
    records = [sheet(number, codes=("COMMON-7",)) for number in range(MAX_POSITIVES + 1)]
    assert made(records, {"value": 5}) == []
    [found] = made(records[:MAX_POSITIVES], {"value": 5})
    assert len(found.query.positives) == MAX_POSITIVES


def test_a_text_in_a_name_or_a_header_is_not_asked_for():
    records = [sheet(0, codes=("TH-4100",)), sheet(1, path="TH-4100/list.xlsx")]
    assert made(records, {"value": 5}) == []
    assert made([sheet(0, labels=("Ticket fares",), header="Ticket fares")], {"label": 5}) == []


def test_a_code_that_is_a_part_of_a_longer_one_elsewhere_is_not_asked_for():
    records = [sheet(0, codes=("TH-4100",)), sheet(1, codes=("XX-1", "TH-4100-B"))]
    assert "TH-4100" not in {each.fixed[0] for each in made(records, {"value": 5})}


def test_a_label_is_answered_only_where_the_header_is():
    records = [
        sheet(0, labels=("Frome mill",), header="Fares"),
        sheet(1, labels=("Frome mill",), header="Riders"),
    ]
    for each in made(records, {"label": 5}):
        [positive] = each.query.positives
        assert ("Fares" in each.fixed) == (positive == records[0].sheet_id)


def test_dates_years_and_long_texts_are_not_asked_for():
    codes = ("2024-03-11", "2024", "11.03.2024", "word " * 9, "x" * 70)
    assert made([sheet(0, codes=codes)], {"value": 5}) == []


def test_a_question_for_a_version_has_the_sheets_of_that_version():
    records = [
        sheet(number, path=f"plans/Budget 2024{mark}.xlsx")
        for number, mark in enumerate(("_v1", "_v2", "_final"))
    ]
    found = made(records, {"copy": 3}, copies=all_copies)
    assert {each.fixed: each.query.positives for each in found} == {
        ("version 1", "budget 2024 sheet1"): (records[0].sheet_id,),
        ("version 2", "budget 2024 sheet1"): (records[1].sheet_id,),
        ("final version", "budget 2024 sheet1"): (records[2].sheet_id,),
    }
    assert made(records, {"copy": 3}) == []


@pytest.mark.parametrize("records", [[], [sheet(0)]], ids=["no sheet", "no text"])
def test_without_texts_there_are_no_questions(records):
    assert made(records) == []


def test_equal_seeds_give_equal_questions_and_the_order_of_sheets_does_not_matter():
    assert made(sheets()) == made(sheets()[::-1])
    assert made(sheets()) != made(sheets(), seed=1)


def test_only_sheets_asked_about_are_positives():
    records = sheets()
    about = frozenset(each.sheet_id for each in records[:3])
    found = made(records, {"value": 6, "note": 6, "label": 6}, about=about)
    assert found
    assert {sheet for each in found for sheet in each.query.positives} <= about
