"""Times in questions, however they are spelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.text.period.question import asked_spans
from sat_retriever.text.period.spans import Span

YEARS = st.integers(1950, 2049)


def short(span):
    """A stretch in few letters: "2019-2021", "2023[7-9]", "0[3-3]" for every March."""
    years = str(span.first_year)
    if span.last_year != span.first_year:
        years += f"-{span.last_year}"
    return years if span.whole_years else f"{years}[{span.first_month}-{span.last_month}]"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # years
        ("revenue of 2021", "2021"),
        ("revenue 2019\u20132021", "2019-2021"),
        ("from 2019 to 2021", "2019-2021"),
        ("between 2019 and 2021", "2019-2021"),
        ("2019-21", "2019-2021"),
        ("in 2019, 2020 and 2022", "2019-2020 2022"),
        ("compare 2020 with 2023", "2020 2023"),
        ("2022 vs. 2023", "2022-2023"),
        ("since 2020", "2020-2100"),
        ("from 2020 onwards", "2020-2100"),
        ("after 2018", "2019-2100"),
        ("before 2018", "1900-2017"),
        ("up to 2018", "1900-2018"),
        ("FY24 budget", "2024"),
        ("fiscal year 2024", "2024"),
        ("FY2023/24", "2024"),
        ("FY2021 and FY2022", "2021-2022"),
        # halves and quarters
        ("H1 2023", "2023[1-6]"),
        ("2H23", "2023[7-12]"),
        ("the first half of 2023", "2023[1-6]"),
        ("Q3 2022", "2022[7-9]"),
        ("Q3'22", "2022[7-9]"),
        ("2024Q1", "2024[1-3]"),
        ("third quarter of fiscal year 2022", "2022[7-9]"),
        ("the last quarter of 2021", "2021[10-12]"),
        ("last two quarters of 2022", "2022[7-12]"),
        ("the first 9 months of 2022", "2022[1-9]"),
        ("Q1-Q3 2024", "2024[1-9]"),
        ("Q1, Q2 and Q4 2023", "2023[1-6] 2023[10-12]"),
        ("Q4 2022 and Q1 2023", "2022[10-12] 2023[1-3]"),
        ("2022 Q1, 2023 Q2", "2022[1-3] 2023[4-6]"),
        ("Q1 and Q2 of 2021 and 2022", "2021-2022[1-6]"),
        ("Q3 sales for 2021 and 2022", "2021-2022[7-9]"),
        ("Q1 2022 to Q3 2022", "2022[1-9]"),
        ("fourth quarters of 2020 to 2022", "2020-2022[10-12]"),
        ("Q3 in each year", "0[7-9]"),
        # months
        ("March 2022", "2022[3-3]"),
        ("03/2022", "2022[3-3]"),
        ("2022-03", "2022[3-3]"),
        ("31.12.2023", "2023[12-12]"),
        ("12/31/2023", "2023[12-12]"),
        ("Dec '23", "2023[12-12]"),
        ("March and April 2022", "2022[3-4]"),
        ("March and May 2022", "2022[3-3] 2022[5-5]"),
        ("between March and June 2022", "2022[3-6]"),
        ("jan-mar 2024", "2024[1-3]"),
        ("November to February 2021", "2021[11-12] 2021[1-2]"),
        ("March 2021 to June 2022", "2021[3-12] 2022[1-6]"),
        ("March 2020 to June 2022", "2020[3-12] 2021 2022[1-6]"),
        ("every January", "0[1-1]"),
        ("payroll of May 2022", "2022[5-5]"),
        ("January, February and March 2024", "2024[1-3]"),
        ("between January 2023 and March 2023", "2023[1-3]"),
        ("1 January 2023 to 31 March 2023", "2023[1-3]"),
        ("between Q1 2022 and Q4 2023", "2022-2023"),
        ("between 2020 and Q2 2021", "2020 2021[1-6]"),
        ("1/2/2023", "2023[1-2]"),  # the first of February, or January the second
        # more quarters and halves
        ("first and second quarter of 2023", "2023[1-6]"),
        ("second to fourth quarter 2022", "2022[4-12]"),
        ("all 4 quarters of 2022", "2022"),
        ("quarters 1 to 3 2023", "2023[1-9]"),
        ("Q1 10 largest customers", "0[1-3]"),
        ("Q3 24", "2024[7-9]"),
        ("H1 and H2 2023", "2023"),
        ("FY23 Q4", "2023[10-12]"),
        # open ends and exceptions
        ("since March 2023", "2023[3-12] 2024-2100"),
        ("after Q2 2023", "2023[7-12] 2024-2100"),
        ("before June 2022", "1900-2021 2022[1-5]"),
        ("until March 2024", "1900-2023 2024[1-3]"),
        ("2020 to date", "2020-2100"),
        ("2021+", "2021-2100"),
        ("pre-2020", "1900-2019"),
        ("YTD June 2024", "2024[1-6]"),
        ("no later than 2020", "1900-2020"),
        ("not after 2021", "1900-2021"),
        ("not later than March 2024", "1900-2023 2024[1-3]"),
        ("no earlier than 2020", "2020-2100"),
        ("not before 2020", "2020-2100"),
        ("not before June 2022", "2022[6-12] 2023-2100"),
        ("since the 2010s", "2010-2100"),
        ("since FY2023/24", "2024-2100"),
        ("after 2020 and before 2023", "2021-2022"),
        ("before 2023 and after 2020", "2021-2022"),
        ("since 2019 but not after 2021", "2019-2021"),
        ("since 2019 until 2021", "2019-2021"),
        ("from 2019 to 2021 and later", "2019-2100"),
        ("after March 2021 and before June 2022", "2021[4-12] 2022[1-5]"),
        ("before 2020 and after 2022", "1900-2019 2023-2100"),
        ("sales after 2020, budgets before 2018", "2021-2100 1900-2017"),
        ("all sales except 2022", ""),
        ("all years but 2021", ""),
        ("everything but March 2021", ""),
        ("costs 2021 excluding March", "2021"),
        ("2022 without Q4 2022", "2022"),
        # with a beginning
        ("Starting in 2021", "2021-2100"),
        ("starting 2021", "2021-2100"),
        ("sales beginning with 2021", "2021-2100"),
        ("starting from the year 2021", "2021-2100"),
        ("beginning in Q2 2021", "2021[4-12] 2022-2100"),
        ("from 2021 on", "2021-2100"),
        ("from 2021 on by region", "2021-2100"),
        ("stock 2021 on hand", "2021"),
        ("from 2021 and onwards", "2021-2100"),
        ("2021 forward", "2021-2100"),
        ("2021 or later", "2021-2100"),
        ("in year 2021 or after", "2021-2100"),
        ("since the beginning of 2021", "2021-2100"),
        ("from the start of 2021", "2021-2100"),
        ("from 2021", "2021"),
        ("2020 to the present", "2020-2100"),
        ("from 2020 until now", "2020-2100"),
        ("after the year 2021", "2022-2100"),
        ("after the end of 2021", "2022-2100"),
        ("after the first quarter of 2022", "2022[4-12] 2023-2100"),
        ("ab 2021", "2021-2100"),
        ("von 2021 an", "2021-2100"),
        ("seit Anfang 2021", "2021-2100"),
        ("depuis 2021", "2021-2100"),
        ("\u00e0 partir de 2021", "2021-2100"),
        ("2021\u5e74\u4ee5\u6765\u7684\u9500\u552e", "2021-2100"),
        # with an end
        ("2021 or earlier", "1900-2021"),
        ("2021 and before", "1900-2021"),
        ("up to and including 2023", "1900-2023"),
        ("up until 2023", "1900-2023"),
        ("through 2023", "1900-2023"),
        ("until the end of 2022", "1900-2022"),
        ("before the end of 2021", "1900-2021"),
        ("through the end of Q2 2022", "1900-2021 2022[1-6]"),
        ("before the year of 2021", "1900-2020"),
        ("prior to 2019", "1900-2018"),
        ("bis Ende 2022", "1900-2022"),
        ("jusqu'\u00e0 2023", "1900-2023"),
        ("2021\u5e74\u4e4b\u524d", "1900-2020"),
        ("costs related to 2021", "2021"),
        ("year ending 2023", "2023"),
        ("locomotives before the 1900s", ""),
        # from one to another
        ("2021 through to 2023", "2021-2023"),
        ("2021 up to and including 2023", "2021-2023"),
        ("2021 thru 2023", "2021-2023"),
        ("2021 through 2023 inclusive", "2021-2023"),
        ("from 2021 all the way to 2023", "2021-2023"),
        ("from 2021 up to 2023", "2021-2023"),
        ("from 2021 up until 2023", "2021-2023"),
        ("from the year 2021 to the year 2023", "2021-2023"),
        ("from early 2021 to late 2023", "2021-2023"),
        ("from 2021 to the end of 2023", "2021-2023"),
        ("starting in 2021 and ending in 2023", "2021-2023"),
        ("starting in March 2021 and ending in June 2022", "2021[3-12] 2022[1-6]"),
        ("after the year 1991 but before the year 1994", "1992-1993"),
        ("from Q1 2021 through to Q3 2022", "2021 2022[1-9]"),
        ("first quarter of 2021 through the third quarter of 2022", "2021 2022[1-9]"),
        ("FY21 through to FY23", "2021-2023"),
        ("January through to March 2022", "2022[1-3]"),
        ("von 2021 bis 2023", "2021-2023"),
        ("von 2021 bis zum Jahr 2023", "2021-2023"),
        ("de 2021 \u00e0 2023", "2021-2023"),
        ("2021\u5e74\u81f32023\u5e74", "2021-2023"),
        ("before the year of 2000 or after the year of 2010", "1900-1999 2011-2100"),
        # other years
        ("FY2021-2024", "2021-2024"),
        ("2020s", "2020-2029"),
        ("sales 2023, Q1 2024", "2023 2024[1-3]"),
        # parts of other words
        ("sales 2020 only", "2020"),
        ("2022 online orders", "2022"),
        ("sales by flavor 2020", "2020"),
        ("costs of the lab 2023", "2023"),
        ("cost centre 2020 and 2022", "2020 2022"),
        # other languages
        ("Umsatz 1. Quartal 2023", "2023[1-3]"),
        ("ventes du premier trimestre 2022", "2022[1-3]"),
        ("M\u00e4rz bis Juni 2021", "2021[3-6]"),
        ("ventes T1 2024", "2024[1-3]"),
        ("ventas S2 2024", "2024[7-12]"),
        ("Umsatz Halbjahr 1 2024", "2024[1-6]"),
        ("Umsatz KW 12 2024", "2024[3-3]"),
        ("2024\u5e743\u6708\u7684\u9500\u552e", "2024[3-3]"),
        ("2024\u5e74\u7b2c\u4e00\u5b63\u5ea6", "2024[1-3]"),
        ("2023\u5e744\u6708\u81f36\u6708", "2023[4-6]"),
        ("in 2024 12 largest customers", "2024"),
        # nothing
        ("total sales by region", ""),
        ("it may rise", ""),
        ("May I see the staff?", ""),
        ("2000 items in stock", ""),
        ("version 2.0 of 2021.5", ""),
        ("last quarter", ""),
        ("a long time ago", ""),
        ("invoice 20231", ""),
        ("top 2000 customers", ""),
        ("Windows 2000", ""),
        ("orders above $2000", ""),
        ("expenses of Marco Rossi", ""),
        ("April's expenses", ""),
        ("wrong and may need fixing", ""),
        ("machines with 2h downtime", ""),
        ("second half of the alphabet", ""),
    ],
)
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
