"""Addresses of the pages, and what a link leads to: untrusted names are always quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from sat_retriever.records.links import Link, kind_of
from sat_retriever.tools.results.related import RelatedSheet


def sheet_url(
    sheet_id: str, *, row: int | None = None, column: int | None = None, cells: Sequence[str] = ()
) -> str:
    """Return the address of a sheet's page.

    >>> sheet_url("a b.xlsx#<Q1>", row=101, cells=["B7"])
    '/sheet?id=a+b.xlsx%23%3CQ1%3E&row=101&cells=B7'
    """
    return _url("/sheet", id=sheet_id, row=row, column=column, cells=",".join(cells))


def piece_url(sheet_id: str, row: int, column: int, cells: Sequence[str] = ()) -> str:
    """Return the address of the rows that follow on a sheet's page."""
    return _url("/rows", id=sheet_id, row=row, column=column, cells=",".join(cells))


def preview_url(sheet_id: str, range_: str, cells: Sequence[str], query: str) -> str:
    """Return the address of the few rows that are shown of a hit."""
    return _url("/preview", id=sheet_id, range=range_, cells=",".join(cells), q=query)


def csv_url(sheet_id: str, table: int, *, totals: bool = False) -> str:
    """Return the address of a table as a file, with its totals or without."""
    return _url("/table.csv", id=sheet_id, table=table, totals=1 if totals else None)


@dataclass(frozen=True, slots=True)
class Related:
    """A link to another sheet, as a page shows it.

    Attributes:
        way: How the shown sheet stands to the other, in words.
        sheet_id: The other sheet.
        url: Its page.
        evidence: Evidence for the link.
    """

    way: str
    sheet_id: str
    url: str
    evidence: str

    @classmethod
    def of(cls, sheet_id: str, link: Link) -> Related:
        """Describe a link from the side of one of its sheets."""
        seen = RelatedSheet.of(sheet_id, link)
        return cls(seen.way, seen.sheet, sheet_url(seen.sheet), seen.evidence)


def related_of(sheet_id: str, links: Sequence[Link], most: int) -> tuple[Related, ...]:
    """Return the strongest links of a sheet; those to all of its workbook are left out.

    Each other sheet is named once, by its strongest link.
    """
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
