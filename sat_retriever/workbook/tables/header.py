"""Discovery of a sheet's tables: their ranges, and their header rows or columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import LeftOutReason
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.tables.adjacent import (
    continues_below,
    continues_beside,
    is_lone,
    is_prose,
)
from sat_retriever.workbook.tables.layout import Layout, read_layout
from sat_retriever.workbook.tables.leftout import with_left_out
from sat_retriever.workbook.tables.regions import Rules, find_blocks, trim
from sat_retriever.workbook.tables.stacked import split_stacked
from sat_retriever.workbook.tables.totals import find_totals
from sat_retriever.workbook.values.cells import (
    Cells,
    Kind,
)

MAX_TABLES = 64
MIN_CELLS = 2
MIN_HEADED_ROWS = 3  # least data rows of a header that counts against an irregular sheet
REMARK_CELLS = 4
REMARK_SHARE = 3
# Share of its size that a table without a header has in the choice of the main table.
HEADERLESS_SHARE = 0.5
MIN_PIECES = 5
# Most cells of a block that counts as a piece; pieces must have most of the cells.
MAX_PIECE_CELLS = 8
MAX_DENSITY = 0.12  # largest filled share of the used range at which its cells count as scattered
MAX_LARGEST = 0.3  # largest share of the filled cells in one block
MAX_HEADED = 0.5
# Where a table stands, and its declaration, if the workbook has one.
Placed = tuple[Layout, TableObject | None]
_NO_TEXT = (Kind.EMPTY, Kind.INTEGER, Kind.NUMBER, Kind.TIME, Kind.UNKNOWN)


def find_layouts(cells: Cells, table_objects: Sequence[TableObject]) -> list[Placed]:
    """Where every table of a sheet stands; see `records.find_tables`."""
    declared = _declared(cells, table_objects)
    known = [layout for layout, _ in declared]
    sizes = [_cell_count(cells, layout.area) for layout in known]
    found = [*declared, *((each, None) for each in _found(_blank_out(cells, known), sizes))]
    ranked = sorted(found, key=lambda placed: -_weight(cells, placed[0]))[:MAX_TABLES]
    ranked = [(with_left_out(cells, layout), item) for layout, item in ranked]
    return ranked[:1] + sorted(
        ranked[1:], key=lambda placed: (placed[0].area.top, placed[0].area.left)
    )


def _declared(cells: Cells, objects: Sequence[TableObject]) -> list[Placed]:
    found: list[Placed] = []
    for item in objects[:MAX_TABLES]:
        top, left = item.area.top - cells.origin[0], item.area.left - cells.origin[1]
        bottom = min(item.area.bottom - cells.origin[0], cells.kinds.shape[0] - 1)
        right = min(item.area.right - cells.origin[1], cells.kinds.shape[1] - 1)
        if top < 0 or left < 0 or bottom < top or right < left:
            continue
        height = min(item.header_rows, bottom - top + 1)
        totals = min(item.total_rows, bottom - top + 1 - height)
        area = Area(top, left, bottom, right)
        out = dict.fromkeys(range(bottom + 1 - totals, bottom + 1), LeftOutReason.TOTAL)
        found.append((Layout(area, height, out=out, score=2.0), item))
    return found


def _blank_out(cells: Cells, layouts: Sequence[Layout]) -> Cells:
    """The cells, with those of declared tables marked as empty."""
    if not layouts:
        return cells
    kinds = cells.kinds.copy()
    for layout in layouts:
        area = layout.area
        kinds[area.part] = Kind.EMPTY
    return replace(cells, kinds=kinds)


def _found(cells: Cells, declared: Sequence[int]) -> list[Layout]:
    """Layouts of undeclared tables; `declared` has the filled cells of each declared one."""
    alone = not declared
    whole = trim(cells.kinds, Area(0, 0, cells.kinds.shape[0] - 1, cells.kinds.shape[1] - 1))
    if whole is None:
        return []
    if alone and is_prose(cells, whole):
        return [Layout(whole)]
    rules = Rules(
        below=lambda above, block: (
            continues_below(cells, above, block) or sums_up(cells, above, block)
        ),
        beside=lambda left, block: continues_beside(cells, left, block),
        lone=lambda block: is_lone(cells, block),
        whole=lambda block: is_prose(cells, block),
    )
    layouts = [
        layout
        for block in find_blocks(cells.kinds, rules, _bridges(cells))
        if _cell_count(cells, block) >= MIN_CELLS
        for layout in _layouts(cells, block)
    ]
    largest = max((*declared, *(_cell_count(cells, layout.area) for layout in layouts)), default=0)
    if alone and _is_irregular(cells, whole, layouts):
        return [Layout(whole)]
    layouts = [layout for layout in layouts if not _is_remark(cells, layout, largest)]
    return layouts or ([Layout(whole)] if alone else [])


def _bridges(cells: Cells) -> list[Area]:
    """Merged cells beside others in their row: not titles, so part of one table with them."""
    found: dict[tuple[int, int], int] = {}
    for (row, col), anchor in cells.anchors.items():
        if row == anchor[0]:
            found[anchor] = max(col, found.get(anchor, 0))
    filled = (cells.kinds != Kind.EMPTY).sum(axis=1) if found else np.zeros(0, dtype=np.int64)
    return [
        Area(row, left, row, right)
        for (row, left), right in found.items()
        if right > left and cells.kinds[row, left] != Kind.EMPTY and filled[row] > 1
    ]


def _is_irregular(cells: Cells, whole: Area, layouts: Sequence[Layout]) -> bool:
    pieces = [_cell_count(cells, layout.area) for layout in layouts]
    headed = [
        layout.header_height > 0
        and layout.area.bottom - layout.area.top - layout.header_height + 1 >= MIN_HEADED_ROWS
        for layout in layouts
    ]
    return is_irregular(pieces, headed, _cell_count(cells, whole), whole.size)


def _layouts(cells: Cells, block: Area) -> list[Layout]:
    """Layouts of the one table of a block, or of the tables stacked in it; prose is one table."""
    if is_prose(cells, block):
        return [Layout(block)]
    layout = read_layout(cells, block)
    parts = [] if layout.transposed else split_stacked(cells, block)
    return [read_layout(cells, part) for part in parts] if len(parts) > 1 else [layout]


def _is_remark(cells: Cells, layout: Layout, largest: int) -> bool:
    """True if a block beside a larger one is a note, a title or a date, not a table."""
    area = layout.area
    count = _cell_count(cells, area)
    headed = 0 < layout.header_height <= area.bottom - area.top and not layout.transposed
    headed = headed and area.right > area.left
    small = count <= REMARK_CELLS and not headed
    if count * REMARK_SHARE <= largest and (small or _is_text(cells, layout)):
        return True
    return area.left == area.right and count < largest and _is_text(cells, layout)


def _is_text(cells: Cells, layout: Layout) -> bool:
    """True if a headerless block is prose, or one column of texts only."""
    if layout.header_height:
        return False
    area = layout.area
    part = cells.part(area)
    lone = part.shape[1] == 1 and bool((part <= Kind.TEXT).all())
    return lone or is_prose(cells, area)


def _cell_count(cells: Cells, area: Area) -> int:
    return int(np.count_nonzero(cells.part(area)))


def _weight(cells: Cells, layout: Layout) -> float:
    """Weight in the choice of the main table: filled cells, half if headerless or one record."""
    one = layout.transposed and layout.area.right - layout.area.left <= layout.header_height
    share = HEADERLESS_SHARE if one or not layout.header_height else 1.0
    return _cell_count(cells, layout.area) * share


def is_irregular(pieces: Sequence[int], headed: Sequence[bool], filled: int, size: int) -> bool:
    """True if blocks are pieces of one irregular sheet rather than separate tables.

    `pieces` are the filled cells of each block, `filled` those of the sheet, and `size` the cells
    of its used range. A block is `headed` if it has a header over some rows of data.

    >>> is_irregular([4, 2, 6, 4, 4, 3], [False, True, False, False, False, False], 25, 400)
    True
    >>> is_irregular([9] * 6, [True] * 6, 54, 400)
    False
    """
    return (
        len(pieces) >= MIN_PIECES
        and 2 * sum(cells for cells in pieces if cells <= MAX_PIECE_CELLS) > sum(pieces)
        and filled <= MAX_DENSITY * size
        and max(pieces) <= MAX_LARGEST * filled
        and sum(headed) <= MAX_HEADED * len(headed)
    )


def sums_up(cells: Cells, above: Area, block: Area) -> bool:
    """True if a block is one row of numbers, the sums of the columns of the table above it."""
    if block.top < block.bottom or block.left < above.left or block.right > above.right:
        return False
    kinds = cells.kinds[block.top, block.left : block.right + 1]
    between = cells.kinds[above.bottom + 1 : block.top, above.left : above.right + 1]
    if between.any() or not np.isin(kinds, _NO_TEXT).all() or above.top == above.bottom:
        return False
    layout = read_layout(cells, above)
    if layout.transposed:
        return False
    area = Area(layout.area.top, above.left, block.bottom, above.right)
    data = range(layout.data.start, block.bottom + 1)
    return block.top in find_totals(cells, area, data, layout.out).totals
