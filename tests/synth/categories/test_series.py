import random
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.synth.book.model import Column
from sat_retriever.synth.book.rewrite import schema
from sat_retriever.synth.categories.budget import parts
from sat_retriever.synth.categories.filing import Shelf, dated
from sat_retriever.synth.categories.financial import walk
from sat_retriever.synth.house.when import When, days, months, some_days, spoken
from tests.synth.categories.checks import house, made

PERIODS = st.builds(When, st.integers(1990, 2060)) | st.builds(
    lambda year, month: When(year, month=month), st.integers(1990, 2060), st.integers(1, 12)
)


@given(st.integers(0, 10**9), st.integers(1, 40), st.integers(0, 99))
def test_parts_sum_to_the_whole_and_none_is_negative(total, count, seed):
    found = parts(random.Random(seed), total, count)

    assert sum(found) == total
    assert len(found) == count and min(found) >= 0


@given(PERIODS, st.integers(1, 60), st.integers(0, 99))
def test_days_are_workdays_of_the_period_in_order(when, count, seed):
    found = some_days(random.Random(seed), when, count)

    assert len(found) == count and list(found) == sorted(found)
    assert all(day.year == when.year and day.weekday() < 5 for day in found)
    assert {day.month for day in found} <= {month.month for month in months(when)}


def test_all_days_of_a_leap_year_are_there():
    every = days(When(2024), workdays=False)
    assert (every[0], every[-1], len(every)) == (date(2024, 1, 1), date(2024, 12, 31), 366)


@given(st.floats(1, 1e6), st.integers(1, 30), st.integers(0, 99))
def test_series_have_as_many_positive_steps_as_asked(start, count, seed):
    assert len(walk(random.Random(seed), start, count, noise=0.5)) == count
    assert min(walk(random.Random(seed), start, count, noise=0.5)) > 0


def test_facts_tell_keys_as_the_first_variant_says_them_and_one_schema_a_layout():
    found = set()
    for seed in range(12):
        page = Shelf(house(seed), "sales").page("orders", When(2024, quarter=2))
        columns = [
            page.column("customer", ["C1"], marks={"key": "customer"}),
            page.column("quantity", [1], "integer"),
        ]
        facts = page.facts(columns)
        assert facts.keys == ("Customer ID",)
        assert (facts.category, facts.kind) == ("sales", "sales order")
        assert facts.entity == house(seed).name and not facts.summary
        assert facts.period.family == f"{facts.entity}/sales/orders"
        assert facts.period.label == "2024 Q2"
        found.add((facts.schema, house(seed).variant("sales")))
    assert len({code for code, _ in found}) == len({variant for _, variant in found}) == len(found)


def test_a_schema_does_not_depend_on_periods_in_headers():
    plain = Column("x", "Actual Spend", ())
    assert dated(plain, "2024").header == "Actual Spend 2024"
    assert schema([dated(plain, "2023")]) == schema([dated(plain, "2024")]) == schema([plain])
    assert dated(Column("x", "actualSpend", ()), "2024").header == "actualSpend2024"


def test_houses_that_name_columns_by_table_have_tables():
    seeds = {house(seed).dialect().ranges: seed for seed in range(60)}
    for ranges, seed in seeds.items():
        [sheet] = made("projects", seed, (2022,))[0].sheets[:1]
        assert bool(sheet.table_name) == (ranges == "table")


def test_months_are_spoken_in_full_whatever_the_locale():
    assert spoken(When(2024, month=3)) == "March 2024"
