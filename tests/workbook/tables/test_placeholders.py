"""Typed placeholders for free text."""

import pytest

from sat_retriever.workbook.tables.columns import is_free_text, placeholder


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Movie", "Movie_0001"),
        ("movie_title", "Movie_0001"),
        ("Author Name", "Author_0001"),
        ("UserName", "User_0001"),
        ("Name of the director", "Director_0001"),
        ("Comments", "Note_0001"),
        ("Product description", "Product_0001"),
        ("People / Actor name", "Actor_0001"),
        ("作者", "作者_0001"),
        ("Name", "Name_0001"),
        ("", "Text_0001"),
        ("#", "Text_0001"),
    ],
)
def test_the_type_comes_from_the_header(header, expected):
    assert placeholder(header, "something short") == expected


def test_long_text_is_a_note_whatever_its_header():
    assert placeholder("Movie", "x" * 121) == "Note_0001"
    assert placeholder("Movie", "x" * 120) == "Movie_0001"


def test_names_and_sentences_that_do_not_repeat_are_free_text():
    assert is_free_text([f"Person Number {n}" for n in range(20)])


@pytest.mark.parametrize(
    "values",
    [
        ["North region", "South region"] * 10,
        [f"K{n}-77" for n in range(20)],
        [f"a {n}" for n in range(20)],
        ["one long text with words", "another long text with words"],
    ],
    ids=["categories", "codes", "short", "few"],
)
def test_categories_codes_short_texts_and_few_values_are_not_free_text(values):
    assert not is_free_text(values)
