"""The period of a made sheet: a year, quarter or month, its days and its spellings."""

from __future__ import annotations

import calendar
import random
from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.text.period.periods import Grain, SheetPeriod

MONTHS = (
    "January February March April May June July August September October November December".split()
)


@dataclass(frozen=True, slots=True, order=True)
class When:
    """A period; `quarter` is 1 to 4 and `month` 1 to 12, each 0 if it has none."""

    year: int
    quarter: int = 0
    month: int = 0

    def period(self, family: str) -> SheetPeriod:
        """Return the period as facts have it.

        >>> When(2024, quarter=3).period("sales").label, When(2024, month=7).period("x").part
        ('2024 Q3', 7)
        """
        if self.month:
            return SheetPeriod(
                family, Grain.MONTH, self.year, self.month, f"{self.year}-{self.month:02}"
            )
        if self.quarter:
            return SheetPeriod(
                family, Grain.QUARTER, self.year, self.quarter, f"{self.year} Q{self.quarter}"
            )
        return SheetPeriod(family, Grain.YEAR, self.year, 0, str(self.year))


def period_text(pattern: str, when: When) -> str:
    """Write a period in one spelling.

    >>> period_text("{q}Q{yy}", When(2024, 3)), period_text("{Mon} {yyyy}", When(2024, 0, 7))
    ('3Q24', 'Jul 2024')
    """
    name = MONTHS[when.month - 1] if when.month else ""
    return pattern.format(
        yyyy=when.year,
        yy=f"{when.year % 100:02}",
        q=when.quarter or "",
        mm=f"{when.month:02}",
        m=when.month or "",
        Month=name,
        Mon=name[:3],
        mon=name[:3].lower(),
    )


def grain(when: When) -> str:
    """Return the key of a convention's spellings for a period of this length."""
    return "month" if when.month else "quarter" if when.quarter else "year"


def spoken(when: When) -> str:
    """Write a period as titles do.

    >>> spoken(When(2024)), spoken(When(2024, quarter=3)), spoken(When(2024, month=7))
    ('2024', 'Q3 2024', 'July 2024')
    """
    if when.month:
        return period_text("{Month} {yyyy}", when)
    return f"Q{when.quarter} {when.year}" if when.quarter else str(when.year)


def quarters(year: int) -> tuple[When, ...]:
    """Return the four quarters of a year."""
    return tuple(When(year, quarter=quarter) for quarter in range(1, 5))


def months(when: When) -> tuple[When, ...]:
    """Return the months of a year or quarter, or the month itself.

    >>> [month.month for month in months(When(2024, quarter=2))]
    [4, 5, 6]
    """
    if when.month:
        return (when,)
    first, last = (3 * when.quarter - 2, 3 * when.quarter) if when.quarter else (1, 12)
    return tuple(When(when.year, month=month) for month in range(first, last + 1))


def days(when: When, *, workdays: bool = True) -> tuple[date, ...]:
    """Return all days of a period, or only those from Monday to Friday.

    >>> len(days(When(2024, month=2))), len(days(When(2024, month=2), workdays=False))
    (21, 29)
    """
    first, last = months(when)[0].month, months(when)[-1].month
    day = date(when.year, first, 1)
    end = date(when.year, last, calendar.monthrange(when.year, last)[1])
    every = (day + timedelta(count) for count in range((end - day).days + 1))
    return tuple(day for day in every if day.weekday() < 5 or not workdays)


def some_days(chance: random.Random, when: When, count: int) -> tuple[date, ...]:
    """Return `count` random workdays of a period, ascending, with repetitions."""
    return tuple(sorted(chance.choices(days(when), k=count)))
