"""Many sheets' times beside those of a question, against one comparison after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.relation import INSIDE, OPEN, OUTSIDE, packed, relation, unpacked
from sat_retriever.text.period.spans import Span, span_of, year

YEAR = st.integers(2018, 2022)
PERIODS = st.one_of(
    st.none(),
    st.builds(lambda year: SheetPeriod("f", Grain.YEAR, year, 0, str(year)), YEAR),
    st.builds(
        lambda year, part: SheetPeriod("f", Grain.QUARTER, year, part, ""),
        st.just(0) | YEAR, st.integers(1, 4),
    ),
    st.builds(
        lambda year, part: SheetPeriod("f", Grain.MONTH, year, part, ""),
        st.just(0) | YEAR, st.integers(1, 12),
    ),
    st.builds(
        lambda year, length: SheetPeriod("f", Grain.YEARS, year, year - length,
                                         f"{year - length}-{year}"),
        YEAR, st.integers(1, 4),
    ),
)  # fmt: skip
SPANS = st.builds(
    lambda years, months: Span(*sorted(years), *sorted(months)),
    st.tuples(YEAR, YEAR) | st.just((0, 0)),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
)


def months_of(span, years=range(2010, 2030)):
    """Every month of a stretch; one without years has those of all years."""
    first, last = (span.first_year, span.last_year) if span.first_year else (years[0], years[-1])
    return {
        (year, month)
        for year in range(first, last + 1)
        for month in range(span.first_month, span.last_month + 1)
    }


@given(st.lists(PERIODS, min_size=1, max_size=12), st.lists(SPANS, min_size=1, max_size=3))
def test_many_at_once_are_as_one_after_the_other(periods, asked):
    times = unpacked([packed(span_of(period)) if period else 0 for period in periods])
    found = relation(times, asked)
    for period, lies in zip(periods, found.tolist(), strict=True):
        if period is None:
            assert lies == OPEN
        elif any(span.covers(period) for span in asked):
            assert lies == INSIDE
        else:
            common = any(months_of(span) & months_of(span_of(period)) for span in asked)
            assert lies == (OPEN if common else OUTSIDE)


@given(SPANS, st.booleans())
def test_a_time_comes_back_from_one_number(span, fiscal):
    [found] = unpacked([packed(span, fiscal=fiscal)]).tolist()
    months = [span.first_year, span.last_year, span.first_month, span.last_month]
    assert found == [*months, int(fiscal)]


def test_a_fiscal_year_has_a_part_of_the_calendar_year_before():
    times = unpacked([packed(year(2024), fiscal=True), packed(year(2024))])
    for asked, fiscal, calendar in (
        (year(2024), INSIDE, INSIDE),
        (year(2023), OPEN, OUTSIDE),
        (Span(2023, 2023, 10, 12), OPEN, OUTSIDE),
        (year(2022), OUTSIDE, OUTSIDE),
        (year(2025), OUTSIDE, OUTSIDE),
    ):
        assert relation(times, [asked]).tolist() == [fiscal, calendar]


def test_no_sheets_have_no_times():
    assert unpacked(np.zeros(0, dtype=np.int64)).shape == (0, 5)
