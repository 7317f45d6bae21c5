from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.spans import Span, span_of, year


@pytest.mark.parametrize(
    ("grain", "part", "months"),
    [
        (Grain.YEAR, 0, (1, 12)),
        (Grain.HALF, 2, (7, 12)),
        (Grain.QUARTER, 1, (1, 3)),
        (Grain.MONTHS, 204, (2, 4)),
        (Grain.MONTH, 9, (9, 9)),
        (Grain.MONTH_WEEK, 1102, (11, 11)),
        (Grain.DAY, 1231, (12, 12)),
        (Grain.WEEK, 9, (2, 3)),  # 2024-02-26 to 2024-03-03
    ],
)
def test_a_period_lies_in_its_months(grain, part, months):
    span = span_of(SheetPeriod("f", grain, 2024, part, ""))
    assert (span.first_year, span.last_year) == (2024, 2024)
    assert (span.first_month, span.last_month) == months


def test_a_span_of_years_lies_only_in_a_stretch_that_holds_all_of_them():
    period = SheetPeriod("f", Grain.YEARS, 2023, 0, "2021-2023")
    assert span_of(period) == Span(2021, 2023)
    assert Span(2020, 2023).covers(period)
    assert not Span(2022, 2023).covers(period)
    assert not year(2023).covers(period)


def test_a_month_without_a_year_is_in_that_month_of_any_year_and_of_no_given_one():
    period = SheetPeriod("f", Grain.MONTH, 0, 3, "month 03")
    assert Span(0, 0, 3, 3).covers(period)
    assert not Span(2024, 2024, 3, 3).covers(period)


def test_years_outside_a_stretch_are_not_covered():
    periods = [SheetPeriod("f", Grain.YEAR, number, 0, str(number)) for number in range(2020, 2025)]
    assert [Span(2021, 2023).covers(each) for each in periods] == [False, True, True, True, False]


def test_a_whole_year_is_not_in_one_of_its_quarters():
    assert not Span(2024, 2024, 1, 3).covers(SheetPeriod("f", Grain.YEAR, 2024, 0, "2024"))


@given(st.integers(1990, 2060), st.integers(1, 53))
def test_a_week_lies_in_months_that_its_days_have(number, week):
    span = span_of(SheetPeriod("f", Grain.WEEK, number, week, ""))
    try:
        monday = date.fromisocalendar(number, week, 1)
    except ValueError:
        assert span == year(number)
        return
    days = [monday + timedelta(days=day) for day in range(7)]
    months = {day.month for day in days if day.year == number}
    assert months <= set(range(span.first_month, span.last_month + 1))
    assert span.last_month - span.first_month <= 1
