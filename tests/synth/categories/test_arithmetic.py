"""The figures of made workbooks agree with each other, within a sheet and between sheets."""

from itertools import pairwise
from statistics import fmean

import pytest

from sat_retriever.synth.book.model import Lookup, Take, Through, TotalWhere
from sat_retriever.synth.categories import budget, financial, sales
from sat_retriever.synth.categories.filing import habits
from tests.synth.categories.checks import (
    SEEDS,
    YEARS,
    by_period,
    house,
    made,
    records,
    sheets,
    summed,
    tables,
)

every_seed = pytest.mark.parametrize("seed", SEEDS)


def seed_with(category, declared, wanted):
    """A seed whose house has a habit."""
    return next(s for s in range(99) if wanted(habits(house(s), category, declared)))


# financial


@every_seed
def test_statements_balance_and_agree_with_the_ledger(seed):
    years = YEARS["financial"]
    accounts, figures = (
        make(house(seed), years) for make in (financial.Accounts.of, financial.ledger)
    )
    for (year, _), grid in by_period("financial", seed, "balance_sheet").items():
        for column, of in (("current", year), ("previous", year - 1)):
            ids = [line.id for line in accounts.lines("balance_sheet")]
            value = dict(zip(ids, grid[column], strict=True))
            assert value["assets"] == value["funds"] == value["fixed"] + value["current"]
            assert value["cash"] == figures[of]["cash"] > 0
            assert value["ppe"] == sum(figures[of][asset] for asset in financial.ASSETS)
    for (year, _), grid in by_period("financial", seed, "cash_flow").items():
        assert grid["current"][-1] == figures[year]["cash"]
        assert grid["previous"][-1] == figures[year - 1]["cash"]
    for kind in ("income_statement", "cash_flow"):
        net = {
            when: grid["current"][accounts.row(kind, "net")]
            for when, grid in by_period("financial", seed, kind).items()
        }
        for year in years:
            quarters = [amount for when, amount in net.items() if when[0] == year and when[1]]
            assert net[year, 0] == figures[year]["net"]
            assert len(quarters) in (0, 4) and sum(quarters) in (0, figures[year]["net"])


def test_a_quarterly_company_sums_its_year_through_the_quarters():
    seed = seed_with("financial", financial.HABITS, lambda kept: kept.quarterly)
    for sheet, _ in tables("financial", seed, "income_statement"):
        cells = sheet.column("current").cells
        assert sheet.facts.period.part or sum(isinstance(each, Through) for each in cells) >= 7


@pytest.mark.parametrize(("how", "recipe"), [("take", Take), ("lookup", Lookup)])
def test_last_years_column_comes_from_last_years_workbook(how, recipe):
    seed = seed_with("financial", financial.HABITS, lambda kept: kept.previous == how)
    across = [
        [
            cell
            for cell in sheet.column("previous").cells
            if isinstance(cell, recipe) and cell.at.book
        ]
        for sheet, _ in tables("financial", seed, "balance_sheet")
    ]
    assert not across[0]  # there is no workbook of the year before
    assert all(len(cells) >= 10 for cells in across[1:])


def test_a_single_year_has_no_overview():
    assert not list(sheets(made("financial", 1, (2022,)), "trend"))
    assert len(list(sheets(made("financial", 1), "trend"))) == 1


@pytest.mark.parametrize("statement", financial.STATEMENTS)
@pytest.mark.parametrize("long", [True, False])
def test_one_names_wording_never_names_two_lines(statement, long):
    lines = financial.statement_lines(statement, long=long)
    for wording in range(3):
        assert len({line.names[wording % len(line.names)] for line in lines}) == len(lines)


# budget


@every_seed
def test_budgets_are_summed_by_department_and_quarter(seed):
    reviews = by_period("budget", seed, "quarterly")
    lines = by_period("budget", seed, "annual")
    for when, total in by_period("budget", seed, "summary").items():
        for name in ("planned", "approved", "actual"):
            found = dict(zip(total["department"], total[name], strict=True))
            assert found == summed(lines[when], name, "department")
        for row in records(total):
            assert row["variance"] == row["approved"] - row["actual"]
            assert 0.5 < row["actual"] / row["approved"] < 1.5
            assert row.get("reviewed", row["actual"]) == row["actual"]
        quarters = [reviews[when[0], part] for part in range(1, 5)]
        for name, whole in (("actual", "actual"), ("budget", "approved")):
            parts = zip(*(quarter[name] for quarter in quarters), strict=True)
            assert [*map(sum, parts)] == [*total[whole]] == [*quarters[-1][f"ytd_{name}"]]


def test_people_carry_over_and_their_cost_is_budgeted():
    seed = seed_with("budget", budget.HABITS, lambda kept: "headcount" in kept.kinds)
    lines, before = by_period("budget", seed, "annual"), None
    for when, staff in by_period("budget", seed, "headcount").items():
        assert before is None or staff["opening"] == before
        before = staff["closing"]
        assert min(before) > 0
        planned = [row["planned"] for row in records(lines[when]) if row["category"] == "Personnel"]
        assert planned == [*staff["cost"]]


def test_expenses_and_capital_projects_agree_with_the_budget():
    seed = seed_with("budget", budget.HABITS, lambda kept: {"opex", "capex"} <= {*kept.kinds})
    lines = by_period("budget", seed, "annual")
    for when, expenses in by_period("budget", seed, "opex").items():
        assert sum(expenses["total"]) == sum(lines[when]["approved"])
    projects = [{*grid["project_id"]} for grid in by_period("budget", seed, "capex").values()]
    assert all(first != second and first & second for first, second in pairwise(projects))


def test_reviews_inside_the_workbook_are_summed_through():
    seed = seed_with("budget", budget.HABITS, lambda kept: kept.reviews == "inside")
    for sheet, _ in tables("budget", seed, "summary"):
        assert all(isinstance(cell, Through) for cell in sheet.column("reviewed").cells)
        assert all(isinstance(cell, TotalWhere) for cell in sheet.column("planned").cells)


# sales


@every_seed
def test_order_lines_are_dated_priced_and_multiplied_out(seed):
    numbers: list[str] = []
    for sheet, grid in tables("sales", seed, "orders"):
        period = sheet.facts.period
        assert all(first <= second for first, second in pairwise(grid["date"]))
        for row in records(grid):
            month = row["date"].month
            part = month if period.grain == "month" else (month + 2) // 3
            assert (row["date"].year, part) == (period.year, period.part)
            expected = row["quantity"] * row["price"] * (1 - row.get("discount", 0))
            assert row["revenue"] == pytest.approx(expected) and row["revenue"] > 0
        numbers += grid["order"]
    assert len(set(numbers)) == len(numbers)


@every_seed
def test_summaries_of_regions_and_products_agree_with_the_orders(seed):
    for year in YEARS["sales"]:

        def grids(kind, year=year):
            return [
                grid for when, grid in by_period("sales", seed, kind).items() if when[0] == year
            ]

        lines = [row for grid in grids("orders") for row in records(grid)]
        revenue = sum(row["revenue"] for row in lines)
        [annual] = grids("annual")
        assert sum(annual["orders"]) == len(lines)
        assert sum(annual["revenue"]) == pytest.approx(revenue)
        for kind, column in (
            ("annual_regions", "total"),
            ("targets", "actual"),
            ("by_product", "revenue"),
            ("by_region", "revenue"),
        ):
            if found := grids(kind):
                assert sum(sum(grid[column]) for grid in found) == pytest.approx(revenue), kind


def test_targets_are_neither_hopeless_nor_idle():
    rates = [
        r for s in SEEDS for _, grid in tables("sales", s, "targets") for r in grid["achievement"]
    ]
    assert 0.6 < fmean(rates) < 1.6


def test_monthly_tabs_and_yearly_workbooks_are_some_companies_way():
    for split, tabs, files in (("months", 12, 4), ("years", 4, 1)):
        seed = seed_with("sales", sales.HABITS, lambda kept, split=split: kept.split == split)
        found = [book.path for book, _ in sheets(made("sales", seed, (2022,)), "orders")]
        assert (len(found), len(set(found))) == (tabs, files)


# inventory


@pytest.mark.parametrize("seed", range(6))
def test_stocks_add_up_from_month_to_month_and_counts_are_near_them(seed):
    entries, exits, counts = (
        by_period("inventory", seed, kind) for kind in ("entry", "exit", "stocktake")
    )
    [register] = by_period("inventory", seed, "register").values()
    prices = dict(zip(register["material_code"], register["unit_price"], strict=True))
    ledgers, before = by_period("inventory", seed, "ledger"), None
    assert len(ledgers) == 24
    for when, ledger in sorted(ledgers.items()):
        came = summed(entries[when], "entry_quantity", "material_code")
        went = summed(exits[when], "exit_quantity", "material_code")
        for row in records(ledger):
            code = row["material_code"]
            assert (row["inbound"], row["outbound"]) == (came[code], went[code])
            assert row["closing"] == row["opening"] + row["inbound"] - row["outbound"] > 0
        assert before is None or ledger["opening"] == before
        before = ledger["closing"]
        closing = dict(zip(ledger["material_code"], before, strict=True))
        for row in records(counts[when]):
            assert row["book_quantity"] == closing[row["material_code"]]
            assert row["variance"] == row["counted"] - row["book_quantity"]
            assert abs(row["variance"]) <= 5
            assert row["unit_price"] == prices[row["material_code"]]
    year = by_period("inventory", seed, "annual")[2023, 0]
    months = [ledger for when, ledger in sorted(ledgers.items()) if when[0] == 2023]
    for name in ("inbound", "outbound"):
        parts = [month[name] for month in months]
        if "material_code" in year:
            parts = zip(*parts, strict=True)
        assert [*year[name]] == [*map(sum, parts)]
    if "material_code" in year:
        assert (year["opening"], year["closing"]) == (months[0]["opening"], before)


def test_a_month_is_the_same_whatever_years_are_made():
    alone = {
        sheet.facts.period.label: sheet
        for _, sheet in sheets(made("inventory", 1, (2023,)), "exit")
    }
    both = {sheet.facts.period.label: sheet for _, sheet in sheets(made("inventory", 1), "exit")}
    assert len(alone) == 12 and alone.items() <= both.items()


# hr


@every_seed
def test_pay_is_of_people_on_the_roster_and_adds_up(seed):
    rosters = by_period("hr", seed, "roster")
    for (year, _), pay in by_period("hr", seed, "payroll").items():
        roster = rosters[year, 0]
        assert pay["employee_id"] == roster["employee_id"]
        assert [*pay["base_salary"]] == [*roster["base_salary"]]
        for row in records(pay):
            extras = row["bonus"] + row["overtime_pay"] + row["allowance"]
            assert row["gross"] == row["base_salary"] + extras
            assert row["net"] == pytest.approx(row["gross"] * (1 - 0.105 - 0.16))


@every_seed
def test_departments_sum_to_the_roster_and_days_to_the_working_days(seed):
    rosters, trainings, leaves = (
        by_period("hr", seed, kind) for kind in ("roster", "training", "leave")
    )
    for when, summary in by_period("hr", seed, "headcount").items():
        roster = rosters[when]
        assert set(roster["department"]) <= set(summary["department"])
        assert sum(summary["headcount"]) == pytest.approx(sum(roster["fte"]))
        assert sum(summary["salary_cost"]) == sum(roster["base_salary"])
        assert sum(summary.get("training_hours", trainings[when]["hours"])) == sum(
            trainings[when]["hours"]
        )
        assert sum(summary.get("share", [1])) == pytest.approx(1)
    for when, days in by_period("hr", seed, "attendance").items():
        for row in records(days):
            assert row["attended"] + row["leave_days"] == row["workdays"] > row["leave_days"]
        assert when[1] or sum(days["leave_days"]) == sum(leaves[when]["days"])
    for leave in leaves.values():
        for row in records(leave):
            assert row["start"] <= row.get("end", row["start"])
            assert row.get("end", row["start"]).weekday() < 5


# projects


@every_seed
def test_the_registry_gathers_budgets_and_the_latest_progress(seed):
    budgets, progress = (by_period("projects", seed, kind) for kind in ("budget", "progress"))
    known: dict[str, object] = {}
    for when, registry in by_period("projects", seed, "registry").items():
        granted, used = (
            summed(budgets[when], name, "project_id") for name in ("total_budget", "used")
        )
        shares: dict[str, list[float]] = {}
        for row in records(progress[when]):
            shares.setdefault(row["project_id"], []).append(row["actual"])
        assert set(shares) == set(registry["project_id"])
        for row in records(registry):
            project = row["project_id"]
            assert (row["budget"], row["spent"]) == (granted[project], used[project])
            assert shares[project] == sorted(shares[project], reverse=True)  # newest first
            assert row["completion"] == shares[project][0]
            assert known.setdefault(project, row["planned_end"]) == row["planned_end"]
        for row in records(budgets[when]):
            assert 0 <= row["used"] <= row["total_budget"]
            assert row["remaining"] == row["total_budget"] - row["used"]


# stock, indices


@every_seed
def test_quotes_lie_between_low_and_high_and_are_summed_and_watched(seed):
    quotes = by_period("stock", seed, "daily")
    assert len(quotes) == 8
    for grid in quotes.values():
        for row in records(grid):
            assert 0 < row["low"] <= min(row["close"], row["open"])
            assert max(row["close"], row["open"]) <= row["high"]
            assert row["amount"] == pytest.approx(row["volume"] * row["close"] / 10)
            assert 0.8 < row["close"] / row.get("previous", row["close"]) < 1.25
    for (year, _), summary in by_period("stock", seed, "summary").items():
        every = [quotes[year, quarter] for quarter in range(1, 5)]
        if "quarter" in summary:
            assert [*summary["high"]] == [max(quarter["high"]) for quarter in every]
            assert [*summary["low"]] == [min(quarter["low"]) for quarter in every]
            assert [*summary["volume"]] == [sum(quarter["volume"]) for quarter in every]
        else:
            assert sum(summary["total_volume"]) == sum(sum(quarter["volume"]) for quarter in every)
            assert set(summary["code"]) == set(every[0]["code"])
    for (year, _), watch in by_period("stock", seed, "watch").items():
        closes = dict(zip(watch["code"], watch["last_close"], strict=True))
        latest = max(quotes[year, 4]["date"])
        for row in records(quotes[year, 4]):
            assert row["date"] < latest or closes[row["code"]] == row["close"]


@every_seed
def test_the_overview_has_every_market_as_its_own_sheet_has_it(seed):
    levels = {
        (sheet.facts.period, grid["ticker"][0]): (sheet.facts.period.family, grid)
        for sheet, grid in tables("indices", seed, "levels")
    }
    levels = {(key[0].label, key[1]): value for key, value in levels.items()}
    [(_, register)] = tables("indices", seed, "constituents")
    overviews = list(tables("indices", seed, "overview"))
    assert len(levels) == len(overviews) * len(register["ticker"])
    assert len({family for family, _ in levels.values()}) == len(register["ticker"])
    for sheet, overview in overviews:
        assert overview["ticker"] == register["ticker"]
        for row in records(overview):
            _, own = levels[sheet.facts.period.label, row["ticker"]]
            assert set(own["ticker"]) == {row["ticker"]}
            assert row["first_close"] == own["close"][0]
            assert row["last_close"] == own["close"][-1]
            assert row.get("year_high", max(own["high"])) == max(own["high"])
            assert row.get("days", len(own["close"])) == len(own["close"])


# institutions, ratings, sentiment


@every_seed
def test_key_figures_are_the_sums_of_the_other_sheets(seed):
    summed_from = {
        "deposits": ("deposits", "total"),
        "financing": ("financing", "balance"),
        "quota": ("financing", "quota"),
        "notes": ("notes", "total_notes"),
        "pooled": ("pooling", "pooled"),
        "credit_used": ("credit", "used"),
    }
    for when, figures in by_period("institutions", seed, "indicators").items():
        for column, (kind, taken) in summed_from.items():
            source = by_period("institutions", seed, kind).get(when)
            assert (column in figures) == (source is not None)
            if source:
                assert sum(figures[column]) == pytest.approx(sum(source[taken]))
    for kind, name in (("financing", "usage"), ("credit", "use_rate"), ("pooling", "pooling_rate")):
        for _, grid in tables("institutions", seed, kind):
            assert all(0 < share < 1 for share in grid.get(name, ()))


@every_seed
def test_averages_are_those_of_the_ratings_that_count(seed):
    ratings = by_period("ratings", seed, "ratings")
    for when, averages in by_period("ratings", seed, "averages").items():
        assert all(1 <= stars <= 10 for stars in ratings[when]["rating"])
        for row in records(averages):
            stars = [
                one["rating"]
                for one in records(ratings[when])
                if one["movie_id"] == row["movie_id"] and one["counted"]
            ]
            assert row["ratings"] == len(stars)
            assert row["average"] == pytest.approx(fmean(stars) if stars else 0)


@every_seed
def test_texts_and_hits_are_counted_by_label(seed):
    trains, tests = (by_period("sentiment", seed, kind) for kind in ("train", "test"))
    numbers: list[str] = []
    for when, summary in by_period("sentiment", seed, "summary").items():
        train, test = trains[when], tests[when]
        numbers += [*train["id"], *test["id"]]
        assert sum(summary["train_texts"]) == sum(train["counted"])
        assert sum(summary["test_texts"]) == len(test["id"])
        agreed = [a == b for a, b in zip(test["label"], test["predicted"], strict=True)]
        assert sum(summary["test_hits"]) == sum(agreed) == sum(test["agreement"])
    assert len(set(numbers)) == len(numbers) > 100


def test_texts_say_what_their_labels_mean():
    by_label: dict[str, set[str]] = {}
    for _, grid in tables("sentiment", 2, "train"):
        for row in records(grid):
            by_label.setdefault(row["label"], set()).add(row["text"].partition(": ")[2])
    assert len(by_label) == 4
    assert len(set().union(*by_label.values())) == sum(map(len, by_label.values()))
