"""Workbooks in another language: texts change, formulas, facts and keys still fit."""

from dataclasses import replace
from itertools import islice

import pytest

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Choices,
    Column,
    Combine,
    Layout,
    Lookup,
    Number,
    Pivot,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.house.house import House
from sat_retriever.synth.language.retell import Retelling, proper_names
from sat_retriever.synth.plan.plan import house_names
from sat_retriever.synth.words.vocabulary import Vocabulary

WORDS = Vocabulary.load()


class Marking:
    """Puts a sign before every text, or says what it is told."""

    def __init__(self, **said):
        self.said = said
        self.asked = []

    def translate(self, texts, language):
        self.asked += texts
        return [self.said.get(text, f"ü{text}") for text in texts]


FACTS = SheetFacts("", "sales", "orders", "Apex Foods")
STAFF = Sheet(
    "Staff",
    (
        Column("id", "Staff No", ("E-1", "E-2"), key="Apex Foods/employee", unique=True),
        Column("grade", "pay_grade", ("junior", "senior"), group="Pay", unit="level"),
        Column("name", "Name", ("Aisha Abebe", "Li Zulu")),
        Column("team", "Team", ("Sales", "Store"), key="Apex Foods/department"),
    ),
    FACTS,
    Layout(titles=("Apex Foods Staff July 2024",), notes=("Own records",)),
)


def translated(book, translator):
    return Retelling(translator, "de").book(book)


def column(*cells):
    return Column("x", "Amount", cells, "amount")


def test_headers_groups_units_titles_tabs_and_repeated_values_are_retold():
    book = translated(Book("a 2024.xlsx", "HR", (STAFF,)), Marking())
    sheet = book.sheets[0]
    assert [c.header for c in sheet.columns] == ["üStaff No", "üpay_grade", "üName", "üTeam"]
    assert (sheet.columns[1].group, sheet.columns[1].unit) == ("üPay", "ülevel")
    assert sheet.columns[1].cells == ("üjunior", "üsenior")
    assert sheet.layout.titles == ("Apex Foods üStaff July 2024",)
    assert sheet.layout.notes == ("üOwn records",)
    assert (sheet.name, sheet.total_label) == ("üStaff", "üTotal")
    assert book.path == "a 2024.xlsx"


def test_facts_keys_and_codes_stay():
    sheet = translated(Book("a.xlsx", "HR", (STAFF,)), Marking()).sheets[0]
    assert sheet.facts == FACTS
    assert sheet.columns[0].cells == ("E-1", "E-2")
    assert sheet.columns[3].cells == ("Sales", "Store")
    assert [c.key for c in sheet.columns] == [c.key for c in STAFF.columns]


def test_names_of_people_and_companies_stay_where_words_say_what_is_one():
    proper = proper_names(WORDS)
    retelling = Retelling(Marking(), "de", proper=proper)
    sheet = retelling.book(Book("a.xlsx", "HR", (STAFF,))).sheets[0]
    assert sheet.columns[2].cells == ("Aisha Abebe", "Li Zulu")
    assert sheet.columns[1].cells == ("üjunior", "üsenior")
    assert proper(WORDS.lists["suppliers"][0])
    assert not proper("Raw materials")


def test_columns_with_many_different_values_stay():
    values = tuple(f"note {'abcdefghij'[n % 10]}{'klmno'[n // 10]}" for n in range(50))
    sheet = Sheet(
        "S", (Column("note", "Note", values), Column("few", "Few", values[:40] + values[:10]))
    )
    many, few = translated(Book("a.xlsx", "c", (sheet,)), Marking()).sheets[0].columns
    assert many.cells == values
    assert few.cells[0] == "ünote ak"


def test_every_reference_follows_its_tab_and_its_workbook():
    one = Book("in/Staff 2023.xlsx", "HR", (STAFF, replace(STAFF, name="Staff Jan")))
    own, there = SheetAt("Staff"), SheetAt("Staff Jan", one.path)
    cells = (
        Take(there, "grade", 1),
        Total(own, "grade"),
        TotalWhere(there, "a", "b", "c"),
        Combine("+", Lookup(there, "a", "b", "c"), Combine("*", Total(there, "x"), Number(2))),
        Through("Staff", "Staff", "x", 0),
    )
    two = Book(
        "out/Summary 2023.xlsx",
        "HR",
        (
            STAFF,
            Sheet(
                "Sums",
                (column(*cells),),
                charts=(Chart(own, "a", "b"),),
                choices=(Choices("x", own, "a"),),
                pivots=(Pivot(own, "a", "b"),),
            ),
        ),
    )
    retelling = Retelling(Marking(), "de")
    first, second = retelling.book(one), retelling.book(two)
    assert (first.path, second.path) == (one.path, two.path)
    own, there = SheetAt("üStaff"), SheetAt("üStaff Jan", one.path)
    assert second.sheets[1].columns[0].cells == (
        Take(there, "grade", 1),
        Total(own, "grade"),
        TotalWhere(there, "a", "b", "c"),
        Combine("+", Lookup(there, "a", "b", "c"), Combine("*", Total(there, "x"), Number(2))),
        Through("üStaff", "üStaff", "x", 0),
    )
    sums = second.sheets[1]
    assert (sums.charts[0].at, sums.choices[0].at, sums.pivots[0].at) == (own, own, own)


def test_tabs_stay_valid_and_unique_where_translations_are_equal():
    same = dict.fromkeys(("Goods In", "Goods Out"), "Waren: " + "x" * 40)
    sheets = (replace(STAFF, name="Goods In"), replace(STAFF, name="Goods Out"))
    book = translated(Book("a.xlsx", "c", sheets), Marking(**same))
    names = [sheet.name.casefold() for sheet in book.sheets]
    assert len(set(names)) == 2
    assert all(len(name) <= 31 and ":" not in name for name in names)


def test_two_headers_never_become_one():
    columns = (Column("a", "Store", (1,)), Column("b", "Warehouse", (2,)))
    translator = Marking(Store="Lager", Warehouse="Lager")
    book = translated(Book("a.xlsx", "c", (Sheet("S", columns),)), translator)
    assert [column.header for column in book.sheets[0].columns] == ["Lager", "Warehouse"]


@pytest.mark.parametrize(
    ("header", "said", "written"),
    [
        ("item_code", "Artikel Nummer", "artikel_nummer"),
        ("itemCode", "Artikel Nummer", "artikelNummer"),
        ("ITEM CODE", "Artikel Nummer", "ARTIKEL NUMMER"),
        ("Item Code", "Artikel Nummer", "Artikel Nummer"),
    ],
)
def test_headers_keep_their_letter_case_and_separators(header, said, written):
    class Says:
        def translate(self, texts, language):
            return [said if text.casefold() == "item code" else text for text in texts]

    sheet = Sheet("S", (Column("a", header, (1,)),))
    book = translated(Book("a.xlsx", "c", (sheet,)), Says())
    assert book.sheets[0].columns[0].header == written


@pytest.mark.parametrize("category", CATEGORIES)
def test_made_workbooks_are_whole_after_a_translation(category):
    name = next(islice(house_names(CATEGORIES[category].owner, WORDS), 3, None))
    books = list(CATEGORIES[category].books(House(name, 0, WORDS), (2023, 2024)))
    retelling = Retelling(Marking(), "de")
    new = [retelling.book(book) for book in books]
    tabs = {book.path: {sheet.name for sheet in book.sheets} for book in new}
    assert len(tabs) == len(books)
    for book in new:
        assert len(tabs[book.path]) == len(book.sheets)
        for at in used(book):
            assert at.sheet in tabs[at.book or book.path]


def used(book):
    """Every sheet that cells of a workbook name."""
    cells = [c for s in book.sheets for column in s.columns for c in column.cells]
    while cells:
        cell = cells.pop()
        if isinstance(cell, Combine):
            cells += [cell.left, cell.right]
        elif isinstance(cell, Through):
            yield from (SheetAt(cell.first), SheetAt(cell.last))
        elif isinstance(cell, Take | Total | TotalWhere | Lookup):
            yield cell.at


def test_a_tab_name_that_becomes_too_long_keeps_its_period():
    said = {"Income Statement": "Gewinn- und Verlustrechnung"}
    sheets = tuple(
        replace(STAFF, name=f"Income Statement {year} Q1", facts=None) for year in (2024, 2025)
    )
    [book] = [Retelling(Marking(**said), "de").book(Book("a.xlsx", "HR", sheets))]
    assert [sheet.name for sheet in book.sheets] == [
        "Gewinn- und Verlustrech 2024 Q1",
        "Gewinn- und Verlustrech 2025 Q1",
    ]
