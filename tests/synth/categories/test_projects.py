from functools import cache

import pytest

from tests.synth.categories.checks import SEEDS, grids, made, sheets


@cache
def projects(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("projects", seed)
    return books, grids(books)


def by_year(seed, kind):
    """Calculated cells of the sheets of a kind by year."""
    books, cells = projects(seed)
    return {
        sheet.facts.period.year: cells[book.path, sheet.name] for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_the_registry_gathers_budgets_and_the_latest_progress(seed):
    budgets, progress = by_year(seed, "budget"), by_year(seed, "progress")
    for year, registry in by_year(seed, "registry").items():
        budget, reports = budgets[year], progress[year]
        for row, project in enumerate(registry["project_id"]):
            lines = [n for n, one in enumerate(budget["project_id"]) if one == project]
            assert lines
            assert registry["budget"][row] == sum(budget["total_budget"][n] for n in lines)
            assert registry["spent"][row] == sum(budget["used"][n] for n in lines)
            own = [n for n, one in enumerate(reports["project_id"]) if one == project]
            assert registry["completion"][row] == max(reports["actual"][n] for n in own)
        assert set(reports["project_id"]) == set(registry["project_id"])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_spent_that_was_not_granted(seed):
    for budget in by_year(seed, "budget").values():
        for total, used, left in zip(
            budget["total_budget"], budget["used"], budget["remaining"], strict=True
        ):
            assert 0 <= used <= total and left == total - used


def test_projects_keep_number_name_and_dates_over_the_years():
    known = {}
    for registry in by_year(1, "registry").values():
        facts = zip(
            registry["project_id"], registry["project_name"], registry["planned_end"], strict=True
        )
        for number, name, end in facts:
            assert known.setdefault(number, (name, end)) == (name, end)
    assert len({name for name, _ in known.values()}) == len(known) > 10


def test_progress_never_goes_back_within_a_year():
    for seed in SEEDS:
        for reports in by_year(seed, "progress").values():
            shares = {}
            for project, share in zip(reports["project_id"], reports["actual"], strict=True):
                shares.setdefault(project, []).append(share)
            for newest_first in shares.values():
                assert newest_first == sorted(newest_first, reverse=True)


def test_houses_differ_in_filing_and_columns():
    every = [made("projects", seed, (2022,)) for seed in range(16)]
    layouts = {
        tuple(column.id for column in sheet.columns)
        for books in every
        for _, sheet in sheets(books, "registry")
    }

    assert {len(books) for books in every} == {1, 4}
    assert len(layouts) >= 8
