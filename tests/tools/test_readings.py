"""Questions read as values: every form in which a cell shows its value finds it."""

import datetime as dt
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sat_retriever.tools.cellsearch import AskedCell
from sat_retriever.tools.readings import Readings, said
from sat_retriever.workbook.values.window import plain_value

MARKS = [
    (",", "."),
    (".", ","),
    ("'", "."),
    ("’", "."),
    ("\u00a0", ","),
    ("\u202f", ","),
    ("", "."),
    ("", ","),
]
MONEY = ["{}", "${}", "€ {}", "{} €", "CHF {}", "{} kg"]


def marked(number, decimals, rounding=ROUND_HALF_UP):
    """A number with so many decimals, between all pairs of marks, and with signs of each kind."""
    exact = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals), rounding)
    plain = f"{abs(exact):,.{decimals}f}"
    for thousands, point in MARKS:
        text = plain.replace(",", "T").replace(".", point).replace("T", thousands)
        yield from (f"-{text}", f"({text})", f"\u2212{text}") if exact < 0 else (text,)


def shown_numbers(number):
    """The forms in which cells show a number."""
    found = set()
    for rounding in (ROUND_HALF_UP, ROUND_HALF_DOWN):
        for decimals in (0, 1, 2, 3, 4):
            rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals), rounding)
            if decimals >= 2 or rounded == Decimal(repr(number)):
                found |= {
                    money.format(text)
                    for text in marked(number, decimals, rounding)
                    for money in MONEY
                }
            if decimals < 3:
                hundredfold = float(Decimal(repr(number)) * 100)
                found |= {f"{x}%" for x in marked(hundredfold, decimals, rounding)}
                found |= {f"{x} %" for x in marked(hundredfold, decimals, rounding)}
    if number == int(number) and number > 0:
        found |= {f"{int(number):0{width}}" for width in (3, 5, 8)}
    return found


NUMBERS = st.one_of(
    st.integers(-10_000_000, 10_000_000),
    st.decimals(-2, 2, places=4).map(float),
    st.decimals(-99_999, 99_999, places=2).map(float),
)


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
@example(-1)
def test_every_form_of_a_number_finds_it(number):
    value = plain_value(float(number))
    for shown in shown_numbers(number):
        assert Readings.of(shown).hold(value), shown


@settings(max_examples=300, deadline=None)
@given(NUMBERS, NUMBERS, st.data())
def test_a_number_is_found_by_its_own_forms_alone(number, other, data):
    shown = data.draw(st.sampled_from(sorted(shown_numbers(other))))
    assert Readings.of(shown).hold(plain_value(float(number))) == (shown in shown_numbers(number))


def shown_days(day):
    """The forms in which cells show a date."""
    year, month, number = day.year, day.month, day.day
    for mark in "./-":
        for first, second in ((number, month), (month, number)):
            for width in (1, 2):
                yield f"{first:0{width}}{mark}{second:0{width}}{mark}{year}"
                yield f"{first:0{width}}{mark}{second:0{width}}{mark}{year % 100:02}"
        yield f"{year}{mark}{month:02}{mark}{number:02}"
    yield f"{number}. {month}. {year}"


def named_days(day):
    name = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()[day.month - 1]
    yield f"{day.day} {name} {day.year}"
    yield f"{name} {day.day}, {day.year}"
    yield f"{day.day:02}-{name}-{day.year}"
    yield f"{name} {day.year}"
    yield f"{name}-{day.year % 100:02}"
    yield f"{day.year}年{day.month}月{day.day}日"
    yield f"{day.month:02}/{day.year}"


DAYS = st.dates(dt.date(1950, 1, 1), dt.date(2060, 12, 31))


@settings(max_examples=200, deadline=None)
@given(DAYS, st.times().map(lambda x: x.replace(microsecond=0)))
def test_every_form_of_a_date_finds_it(day, time):
    moment = dt.datetime.combine(day, time)
    values = [plain_value(day), plain_value(moment), f"{moment}"]
    forms = [*shown_days(day), *(named_days(day) if 1980 <= day.year < 2040 else ())]
    for shown in forms:
        for value in values:
            assert Readings.of(shown).hold(value), (shown, value)
    clock = [f"{time:%H:%M}", f"{time:%H:%M:%S}", f"{time:%I:%M %p}", f"{time:%I:%M:%S %p}"]
    for shown in clock:
        for value in (plain_value(moment), plain_value(time)):
            assert Readings.of(shown).hold(value), (shown, value)
        assert Readings.of(f"{next(shown_days(day))} {shown}").hold(plain_value(moment)), shown


@settings(max_examples=300, deadline=None)
@given(DAYS, DAYS, st.data())
def test_a_date_is_found_by_its_own_forms_alone(day, other, data):
    shown = data.draw(st.sampled_from(sorted(shown_days(other))))
    assert Readings.of(shown).hold(day.isoformat()) == (shown in set(shown_days(day)))


@pytest.mark.parametrize(
    ("asked", "value", "found"),
    [
        ("25%", 0.25, True),
        ("25%", 25, False),
        ("25%", "25 %", True),
        ("0.25", "25%", True),
        ("1250", "1,250.00", True),
        ("1250", "1,250 EUR", True),
        ("$1,250", "1250 EUR", False),
        ("1.23E+05", 123_456, True),
        ("1.23E+05", 124_456, False),
        ("0.3", 0.1 + 0.2, True),
        ("1.5", 1.46, False),
        ("01001", 1001, True),
        ("1001", "01001", False),
        ("TRUE", True, True),
        ("false", False, True),
        ("TRUE", False, False),
        ("1", True, False),
        ("TRUE", 1, False),
        ("26:30", "1 day, 2:30:00", True),
        ("14:30", "2024-04-03T14:30:59", True),
        ("14:30:00", "2024-04-03T14:30:59", False),
        ("03.04.2024 14:30", "2024-04-03T14:30:59", True),
        ("03.04.2024 14:31", "2024-04-03T14:30:59", False),
        ("00:00", "2024-04-03", False),
        ("00:00", "", False),
        ("30.02.2024", "2024-03-01", False),
        ("9" * 50, 10**50 - 1, True),
        ("9" * 400, 1.0, False),
        ("x" * 4_000, 1.0, False),
        ("2024", "2024-04-03", False),
    ],
)
def test_values_are_told_apart(asked, value, found):
    assert Readings.of(asked).hold(value) == found


def test_a_part_of_a_shown_date_is_found_by_its_words():
    assert AskedCell("2024").is_in("2024-04-03")
    assert AskedCell("April 2024").is_in("2024-04-03")
    assert not AskedCell("April 2023").is_in("2024-04-03")


STRANGE = st.text("0123456789.,:;-/%€$()eE+' TapmJan年月日٣²½\u00a0", max_size=64)
CELLS = st.one_of(STRANGE, st.integers(), st.floats(), st.booleans(), st.none())


@settings(deadline=None)
@given(STRANGE, st.lists(CELLS))
def test_every_question_can_be_compared_with_every_cell(asked, values):
    cell = AskedCell(asked)
    assert all(cell.words())
    for value in values:
        assert cell.is_in(value) in (True, False)


def test_a_number_that_no_float_holds_is_no_number():
    for asked in ("1.23E+999", "0.00E+999", "1.23E-999", "9.99E+308"):
        assert not Readings.of(asked).hold(5.0)


@pytest.mark.parametrize(
    ("sentence", "has", "has_not"),
    [
        ("12.5 %", [0.125, 0.1252, -0.125, "12.5 %"], [0.12, 0.10, 0.08, "10.0%"]),
        ("1,250.00", [1250.0, 1250, 1250.004, -1250], [1250.4, 1249.6]),
        ("12.0", [12.0, 12.04], [12.4, 11.6]),
        ("1,250", [1250.4], [1250.6]),
        ("$8.44 million", [8_443_400], [8_450_000]),
        ("-5", [-5], [5]),
        ("2023", ["2023-05-01", "day >= DATE '2023-01-01'"], ["2022-05-01", "20230"]),
    ],
)
def test_a_number_is_found_as_it_is_rounded(sentence, has, has_not):
    [one] = said(sentence)
    assert [each for each in has if not one.is_in(each)] == []
    assert [each for each in has_not if one.is_in(each)] == []


@pytest.mark.parametrize("digits", [309, 5_001])
def test_a_row_of_digits_beyond_all_numbers_is_none(digits):
    assert [each.text for each in said(f"{'1' * digits} of 7")] == ["7"]
    assert not said("7")[0].is_in("1" * digits)
