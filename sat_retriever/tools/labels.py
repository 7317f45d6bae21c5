"""Labels that are merged over several rows: in a text, each of these rows has them."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.records.area import Area, Place, area_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.workbook.window import CellWindow, Merged, Rows

_TOLD = 12  # cells


def merged_labels(record: SheetRecord, window: CellWindow) -> dict[Place, Merged]:
    """The label of each cell that is merged with one above it, by row and column.

    As in the data of a table, a text or a date that is merged over rows of records counts for each
    of them. A number does only if all columns of the table up to it are merged over that row, too:
    others are amounts, which count once. Headers and titles are shown once. A value that the file
    stores under a label is not seen.

    Args:
        record: The sheet, whose tables tell which rows are records.
        window: Some of its cells.
    """
    area = area_of(window.range)
    if area is None or not window.merged:
        return {}
    labels: dict[Place, Merged] = {}
    tables = _records(record)
    for each in sorted(window.merged, key=lambda merged: (merged.column, merged.row)):
        table = next((some for some in tables if some.holds(each.row, each.column)), None)
        if table is not None:
            first = each.column == table.left or not isinstance(each.value, (int, float))
            rows = range(max(each.row, area.top), min(each.last_row, area.bottom) + 1)
            labels |= {
                (row, each.column): each
                for row in rows
                if first or (row, each.column - 1) in labels
            }
    return {place: label for place, label in labels.items() if place[0] > label.row}


def _records(record: SheetRecord) -> list[Area]:
    """The rows below the headers of a sheet's tables."""
    found = []
    for table in record.tables:
        area = area_of(table.range)
        if area is not None and not table.transposed:
            header = table.header_row or area.top
            found.append(replace(area, top=header + table.header_height))
    return found


def with_labels(record: SheetRecord, window: CellWindow) -> Rows:
    """The rows of a window, each with the labels that are merged over it."""
    labels = merged_labels(record, window)
    if not labels:
        return window.rows
    area = area_of(window.range)
    assert area is not None
    rows = [list(row) for row in window.rows]
    for (row, column), label in labels.items():
        rows[row - area.top][column - area.left] = label.value
    return tuple(map(tuple, rows))


def labels_note(record: SheetRecord, window: CellWindow, shown: Area) -> str:
    """A sentence that says where merged labels stand that are shown in further rows; or none."""
    labels = merged_labels(record, window)
    cells = dict.fromkeys(label.cell for place, label in labels.items() if shown.holds(*place))
    if not cells:
        return ""
    more = f" and {len(cells) - _TOLD:,} more" if len(cells) > _TOLD else ""
    return f"Merged labels are repeated in each of their rows: {', '.join([*cells][:_TOLD])}{more}."
