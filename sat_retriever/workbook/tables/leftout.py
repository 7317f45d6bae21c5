"""Rows of a table that are no records: units, repeated headers, headings, totals."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import LeftOutReason
from sat_retriever.workbook.tables.adjacent import is_prose
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.repeated import same_rows
from sat_retriever.workbook.tables.sections import find_sections
from sat_retriever.workbook.tables.totals import find_totals
from sat_retriever.workbook.values.cells import Cells, Kind


def with_left_out(cells: Cells, layout: Layout) -> Layout:
    """A layout with the rows below its header that are no records, and those in doubt.

    A transposed table keeps all of its columns, a page of prose all of its rows.

    Args:
        cells: The sheet.
        layout: The table, perhaps with rows that are known to be left out.
    """
    if layout.transposed or (not layout.header_height and is_prose(cells, layout.area)):
        return layout
    area, data = layout.area, layout.data
    out = dict(layout.out)
    if layout.header_height:
        out |= dict.fromkeys(_repeated(cells, layout), LeftOutReason.REPEATED_HEADER)
    if layout.units is not None:
        units = same_rows(cells, area, data, layout.units, least=1)
        out |= dict.fromkeys((layout.units, *units), LeftOutReason.UNITS)
    sections = find_sections(cells, area, data, out)
    out |= dict.fromkeys(sections, LeftOutReason.SECTION)
    found = find_totals(cells, area, data, out)
    out |= found.totals
    area = _above_remarks(cells, area, found.totals)
    rows = dict(sorted(out.items()))
    return replace(layout, area=area, out=rows, doubtful=tuple(found.doubtful))


def _above_remarks(cells: Cells, area: Area, totals: Collection[int]) -> Area:
    """The area without single texts below its last total: who made it, a footnote."""
    last = max(totals, default=area.bottom)
    part = cells.kinds[last + 1 : area.bottom + 1, area.left : area.right + 1]
    remarks = (part != Kind.EMPTY).sum(axis=1) <= 1
    remarks &= (part <= Kind.TEXT).all(axis=1)
    return replace(area, bottom=last) if remarks.all() else area


def _repeated(cells: Cells, layout: Layout) -> Iterator[int]:
    """Yield rows that have the texts of one of the header rows, and the titles above them."""
    area, data = layout.area, layout.data
    for head in range(area.top, area.top + layout.header_height):
        yield from same_rows(cells, area, data, head)
