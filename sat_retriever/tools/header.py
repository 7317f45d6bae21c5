"""The header of a table for rows of it that are shown without the rows above them."""

from __future__ import annotations

from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.tools.cells import Row

Header = tuple[int, Row]
"""Number of the header's last row, and the headers of some columns."""


def header_above(record: SheetRecord, area: Area) -> Header | None:
    """The header of the table that some rows are of, if they begin below it; else None.

    Headers are those of the record, so nothing is read: of several header rows one text a column.

    Args:
        record: The sheet.
        area: The rows that are shown; columns outside the table have no header.
    """
    for table in record.tables:
        place = area_of(table.range)
        if place is None or table.header_row is None or table.transposed:
            continue
        last = table.header_row + table.header_height - 1
        if place.holds(area.top, area.left) and last < area.top:
            names = [column.name for column in table.columns]
            held = range(place.left, place.left + len(names))
            columns = range(area.left, area.right + 1)
            return last, [names[at - place.left] if at in held else None for at in columns]
    return None
