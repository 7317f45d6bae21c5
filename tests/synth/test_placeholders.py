import re
from dataclasses import replace

from sat_retriever.synth.model import Book, Column, Sheet
from sat_retriever.synth.placeholders import with_placeholders
from tests.synth.fabricate.books import staff

FILMS = ("The Long Road", "Alien", "The Long Road", None, 7)


def film_book(path, cells, header="Film"):
    column = Column("film", header, cells, placeholder="Movie")
    return Book(path, "Movie Ratings", (Sheet("Films", (column,)),))


def films(book):
    return book.sheets[0].columns[0].cells


def test_columns_with_a_noun_hold_placeholders_equal_for_equal_texts():
    one, other = with_placeholders(
        [film_book("a.xlsx", FILMS), film_book("b.xlsx", ("Alien",), "T")]
    )
    first, second, again, empty, number = films(one)
    assert re.fullmatch(r"Movie_\d{12}", first)
    assert first == again != second
    assert films(other) == (second,)
    assert (empty, number) == (None, 7)
    assert with_placeholders([film_book("b.xlsx", ("Alien",), "T")]) == (other,)


def test_long_texts_are_notes_in_any_column():
    book = Book("a.xlsx", "x", (Sheet("s", (Column("c", "City", ("x" * 121, "y" * 120)),)),))
    long, short = films(with_placeholders([book])[0])
    assert re.fullmatch(r"Note_\d{12}", long)
    assert short == "y" * 120
    assert films(with_placeholders([film_book("a.xlsx", ("z" * 121,))])[0])[0].startswith("Note_")


def test_free_text_is_replaced_only_when_asked_for_and_never_in_keys():
    book = staff(12)
    assert with_placeholders([book]) == (book,)
    columns = with_placeholders([book], detect=True)[0].sheets[0].columns
    assert columns[0] == book.sheets[0].columns[0]
    assert len(set(columns[1].cells)) == 12
    assert all(cell.startswith("Name_") for cell in columns[1].cells)
    names = replace(book.sheets[0].columns[1], key="Acme/person")
    keyed = replace(book, sheets=(replace(book.sheets[0], columns=(names,)),))
    assert with_placeholders([keyed], detect=True) == (keyed,)
