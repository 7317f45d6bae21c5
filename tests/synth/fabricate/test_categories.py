"""The workbooks of every category, cut and fabricated as a corpus does it."""

import random

import pytest

from sat_retriever.synth.book.restrict import Keep, restricted
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.fabricate.pair import fabricated_unit
from sat_retriever.synth.fabricate.split import PAPER, FabricateOptions
from sat_retriever.synth.house.house import House
from sat_retriever.synth.words.vocabulary import Vocabulary

YEARS = (2023, 2024)


@pytest.fixture(scope="module", params=CATEGORIES)
def unit(request):
    house = House("Apex Technologies", 3, Vocabulary.load())
    return tuple(CATEGORIES[request.param].books(house, YEARS)), house


def compile_all(books):
    """Compile the books; the columns in which a lookup finds nothing."""
    by_path = {book.path: book for book in books}
    assert len(by_path) == len(books)
    values = Values(by_path.get)
    for book in books:
        compiled(book, by_path.get, values)
    return values.missed


@pytest.mark.parametrize("options", [FabricateOptions(), PAPER], ids=["default", "paper"])
def test_sources_and_targets_can_be_written_and_their_lookups_find(unit, options):
    books, house = unit
    pairs = fabricated_unit(books, options, house.chance)
    assert [pair.stem for pair in pairs] == [book.path for book in books]
    assert compile_all([pair.source for pair in pairs]) == set()
    assert compile_all([pair.target for pair in pairs]) == set()
    for pair in pairs:
        for alignment in pair.alignments:
            columns = pair.source.sheet(alignment.sheet).columns
            assert len(alignment.columns) >= min(2, len(columns))


def test_what_is_left_of_a_cut_can_be_written_with_the_values_it_had(unit):
    """Rows stay, so that no total changes."""
    books, _ = unit
    draw = random.Random(1)
    keep = {
        (book.path, sheet.name): Keep(
            frozenset(column.id for column in sheet.columns if draw.random() < 0.7)
        )
        for book in books
        for sheet in book.sheets
        if draw.random() < 0.7
    }
    keep = {tab: kept for tab, kept in keep.items() if kept.columns}
    left = restricted(books, keep)
    compile_all(left)
    before, after = (Values({b.path: b for b in some}.get) for some in (books, left))
    places = {(book.path, at.sheet.name): at for book in books for at in before.add(book)}
    for book in left:
        for at in after.add(book):
            was = places[book.path, at.sheet.name]
            for column in at.sheet.columns:
                assert list(after.values(at, column.id)) == list(before.values(was, column.id))
