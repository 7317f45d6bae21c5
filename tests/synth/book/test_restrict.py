from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.synth.book.model import (
    Combine,
    Lookup,
    Number,
    Own,
    SheetAt,
    Take,
    Through,
    Total,
)
from sat_retriever.synth.book.restrict import Keep, restricted, with_values
from sat_retriever.synth.calculate.evaluate import RECIPES, Values
from tests.synth.small_books import sales, unit

STAFF, SALES = "hr/Acme_Staff.xlsx", "sales/Acme_Sales_2024.xlsx"


def everything(books):
    return {(book.path, sheet.name): Keep() for book in books for sheet in book.sheets}


def cut(books, **changes):
    """The books with changes by tab; None drops the tab."""
    keep = {
        tab: changes.get(tab[1], kept)
        for tab, kept in everything(books).items()
        if changes.get(tab[1], kept) is not None
    }
    return {book.path: book for book in restricted(books, keep)}


def values(books, path, tab, column):
    by_path = {book.path: book for book in books}
    known = Values(by_path.get)
    at = next(at for at in known.add(by_path[path]) if at.sheet.name == tab)
    return list(known.values(at, column))


def column(books, tab, column_id, path=SALES):
    return books[path].sheet(tab).column(column_id)


def test_books_of_which_all_is_kept_are_the_same():
    assert restricted(unit(), everything(unit())) == unit()


def test_what_needs_a_dropped_sheet_becomes_the_value_it_had():
    books = unit()
    left = cut(books, Jan=None)
    assert values(books, SALES, "Summary", "all") == [38, 38]
    assert column(left, "Summary", "all").cells == (38, Total(SheetAt("Feb"), "hours"))
    assert column(left, "Summary", "run").cells == (24, Number(1.0))
    assert column(left, "Summary", "part").cells[0] == pytest.approx(11 / 46)
    assert left[SALES].sheet("Summary").charts == ()
    assert left[SALES].sheet("Summary").pivots == sales().sheet("Summary").pivots


def test_a_dropped_workbook_is_gone_and_lookups_in_it_are_values():
    left = cut(unit(), Staff=None)
    assert list(left) == [SALES]
    assert column(left, "Jan", "rate").cells == (10.0, 11.0, 12.0, 13.0)
    assert column(left, "Jan", "pay").cells == (Combine("*", Own("hours"), Own("rate")),) * 4


def test_what_needs_a_dropped_column_becomes_the_value_it_had():
    left = cut(unit(), Jan=Keep(columns=frozenset({"id", "region", "hours", "pay"})))
    assert column(left, "Jan", "pay").cells == (80.0, 99.0, 120.0, 143.0)
    left = cut(unit(), Mar=Keep(columns=frozenset({"id", "hours"})))
    assert column(left, "Summary", "of").cells == (18, 20)


def test_choices_pivots_charts_and_totals_of_dropped_columns_are_gone():
    left = cut(unit(), Jan=Keep(frozenset({"id", "pay"})), Feb=Keep(frozenset({"id", "hours"})))
    jan, feb, summary = (left[SALES].sheet(tab) for tab in ("Jan", "Feb", "Summary"))
    assert jan.choices == feb.choices == summary.charts == summary.pivots == ()
    assert jan.totals == (("pay", "SUM"),)
    assert feb.totals == (("hours", "SUM"),)
    assert cut(unit(), Lists=None)[SALES].sheet("Mar").choices == ()


def test_the_column_that_comes_first_has_no_total_but_the_label():
    assert cut(unit(), Jan=Keep(frozenset({"hours", "pay"})))[SALES].sheets[0].totals == (
        ("pay", "SUM"),
    )


def test_rows_are_renumbered_and_totals_are_of_what_is_left():
    left = cut(unit(), Jan=Keep(rows=(1, 3)))
    assert column(left, "Summary", "part").cells[0].left == Take(SheetAt("Jan"), "hours", 1)
    books = tuple(left.values())
    assert values(books, SALES, "Summary", "all")[0] == 9 + 11
    assert column(left, "Jan", "id").cells == ("E01", "E03")


def test_a_cell_of_a_dropped_row_is_taken_as_a_value():
    left = cut(unit(), Jan=Keep(rows=(0, 1)))
    assert column(left, "Summary", "part").cells[0] == pytest.approx(11 / 46)


def test_a_lookup_whose_row_is_gone_becomes_a_value():
    left = cut(unit(), Staff=Keep(rows=(0, 2)))
    cells = column(left, "Jan", "rate").cells
    assert [isinstance(cell, Lookup) for cell in cells] == [True, False, True, False]
    assert values(tuple(left.values()), SALES, "Jan", "rate") == [10.0, 11.0, 12.0, 13.0]


def test_a_3d_sum_stays_while_its_sheets_are_cut_alike():
    kept = Keep(frozenset({"id", "hours"}), (0, 2))
    left = cut(unit(), Jan=kept, Feb=kept, Mar=kept)
    assert column(left, "Summary", "run").cells[0] == Through("Jan", "Mar", "hours", 0)
    for other in (Keep(frozenset({"hours"}), (0, 2)), replace(kept, rows=(1, 2))):
        left = cut(unit(), Jan=kept, Feb=other, Mar=kept)
        assert column(left, "Summary", "run").cells[0] == 24


def test_a_3d_sum_is_a_value_when_a_sheet_in_its_middle_goes():
    assert column(cut(unit(), Feb=None), "Summary", "run").cells[0] == 24


def test_a_workbook_always_shows_a_sheet():
    (book,) = restricted(unit(), {(SALES, "Lists"): Keep()})
    assert [(sheet.name, sheet.hidden) for sheet in book.sheets] == [("Lists", False)]


def test_facts_lose_dropped_keys_and_get_a_schema_of_their_own():
    before = sales().sheet("Jan").facts
    rows_only = cut(unit(), Jan=Keep(rows=(0,)))[SALES].sheet("Jan").facts
    less = cut(unit(), Jan=Keep(frozenset({"id", "hours"})))[SALES].sheet("Jan").facts
    keyless = cut(unit(), Jan=Keep(frozenset({"hours"})))[SALES].sheet("Jan").facts
    assert rows_only == before
    assert less.keys == ("Employee ID",)
    assert keyless.keys == ()
    assert len({before.schema, less.schema, keyless.schema}) == 3


def test_a_reference_outside_of_the_books_is_refused():
    with pytest.raises(ValueError, match="which does not exist"):
        restricted((sales(),), {(SALES, "Jan"): Keep(frozenset({"pay"}))})


def test_picked_recipes_become_values_and_others_stay():
    _, book = with_values(unit(), lambda book, sheet, leaf: isinstance(leaf, Total))
    summary = book.sheet("Summary")
    assert summary.column("all").cells == (38, 38)
    assert summary.column("run").cells == sales().sheet("Summary").column("run").cells
    assert isinstance(book.sheet("Jan").column("rate").cells[0], Lookup)


subsets = st.builds(
    Keep,
    st.frozensets(st.sampled_from(["id", "region", "day", "hours", "rate", "pay"]), min_size=1),
    st.lists(st.integers(0, 3), unique=True).map(lambda rows: tuple(sorted(rows))),
)


@given(st.dictionaries(st.sampled_from(["Jan", "Feb", "Mar"]), st.none() | subsets), st.booleans())
def test_whatever_is_cut_all_cells_of_one_row_keep_their_values(changes, with_staff):
    """Only totals may change: they are of the rows that are left."""
    books = unit()
    left = tuple(cut(books, **changes, **({} if with_staff else {"Staff": None})).values())
    for book in left:
        for sheet in book.sheets:
            if sheet.name == "Summary":
                continue
            kept = changes.get(sheet.name) or Keep()
            for each in sheet.columns:
                old = values(books, book.path, sheet.name, each.id)
                rows = kept.rows if kept.rows is not None else range(len(old))
                assert values(left, book.path, sheet.name, each.id) == [old[row] for row in rows]


@given(st.dictionaries(st.sampled_from(["Jan", "Feb", "Mar"]), st.none() | subsets))
def test_whatever_columns_and_sheets_go_all_cells_keep_their_values(changes):
    books = unit()
    changes = {tab: keep and replace(keep, rows=None) for tab, keep in changes.items()}
    left = tuple(cut(books, **changes).values())
    summary = next(book for book in left if book.path == SALES).sheet("Summary")
    for each in summary.columns:
        assert values(left, SALES, "Summary", each.id) == pytest.approx(
            values(books, SALES, "Summary", each.id)
        )


def test_no_recipe_is_left_of_a_sheet_that_stands_alone():
    (book,) = restricted(
        unit(), {(SALES, "Summary"): Keep(frozenset({"region", "all", "of", "run"}))}
    )
    recipes = [
        cell
        for each in book.sheets[0].columns
        for cell in each.cells
        if isinstance(cell, RECIPES) and not isinstance(cell, Number)
    ]
    assert recipes == []
