"""Make sheets with a row per event, for trainings and leaves, and the hidden lists of choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from sat_retriever.synth.book.model import Choices, Layout, SheetAt
from sat_retriever.synth.categories.filing import Filed, Filing, arranged, either, noted
from sat_retriever.synth.categories.hr.people import CONTRACTS, ID, Person, departments_of
from sat_retriever.synth.categories.hr.rosters import who
from sat_retriever.synth.house.when import When, some_days

_LEAVES = ("Annual", "Sick", "Parental", "Unpaid", "Study", "Bereavement")
_PASS = 60


def training(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the sheet of the courses that people took in a year."""
    kind, chance = filing.kind("training"), filing.house.chance(ID, "training", when)
    count = chance.randint(11, 24)
    some = chance.choices(staff, k=count)
    scores = [chance.randint(52, 100) for _ in some]
    columns = [
        kind.column("record_no", [f"T{when.year % 100:02}-{n:03}" for n in range(1, count + 1)]),
        *who(filing, "training", some, when),
        kind.column("course", chance.choices(filing.house.pool("courses", 8), k=count)),
        kind.column("course_date", some_days(chance, when, count), "date"),
        kind.column("hours", [chance.choice((2, 4, 8, 8, 16, 24)) for _ in some], "integer"),
        kind.column("score", scores, "integer"),
        kind.column("result", ["Passed" if score >= _PASS else "Failed" for score in scores]),
    ]
    optional = ("record_no", "course_date", "score", "result")
    return filing.sheet("training", when, arranged(kind, columns, optional))


def leave(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the sheet of a year's leaves, whose types are chosen from the hidden list."""
    kind, house = filing.kind("leave"), filing.house
    chance = house.chance(ID, "leave", when)
    count = chance.randint(14, 30)
    some = chance.choices(staff, k=count)
    starts = some_days(chance, when, count)
    lengths = [chance.choice((1, 1, 2, 3, 5, 5, 10)) for _ in some]
    # Five workdays make a week, and weekends are skipped, so an end is a workday like its start.
    ends = [
        start + timedelta(days - 1 + 2 * ((start.weekday() + days - 1) // 5))
        for start, days in zip(starts, lengths, strict=True)
    ]
    managers = house.pool("employees", 6)
    columns = [
        kind.column("leave_no", [f"LV-{when.year}-{n:03}" for n in range(1, count + 1)]),
        *who(filing, "leave", some, when),
        kind.column("leave_type", [chance.choice((*_LEAVES[:1] * 4, *_LEAVES)) for _ in some]),
        kind.column("start", starts, "date"),
        kind.column("end", ends, "date"),
        kind.column("days", lengths, "integer"),
        kind.column("approver", [chance.choice(managers) for _ in some]),
    ]
    filed = filing.sheet("leave", when, arranged(kind, columns, ("leave_no", "end", "approver")))
    if not has_lists(filing):
        return filed
    choices = (Choices("leave_type", SheetAt(filing.place("lists", when).sheet), "leave_type"),)
    return noted(filed, lambda sheet: replace(sheet, choices=choices))


def has_lists(filing: Filing) -> bool:
    """True if leave types are chosen from a list."""
    return either(filing.house, ID, "lists", share=0.7)


def lists(filing: Filing, when: When) -> Filed:
    """Make the hidden sheet of the choices."""
    kind, house = filing.kind("lists"), filing.house
    texts = {
        "department": departments_of(house),
        "leave_type": _LEAVES,
        "course": house.pool("courses", 8),
        "contract": CONTRACTS,
    }
    longest = max(map(len, texts.values()))
    columns = [
        kind.column(column, (*cells, *(None for _ in range(longest - len(cells)))))
        for column, cells in texts.items()
    ]
    filed = filing.sheet("lists", when, columns)
    return noted(filed, lambda sheet: replace(sheet, facts=None, hidden=True, layout=Layout()))
