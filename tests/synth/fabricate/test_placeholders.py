import re

from sat_retriever.synth.book.model import Book, Column, Sheet
from sat_retriever.synth.fabricate.noise import with_placeholders
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


def test_other_texts_stay_as_they_are():
    book = staff(12)
    assert with_placeholders([book]) == (book,)
