"""Judge an answer in words: the values that it says, the sheets and the cells that it cites."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from benchmarks.answers.eps_questions import holds, written
from benchmarks.answers.systems import Told

Value = str | float | int | bool | None
_CITED = re.compile(
    r"\[[^\[\]\n]*#[^\[\]\n]*\]|\[\d{1,3}(?:\s*,\s*\d{1,3})*\]"
    r"|\S+#[^\n!]*![A-Z]{1,3}\d+(?::[A-Z]{1,3}\d+)?"
)
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_MINUS = re.compile(r"[−–](?=\d)")
_POWERS = {"": 0, "thousand": 3, "million": 6, "billion": 9}
# Digits within a name, as in Q3 and CO2, are no number.
_NUMBER = re.compile(
    r"(?<![\w.,#])(?P<number>(?:(?<!\w)-)?(?:\d{1,3}(?:[,\s]\d{3})+(?!\d)|\d+)(?:\.\d+)?"
    r"(?:[eE][-+]?\d+)?)(?!\d|[.,]\d)(?: (?P<scale>thousand|million|billion)\b)?"
)


@dataclass(frozen=True, slots=True)
class Expected:
    """A question with its answer.

    Attributes:
        question: The question.
        values: All values that a right answer says; at least one.
        sheets: Sheets of which one must be cited, or all if `all_sheets`.
        places: Cells that answer, as `sheet!range`; empty for answers over many cells.
        all_sheets: True if every sheet is needed.
    """

    question: str
    values: tuple[Value, ...]
    sheets: tuple[str, ...]
    places: tuple[str, ...] = ()
    all_sheets: bool = False


FAILURES = {
    "failed": "The server or the model gave no whole reply.",
    "not_found": "A sheet that answers is not among those that the model was shown.",
    "no_query": "The model wrote no query, and read the answer wrong from text.",
    "no_rows": "Its queries failed or gave nothing, and it read the answer wrong from text.",
    "wrong_rows": "Its query ran, and its rows do not have the answer.",
    "told_wrong": "The rows have the answer, and its words do not.",
    "read_wrong": "It was given cells alone, and read the answer wrong.",
}
"""Classes of answers that are not right; each is in the first that fits."""


def failure_of(expected: Expected, told: Told, *, queries: bool) -> str:
    """Return the class of an answer that is not right.

    Args:
        queries: True for a way in which the model writes queries.
    """
    shown = set(told.found)
    found = shown.issuperset(expected.sheets) if expected.all_sheets else shown & {*expected.sheets}
    if told.failed:
        return "failed"
    if not found:
        return "not_found"
    if not queries:
        return "read_wrong"
    if told.rows:
        right = all(says(told.rows, value) for value in expected.values)
        return "told_wrong" if right else "wrong_rows"
    return "no_rows" if told.errors else "no_query"


def judged(
    expected: Expected, told: Told, *, queries: bool = False
) -> dict[str, float | int | str | None]:
    """Return what is right of an answer, each as 1 or 0, and what it took.

    `cells` is None if the answer lies over many cells, `sql_first` and `sql` (the first query, or
    any, gave rows) where no query is written, `failure` for a right answer.
    """
    cited = {each.rpartition("!")[0] for each in told.citations}
    wanted = expected.sheets if expected.all_sheets else ()
    sheets = cited.issuperset(wanted) if wanted else not cited.isdisjoint(expected.sheets)
    cells = any(holds(each, place) for each in told.citations for place in expected.places)
    right = all(says(told.text, value) for value in expected.values)
    return {
        "right": int(right),
        "sheets": int(sheets),
        "cells": int(cells) if expected.places else None,
        "sql_first": int(told.errors[:1] == ("",)) if queries else None,
        "sql": int("" in told.errors) if queries else None,
        "prompt_tokens": told.prompt_tokens,
        "tokens": told.tokens,
        "seconds": told.seconds,
        "failure": None if right else failure_of(expected, told, queries=queries),
    }


def says(text: str, value: Value) -> bool:
    """True if a text says a value: a number, a day, or a text of whole words in any case.

    A number counts with at least three digits or all that it has. What an answer cites says
    nothing, nor do digits within names or days.

    >>> says("About 38.5 EUR", 38.5), says("33,067 in all", 33067), says("18 %", 0.18)
    (True, True, False)
    >>> says("None has it. [a.xlsx#Q1!B2:B9]", 9), says("41 in Q3 2022", 3), says("CO2", 2)
    (False, False, False)
    >>> says("10-20", 20), says("10-20", -20), says("−5", -5), says("8.44 million", 8_440_000)
    (True, False, True, True)
    >>> says("On 2 January 2024.", "2024-01-02"), says("12 January 2024", "2024-01-02")
    (True, False)
    >>> says("ADA did", "Ada"), says("Canada", "Ada"), says("13", 3)
    (True, False, False)
    """
    if value is None:
        return True
    plain = " ".join(_CITED.sub(" ", text).split())
    if isinstance(value, str):
        return _has(plain, re.escape(" ".join(value.split()))) or _says_day(plain, value)
    plain = _DAY.sub(" ", _MINUS.sub("-", plain))
    return any(
        written(number, value, 10 ** _POWERS[match["scale"] or ""])
        for match in _NUMBER.finditer(plain)
        for number in [re.sub(r"[,\s]", "", match["number"])]
    )


def _has(text: str, form: str) -> bool:
    return bool(re.search(rf"(?<!\w){form}(?!\w)", text, re.IGNORECASE))


def _says_day(text: str, value: str) -> bool:
    """True if a value is a day and the text writes it out, in English or in figures."""
    try:
        day = dt.date.fromisoformat(value[:10])
    except ValueError:
        return False
    month, nth = day.strftime("%B"), rf"0?{day.day}(?:st|nd|rd|th)?"
    number, year = f"0?{day.month}", str(day.year)
    forms = (
        rf"{nth}(?: of)? {month},? {year}",
        rf"{month} {nth},? {year}",
        rf"0?{day.day}\.{number}\.{year}",
        rf"{number}/0?{day.day}/{year}",
    )
    return any(_has(text, form) for form in forms)
