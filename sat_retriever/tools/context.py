"""Cells of a sheet, read anew, with headers, labels and sums from its record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sat_retriever.index.index import BoundedFile
from sat_retriever.records.area import Area, Place, area_of
from sat_retriever.records.sheets import LeftOut, SheetRecord, only_kept, reason_name, told_rows
from sat_retriever.tools.cells import Row
from sat_retriever.workbook.messages import MAX_CELLS
from sat_retriever.workbook.window import CellWindow, Merged, Rows, read_range

Header = tuple[int, Row]
"""Number of the header's last row, and the headers of some columns."""
_TOLD = 12  # cells


def read_sheet(
    file: BoundedFile,
    record: SheetRecord,
    wanted: Area,
    *,
    formulas: bool = False,
    most: int = MAX_CELLS,
    shown: bool = False,
) -> CellWindow:
    """Cells of an indexed sheet, read anew from its file.

    Args:
        file: What `SheetIndex.bounded_file_of` says of it.
        record: The sheet.
        wanted: The cells.
        formulas: True for formulas in place of the values of their cells.
        most: Largest number of cells.
        shown: True for the texts that the cells show, too.

    Raises:
        PathNotFoundError: If the file is gone.
        InputError: If the sheet cannot be read.
    """
    path, within = file
    return read_range(
        path,
        record.sheet,
        wanted,
        formulas=formulas,
        within=within,
        relative=record.path or None,
        encoding=record.encoding,
        most=most,
        shown=shown,
    )


def header_above(record: SheetRecord, area: Area) -> Header | None:
    """The header of the table that some rows are of, if they begin below it; else None.

    Headers are those of the record, so nothing is read: of several header rows one text a column.

    Args:
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


def merged_labels(record: SheetRecord, window: CellWindow) -> dict[Place, Merged]:
    """The label of each cell that is merged with one above it, by row and column.

    As in the data of a table, a text or a date that is merged over rows of records counts for each
    of them. A number does only if all columns of the table up to it are merged over that row, too:
    others are amounts, which count once. Headers and titles are shown once. A value that the file
    stores under a label is not seen.
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


def rows_note(record: SheetRecord, area: Area) -> str:
    """Sentences about the rows of some cells that are no records, or may be none."""
    tables = [each for each in record.tables if _share_columns(area_of(each.range), area)]
    out = _within(area, (row for table in tables for row in table.left_out))
    doubtful = _within(area, (row for table in tables for row in table.doubtful))
    more = any(
        len(table.left_out) < table.num_left_out and table.left_out[-1].row < area.bottom
        for table in tables
    )
    said = [f"Not records: {told_rows(out, doubtful=doubtful)}."] if out else []
    said += [f"{'More' if out else 'Some'} of these rows may be no records."] if more else []
    kept = only_kept(out, doubtful)
    said += [f"May sum up others: {told_rows(kept)}."] if kept else []
    return " ".join(said)


def reasons_of(record: SheetRecord, area: Area) -> dict[int, str]:
    """Why some rows are no records, or may be none, in words by row."""
    tables = [each for each in record.tables if _share_columns(area_of(each.range), area)]
    doubtful = _within(area, (row for table in tables for row in table.doubtful))
    found = {each.row: f"may be a {reason_name(each.reason)}" for each in doubtful}
    out = _within(area, (row for table in tables for row in table.left_out))
    wrong = found.keys()
    return found | {
        each.row: f"no record: {reason_name(each.reason, doubtful=each.row in wrong)}"
        for each in out
    }


def _within(area: Area, rows: Iterable[LeftOut]) -> list[LeftOut]:
    found = {(each.row, each.reason): each for each in rows if area.top <= each.row <= area.bottom}
    return sorted(found.values(), key=lambda each: each.row)


def _share_columns(one: Area | None, other: Area) -> bool:
    return one is not None and one.left <= other.right and other.left <= one.right
