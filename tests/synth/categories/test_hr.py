from functools import cache

import pytest

from sat_retriever.synth.book.model import Lookup
from tests.synth.categories.checks import SEEDS, grids, made, sheets


@cache
def hr(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("hr", seed)
    return books, grids(books)


def by_period(seed, kind):
    """Calculated cells of the sheets of a kind by (year, month or 0)."""
    books, cells = hr(seed)
    return {
        (sheet.facts.period.year, sheet.facts.period.part): cells[book.path, sheet.name]
        for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_pay_is_of_people_on_the_roster_and_adds_up(seed):
    rosters = by_period(seed, "roster")
    for (year, _), pay in by_period(seed, "payroll").items():
        roster = rosters[year, 0]
        base = dict(zip(roster["employee_id"], roster["base_salary"], strict=True))
        names = dict(zip(roster["employee_id"], roster["name"], strict=True))
        assert pay["employee_id"] == roster["employee_id"]
        for row, person in enumerate(pay["employee_id"]):
            assert pay["name"][row] == names[person]
            assert pay["base_salary"][row] == base[person]
            extras = sum(pay[name][row] for name in ("bonus", "overtime_pay", "allowance"))
            assert pay["gross"][row] == base[person] + extras
            kept = 1 - 0.105 - 0.16
            assert pay["net"][row] == pytest.approx(pay["gross"][row] * kept)


@pytest.mark.parametrize("seed", SEEDS)
def test_departments_sum_to_the_roster(seed):
    rosters, trainings = by_period(seed, "roster"), by_period(seed, "training")
    for when, summary in by_period(seed, "headcount").items():
        roster = rosters[when]
        assert set(roster["department"]) <= set(summary["department"])
        assert sum(summary["headcount"]) == pytest.approx(sum(roster["fte"]))
        assert sum(summary["salary_cost"]) == sum(roster["base_salary"])
        if "training_hours" in summary:
            assert sum(summary["training_hours"]) == sum(trainings[when]["hours"])
        if "share" in summary:
            assert sum(summary["share"]) == pytest.approx(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_days_at_work_and_on_leave_make_the_working_days(seed):
    leaves = by_period(seed, "leave")
    for when, days in by_period(seed, "attendance").items():
        for row, due in enumerate(days["workdays"]):
            assert days["attended"][row] + days["leave_days"][row] == due
            assert days["attended"][row] > 0
        if not when[1]:
            assert sum(days["leave_days"]) == sum(leaves[when]["days"])


def test_nobody_changes_number_name_or_birthday():
    people = {}
    for roster in by_period(2, "roster").values():
        for number, name in zip(roster["employee_id"], roster["name"], strict=True):
            assert people.setdefault(number, name) == name
    assert len(people) >= 20


def test_leaves_do_not_end_before_they_begin_nor_on_a_weekend():
    found = 0
    for seed in SEEDS:
        for leave in by_period(seed, "leave").values():
            for start, end in zip(leave["start"], leave.get("end", leave["start"]), strict=True):
                assert start <= end and end.weekday() < 5
                found += start < end
    assert found > 20


def test_choices_are_of_hidden_lists():
    found = 0
    for seed in range(8):
        for book in made("hr", seed, (2022,)):
            for sheet in book.sheets:
                for choice in sheet.choices:
                    there = book.sheet(choice.at.sheet)
                    assert there.hidden and there.facts is None
                    allowed = set(there.column(choice.source).cells)
                    assert set(sheet.column(choice.column).cells) <= allowed
                    found += 1
    assert found >= 5


def test_houses_differ_in_filing_columns_and_formulas():
    every = [made("hr", seed, (2022,)) for seed in range(14)]
    counts = {len(list(sheets(books, "payroll"))) for books in every}
    layouts = {
        tuple(column.id for column in sheet.columns)
        for books in every
        for _, sheet in sheets(books, "roster")
    }
    looked_up = {
        any(isinstance(cell, Lookup) for cell in sheet.column("name").cells)
        for books in every
        for _, sheet in sheets(books, "payroll")
    }

    assert counts == {1, 12}
    assert 1 in {len(books) for books in every} and len({len(books) for books in every}) >= 3
    assert len(layouts) >= 8
    assert looked_up == {True, False}
