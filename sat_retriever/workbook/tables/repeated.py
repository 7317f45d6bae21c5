"""Headers that a table repeats, as on each printed page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.workbook.values.cells import Cells, Kind, plain_text
from sat_retriever.workbook.values.grid import Value

MIN_REPEATED = 2
"""Least texts of a repeated header."""
FIRST_ROWS = 16
"""First rows of a table among which its header is looked for."""


def same_rows(
    cells: Cells, area: Area, rows: range, head: int, least: int = MIN_REPEATED
) -> Iterator[int]:
    """Yield rows that hold the values of one row, and nothing else.

    Of three and more, the first may differ: "Price", 2020, 2021 and further down "Tax", 2020, 2021.
    Where it is empty, theirs may be filled.

    Args:
        cells: The sheet.
        area: The columns that count.
        rows: Grid rows that are compared.
        head: Grid row whose texts they repeat.
        least: Least texts of that row.
    """
    columns = range(area.left, area.right + 1)
    wanted = _texts(cells.line(head, columns))
    filled = [place for place, text in enumerate(wanted) if text]
    if len(filled) < least:
        return
    part = cells.kinds[rows.start : rows.stop, area.left : area.right + 1]
    own = cells.kinds[head, area.left : area.right + 1]
    corner = int(not wanted[0] or len(filled) > MIN_REPEATED)
    alike = ((part != Kind.EMPTY) == (own != Kind.EMPTY))[:, corner:].all(axis=1)
    first = area.left + filled[-1]
    last = part[:, filled[-1]] == Kind.TEXT  # most rows have numbers below a text
    alike &= last == (own[filled[-1]] == Kind.TEXT)
    for row in (np.flatnonzero(alike) + rows.start).tolist():
        alike_last = row != head and _text(cells.value(row, first)) == wanted[filled[-1]]
        if alike_last and _texts(cells.line(row, columns))[corner:] == wanted[corner:]:
            yield row


def repeats_header(cells: Cells, above: Area, row: int) -> bool:
    """True if a row repeats one of the first rows of a table above it, one of texts only.

    Args:
        cells: The sheet.
        above: The table.
        row: Grid row below its first row.
    """
    kinds = cells.kinds[row, above.left : above.right + 1]
    if not np.isin(kinds, (Kind.EMPTY, Kind.TEXT)).all():
        return False
    stop = min(above.top + FIRST_ROWS, above.bottom + 1, row)
    return next(same_rows(cells, above, range(above.top, stop), row), None) is not None


def _texts(line: Sequence[Value]) -> list[str]:
    return [_text(value) for value in line]


def _text(value: Value) -> str:
    return plain_text(value).casefold()
