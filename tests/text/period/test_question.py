"""Times in questions, however they are spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.period.question import asked_spans
from sat_retriever.text.period.spans import Span
from tests.tables import table

YEARS = st.integers(1950, 2049)


def short(span):
    """A stretch in few letters: "2019-2021", "2023[7-9]", "0[3-3]" for every March."""
    years = str(span.first_year)
    if span.last_year != span.first_year:
        years += f"-{span.last_year}"
    return years if span.whole_years else f"{years}[{span.first_month}-{span.last_month}]"


@pytest.mark.parametrize(("text", "found"), table("text/period/questions.tsv", 2))
def test_what_a_question_asks_for(text, found):
    assert " ".join(map(short, asked_spans(text))) == found


@given(YEARS, YEARS)
def test_two_years_are_a_list_or_a_range(one, other):
    low, high = sorted((one, other))
    assert asked_spans(f"from {low} to {high}") == (Span(low, high),)
    near = high - low <= 1
    wanted = {Span(low, high)} if near else {Span(low, low), Span(high, high)}
    assert set(asked_spans(f"staff in {one} and {other}")) == wanted


@given(st.text(max_size=80) | st.text("Qq1234 /-'h0259FYandtoMayoctober,", max_size=60))
def test_whatever_is_asked_stretches_are_valid_and_few(text):
    spans = asked_spans(text)
    assert len(spans) <= 64
    assert len(set(spans)) == len(spans)
    for span in spans:
        assert 1 <= span.first_month <= span.last_month <= 12
        assert (span.first_year == span.last_year == 0) or (
            1900 <= span.first_year <= span.last_year <= 2100
        )


def test_a_very_long_question_is_looked_at_in_part():
    assert asked_spans("x " * 400 + "2021") == (Span(2021, 2021),)
    assert asked_spans("x " * 600 + "2021") == ()
    assert len(asked_spans(", ".join(map(str, range(1900, 2099, 2))))) == 64
