"""Sheets and links as one HTML page that needs nothing else: no network, no other file.

Everything from workbooks is untrusted: it reaches the page as data and becomes text nodes
only; see `sat_retriever.onepage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from sat_retriever.links.view.layout import Layout, place_sheets
from sat_retriever.onepage import one_page
from sat_retriever.types import Column, Link, LinkType, SheetRecord

PAGE_SHEETS = 2_000  # more than these make a page slow to pan, and nobody reads them at once
PAGE_LINKS = 20_000
_HEADERS, _HEADER_CHARS, _EVIDENCE_CHARS = 60, 120, 300
_SCRIPTS = ("model.js", "camera.js", "draw.js", "panel.js", "search.js", "main.js")


def to_html(
    records: Sequence[SheetRecord],
    links: Iterable[Link],
    *,
    title: str = "Sheets and their links",
    notes: Sequence[str] = (),
) -> str:
    """The text of an interactive page: search, filter by type, sheets with their evidence.

    Args:
        records: Sheets to draw. The page stays fluid with up to `PAGE_SHEETS`.
        links: Links between them; others are left out, and beyond `PAGE_LINKS` the
            weakest ones, which the page says.
        title: Name of the page.
        notes: Sentences below the legend, for example what was left out.
    """
    drawn, left_out = _drawn(records, links)
    if left_out:
        notes = [*notes, f"{left_out:,} weaker links are left out."]
    data = _page_data(records, drawn, place_sheets(records, drawn))
    script = '(() => {\n"use strict";\n' + "\n".join(map(_asset, _SCRIPTS)) + "})();\n"
    return one_page(
        _asset("page.html"),
        title=title,
        style=_asset("style.css"),
        script=script,
        data={"title": title, "notes": list(notes), **data},
    )


def _asset(name: str) -> str:
    return (files("sat_retriever.links.view") / "viewer" / name).read_text(encoding="utf-8")


def _drawn(records: Sequence[SheetRecord], links: Iterable[Link]) -> tuple[list[Link], int]:
    """The links between the sheets, at most `PAGE_LINKS`, and how many that leaves out."""
    known = {record.sheet_id for record in records}
    inside = [link for link in links if link.source in known and link.target in known]
    ranked = sorted(
        inside,
        key=lambda x: (x.type == LinkType.SAME_WORKBOOK, -x.weight, x.source, x.target, x.type),
    )
    return ranked[:PAGE_LINKS], max(0, len(ranked) - PAGE_LINKS)


def _page_data(
    records: Sequence[SheetRecord], links: Sequence[Link], layout: Layout
) -> dict[str, Any]:
    """What the scripts read: sheets with places, cards, types, links by position."""
    row_of = {record.sheet_id: row for row, record in enumerate(records)}
    card_of = {row: card for card, group in enumerate(layout.cards) for row in group.sheets}
    types = _types(links)
    sheets = [_sheet(record) for record in records]
    for row, (sheet, (x, y)) in enumerate(zip(sheets, layout.points.tolist(), strict=True)):
        sheet.update(card=card_of[row], x=round(x, 1), y=round(y, 1))
    cards = [
        {
            "title": card.title,
            "left": round(card.left, 1),
            "top": round(card.top, 1),
            "width": round(card.width, 1),
            "height": round(card.height, 1),
            "column": round(card.column, 1),
        }
        for card in layout.cards
    ]
    drawn = [
        [
            row_of[x.source],
            row_of[x.target],
            types.index(x.type),
            round(x.weight, 4),
            x.evidence[:_EVIDENCE_CHARS],
        ]
        for x in links
    ]
    return {"types": types, "sheets": sheets, "cards": cards, "links": drawn}


def _types(links: Iterable[Link]) -> list[str]:
    """Types that occur, ours first and in their order."""
    found = {link.type for link in links}
    own = [kind.value for kind in LinkType if kind.value in found]
    return [*own, *sorted(found.difference(own))]


def _sheet(record: SheetRecord) -> dict[str, Any]:
    columns = record.columns
    return {
        "id": record.sheet_id,
        "name": record.sheet,
        "workbook": record.workbook,
        "path": record.path,
        "range": record.main_range or "",
        "rows": record.num_rows,
        "cols": record.num_cols,
        "format": record.format,
        "visibility": record.visibility.value,
        "formulas": record.formulas.value,
        "tables": len(record.tables),
        "headers": [_header(column) for column in columns[:_HEADERS]],
        "more": max(0, len(columns) - _HEADERS),
    }


def _header(column: Column) -> list[str]:
    return [column.name[:_HEADER_CHARS], column.type.value, (column.unit or "")[:_HEADER_CHARS]]
