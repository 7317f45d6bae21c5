"""The cases of `cases.txt`."""

from __future__ import annotations

import re
from pathlib import Path

from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

from tests.links.formula.workbooks.case import DATA, Case, Cells, Expected, book

_TYPES = {
    "F": "formula_reference", "A": "aggregation", "S": "summary_source", "J": "join_key",
}  # fmt: skip


def _case(part: str) -> Case:
    name, tabs, *lines = part.strip().splitlines()
    sheets: dict[str, dict[str, object]] = {
        tab.rstrip("+"): dict(DATA) if tab.endswith("+") else {} for tab in tabs.split(", ")
    }
    links: list[Expected] = []
    finishes = [line.split(" ", 2) for line in lines if line.startswith(("name ", "table "))]
    for line in lines[: len(lines) - len(finishes)]:
        text, _, targets = line.partition(" -> ")
        found = re.fullmatch(r"(.+?)!([A-Z]+\d+) (.+)", text)
        assert found, line
        sheet, cell, value = found.groups()
        sheets[sheet].setdefault("A1", "total")
        sheets[sheet][cell] = float(value) if value.isdigit() else value
        for target in filter(None, targets.split(", ")):
            other, _, letters = target.rpartition(" ")
            links.append((sheet, other, " ".join(_TYPES[each] for each in letters), text))

    def finish(made) -> None:
        for kind, place, text in finishes:
            sheet, _, own = place.rpartition("!")
            if kind == "table":
                made[sheet].add_table(Table(displayName=own, ref=text))
            else:
                (made[sheet] if sheet else made).defined_names.add(DefinedName(own, attr_text=text))

    filled: dict[str, Cells] = {**sheets}
    return Case(name, book(filled, finish), tuple(links))


LISTED_CASES = [
    _case(part)
    for part in Path(__file__).with_name("cases.txt").read_text("utf-8").split("\n## ")[1:]
]
