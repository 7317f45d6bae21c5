"""Times that count from today."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.period.question import asked_spans, asked_times
from sat_retriever.text.period.spans import EVER, UNDATED
from tests.tables import table

TODAY = date(2024, 5, 10)  # a Friday

READ = table("text/period/relative.tsv", 2)


@pytest.mark.parametrize(("text", "said"), READ)
def test_what_a_question_means_on_a_day(text, said):
    assert asked_times(text, TODAY).label.partition(" (from ")[0] == said


@pytest.mark.parametrize(("text", "said"), READ)
def test_without_a_day_only_times_in_numbers_are_read(text, said):
    found = asked_times(text, UNDATED)
    assert found.counted == ()
    assert found.spans == asked_spans(text)
    if asked_times(text, TODAY).counted and not any(sign.isdigit() for sign in text):
        # "last March" is any March then, and "last quarter of last year" no quarter of a year
        assert all(span.first_year == 0 for span in found.spans)


@pytest.mark.parametrize(
    ("today", "text", "said"),
    [
        (date(2024, 1, 1), "last month", "December 2023"),
        (date(2024, 1, 1), "last quarter", "October to December 2023"),
        (date(2024, 1, 1), "yesterday", "December 2023"),
        (date(2024, 12, 31), "next month", "January 2025"),
        (date(2025, 1, 2), "last week", "December 2024"),
        (date(2025, 1, 2), "this week", "December 2024 to January 2025"),
        (date(2024, 3, 31), "1 month ago", "February 2024"),
        (date(2024, 2, 29), "a year ago", "2023"),
        (date(2025, 1, 31), "last 12 months", "2024"),
        (date(1900, 1, 1), "last year", ""),
        (date(2099, 6, 1), "next year", ""),
        (date(9999, 12, 31), "tomorrow", ""),
        (date(1, 1, 1), "last 900 weeks", ""),
    ],
)
def test_the_ends_of_years_and_of_the_calendar(today, text, said):
    assert asked_times(text, today).label.partition(" (from ")[0] == said


def test_the_words_that_count_from_today_are_said_as_they_are_written():
    found = asked_times("Umsatz  Nächstes\tJahr und LAST  year, 去年", TODAY)
    assert found.counted == ("Nächstes Jahr", "LAST year", "去年")
    assert found.label == '2025, 2023 (from "Nächstes Jahr", "LAST year", "去年")'
    assert not asked_times("sales by last name", TODAY)


def test_times_are_plain_json_values_without_made_up_bounds():
    assert asked_times("since last year", TODAY).to_dict() == {
        "label": '2023 or later (from "last year")',
        "counted_from_today": ["last year"],
        "spans": [{"first_year": 2023, "last_year": None, "first_month": 1, "last_month": 12}],
    }
    [every] = asked_times("every March", TODAY).to_dict()["spans"]
    assert (every["first_year"], every["last_year"], every["first_month"]) == (None, None, 3)


@given(st.dates(date(1950, 1, 1), date(2050, 12, 31)), st.integers(1, 24))
def test_months_ago_are_those_of_a_slow_count(today, number):
    day = today.replace(day=1)
    for _ in range(number):
        day = (day - timedelta(days=1)).replace(day=1)
    [span] = asked_spans(f"{number} months ago", today)
    assert (span.first_year, span.last_year) == (day.year, day.year)
    assert (span.first_month, span.last_month) == (day.month, day.month)


@given(
    st.dates(),
    st.text("lastyer thi23nexmoqud 0gofYTD'-,", max_size=40)
    | st.text(max_size=40)
    | st.sampled_from([text for text, _ in READ]),
)
def test_whatever_is_asked_on_whichever_day_stretches_are_valid(today, text):
    for span in asked_times(text, today).spans:
        assert 1 <= span.first_month <= span.last_month <= 12
        assert (span.first_year == span.last_year == 0) or (
            EVER[0] <= span.first_year <= span.last_year <= EVER[1]
        )
