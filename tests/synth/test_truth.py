"""The truth about made workbooks is what reading the written files gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from benchmarks.made.recipes import every_book, report, store
from sat_retriever import SheetIndex
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.records.contents import Role
from sat_retriever.records.sheets import ColumnType, SheetRecord
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Choices,
    Column,
    Combine,
    Layout,
    Lookup,
    Number,
    Own,
    Pivot,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.calculate.compile import CompiledBook, compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.house.when import When
from sat_retriever.synth.truth.keys import true_keys
from sat_retriever.synth.truth.links import facts_in_time, true_links, true_siblings
from sat_retriever.synth.truth.records import true_records
from sat_retriever.synth.write.xlsx import write_xlsx
from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.workbook.read import read_workbook
from tests.fakes import HashedEncoder

Ends = set[tuple[str, str, str]]


def _all_compiled(books: Sequence[Book]) -> list[CompiledBook]:
    by_path = {book.path: book for book in books}
    values = Values(by_path.get)
    return [compiled(book, by_path.get, values) for book in books]


def _alone(*sheets: Sheet) -> CompiledBook:
    return _all_compiled([Book("book.xlsx", "Test", sheets)])[0]


def _read(book: CompiledBook, folder: Path) -> list[SheetRecord]:
    path = folder / book.book.path
    write_xlsx(book, path)
    found = read_workbook(path, root=folder)
    assert found.skipped == ()
    return [_told(record, found.content_hash) for record in found.records]


def _told(record: SheetRecord, content_hash: str) -> SheetRecord:
    """A record as the truth tells it, which says nothing of contents and roles."""
    assert record.content_hash == content_hash
    return replace(record, content_hash="", contents=None, role=Role.DATA)


def _ends(links) -> Ends:
    return {(link.source, link.target, link.type) for link in links}


@pytest.mark.parametrize("group", every_book(), ids=lambda group: group[0].dialect.lookup)
def test_records_and_links_of_every_dialect_are_those_that_an_index_finds(group, tmp_path):
    books = _all_compiled(group)
    for book in books:
        assert _read(book, tmp_path) == true_records(book)
    facts = (sheet.facts for book in group for sheet in book.sheets if sheet.facts)
    told = _ends(link for book in books for link in true_links(book))
    told |= _ends(true_siblings(facts))
    with SheetIndex.create(tmp_path / "made.sat", HashedEncoder()) as index:
        index.sync(tmp_path, workers=1)
        found = _ends(index.all_links())
        assert index.status()["unresolved"] == {}
    assert told <= found
    assert _ends(true_keys(group)) <= found
    # By headers and values it may join what nobody meant to be joined.
    assert {kind for _, _, kind in found - told} <= {"join_key"}


def test_links_are_told_by_what_recipes_do():
    [_, book] = _all_compiled([store(), report()])
    overview, path = "reports/2024/Report 2024.xlsx#Overview", "stock/Store.xlsx"
    assert _ends(true_links(book)) == {
        (overview, f"{path}#Things", "formula_reference"),
        (overview, f"{path}#Things", "join_key"),
        (overview, f"{path}#Jan", "formula_reference"),
        (overview, f"{path}#Jan", "aggregation"),
    }
    [months, _] = _all_compiled([store(), report()])
    links = _ends(true_links(months))
    assert {target for source, target, kind in links if kind == "summary_source"} == {
        f"{path}#Jan",
        f"{path}#Feb",
        f"{path}#Mar",
    }
    assert (f"{path}#Jan", f"{path}#Lists", "join_key") in links
    assert (f"{path}#Jan", f"{path}#Lists", "formula_reference") not in links
    assert not any(source == target for source, target, _ in links)


def _numbers(name: str) -> Sheet:
    return Sheet(name, (Column("k", "K", ("a", "b")), Column("n", "N", (1, 2), "integer")))


@pytest.mark.parametrize(
    ("recipes", "summarised"),
    [
        ((Take(SheetAt("A"), "n", 0), Take(SheetAt("B"), "n", 0)), True),
        ((Combine("+", Take(SheetAt("A"), "n", 0), Take(SheetAt("B"), "n", 1)), None), True),
        ((Combine("*", Take(SheetAt("A"), "n", 0), Take(SheetAt("B"), "n", 1)), None), False),
        ((Total(SheetAt("A"), "n"), Take(SheetAt("B"), "n", 0)), True),
        ((Total(SheetAt("A"), "n"), Lookup(SheetAt("B"), "k", "k", "n")), False),
        ((Total(SheetAt("A"), "n"), Total(SheetAt("A"), "n", "MAX")), False),
        ((Through("A", "B", "n", 0), None), True),
        ((Combine("/", Take(SheetAt("A"), "n", 0), Number(2)), Total(SheetAt("B"), "n")), False),
    ],
)
def test_a_summary_totals_or_shows_two_sheets_or_more(recipes, summarised, tmp_path):
    page = Sheet("Page", (Column("k", "Key", ("a", "b")), Column("x", "Made", recipes, "amount")))
    book = _alone(_numbers("A"), _numbers("B"), page)
    told = _ends(true_links(book))
    wanted = {("book.xlsx#Page", f"book.xlsx#{name}", "summary_source") for name in "AB"}
    assert {end for end in told if end[2] == "summary_source"} == (wanted if summarised else set())
    write_xlsx(book, tmp_path / "book.xlsx")
    with SheetIndex.create(tmp_path / "made.sat", HashedEncoder()) as index:
        index.sync(tmp_path, workers=1)
        found = _ends(index.all_links())
    assert {end for end in found if end[2] != "join_key"} == {
        end for end in told if end[2] != "join_key"
    }


def test_charts_pivot_tables_and_choices_are_links_although_no_formula_shows_them(tmp_path):
    page = Sheet(
        "Page",
        (Column("k", "Key", ("a", "b")), Column("x", "Made", (5, 6), "amount")),
        charts=(Chart(SheetAt("A"), "k", "n"),),
        pivots=(Pivot(SheetAt("B"), "k", "n"),),
        choices=(Choices("k", SheetAt("C"), "k"),),
    )
    book = _alone(_numbers("A"), _numbers("B"), _numbers("C"), page)
    told = {
        ("book.xlsx#Page", "book.xlsx#A", "aggregation"),
        ("book.xlsx#Page", "book.xlsx#A", "summary_source"),
        ("book.xlsx#Page", "book.xlsx#B", "aggregation"),
        ("book.xlsx#Page", "book.xlsx#B", "summary_source"),
        ("book.xlsx#Page", "book.xlsx#C", "join_key"),
    }
    assert _ends(true_links(book)) == told
    write_xlsx(book, tmp_path / "book.xlsx")
    with SheetIndex.create(tmp_path / "made.sat", HashedEncoder()) as index:
        index.sync(tmp_path, workers=1)
        found = _ends(link for link in index.all_links() if link.source == "book.xlsx#Page")
    assert told <= found
    assert all(kind == "join_key" for _, _, kind in found - told)


@pytest.mark.parametrize(
    "layout",
    [
        Layout(),
        Layout(("One title",)),
        Layout(("One title", "and more"), gap=2),
        Layout(("One title",), first_row=2, first_column=3, notes=("Estimated values.",)),
    ],
)
@pytest.mark.parametrize("table_name", ["", "Facts"])
@pytest.mark.parametrize("totals", [(), (("n", "SUM"),)])
def test_records_of_every_layout_are_read(layout, table_name, totals, tmp_path):
    columns = (
        Column("day", "Day", tuple(date(2024, 1, 1 + row) for row in range(9)), "date"),
        Column("name", "Name", tuple("Bolt Washer Nut".split() * 3)),
        Column("n", "Number", tuple(range(9)), "integer"),
        Column("x", "Share", tuple(row / 8 for row in range(9)), "percent"),
        Column("ok", "Checked", tuple(row % 2 == 0 for row in range(9))),
        Column("no", "Empty", (None,) * 9),
    )
    sheet = Sheet("Sheet 1", columns, layout=layout, table_name=table_name, totals=totals)
    book = _alone(sheet)
    [record] = _read(book, tmp_path)
    assert [record] == true_records(book)
    assert [column.type for column in record.columns] == [
        ColumnType.DATE,
        ColumnType.TEXT,
        ColumnType.INTEGER,
        ColumnType.NUMBER,
        ColumnType.BOOLEAN,
        ColumnType.EMPTY,
    ]
    assert record.tables[0].num_rows == 9


def test_groups_and_units_are_read(tmp_path):
    columns = (
        Column("k", "Place", ("North", "South", "West")),
        Column("a", "Plan", (1.5, 2.5, 3.0), "amount", group="First half", unit="EUR"),
        Column("b", "Actual", (1.0, 2.0, 3.25), "amount", group="First half", unit="EUR"),
        Column("c", "Plan", (4.5, 5.5, 6.5), "amount", group="Second half", unit="EUR"),
        Column("d", "Staff", (4, 5, 6), "integer", unit="persons"),
    )
    book = _alone(Sheet("Sheet 1", columns, layout=Layout(("Plan and actual",))))
    [record] = _read(book, tmp_path)
    assert [record] == true_records(book)
    assert [column.name for column in record.columns] == [
        "Place",
        "First half / Plan",
        "First half / Actual",
        "Second half / Plan",
        "Staff",
    ]
    assert record.columns[1].unit == "EUR"


def test_examples_are_numbers_with_15_digits(tmp_path):
    exact = 0.1 + 0.2  # 17 digits; a typed-in number is written with 16, a result with all
    columns = (
        Column("k", "Key", ("a", "b")),
        Column("n", "Typed", (exact, 1.5), "amount"),
        Column("m", "Calculated", (Combine("*", Own("n"), Number(1.0)), 2.5), "amount"),
    )
    book = _alone(Sheet("Numbers", columns))
    [record] = _read(book, tmp_path)
    assert [record] == true_records(book)
    assert [column.example for column in record.columns[1:]] == ["0.3", "0.3"]


def test_rows_without_any_cell_are_no_records(tmp_path):
    columns = (
        Column("a", "Plan", (1.5, 2.5, None, 3.0, 4.5, None), "amount"),
        Column("b", "Actual", (1.0, 2.0, None, 3.25, 4.25, None), "amount"),
    )
    book = _alone(Sheet("Sheet 1", columns, layout=Layout(("Plan and actual",))))
    [record] = _read(book, tmp_path)
    assert [record] == true_records(book)
    assert (record.range, record.tables[0].range, record.tables[0].num_rows) == (
        "A1:B8",
        "A3:B8",
        4,
    )


def test_the_example_of_free_text_is_not_told(tmp_path):
    names = tuple(
        f"{first} {last}"
        for first in ("Anna", "Berthold", "Carla")
        for last in ("Winterhalter", "Okonkwo-Lee", "van der Berg")
    )
    columns = (Column("n", "Full name", names), Column("x", "Age", tuple(range(30, 39)), "integer"))
    book = _alone(Sheet("People", columns))
    [record] = _read(book, tmp_path)
    [told] = true_records(book)
    assert (told.columns[0].example, record.columns[0].example) == (None, "Anna Winterhalter")
    assert record.columns[0].encoded == "Name_0001"
    assert told.columns[1] == record.columns[1]


def _fact(sheet: str, grain: Grain, year: int, part: int, family: str = "f") -> SheetFacts:
    period = SheetPeriod(family, grain, year, part, f"{year}/{part}")
    return SheetFacts(sheet, "sales", "orders", period=period)


def test_siblings_are_the_period_before_and_the_same_one_of_an_earlier_year():
    months = [
        _fact(f"{year}-{month:02}", Grain.MONTH, year, month)
        for year, month in ((2022, 3), (2023, 12), (2024, 1), (2024, 3))
    ]
    links = {(link.source, link.target): link.weight for link in true_siblings(months)}
    assert links == {
        ("2023-12", "2022-03"): round(1 / 21, 4),
        ("2024-01", "2023-12"): 1.0,
        ("2024-03", "2024-01"): 0.5,
        ("2024-03", "2022-03"): 0.5,
    }


def test_siblings_have_one_family_and_length_and_keep_their_rank_within_a_period():
    facts = [
        _fact("a1", Grain.YEAR, 2023, 0),
        _fact("b1", Grain.YEAR, 2023, 0),
        _fact("a2", Grain.YEAR, 2024, 0),
        _fact("b2", Grain.YEAR, 2024, 0),
        _fact("c2", Grain.YEAR, 2024, 0),
        _fact("q1", Grain.QUARTER, 2024, 1),
        _fact("other", Grain.YEAR, 2025, 0, "g"),
        SheetFacts("timeless", "sales", "orders"),
    ]
    assert [(link.source, link.target) for link in true_siblings(facts)] == [
        ("a2", "a1"),
        ("b2", "b1"),
        ("c2", "a1"),
    ]


def test_siblings_are_those_that_an_index_finds_by_names(tmp_path):
    facts = []
    for year in (2022, 2024):
        for quarter in (1, 2, 4):
            path = f"Sales {year} Q{quarter}.xlsx"
            book = Book(path, "Sales", (_numbers("Orders"), _numbers("Returns")))
            write_xlsx(_all_compiled([book])[0], tmp_path / path)
            for tab in ("Orders", "Returns"):
                facts.append(_fact(f"{path}#{tab}", Grain.QUARTER, year, quarter, tab))
    with SheetIndex.create(tmp_path / "made.sat", HashedEncoder()) as index:
        index.sync(tmp_path, workers=1)
        found = [link for link in index.all_links() if link.type == "sibling_period"]
    told = {(link.source, link.target): link.weight for link in true_siblings(facts)}
    assert {(link.source, link.target): link.weight for link in found} == told
    assert len(told) == 16


def _told_book(path: str, *periods: SheetPeriod) -> Book:
    """A workbook of sheets about these periods, and one of choices without facts."""
    sheets = tuple(
        replace(_numbers(period.label), facts=SheetFacts("", "hr", "pay", period=period))
        for period in periods
    )
    return Book(path, "HR", (*sheets, _numbers("Lists")))


def _month(year: int, month: int) -> SheetPeriod:
    return SheetPeriod("acme/pay", Grain.MONTH, year, month, f"{year}-{month:02}")


def test_sheets_without_facts_are_siblings_where_their_workbooks_are(tmp_path):
    books = [
        _told_book("Pay 2022.xlsx", _month(2022, 1), _month(2022, 2)),
        _told_book("Pay 2023.xlsx", _month(2023, 1)),
        Book("Staff.xlsx", "HR", (_numbers("People"), _numbers("Lists"))),
    ]
    told = _ends(true_siblings(facts_in_time(books)))
    assert told == {
        ("Pay 2022.xlsx#2022-02", "Pay 2022.xlsx#2022-01", "sibling_period"),
        ("Pay 2023.xlsx#2023-01", "Pay 2022.xlsx#2022-02", "sibling_period"),
        ("Pay 2023.xlsx#2023-01", "Pay 2022.xlsx#2022-01", "sibling_period"),
        ("Pay 2023.xlsx#Lists", "Pay 2022.xlsx#Lists", "sibling_period"),
    }
    for book in _all_compiled(books):
        write_xlsx(book, tmp_path / book.book.path)
    with SheetIndex.create(tmp_path / "made.sat", HashedEncoder()) as index:
        index.sync(tmp_path, workers=1)
        found = _ends(index.all_links())
    assert {end for end in found if end[2] == "sibling_period"} == told


def test_sheets_without_facts_have_the_month_of_a_workbook_of_one_month():
    books = [_told_book(f"Pay {month}.xlsx", _month(2022, month)) for month in (3, 4)]
    found = {each.sheet_id: each.period for each in facts_in_time(books)}
    assert found["Pay 4.xlsx#Lists"] == replace(_month(2022, 4), family="acme/pay#Lists")


def _keyed(name: str, *, unique: bool, year: int = 0, month: int = 0) -> Sheet:
    grain = Grain.MONTH if month else Grain.YEAR
    period = SheetPeriod(name, grain, year, month, "") if year else None
    facts = SheetFacts("", "hr", name, period=period)
    column = Column("id", "Staff no.", ("a",), key="Acme/employee", unique=unique)
    return Sheet(name, (column,), facts)


def test_keys_join_with_their_owner_in_the_own_workbook_first():
    own = Book("a.xlsx", "HR", (_keyed("Staff", unique=True), _keyed("Pay", unique=False)))
    other = Book("b.xlsx", "HR", (_keyed("Staff", unique=True), _keyed("Notes", unique=False)))
    assert _ends(true_keys([own, other])) == {
        ("a.xlsx#Pay", "a.xlsx#Staff", "join_key"),
        ("b.xlsx#Notes", "b.xlsx#Staff", "join_key"),
    }


def test_keys_join_with_owners_elsewhere_of_the_own_period_or_none():
    owners = Book(
        "staff.xlsx",
        "HR",
        (
            _keyed("2023", unique=True, year=2023),
            _keyed("2024", unique=True, year=2024),
            _keyed("ever", unique=True),
            _keyed("June", unique=True, year=2024, month=6),
        ),
    )
    pay = Book(
        "pay.xlsx",
        "HR",
        (
            _keyed("May", unique=False, year=2024, month=5),
            _keyed("Jun", unique=False, year=2024, month=6),
            _keyed("All", unique=False),
        ),
    )
    joined = {(link.source, link.target.split("#")[1]) for link in true_keys([owners, pay])}
    assert joined == {
        ("pay.xlsx#May", "2024"),
        ("pay.xlsx#May", "ever"),
        ("pay.xlsx#Jun", "2024"),
        ("pay.xlsx#Jun", "ever"),
        ("pay.xlsx#Jun", "June"),
        ("pay.xlsx#All", "ever"),
    }


def _listed(name: str, values: Sequence[str], *columns: Column, **facts) -> Sheet:
    told = SheetFacts("", "hr", facts.pop("kind", name), **facts)
    key = Column("id", "Staff no.", tuple(values), key="Acme/employee")
    more = [replace(c, cells=c.cells * len(values)) for c in columns]
    return Sheet(name, (key, *more), facts=told)


NAME = Column("name", "Name", ("Ann",))
PAY = Column("pay", "Pay", (100,), "integer")


def _register(name: str, values: Sequence[str], **facts) -> Sheet:
    sheet = _listed(name, values, NAME, **facts)
    return replace(sheet, columns=(replace(sheet.columns[0], unique=True), *sheet.columns[1:]))


def _joined(*sheets: Sheet) -> set[tuple[str, str]]:
    links = true_keys([Book("a.xlsx", "HR", sheets)])
    return {(link.source.split("#")[1], link.target.split("#")[1]) for link in links}


def test_a_register_of_another_year_or_without_most_of_the_values_is_not_referred_to():
    pay = _listed("Pay", "abc", PAY, period=When(2024, month=3).period("pay"))
    this = _register("This", "abcd", period=When(2024).period("staff"))
    last = _register("Last", "abcd", period=When(2023).period("staff"))
    month = _register("May", "abcd", period=When(2024, month=5).period("staff"))
    few = _register("Few", "axyz")
    assert _joined(pay, this, last, month, few) == {("Pay", "This")}
    quarter = _register("Quarter", "abcd", period=When(2024, quarter=1).period("staff"))
    later = _register("Later", "abcd", period=When(2024, quarter=2).period("staff"))
    assert _joined(pay, quarter, later) == {("Pay", "Quarter")}


def test_without_a_register_a_list_of_the_same_time_that_describes_things_stands_in():
    leave, pay = _listed("Leave", "aab"), _listed("Pay", "abc", NAME, PAY)
    assert _joined(leave, pay) == {("Leave", "Pay")}
    assert _joined(leave, _listed("Pay", "abc", PAY)) == set()
    assert _joined(leave, _listed("Pay", "acd", NAME)) == set()
    assert _joined(leave, _listed("Pay", "abc", NAME, summary=True)) == set()
    total = Column("days", "Days", (TotalWhere(SheetAt("Leave"), "id", "id", "id"),))
    assert _joined(leave, _listed("Pay", "abc", NAME, total)) == set()
    other = _listed("Pay", "abc", NAME, period=When(2024).period("pay"))
    assert _joined(leave, other) == set()
    assert _joined(leave, pay, _register("Staff", "abc")) == {("Leave", "Staff"), ("Pay", "Staff")}


def test_of_two_lists_of_the_same_things_neither_stands_in():
    once, twice = _listed("Once", "ab", NAME), _listed("Visits", "abb", NAME, kind="visits")
    assert _joined(once, _listed("Other", "abc", NAME)) == set()
    by_chance = _listed("First visits", "abc", NAME, kind="visits")
    assert _joined(once, twice, by_chance) == {("Visits", "Once")}


def test_a_list_of_choices_is_the_register_of_equal_columns_of_its_workbook():
    where = Column("place", "Place", ("Rome", "Rome", "Oslo"))
    choices = (Choices("place", SheetAt("Lists"), "where"),)
    lists = Sheet("Lists", (Column("where", "Where", ("Oslo", "Rome")),))
    chosen = Sheet("Visits", (where,), SheetFacts("", "hr", "visits"), choices=choices)
    same = Sheet("Trips", (where,), SheetFacts("", "hr", "trips"))
    once = Sheet("Costs", (replace(where, cells=("Rome", "Oslo")),), SheetFacts("", "hr", "costs"))
    assert _joined(lists, chosen, same, once) == {("Visits", "Lists"), ("Trips", "Lists")}
    assert _joined(lists, same) == set()
