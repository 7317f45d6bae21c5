"""Rows of a table that are no records: units, repeated headers, headings, totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sat_retriever.records.leftout import LeftOutReason
from sat_retriever.workbook.tables.adjacent import is_prose
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.repeated import same_rows
from sat_retriever.workbook.tables.sections import find_sections
from sat_retriever.workbook.tables.totals import find_totals
from sat_retriever.workbook.values.cells import Cells


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
        units = same_rows(cells, area, data, layout.units)
        out |= dict.fromkeys((layout.units, *units), LeftOutReason.UNITS)
    sections = find_sections(cells, area, data, out)
    out |= dict.fromkeys(sections, LeftOutReason.SECTION)
    found = find_totals(cells, area, data, out)
    out |= found.totals
    return replace(layout, out=dict(sorted(out.items())), doubtful=tuple(found.doubtful))


def _repeated(cells: Cells, layout: Layout) -> Iterator[int]:
    """Yield rows that have the texts of one of the header rows, and the titles above them."""
    area, data = layout.area, layout.data
    for head in range(area.top, area.top + layout.header_height):
        yield from same_rows(cells, area, data, head)
