"""Dates and moments in texts, where all texts of a column are dates in one order."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence

ORDERS = ("dmy", "mdy")
"""Orders of the parts of a date with its year at the end."""
_MOMENT = re.compile(
    r"(?:(?P<year>[12][0-9]{3})(?:(?P<mark>[-/])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"|\.(?P<month2>[0-9]{2})\.(?P<day2>[0-9]{2}))"
    r"|(?P<first>[0-9]{1,2})(?P<between>[-/.])(?P<second>[0-9]{1,2})(?P=between)"
    r"(?P<year2>[12][0-9]{3}))"
    r"(?:(?:T|,?\ )(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<seconds>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,6}))?)?(?:\ ?(?P<half>[AaPp])[Mm])?)?"
)
_ISO = re.compile(
    r"(?>[12][0-9]{3}-[0-9]{2}-[0-9]{2}"
    r"(?>[T ][0-9]{2}:[0-9]{2}(?>:[0-9]{2}(?>\.[0-9]{1,6})?)?)?\n)++"
)
_DAY = len("2024-01-31")

Moment = dt.date | dt.datetime


def moments(text: str) -> Mapping[str, Moment]:
    """Return the date or moment that a text writes, by the order of its parts: dmy, mdy.

    Years have four digits. A year comes first or last; with it at the end, points stand in the
    order day, month, year only.

    >>> moments("14/02/2024"), moments("2024-02-14 9:05")["mdy"]
    ({'dmy': datetime.date(2024, 2, 14)}, datetime.datetime(2024, 2, 14, 9, 5))
    >>> sorted(moments("3.2.2024")), sorted(moments("3/2/2024")), moments("2024-02-30")
    (['dmy'], ['dmy', 'mdy'], {})
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        return {}
    orders = ORDERS[:1] if match["between"] == "." else ORDERS
    found = {order: _moment(match, order) for order in orders}
    return {order: moment for order, moment in found.items() if moment is not None}


def _moment(match: re.Match[str], order: str) -> Moment | None:
    year = int(match["year"] or match["year2"])
    if match["year"]:
        month, day = int(match["month"] or match["month2"]), int(match["day"] or match["day2"])
    else:
        first, second = int(match["first"]), int(match["second"])
        day, month = (first, second) if order == "dmy" else (second, first)
    try:
        if match["hour"] is None:
            return dt.date(year, month, day)
        micro = int((match["fraction"] or "").ljust(6, "0"))
        seconds = int(match["seconds"] or 0)
        return dt.datetime(year, month, day, _hour(match), int(match["minute"]), seconds, micro)
    except ValueError:  # the 30th of February
        return None


def _hour(match: re.Match[str]) -> int:
    """The hour of 24; a ValueError if there is no such hour of twelve."""
    hour = int(match["hour"])
    if match["half"] is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + 12 * (match["half"] in "Pp")


def orders_of(readings: Iterable[Mapping[str, Moment]]) -> tuple[str, ...]:
    """Return the orders in which all dates can be read; empty if there is none.

    >>> orders_of([moments("03/02/2024"), moments("14/02/2024")])
    ('dmy',)
    """
    left = set(ORDERS)
    for each in readings:
        left &= each.keys()
    return tuple(order for order in ORDERS if order in left)


def dates_of(texts: Sequence[str], order: str = "") -> Sequence[Moment] | None:
    """Return texts as dates or moments if all of them are, in one order; else None.

    Texts that two orders would read as different dates are none, unless `order` is one of them.

    >>> dates_of(["03/02/2024", "14/02/2024"])
    [datetime.date(2024, 2, 3), datetime.date(2024, 2, 14)]
    >>> dates_of(["03/02/2024"]), dates_of(["03/02/2024"], "mdy")
    (None, [datetime.date(2024, 3, 2)])
    """
    if (found := iso_dates(texts)) is not None:
        return found
    known = {text: moments(text.strip()) for text in set(texts)}
    orders = orders_of(known.values())
    alike = all(len(set(each.values())) == 1 for each in known.values())
    if not orders or (len(orders) > 1 and not alike and order not in orders):
        return None
    chosen = order if order in orders else orders[0]
    return [known[text][chosen] for text in texts]


def iso_dates(texts: Sequence[str]) -> Sequence[Moment] | None:
    """Return texts as dates or moments if all write year, month, day with hyphens; else None."""
    if not _ISO.fullmatch("\n".join((*texts, ""))):
        return None
    try:
        return [
            dt.date.fromisoformat(text) if len(text) == _DAY else dt.datetime.fromisoformat(text)
            for text in texts
        ]
    except ValueError:
        return None
