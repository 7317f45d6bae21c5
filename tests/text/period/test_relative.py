"""Times that count from today."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.period.question import asked_spans, asked_times
from sat_retriever.text.period.spans import EVER, UNDATED

TODAY = date(2024, 5, 10)  # a Friday

READ = [
    # years
    ("sales last year", "2023"),
    ("last year's budget", "2023"),
    ("last-year sales", "2023"),
    ("last year records", "2023"),
    ("sales this year", "2024"),
    ("the current fiscal year", "2024"),
    ("budget of next year", "2025"),
    ("costs in the previous year", "2023"),
    ("the year before last", "2022"),
    ("two years ago", "2022"),
    ("a year ago", "2023"),
    ("half a year ago", "November 2023"),
    ("a half-year ago", "November 2023"),
    ("more than half a year ago", "October 2023 or before"),
    ("half a decade ago", "2019"),
    ("two and a half years ago", ""),
    ("half a quarter ago", ""),
    ("vor einem halben Jahr", "November 2023"),
    ("hace medio año", "November 2023"),
    ("2023年前", "2022 or before"),
    ("2023年前的销售", "2022 or before"),
    ("2023年前十大客户", "2023"),
    ("more than two years ago", "2021 or before"),
    ("the last three years", "2021 to 2023"),
    ("last five fiscal years", "2019 to 2023"),
    ("the next two years", "2025 to 2026"),
    ("in the last decade", "2014 to 2023"),
    ("over the past two decades", "2004 to 2023"),
    ("this decade", "2020 to 2029"),
    ("a couple of years ago", "2022"),
    ("this and last year", "2023 to 2024"),
    ("this year vs last year", "2023 to 2024"),
    ("growth compared to last year", "2023 to 2024"),
    ("how did 2022 compare to last year", "2022 to 2023"),
    ("since last year", "2023 or later"),
    ("before last year", "2022 or before"),
    ("from 2021 to last year", "2021 to 2023"),
    ("2020 to today", "2020 or later"),
    ("everything except last year", ""),
    # parts of years
    ("sales last quarter", "January to March 2024"),
    ("this quarter", "April to June 2024"),
    ("next quarter", "July to September 2024"),
    ("previous 2 quarters", "October 2023 to March 2024"),
    ("past 12 months", "May 2023 to April 2024"),
    ("payroll last month", "April 2024"),
    ("this month", "May 2024"),
    ("next month", "June 2024"),
    ("3 months ago", "February 2024"),
    ("6 months ago", "November 2023"),
    ("until last month", "April 2024 or before"),
    ("from 2021 until last quarter", "January 2021 to March 2024"),
    ("last week", "April to May 2024"),
    ("this week", "May 2024"),
    ("orders of yesterday", "May 2024"),
    ("stock as of today", "May 2024"),
    ("last 30 days", "April to May 2024"),
    ("last March", "March 2024"),
    ("last May", "May 2023"),
    ("last June", "June 2023"),
    ("this January", "January 2024"),
    ("next March", "March 2025"),
    # to date
    ("revenue year to date", "2024"),
    ("YTD revenue", "2024"),
    ("quarter-to-date", "April to June 2024"),
    ("QTD", "April to June 2024"),
    ("MTD", "May 2024"),
    ("this year so far", "2024"),
    ("since the beginning of the year", "2024"),
    ("YTD June 2023", "January to June 2023"),
    ("YTD 2022", "2022"),
    ("sales YTD vs last year", "2023 to 2024"),
    # parts of such years
    ("Q3 last year", "July to September 2023"),
    ("last year's Q3", "July to September 2023"),
    ("March last year", "March 2023"),
    ("second half of last year", "July to December 2023"),
    ("last quarter of last year", "October to December 2023"),
    ("last 3 months of last year", "October to December 2023"),
    ("Q1 for the last three years", "January to March 2021-2023"),
    # of a time that is named beside it
    ("last quarter of 2021", "October to December 2021"),
    ("last quarter sales for 2021", "October to December 2021"),
    ("last week of March 2022", "March 2022"),
    ("last month of 2022", "2022"),
    ("2022 and the previous year", "2022"),
    ("last quarter vs Q1 2022", "January to March 2024, January to March 2022"),
    # no time
    ("last name", ""),
    ("the last 3 rows", ""),
    ("current assets", ""),
    ("past due invoices", ""),
    ("next of kin", ""),
    ("this may rise", ""),
    ("the last quarter of the year", ""),
    ("first and last month of employment", ""),
    ("in the last years", ""),
    ("what was the last year that it rained?", ""),
    ("current-vs-previous year computations", ""),
    ("last year of the contract", ""),
    ("month to month", ""),
    # other languages
    ("Umsatz im letzten Jahr", "2023"),
    ("dieses Jahr", "2024"),
    ("nächstes Quartal", "July to September 2024"),
    ("Abweichung zum Vorjahr", "2023"),
    ("in den letzten drei Jahren", "2021 to 2023"),
    ("vor zwei Monaten", "March 2024"),
    ("seit letztem Jahr", "2023 or later"),
    ("seit Jahresbeginn", "2024"),
    ("l'année dernière", "2023"),
    ("les 12 derniers mois", "May 2023 to April 2024"),
    ("il y a deux ans", "2022"),
    ("ventas del año pasado", "2023"),
    ("los últimos tres años", "2021 to 2023"),
    ("vorig jaar", "2023"),
    ("去年的销售", "2023"),
    ("去年3月", "March 2023"),
    ("去年第一季度", "January to March 2023"),
    ("今年上半年", "January to June 2024"),
    ("上个月的工资", "April 2024"),
    ("上季度", "January to March 2024"),
    ("过去三年", "2021 to 2023"),
    ("最近12个月", "May 2023 to April 2024"),
    ("两年前", "2022"),
    ("年初至今", "2024"),
    ("比去年增长", "2023 to 2024"),
    ("先月の売上", "April 2024"),
    ("线上月度报表", ""),
]


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
