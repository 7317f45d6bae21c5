"""Days that periods cover, and which lie in which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import SheetRecord
from sat_retriever.links.join.fields import span_of, within
from sat_retriever.text.period.periods import Grain, SheetPeriod, period_of


def span(name):
    return span_of(period_of(SheetRecord("", name, path="a.xlsx")))


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("2024", "2024"),
        ("Q1 2024", "2024"),
        ("Q1 2024", "H1 2024"),
        ("May 2024", "Q2 2024"),
        ("2024-05-31", "May 2024"),
        ("2024 W02", "Q1 2024"),
        ("2024", "2020-2024"),
        ("Feb", "Q1"),
        ("Feb 2024", "Q1"),
        ("Feb", "2024"),
        ("Staff", "2024"),
        ("2024", "Staff"),
    ],
)
def test_a_time_lies_in_itself_in_a_longer_one_and_in_none(part, whole):
    assert within(span(part), span(whole))


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("2024", "2023"),
        ("2024", "May 2024"),
        ("May 2024", "Jun 2024"),
        ("May 2024", "Q1 2024"),
        ("Q3 2023", "Q3 2024"),
        ("2024-06-01", "May 2024"),
        ("2025", "2020-2024"),
        ("Feb", "Q2"),
        ("Feb 2024", "Q2"),
    ],
)
def test_times_that_exclude_each_other_and_shorter_ones_do_not_hold_it(part, whole):
    assert not within(span(part), span(whole))


PARTS = {
    Grain.YEAR: st.just(0),
    Grain.HALF: st.integers(1, 2),
    Grain.QUARTER: st.integers(1, 4),
    Grain.MONTH: st.integers(1, 12),
    Grain.WEEK: st.integers(1, 53),
    Grain.DAY: st.builds(lambda m, d: 100 * m + d, st.integers(1, 12), st.integers(1, 31)),
    Grain.MONTH_WEEK: st.builds(lambda m, w: 100 * m + w, st.integers(1, 12), st.integers(1, 5)),
}


@given(st.sampled_from(sorted(PARTS)).flatmap(lambda g: st.tuples(st.just(g), PARTS[g])))
def test_every_period_is_some_days_of_its_year(drawn):
    grain, part = drawn
    year = span_of(SheetPeriod("", Grain.YEAR, 2024, 0, ""))
    days = span_of(SheetPeriod("", grain, 2024, part, ""))
    assert days[0] <= days[1]
    assert within(days, year)
    assert within(year, days) == (grain is Grain.YEAR)
