from dataclasses import replace
from functools import cache

import pytest

from sat_retriever.synth.book.model import Lookup, Take, Through
from sat_retriever.synth.categories.financial.company import ASSETS, Company, Habits, ledger
from sat_retriever.synth.categories.financial.lines import BALANCE_LONG, BALANCE_SHORT
from tests.synth.categories.checks import SEEDS, YEARS, grids, house, made, sheets


@cache
def accounts(seed):
    """The workbooks of a company and their calculated cells."""
    books = made("financial", seed)
    return books, grids(books)


STATEMENTS = ("balance_sheet", "income_statement", "cash_flow", "key_figures")


@pytest.mark.parametrize("seed", SEEDS)
def test_statements_balance_and_agree_with_the_ledger(seed):
    books, cells = accounts(seed)
    figures = ledger(house(seed), YEARS)
    company = Company.of(house(seed), YEARS)
    for book, sheet in sheets(books, "balance_sheet"):
        grid = cells[book.path, sheet.name]
        year = sheet.facts.period.year
        for column, of in (("current", year), ("previous", year - 1)):
            value = {
                line.id: amount
                for line, amount in zip(company.lines("balance_sheet"), grid[column], strict=True)
            }
            assert value["assets"] == value["funds"] == value["fixed"] + value["current"]
            assert value["cash"] == figures[of]["cash"] > 0
            assert value["ppe"] == sum(figures[of][asset] for asset in ASSETS)
    for book, sheet in sheets(books, "cash_flow"):
        grid = cells[book.path, sheet.name]
        assert grid["current"][-1] == figures[sheet.facts.period.year]["cash"]
        assert grid["previous"][-1] == figures[sheet.facts.period.year - 1]["cash"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_result_of_a_year_is_the_same_on_every_sheet(seed):
    books, cells = accounts(seed)
    figures = ledger(house(seed), YEARS)
    company = Company.of(house(seed), YEARS)
    for year in YEARS:
        quarters = []
        for kind in ("income_statement", "cash_flow"):
            row = company.row(kind, "net")
            for book, sheet in sheets(books, kind):
                if sheet.facts.period.year != year:
                    continue
                net = cells[book.path, sheet.name]["current"][row]
                if sheet.facts.period.part:
                    quarters.append(net)
                else:
                    assert net == figures[year]["net"]
        assert not quarters or (sum(quarters) == figures[year]["net"] and len(quarters) == 4)


def test_a_quarterly_company_sums_its_year_through_the_quarters():
    seed = next(seed for seed in range(99) if Habits.of(house(seed)).quarterly)
    books = made("financial", seed)
    yearly = [s for _, s in sheets(books, "income_statement") if not s.facts.period.part]

    for sheet in yearly:
        assert sum(isinstance(cell, Through) for cell in sheet.column("current").cells) >= 7


@pytest.mark.parametrize("how, recipe", [("take", Take), ("lookup", Lookup)])
def test_last_years_column_comes_from_last_years_workbook(how, recipe):
    seed = next(seed for seed in range(99) if Habits.of(house(seed)).previous == how)
    books = made("financial", seed)
    first, *later = [sheet for _, sheet in sheets(books, "balance_sheet")]

    def across(sheet):
        cells = sheet.column("previous").cells
        return [cell for cell in cells if isinstance(cell, recipe) and cell.at.book]

    assert not across(first)  # there is no workbook of the year before
    assert all(len(across(sheet)) >= 10 for sheet in later)


def test_companies_differ_in_columns_lines_and_files():
    every = [made("financial", seed, (2022,)) for seed in range(30)]
    columns = {
        tuple(column.id for column in sheet.columns)
        for books in every
        for _, sheet in sheets(books, "balance_sheet")
    }
    rows = {sheet.num_rows for books in every for _, sheet in sheets(books, "balance_sheet")}

    assert len(columns) >= 6
    assert rows == {len(BALANCE_SHORT), len(BALANCE_LONG)}
    assert {len(books) == 1 for books in every} == {True, False}


def test_a_single_year_has_no_overview():
    assert not list(sheets(made("financial", 1, (2022,)), "trend"))
    assert len(list(sheets(made("financial", 1), "trend"))) == 1


def test_one_names_wording_never_names_two_lines():
    company = Company.of(house(0), YEARS)
    for wording in range(3):
        for long in (False, True):
            habits = replace(company.habits, wording=wording, long=long)
            for kind in STATEMENTS[:3]:
                each = replace(company, habits=habits)
                names = [each.name(line) for line in each.lines(kind)]
                assert len(set(names)) == len(names), names
