"""Query strings: their parameters, checked, and the addresses of the pages.

Names in addresses are untrusted, and always quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from sat_retriever.errors import InputError
from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, Place, split_ref
from sat_retriever.records.links import Link, kind_of
from sat_retriever.tools.results import RelatedSheet
from sat_retriever.workbook.window import parse_range

MAX_TEXT = 4_000  # characters of a question, a name, an id
MAX_CELLS = 10  # cells that are marked
_NUMBER = re.compile(r"[0-9]{1,8}")


class PageError(Exception):
    """A request that is answered by a sentence; `names` are sheet ids that may have been meant."""

    def __init__(self, status: int, message: str, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.names = names


def text_of(given: Mapping[str, str], name: str) -> str:
    """Return a parameter without blanks around it; "" if it is not given."""
    text = given.get(name, "").strip()
    if len(text) > MAX_TEXT:
        raise PageError(400, f"The parameter {name} has more than {MAX_TEXT:,} characters.")
    if "\0" in text:
        raise PageError(400, f"The parameter {name} has characters that are not text.")
    return text


def number_of(given: Mapping[str, str], name: str, least: int, most: int, default: int) -> int:
    """Return a parameter as a whole number."""
    text = text_of(given, name)
    if not text:
        return default
    number = int(text) if text.isascii() and _NUMBER.fullmatch(text) else -1
    if not least <= number <= most:
        raise PageError(400, f"The {name} must be a whole number from {least:,} to {most:,}.")
    return number


def row_of(given: Mapping[str, str], default: int) -> int:
    """Return the parameter `row`."""
    return number_of(given, "row", 1, MAX_ROW, default)


def column_of(given: Mapping[str, str], default: int) -> int:
    """Return the parameter `column`, a number."""
    return number_of(given, "column", 1, MAX_COLUMN, default)


def cells_of(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the addresses of cells in the parameter `cells`; what is none is left out.

    >>> cells_of({"cells": "B7,x,AA1"})
    ('B7', 'AA1')
    """
    found = text_of(given, "cells").upper().split(",")
    return tuple(each for each in found if split_ref(each))[:MAX_CELLS]


def places_of(cells: Sequence[str]) -> list[Place]:
    """Return row and column of each cell."""
    return [place for each in cells if (place := split_ref(each))]


def cell_of(given: Mapping[str, str]) -> Place | None:
    """Return row and column of the cell in the parameter `cell`: the first one of a range.

    >>> cell_of({"cell": "$AA$120"}), cell_of({"cell": "b:b"}), cell_of({"cell": "700"})
    ((120, 27), (1, 2), (700, 1))
    """
    text = text_of(given, "cell")
    if not text:
        return None
    try:
        area = parse_range(f"A{text}" if text.isdecimal() else text)
    except InputError as error:
        raise PageError(400, f"{text[:40]!r} is no cell; write one such as AA120.") from error
    return area.top, area.left


def sheet_url(
    sheet_id: str,
    *,
    row: int | None = None,
    column: int | None = None,
    cells: Sequence[str] = (),
    asked: str = "",
) -> str:
    """Return the address of a sheet's page; `asked` is the query string of the search before it.

    >>> sheet_url("a b.xlsx#<Q1>", row=101, cells=["B7"])
    '/sheet?id=a+b.xlsx%23%3CQ1%3E&row=101&cells=B7'
    """
    found = _url("/sheet", id=sheet_id, row=row, column=column, cells=",".join(cells))
    return f"{found}&{asked}" if asked else found


def piece_url(
    sheet_id: str, row: int, column: int, cells: Sequence[str] = (), asked: str = ""
) -> str:
    """Return the address of the rows that follow on a sheet's page."""
    page = sheet_url(sheet_id, row=row, column=column, cells=cells, asked=asked)
    return f"/rows{page.removeprefix('/sheet')}"


def preview_url(sheet_id: str, range_: str, cells: Sequence[str], query: str) -> str:
    """Return the address of the few rows that are shown of a hit."""
    return _url("/preview", id=sheet_id, range=range_, cells=",".join(cells), q=query)


def csv_url(sheet_id: str, table: int, *, totals: bool = False) -> str:
    """Return the address of a table as a file, with its totals or without."""
    return _url("/table.csv", id=sheet_id, table=table, totals=1 if totals else None)


def workbook_url(sheet_id: str) -> str:
    """Return the address of a sheet's workbook as a file."""
    return _url("/workbook", id=sheet_id)


def graph_url(sheet_id: str) -> str:
    """Return the address of the graph around a sheet, which is chosen in it.

    >>> graph_url("a b.xlsx#Q1")
    '/graph?id=a+b.xlsx%23Q1#a%20b.xlsx%23Q1'
    """
    return f"{_url('/graph', id=sheet_id)}#{quote(sheet_id, errors='replace')}"


@dataclass(frozen=True, slots=True)
class Related:
    """A link to another sheet, as a page shows it."""

    way: str
    sheet_id: str
    url: str
    evidence: str

    @classmethod
    def of(cls, sheet_id: str, link: Link) -> Related:
        """Describe a link from the side of one of its sheets."""
        seen = RelatedSheet.of(sheet_id, link)
        return cls(seen.way, seen.sheet, sheet_url(seen.sheet), seen.evidence)

    def name_beside(self, path: str) -> str:
        """Return its id, or its name alone beside other sheets of its workbook."""
        return self.sheet_id.removeprefix(f"{path}#") if path else self.sheet_id


def related_of(sheet_id: str, links: Sequence[Link], most: int) -> tuple[Related, ...]:
    """Return a sheet's strongest links, one to each other sheet; none to all of its workbook."""
    own = [x for x in links if sheet_id in (x.source, x.target)]
    telling = [x for x in own if x.source != x.target and not kind_of(x.type).whole_workbook]
    ranked = sorted(
        telling, key=lambda x: (-kind_of(x.type).pull, -x.weight, x.type, x.source, x.target)
    )
    found: dict[str, Related] = {}
    for link in ranked:
        related = Related.of(sheet_id, link)
        found.setdefault(related.sheet_id, related)
        if len(found) == most:
            break
    return tuple(found.values())


def _url(path: str, **parameters: str | int | None) -> str:
    given = {name: value for name, value in parameters.items() if value not in (None, "")}
    return f"{path}?{urlencode(given, errors='replace')}"
