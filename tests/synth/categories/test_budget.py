from functools import cache

import pytest

from sat_retriever.synth.book.model import Through, TotalWhere
from sat_retriever.synth.categories.budget.company import Habits
from tests.synth.categories.checks import SEEDS, YEARS, grids, house, made, sheets


@cache
def plans(seed):
    """The workbooks of a company and their calculated cells."""
    books = made("budget", seed)
    return books, grids(books)


def by_year(seed, kind):
    """Calculated cells of the sheets of a kind, by (year, part)."""
    books, cells = plans(seed)
    return {
        (sheet.facts.period.year, sheet.facts.period.part): cells[book.path, sheet.name]
        for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_the_summary_has_the_sums_of_the_lines(seed):
    lines, totals = by_year(seed, "annual"), by_year(seed, "summary")

    assert len(totals) == len(YEARS)
    for when, total in totals.items():
        for row, department in enumerate(total["department"]):
            rows = [i for i, name in enumerate(lines[when]["department"]) if name == department]
            for name in ("planned", "approved", "actual"):
                assert total[name][row] == sum(lines[when][name][i] for i in rows)
            spent, granted = total["actual"][row], total["approved"][row]
            assert total["variance"][row] == granted - spent
            assert 0.5 < spent / granted < 1.5


@pytest.mark.parametrize("seed", SEEDS)
def test_four_quarterly_reviews_make_the_year(seed):
    reviews, totals = by_year(seed, "quarterly"), by_year(seed, "summary")
    for year in YEARS:
        quarters = [reviews[year, part] for part in range(1, 5)]
        for name, whole in (("actual", "actual"), ("budget", "approved")):
            for row, amount in enumerate(totals[year, 0][whole]):
                assert sum(quarter[name][row] for quarter in quarters) == amount
                assert quarters[-1][f"ytd_{name}"][row] == amount
        if "reviewed" in totals[year, 0]:
            assert totals[year, 0]["reviewed"] == totals[year, 0]["actual"]


def test_people_carry_over_and_their_cost_is_budgeted():
    seed = next(s for s in range(99) if "headcount" in Habits.of(house(s)).kinds)
    staff, lines = by_year(seed, "headcount"), by_year(seed, "annual")
    for year in YEARS:
        if year > YEARS[0]:
            assert staff[year, 0]["opening"] == staff[year - 1, 0]["closing"]
        assert min(staff[year, 0]["closing"]) > 0
        rows = zip(lines[year, 0]["category"], lines[year, 0]["planned"], strict=True)
        assert [planned for name, planned in rows if name == "Personnel"] == list(
            staff[year, 0]["cost"]
        )


def test_expenses_and_capital_projects_agree_with_the_budget():
    kinds = {"opex", "capex"}
    seed = next(s for s in range(99) if kinds <= set(Habits.of(house(s)).kinds))
    expenses, lines = by_year(seed, "opex"), by_year(seed, "annual")
    projects: dict[str, str] = {}
    for year in YEARS:
        assert sum(expenses[year, 0]["total"]) == sum(lines[year, 0]["approved"])
    for grid in by_year(seed, "capex").values():
        for project, name in zip(grid["project_id"], grid["project"], strict=True):
            assert projects.setdefault(project, name) == name
    assert len(projects) > len(grid["project"])  # some are new each year


def test_reviews_inside_the_workbook_are_summed_through():
    seed = next(s for s in range(99) if Habits.of(house(s)).reviews == "inside")
    for _, sheet in sheets(made("budget", seed), "summary"):
        assert all(isinstance(cell, Through) for cell in sheet.column("reviewed").cells)
        assert all(isinstance(cell, TotalWhere) for cell in sheet.column("planned").cells)


def test_choices_are_of_the_hidden_lists():
    seed = next(s for s in range(99) if Habits.of(house(s)).listed)
    found = 0
    for book in made("budget", seed):
        for sheet in book.sheets:
            for choice in sheet.choices:
                there = book.sheet(choice.at.sheet)
                assert there.hidden and there.facts is None
                allowed = there.column(choice.source).cells
                assert set(sheet.column(choice.column).cells) <= set(allowed)
                found += 1
    assert found == 3 * len(YEARS)


def test_companies_differ_in_columns_kinds_and_files():
    every = [made("budget", seed, (2022,)) for seed in range(30)]
    columns = {
        tuple(column.id for column in sheet.columns)
        for books in every
        for _, sheet in sheets(books, "annual")
    }

    assert len(columns) >= 4
    assert {1, 2} < {len(books) for books in every}
    assert any(sheet.pivots for books in every for _, sheet in sheets(books, "summary"))
    assert any(sheet.charts for books in every for _, sheet in sheets(books, "summary"))
