from functools import cache

import pytest

from sat_retriever.synth.categories.institutions import KINDS
from tests.synth.categories.checks import SEEDS, TWO_YEARS, check_periods, grids, made, sheets

SUMMED = {
    "deposits": ("deposits", "total"),
    "financing": ("financing", "balance"),
    "quota": ("financing", "quota"),
    "notes": ("notes", "total_notes"),
    "pooled": ("pooling", "pooled"),
    "credit_used": ("credit", "used"),
}


@cache
def institutions(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("institutions", seed, TWO_YEARS)
    return books, grids(books)


def by_year(seed, kind):
    """Calculated cells of the sheets of a kind by year."""
    books, cells = institutions(seed)
    return {
        sheet.facts.period.year: cells[book.path, sheet.name] for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_an_institution_has_some_kinds_of_sheets_in_every_year(seed):
    kinds = [kind for kind in KINDS if by_year(seed, kind)]

    assert 4 <= len(kinds) <= 8
    for kind in kinds:
        check_periods(institutions(seed)[0], kind, TWO_YEARS)


@pytest.mark.parametrize("seed", SEEDS)
def test_key_figures_are_the_sums_of_the_other_sheets(seed):
    for year, figures in by_year(seed, "indicators").items():
        found = {column: of for column, of in SUMMED.items() if column in figures}
        assert found
        for column, (kind, taken) in found.items():
            source = by_year(seed, kind)[year]
            assert sum(figures[column]) == pytest.approx(sum(source[taken]))


@pytest.mark.parametrize("seed", SEEDS)
def test_units_have_one_name_and_type_everywhere(seed):
    books, cells = institutions(seed)
    known = {}
    for book in books:
        for sheet in book.sheets:
            grid = cells[book.path, sheet.name]
            for name in ("entity_name", "type", "subsidiary"):
                for unit, text in zip(grid["entity_id"], grid.get(name, ()), strict=False):
                    assert known.setdefault((unit, name), text) == text
    assert len(known) > 9


@pytest.mark.parametrize("seed", SEEDS)
def test_shares_are_shares(seed):
    for kind, name in (("financing", "usage"), ("credit", "use_rate"), ("pooling", "pooling_rate")):
        for grid in by_year(seed, kind).values():
            assert all(0 < share < 1 for share in grid.get(name, (0.5,)))


def test_institutions_differ_and_some_have_wide_sheets_and_names_that_say_nothing():
    every = [institutions(seed)[0] for seed in range(14)]
    kinds = {frozenset(s.facts.kind for book in books for s in book.sheets) for books in every}
    widths = {len(sheet.columns) for books in every for book in books for sheet in book.sheets}
    tabs = {sheet.name for books in every for book in books for sheet in book.sheets}

    assert len(kinds) >= 8
    assert max(widths) >= 15
    assert any(tab.casefold().startswith("test1") for tab in tabs)
    assert {len(books) > 2 for books in every} == {True, False}
