"""Many sheets' times beside those of a question, against one comparison after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.period.periods import Grain, SheetPeriod
from sat_retriever.period.relation import INSIDE, OPEN, OUTSIDE, packed, relation, unpacked
from sat_retriever.period.spans import Span, span_of

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
    found = relation(unpacked([packed(period) for period in periods]), asked)
    for period, lies in zip(periods, found.tolist(), strict=True):
        if period is None:
            assert lies == OPEN
        elif any(span.covers(period) for span in asked):
            assert lies == INSIDE
        else:
            common = any(months_of(span) & months_of(span_of(period)) for span in asked)
            assert lies == (OPEN if common else OUTSIDE)


@given(PERIODS)
def test_a_time_comes_back_from_one_number(period):
    [found] = unpacked([packed(period)]).tolist()
    own = span_of(period) if period else Span(0, 0, 0, 0)
    assert found == [own.first_year, own.last_year, own.first_month, own.last_month]


def test_no_sheets_have_no_times():
    assert unpacked(np.zeros(0, dtype=np.int64)).shape == (0, 4)
