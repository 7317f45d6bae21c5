"""Rows of a table that are no records: units, repeated headers, headings, totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.records.leftout import LeftOutReason
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.sections import find_sections
from sat_retriever.workbook.tables.totals import find_totals
from sat_retriever.workbook.values.cells import Cells, Kind, plain_text
from sat_retriever.workbook.values.grid import Value

MIN_REPEATED = 2
"""Least texts of a repeated header."""


def with_left_out(cells: Cells, layout: Layout) -> Layout:
    """A layout with the rows below its header that are no records, and those in doubt.

    A transposed table keeps all of its columns.

    Args:
        cells: The sheet.
        layout: The table, perhaps with rows that are known to be left out.
    """
    if layout.transposed:
        return layout
    area, data = layout.area, layout.data
    out = dict(layout.out)
    if layout.header_height:
        out |= dict.fromkeys(_repeated(cells, layout), LeftOutReason.REPEATED_HEADER)
    if layout.units is not None:
        units = _same_rows(cells, area, data, layout.units)
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
        yield from _same_rows(cells, area, data, head)


def _same_rows(cells: Cells, area: Area, rows: range, head: int) -> Iterator[int]:
    """Yield rows that hold the texts of one row, which has two or more, and nothing else."""
    columns = range(area.left, area.right + 1)
    wanted = _texts(cells.line(head, columns))
    filled = [place for place, text in enumerate(wanted) if text]
    if len(filled) < MIN_REPEATED:
        return
    part = cells.kinds[rows.start : rows.stop, area.left : area.right + 1]
    own = cells.kinds[head, area.left : area.right + 1]
    alike = ((part != Kind.EMPTY) == (own != Kind.EMPTY)).all(axis=1)
    first = area.left + filled[0]
    for row in (np.flatnonzero(alike) + rows.start).tolist():
        alike_first = row != head and _text(cells.value(row, first)) == wanted[filled[0]]
        if alike_first and _texts(cells.line(row, columns)) == wanted:
            yield row


def _texts(line: Sequence[Value]) -> list[str]:
    return [_text(value) for value in line]


def _text(value: Value) -> str:
    return plain_text(value).casefold()
