"""Match Chinese and Japanese phrases that count from today, and write them in numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial

from sat_retriever.text.period.chinese import in_arabic
from sat_retriever.text.period.counting import units_from
from sat_retriever.text.period.marks import marks
from sat_retriever.text.period.relativewords import Match
from sat_retriever.text.period.spellings import Y4

_LAST, _THIS, _NEXT = "(?:上一?[个個]?|前一[个個])", "(?:本|[这這][个個]?)", "下一?[个個]?"
_WEEKS = "(?:周|週|星期|礼拜)"
_SINGLE = (
    ("year", -2, "前年|一昨年"),
    ("year", -1, "去年|昨年"),
    ("year", 0, "今年|本年度?"),
    ("year", 1, "明年|来年"),
    ("quarter", -1, f"{_LAST}季度?"),
    ("quarter", 0, f"{_THIS}季度?"),
    ("quarter", 1, f"{_NEXT}季度?"),
    ("month", -1, f"(?<![以线線]){_LAST}月|先月"),  # excludes 以上月, 线上月 ("above", "online")
    ("month", 0, f"(?<![日样樣]){_THIS}月|今月"),
    ("month", 1, f"(?<![以线線上]){_NEXT}月|来月"),
    ("week", -1, f"{_LAST}{_WEEKS}|先週"),
    ("week", 0, f"(?<![日样樣]){_THIS}{_WEEKS}|今週"),
    ("week", 1, f"{_NEXT}{_WEEKS}|来週"),
    ("day", -1, "昨[天日]"),
    ("day", 0, "今[天日]"),
)
_COUNT = r"(?P<count>\d\d?|[一二两兩三四五六七八九十]{1,3})"
_UNIT = "(?P<unit>年|[个個]?季度|[个個]月|[ヶか]月|[周週]|[天日])"
_SO_FAR = "年初至今|(?:今年|本年)(?:以来|至今|到目前为止)"
_FEW = f"(?:最近|[过過]去|近|直近)[的の]? ?{_COUNT} ?{_UNIT}[间間]?"
_AGO = rf"(?<![\d〇零一二三四五六七八九十]){_COUNT} ?{_UNIT}[以之]?前"
_UNITS = {"年": "year", "季": "quarter", "月": "month", "周": "week", "週": "week"}
_COMPARED_BEHIND = re.compile("(?:同期)?(?:相比|对比|對比|比)")


def _few(match: Match, today: date) -> str:
    """Write "过去三年", "近12个月" in numbers."""
    unit, number = _unit(match), int(in_arabic(match["count"]))
    if unit == "day":  # today is the last day
        return _apart(units_from(unit, 1 - number, 0, today))
    return _apart(units_from(unit, -number, -1, today))


def _ago(match: Match, today: date) -> str:
    """Write "两年前" in numbers."""
    number = int(in_arabic(match["count"]))
    return _apart(units_from(_unit(match), -number, -number, today))


def _single(match: Match, today: date, *, unit: str, place: int) -> str:
    """Write "去年" in numbers; add the present year for a comparison such as "比去年"."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    compared = before.endswith(("比", "较", "較")) or _COMPARED_BEHIND.match(after)
    if compared and place == -1 and next(marks(before), None) is None:
        return _apart(" and ".join(units_from(unit, each, each, today) for each in (-1, 0)))
    return _apart(units_from(unit, place, place, today))


def _present(_match: Match, today: date) -> str:
    """Write "年初至今" in numbers."""
    return _apart(units_from("year", 0, 0, today))


def _unit(match: Match) -> str:
    return next((name for sign, name in _UNITS.items() if sign in match["unit"]), "day")


def _apart(said: str) -> str:
    """Put spaces around a time; write a year alone as names do, so that months can follow it.

    >>> _apart("fy 2023"), _apart("2024-04")
    (' 2023 年', ' 2024-04 ')
    """
    year = re.fullmatch(rf"fy ({Y4})", said)
    return f" {year[1]} 年" if year else f" {said} " if said else ""


CHINESE: tuple[tuple[re.Pattern[str], Callable[[Match, date], str]], ...] = (
    (re.compile(_SO_FAR), _present),
    (re.compile(_FEW), _few),
    (re.compile(_AGO), _ago),
    *(
        (re.compile(text), partial(_single, unit=unit, place=place))
        for unit, place, text in _SINGLE
    ),
)
"""The patterns, in the order in which they consume pieces of a question."""
