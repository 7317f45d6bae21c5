"""Words of cell texts and of questions about them: codes stay whole, everything is bounded."""

from itertools import product

import pytest

from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.text.contents import (
    MAX_WORDS,
    asked_words,
    asks_for_documentation,
    content_words,
    holds,
    phrases,
    spelled_words,
)


def contents(*texts):
    return SheetContents(tuple(CellText(f"A{n}", text) for n, text in enumerate(texts, 1)))


def test_notes_captions_labels_and_values_all_give_words_each_once():
    table = TableContents(
        CellText("A1", "Fares"), (CellText("A3", "Bronx"),), (CellText("B3", "Bronx fare"),)
    )
    found = content_words(SheetContents((CellText("A9", "Source"),), (table,)))
    assert found.matched == ("sourc", "fare", "bronx")
    assert found.spelled == ("source", "fares", "bronx")


@pytest.mark.parametrize("code", ["X-1042", "NOx", "2023-0815", "AB/12-3", "a:17", "PO_77"])
def test_a_code_is_one_word_of_a_cell_and_of_a_question(code):
    assert code.casefold() in content_words(contents(f"order {code}, late")).matched
    assert code.casefold() in asked_words(f"Where is {code}?")


def test_words_of_one_sheet_are_bounded_in_number_and_length():
    many = contents(*(f"w{n}" for n in range(MAX_WORDS + 10)))
    assert len(content_words(many).matched) == MAX_WORDS
    long = contents("x" * 65, "y-" * 40 + "1", "z")
    assert content_words(long).matched == ("y", "1", "z")
    assert asked_words("x" * 65 + " fares") == ("fare",)


def test_only_words_of_five_to_24_letters_have_a_spelling():
    found = content_words(contents("Überland four 12345 x1042 emissions", "a" * 25))
    assert found.spelled == ("uberland", "emissions")


def test_spellings_of_one_sheet_are_bounded_in_number():
    many = ("".join(each) for each in product("abcdefgh", repeat=5))
    assert len(spelled_words(many)) == MAX_WORDS


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"New York" and “Den Haag”', ("New York", "Den Haag")),
        ("„Köln“ or «Paris»", ("Köln", "Paris")),
        ('5" pipes', ()),
        ('" "', ()),
        ('"ab" ' * 9, ("ab",) * 4),
    ],
)
def test_phrases_stand_in_quotation_marks_of_several_kinds(query, found):
    assert phrases(query) == found


def test_a_phrase_is_held_whole_in_one_text_whatever_case_and_space():
    assert holds(["x", "the MTA New\tYork  City"], "new york city")
    assert not holds(["New", "York City"], "new york city")
    assert not holds(["renew york city"], "new york city")
    assert holds(["a.b (c)"], "A.B (C)")


@pytest.mark.parametrize(
    ("query", "asked"),
    [("notes on fuel", True), ("data sources", True), ("README", True), ("fuel prices", False)],
)
def test_a_question_for_documentation_is_told_by_its_words(query, asked):
    assert asks_for_documentation(query) is asked


def test_a_text_of_one_word_without_end_is_read_in_linear_time():
    long = "a" * 1_000_000  # squared, hours
    assert content_words(contents(long, "x-1042")).matched[0] == "x-1042"
    assert asked_words(f"{long} x-1042") == ("x-1042",)
