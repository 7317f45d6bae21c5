"""Recipes become the formulas an author would write, with the values they come to."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.made.recipes import DIALECTS, every_book, report, store
from sat_retriever.synth.book.model import (
    Book,
    Choices,
    Column,
    Combine,
    Dialect,
    Layout,
    Lookup,
    Number,
    Own,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.calculate.compile import CompiledBook, compiled
from sat_retriever.synth.calculate.evaluate import Values


def _alone(*sheets: Sheet, dialect: Dialect = DIALECTS[0], path: str = "book.xlsx") -> CompiledBook:
    return compiled(Book(path, "Test", sheets, dialect), lambda _path: None)


def _cells(book: CompiledBook, sheet: str, column: str) -> list[tuple[str, object]]:
    [page] = [each for each in book.sheets if each.at.sheet.name == sheet]
    cells = page.columns[page.at.numbers[column] - page.at.place.left]
    return list(zip(cells.formulas, cells.values, strict=True))


def _data(name: str = "Data", **more) -> Sheet:
    columns = (
        Column("key", "Key", ("a", "b", "c", "b")),
        Column("n", "N", (1, 2, 3, 4), "integer"),
        Column("m", "M", (0.5, None, "-", 2.0), "amount"),
    )
    return Sheet(name, columns, **more)


def _with(recipe, *, style="amount", data: Sheet | None = None, dialect=DIALECTS[0]):
    """Formula and value of a recipe on a sheet of its own, beside the sheet of data."""
    page = Sheet(
        "Page",
        (
            Column("name", "Name", ("B",)),
            Column("three", "Three", (3,), "integer"),
            Column("made", "Made", (recipe,), style),
        ),
    )
    [cell] = _cells(_alone(data or _data(), page, dialect=dialect), "Page", "made")
    return cell


DATA = SheetAt("Data")


@pytest.mark.parametrize(
    ("recipe", "formula", "value"),
    [
        (Own("three"), "B2", 3),
        (Take(DATA, "n", 2), "Data!B4", 3),
        (Take(DATA, "m", 1), "Data!C3", 0),
        (Total(DATA, "n"), "SUM(Data!$B$2:$B$5)", 10),
        (Total(DATA, "n", "AVERAGE"), "AVERAGE(Data!$B$2:$B$5)", 2.5),
        (Total(DATA, "m", "COUNT"), "COUNT(Data!$C$2:$C$5)", 2),
        (Total(DATA, "n", "MAX"), "MAX(Data!$B$2:$B$5)", 4),
        (Total(DATA, "m", "MIN"), "MIN(Data!$C$2:$C$5)", 0.5),
        (Total(DATA, "key", "AVERAGE"), "IFERROR(AVERAGE(Data!$A$2:$A$5),0)", 0),
        (
            TotalWhere(DATA, "n", "key", "name"),
            "SUMIFS(Data!$B$2:$B$5,Data!$A$2:$A$5,$A2)",
            6,
        ),
        (Lookup(DATA, "name", "key", "n"), "VLOOKUP($A2,Data!$A$2:$B$5,2,FALSE)", 2),
        (
            Lookup(DATA, "three", "n", "key"),
            "INDEX(Data!$A$2:$A$5,MATCH($B2,Data!$B$2:$B$5,0))",
            "c",
        ),
        (
            Combine("/", Number(1), Combine("-", Own("three"), Number(3))),
            "IF(B2-3=0,0,1/(B2-3))",
            0,
        ),
        (
            Combine("-", Own("three"), Combine("-", Number(1), Number(-2.5))),
            "B2-(1-(-2.5))",
            -0.5,
        ),
        (
            Combine("*", Combine("+", Own("three"), Number(1)), Take(DATA, "n", 3)),
            "(B2+1)*Data!B5",
            16,
        ),
    ],
)
def test_a_recipe_is_written_and_calculated(recipe, formula, value):
    assert _with(recipe) == (formula, value)


@pytest.mark.parametrize(
    ("dialect", "lookup", "total"),
    [
        (Dialect("vlookup", "column"), "VLOOKUP($A2,Data!$A:$B,2,FALSE)", "SUM(Data!$B:$B)"),
        (Dialect("vlookup", "name"), "VLOOKUP($A2,Data_key_n,2,FALSE)", "SUM(Data_n)"),
        (
            Dialect("vlookup", "table"),
            "VLOOKUP($A2,Facts[[Key]:[N]],2,FALSE)",
            "SUM(Facts[N])",
        ),
        (
            Dialect("index_match", "table"),
            "INDEX(Facts[N],MATCH($A2,Facts[Key],0))",
            "SUM(Facts[N])",
        ),
        (
            Dialect("xlookup", "area"),
            "_xlfn.XLOOKUP($A2,Data!$A$2:$A$5,Data!$B$2:$B$5)",
            "SUM(Data!$B$2:$B$5)",
        ),
    ],
)
def test_a_dialect_decides_how_ranges_and_lookups_are_written(dialect, lookup, total):
    data = _data(table_name="Facts")
    assert _with(Lookup(DATA, "name", "key", "n"), data=data, dialect=dialect) == (lookup, 2)
    assert _with(Total(DATA, "n"), data=data, dialect=dialect) == (total, 10)


def test_whole_columns_are_not_summed_where_they_hold_a_total():
    data = _data(totals=(("n", "SUM"),))
    formula, value = _with(Total(DATA, "n"), data=data, dialect=Dialect(ranges="column"))
    assert (formula, value) == ("SUM(Data!$B$2:$B$5)", 10)


def test_a_table_with_groups_or_units_is_no_table_object():
    columns = (Column("a", "A", ("x",)), Column("b", "B", (1,), unit="kg"))
    book = _alone(Sheet("S", columns, table_name="T"))
    assert not book.sheets[0].at.place.table


def test_a_column_with_a_lookup_that_finds_nothing_guards_every_lookup():
    page = Sheet(
        "Page",
        (
            Column("name", "Name", ("a", "z")),
            Column("n", "N", tuple(Lookup(DATA, "name", "key", "n") for _ in "az"), "integer"),
            Column("t", "T", tuple(Lookup(DATA, "name", "key", "key") for _ in "az")),
        ),
    )
    book = _alone(_data(), page)
    assert _cells(book, "Page", "n") == [
        ("IFERROR(VLOOKUP($A2,Data!$A$2:$B$5,2,FALSE),0)", 1),
        ("IFERROR(VLOOKUP($A3,Data!$A$2:$B$5,2,FALSE),0)", 0),
    ]
    assert _cells(book, "Page", "t")[1] == ('IFERROR(VLOOKUP($A3,Data!$A$2:$A$5,1,FALSE),"")', "")


@pytest.mark.parametrize(
    ("text", "where", "looked_up"),
    [("AB", 3, "1"), ("a*", 7, "1"), ("?c", 4, "4"), ("7", 24, "8"), ("07", 24, None)],
)
def test_texts_are_found_as_a_spreadsheet_program_finds_them(text, where, looked_up):
    """SUMIFS takes texts that read as numbers for numbers, lookups do not; both know * and ?."""
    data = Sheet(
        "Data",
        (
            Column("key", "Key", ("ab", "Ab", "ac", 7, "7")),
            Column("n", "N", (1, 2, 4, 16, 8), "integer"),
        ),
    )
    page = Sheet(
        "Page",
        (
            Column("name", "Name", (text,)),
            Column("sum", "Sum", (TotalWhere(DATA, "n", "key", "name"),), "integer"),
            Column("first", "First", (Lookup(DATA, "name", "key", "n"),), "integer"),
        ),
    )
    book = _alone(data, page)
    assert _cells(book, "Page", "sum")[0][1] == where
    assert _cells(book, "Page", "first")[0][1] == int(looked_up or 0)


def test_a_three_dimensional_sum_goes_through_the_tabs_in_order():
    sheets = [_data(name) for name in ("Jan 24", "Feb 24", "Mar 24")]
    recipe = Through("Jan 24", "Mar 24", "n", 1)
    page = Sheet("Page", (Column("x", "X", (recipe,), "integer"), Column("y", "Y", ("b",))))
    assert _cells(_alone(*sheets, page), "Page", "x") == [("SUM('Jan 24:Mar 24'!B3)", 6)]


def test_a_three_dimensional_sum_over_unequal_layouts_is_refused():
    moved = _data("Feb", layout=Layout(("Title",)))
    page = Sheet("Page", (Column("x", "X", (Through("Jan", "Feb", "n", 1),)),))
    with pytest.raises(ValueError, match="unequal layout"):
        _alone(_data("Jan"), moved, page)


def test_dates_stay_dates_only_in_columns_of_dates():
    day = date(2024, 3, 1)
    data = Sheet("Data", (Column("day", "Day", (day, date(2024, 2, 1)), "date"),))
    page = Sheet(
        "Page",
        (
            Column("last", "Last", (Total(DATA, "day", "MAX"),), "date"),
            Column("next", "Next", (Combine("+", Own("last"), Number(1)),), "date"),
            Column("age", "Age", (Combine("-", Own("next"), Take(DATA, "day", 1)),), "integer"),
            Column("number", "Number", (Take(DATA, "day", 0),), "integer"),
        ),
    )
    book = _alone(data, page)
    values = [_cells(book, "Page", name)[0][1] for name in ("last", "next", "age", "number")]
    assert values == [day, date(2024, 3, 2), 30, 45352]


def test_a_running_balance_of_many_rows_needs_no_deep_stack():
    rows = 20_000
    balance = [
        Number(1),
        *(Combine("+", Take(SheetAt("S"), "b", row), Own("n")) for row in range(rows - 1)),
    ]
    sheet = Sheet(
        "S", (Column("n", "N", (1,) * rows, "integer"), Column("b", "B", tuple(balance), "integer"))
    )
    assert _cells(_alone(sheet), "S", "b")[-1] == (f"B{rows}+A{rows + 1}", rows)


def test_the_other_workbook_has_a_number_and_its_values_are_kept():
    values = Values({b.path: b for b in (store(), report())}.get)
    book = compiled(report(), lambda _path: None, values)
    [external] = book.externals
    assert external.path == "stock/Store.xlsx"
    assert external.tabs == ("Things", "Jan", "Feb", "Mar", "Summary", "Lists")
    kept = {(tab, row, column): value for tab, row, column, value in external.cells}
    assert kept["Things", 6, 2] == "TH-100"
    assert kept["Jan", 5, 1] == date(2024, 1, 1)
    assert ("Jan", 5, 7) not in kept  # nobody takes the stock
    assert _cells(book, "Overview", "first")[0] == ("[1]Jan!A5", date(2024, 1, 1))


def test_names_of_ranges_are_different_and_no_addresses():
    pages = [Sheet(name, (Column("a", "A", (1, 2)),)) for name in ("Q1", "Q 1", "2024")]
    totals = tuple(Total(SheetAt(page.name), "a") for page in pages)
    page = Sheet("Page", (Column("x", "X", totals, "integer"),))
    book = _alone(*pages, page, dialect=Dialect(ranges="name"))
    assert [text for text, _ in _cells(book, "Page", "x")] == [
        "SUM(Q1_a)",
        "SUM(Q_1_a)",
        "SUM(_2024_a)",
    ]
    assert dict(book.names)["Q1_a"] == "'Q1'!$A$2:$A$3"


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (Take(SheetAt("Gone"), "n", 0), "book.xlsx#Gone, which does not exist"),
        (Take(SheetAt("Data", "gone.xlsx"), "n", 0), "gone.xlsx#Data, which does not exist"),
        (Take(DATA, "gone", 0), "has no column 'gone'"),
        (Take(DATA, "n", 4), "none is row 4"),
        (Combine("+", Own("name"), Number(1)), "calculates with text"),
        (Own("made"), "are circular"),
        (TotalWhere(DATA, "n", "key", "odd"), "begins like a comparison"),
    ],
)
def test_a_recipe_that_cannot_be_calculated_is_refused_by_name(recipe, message):
    page = Sheet(
        "Page",
        (
            Column("name", "Name", ("b",)),
            Column("odd", "Odd", (">5",)),
            Column("made", "Made", (recipe,), "amount"),
        ),
    )
    with pytest.raises(ValueError, match=message):
        _alone(_data(), page)


def test_a_circle_through_other_sheets_is_refused():
    one = Sheet("One", (Column("a", "A", (Total(SheetAt("Two"), "b"),)),))
    two = Sheet("Two", (Column("b", "B", (1, Take(SheetAt("One"), "a", 0))),))
    with pytest.raises(ValueError, match="are circular"):
        _alone(one, two)


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ((_data(hidden=True),), "at least one sheet must be visible"),
        ((_data("A"), _data("a")), "two tabs of the same name"),
        (
            (_data("A", table_name="T1x"), _data("B", table_name="t1X")),
            "two tables have the same name",
        ),
        ((_data("A", table_name="AB12"),), "cannot be the name of a table"),
        ((_data("A", totals=(("z", "SUM"),)),), "totals of columns that it does not have"),
        (
            (Sheet("A", (Column("x", "X", (1,)), Column("x", "Y", (1,)))),),
            "two columns of the same id",
        ),
        ((Sheet("A", (Column("x", "X", (1,)), Column("y", "Y", ()))),), "do not have 1 cells"),
        (
            (_data("A", choices=(Choices("key", SheetAt("B", "b.xlsx"), "key"),)),),
            "cannot show another workbook",
        ),
    ],
)
def test_what_no_workbook_can_hold_is_refused(sheets, message):
    with pytest.raises(ValueError, match=message):
        _alone(*sheets)


def test_every_dialect_comes_to_the_same_values():
    seen = []
    for group in every_book():
        by_path = {book.path: book for book in group}
        values = Values(by_path.get)
        books = [compiled(book, by_path.get, values) for book in group]
        seen.append([column.values for book in books for s in book.sheets for column in s.columns])
    assert all(each == seen[0] for each in seen[1:])


_LEAVES = st.one_of(
    st.integers(-3, 9).map(lambda value: Number(float(value))),
    st.sampled_from([Own("a"), Own("b")]),
)
_TREES = st.recursive(
    _LEAVES, lambda inner: st.builds(Combine, st.sampled_from("+-*/"), inner, inner), max_leaves=12
)


class _Exact:
    """A number in a formula's text, read as a spreadsheet program reads it."""

    def __init__(self, value: Fraction) -> None:
        self.value = value

    def __add__(self, other):
        return _Exact(self.value + other.value)

    def __sub__(self, other):
        return _Exact(self.value - other.value)

    def __mul__(self, other):
        return _Exact(self.value * other.value)

    def __truediv__(self, other):
        return _Exact(self.value / other.value if other.value else Fraction(0))

    def __neg__(self):
        return _Exact(-self.value)

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


@given(_TREES, st.integers(0, 5), st.integers(0, 5))
def test_text_and_value_of_calculations_agree(tree, a, b):
    columns = (
        Column("a", "A", (a,)),
        Column("b", "B", (b,)),
        Column("c", "C", (Combine("+", tree, Number(0)),), "amount"),
    )
    [(text, value)] = _cells(_alone(Sheet("S", columns)), "S", "c")
    cells = {"A2": _Exact(Fraction(a)), "B2": _Exact(Fraction(b))}
    python = re.sub(r"(?<![A-Z\d])(\d+)", r"number(\1)", text.replace("=", "=="))
    scope = {
        **cells,
        "number": lambda each: _Exact(Fraction(each)),
        "IF": lambda condition, then, otherwise: then if condition else otherwise,
    }
    assert float(eval(python, scope).value) == pytest.approx(value, rel=1e-9, abs=1e-9)
