"""Count calendar units from today and write them as years and months for questions."""

from __future__ import annotations

from datetime import date, timedelta

FIRST_YEAR, LAST_YEAR = 1900, 2099  # of years that are read in questions
LENGTHS = {"month": 1, "quarter": 3, "half": 6}  # in months
_DAYS = {"week": 7, "day": 1}


def units_from(unit: str, first: int, last: int, today: date) -> str:
    """Write the calendar units from one to another in numbers.

    A week begins on Monday. Weeks and days become the months that contain them, because
    questions are read by months.

    Args:
        unit: "decade", "year", "half", "quarter", "month", "week" or "day".
        first: First unit, relative to the present one: -1 is the one before it.
        last: Last unit, relative to the present one.
        today: The day to count from.

    Returns:
        Text such as "fy 2021 to fy 2023" or "2024-01 to 2024-03"; empty outside 1900 to 2099.

    >>> units_from("year", -3, -1, date(2024, 5, 10)), units_from("week", 0, 0, date(2024, 5, 1))
    ('fy 2021 to fy 2023', '2024-04 to 2024-05')
    """
    if unit == "decade":
        start = today.year // 10 * 10
        return _years(start + 10 * first, start + 10 * last + 9)
    if unit == "year":
        return _years(today.year + first, today.year + last)
    if unit in LENGTHS:
        length = LENGTHS[unit]
        place = _month(today) // length
        return _months((place + first) * length, (place + last + 1) * length - 1)
    days = _DAYS[unit]
    start_day = today - timedelta(days=today.weekday() if unit == "week" else 0)
    try:
        begin = start_day + timedelta(days=days * first)
        end = start_day + timedelta(days=days * (last + 1) - 1)
    except OverflowError:
        return ""
    return _months(_month(begin), _month(end))


def named_month(month: int, side: int, today: date) -> str:
    """Write the month of a name: the nearest before or after the present one, or this year's.

    Args:
        month: 1 to 12.
        side: -1 for the latest one that is over, 0 for this year's, 1 for the next one.
        today: The day to count from.

    >>> [named_month(5, side, date(2024, 5, 10)) for side in (-1, 0, 1)]
    ['2023-05', '2024-05', '2025-05']
    """
    year = today.year
    if side < 0 and month >= today.month:
        year -= 1
    elif side > 0 and month <= today.month:
        year += 1
    return _months(12 * year + month - 1, 12 * year + month - 1)


def _month(day: date) -> int:
    """Return the months since the year 0."""
    return 12 * day.year + day.month - 1


def _years(first: int, last: int) -> str:
    if not FIRST_YEAR <= first <= last <= LAST_YEAR:
        return ""
    # "fy" keeps "2023 records" from being a count. A question's fiscal years are calendar years.
    return f"fy {first}" if first == last else f"fy {first} to fy {last}"


def _months(first: int, last: int) -> str:
    if not 12 * FIRST_YEAR <= first <= last < 12 * (LAST_YEAR + 1):
        return ""
    begin, end = (f"{month // 12}-{month % 12 + 1:02}" for month in (first, last))
    return begin if first == last else f"{begin} to {end}"
