"""The record of a sheet, made from its grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.records.area import Area
from sat_retriever.records.contents import CellText, ContentsPolicy
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import SheetRecord, Visibility
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.tables.contents import ROOM, sheet_contents
from sat_retriever.workbook.tables.header import describe_tables, find_layouts
from sat_retriever.workbook.tables.role import NO_SETTING, Setting, form_of, role_of
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid


@dataclass(frozen=True, slots=True)
class Source:
    """The source of records, the same for all sheets of a workbook.

    Attributes:
        path: POSIX path relative to the root.
        workbook: File name.
        format: Format found in the content.
        content_hash: Hash of the file's bytes.
        encoding: Encoding of a delimited file; empty for other formats.
        unsure_encoding: True if another encoding is almost as likely.
    """

    path: str
    workbook: str
    format: str
    content_hash: str
    encoding: str = ""
    unsure_encoding: bool = False


def sheet_record(  # noqa: PLR0913 - a sheet, and all that is known of it
    source: Source,
    sheet: str,
    grid: Grid,
    area: Area,
    *,
    visibility: Visibility = Visibility.VISIBLE,
    merges: Sequence[Area] = (),
    table_objects: Sequence[TableObject] = (),
    beside: Sequence[CellText] = (),
    privacy: Privacy = EVERYTHING,
    setting: Setting = NO_SETTING,
    room: int = ROOM,
) -> SheetRecord:
    """The record of one worksheet.

    Args:
        source: Its workbook.
        sheet: Name of the tab.
        grid: Its values; may end before `area` does.
        area: Its true used range.
        visibility: Its visibility in the workbook.
        merges: Merged rectangles.
        table_objects: Declared tables.
        beside: Texts of its comments, shapes and charts.
        privacy: What may be kept of the cells.
        setting: What else is known of the sheet.
        room: Bytes that its labels and values may take.
    """
    cells = cells_of(grid, merges)
    placed = find_layouts(cells, table_objects)
    tables = describe_tables(cells, placed, privacy)
    layouts = [layout for layout, _ in placed]
    contents = None
    if privacy.contents is ContentsPolicy.ALL:
        contents = sheet_contents(cells, layouts, tables, privacy, room, beside)
    return SheetRecord(
        sheet_id=f"{source.path}#{sheet}",
        sheet=sheet,
        workbook=source.workbook,
        path=source.path,
        columns=tables[0].columns if tables else (),
        num_rows=area.bottom - area.top + 1,
        num_cols=area.right - area.left + 1,
        range=area.a1(),
        header_row=tables[0].header_row if tables else None,
        visibility=visibility,
        format=source.format,
        tables=tables,
        content_hash=source.content_hash,
        role=role_of(form_of(cells, layouts, tables, setting), setting),
        contents=contents,
        encoding=source.encoding,
        unsure_encoding=source.unsure_encoding,
    )
