"""Sums that stand alone below a table, after blank rows."""

from __future__ import annotations

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.layout import read_layout
from sat_retriever.workbook.tables.totals import find_totals
from sat_retriever.workbook.values.cells import Cells, Kind

_NO_TEXT = (Kind.EMPTY, Kind.INTEGER, Kind.NUMBER, Kind.TIME, Kind.UNKNOWN)


def sums_up(cells: Cells, above: Area, block: Area) -> bool:
    """True if a block is one row of numbers, the sums of the columns of the table above it.

    Args:
        cells: The sheet.
        above: The cells of the table.
        block: Cells below it.
    """
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
