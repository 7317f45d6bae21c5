"""Sheets and links as one self-contained HTML page: no network, no other file.

Everything from workbooks is untrusted: it reaches the page as data and becomes text nodes
only; see `sat_retriever.pages.onepage`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sat_retriever.pages.graph.layout import WINDOWS, Layout, place_sheets
from sat_retriever.pages.onepage import one_page, unturned
from sat_retriever.records.links import Link, in_order, kind_of
from sat_retriever.records.sheets import Column, SheetRecord

PAGE_SHEETS = 2_000  # more sheets make a page slow to pan and too full to read
PAGE_LINKS = 20_000
_HEADERS, _HEADER_CHARS, _EVIDENCE_CHARS = 60, 120, 300
_SHAPES = [round(width / height, 2) for width, height in WINDOWS]
_SCRIPTS = ("model.js", "camera.js", "draw.js", "panel.js", "search.js", "main.js")


def to_html(
    records: Sequence[SheetRecord],
    links: Iterable[Link],
    *,
    title: str = "Sheets and their links",
    notes: Sequence[str] = (),
    opens: str = "",
) -> str:
    """HTML of an interactive page: search, filter by link type, sheets, links with evidence.

    Args:
        records: Sheets to draw. The page stays fluid with up to `PAGE_SHEETS`.
        links: Links between them; others are left out. Beyond `PAGE_LINKS` the weakest ones
            are left out too, and a note on the page gives their number.
        opens: Start of the addresses at which sheets open, before their ids; none opens without.
    """
    drawn, left_out = _drawn(records, links)
    if left_out:
        notes = [
            *notes,
            f"{left_out:,} weaker {'link is' if left_out == 1 else 'links are'} left out.",
        ]
    title = unturned(title)
    layouts = [place_sheets(records, drawn, window) for window in WINDOWS]
    data = _page_data(records, drawn, layouts)
    said = {"title": title, "notes": list(notes), "shapes": _SHAPES, "opens": opens}
    return one_page("sat_retriever.pages.graph", _SCRIPTS, title=title, data={**said, **data})


def _drawn(records: Sequence[SheetRecord], links: Iterable[Link]) -> tuple[list[Link], int]:
    """The links between the sheets, at most `PAGE_LINKS`, and the number left out."""
    known = {record.sheet_id for record in records}
    inside = [link for link in links if link.source in known and link.target in known]
    ranked = sorted(
        inside,
        key=lambda x: (kind_of(x.type).whole_workbook, -x.weight, x.source, x.target, x.type),
    )
    return ranked[:PAGE_LINKS], max(0, len(ranked) - PAGE_LINKS)


def _page_data(
    records: Sequence[SheetRecord], links: Sequence[Link], layouts: Sequence[Layout]
) -> dict[str, Any]:
    row_of = {record.sheet_id: row for row, record in enumerate(records)}
    types = in_order({link.type for link in links})
    sheets = [_sheet(record) for record in records]
    cards = []
    for place, card in enumerate(layouts[0].cards):
        for row in card.sheets:
            x, y = layouts[0].points[row].tolist()
            sheets[row].update(card=place, x=round(x - card.left, 1), y=round(y - card.top, 1))
        others = [layout.cards[place] for layout in layouts]
        cards.append(
            {
                "title": unturned(card.title),
                "width": round(card.width, 1),
                "height": round(card.height, 1),
                "column": round(card.column, 1),
                "places": [[round(c.left, 1), round(c.top, 1), round(c.room, 1)] for c in others],
            }
        )
    drawn = [
        [
            row_of[x.source],
            row_of[x.target],
            types.index(x.type),
            round(x.weight, 4),
            unturned(x.evidence[:_EVIDENCE_CHARS]),
        ]
        for x in links
    ]
    return {
        "types": [_type(name, alone=len(types) == 1) for name in types],
        "sheets": sheets,
        "cards": cards,
        "links": drawn,
    }


def _type(name: str, *, alone: bool) -> dict[str, Any]:
    kind = kind_of(name)
    return {
        "name": name,
        "label": name.replace("_", " "),
        "says": kind.says,
        "directed": kind.directed,
        "colours": kind.colours,
        # The cards already show which sheets belong to one workbook.
        "on": alone or not kind.whole_workbook,
    }


def _sheet(record: SheetRecord) -> dict[str, Any]:
    columns = record.columns
    return {
        "id": record.sheet_id,
        "name": unturned(record.sheet),
        "workbook": unturned(record.workbook),
        "path": unturned(record.path),
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
    name, unit = (unturned((x or "")[:_HEADER_CHARS]) for x in (column.name, column.unit))
    return [name, column.type.value, unit]
