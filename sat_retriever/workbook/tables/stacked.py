"""Separation of tables that are stacked without a blank row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.rowscores import CLEAR, best_header
from sat_retriever.workbook.tables.sample import sample_block
from sat_retriever.workbook.values.cells import Cells, Kind

MAX_CANDIDATES = 64
TEXT_SHARE = 0.6
OVER_VALUES = 0.4


def split_stacked(cells: Cells, block: Area) -> list[Area]:
    """Cut a block above each row that is the header of a further table.

    Such a row is mostly text, has values above and below, and scores as the header of the rows
    that follow. A single text right above it belongs to it.
    """
    starts = [row for row in _candidates(cells, block) if _is_header(cells, block, row)]
    edges = [block.top, *(_with_title(cells, block, row) for row in starts), block.bottom + 1]
    return [
        Area(start, block.left, stop - 1, block.right)
        for start, stop in pairwise(edges)
        if stop > start
    ]


def _candidates(cells: Cells, block: Area) -> list[int]:
    """Rows of text that start in one of the first two columns, amid values of the same columns."""
    part = cells.kinds[block.top : block.bottom + 1, block.left : block.right + 1]
    if part.shape[0] < 4 or part.shape[1] < 2:
        return []
    words, values = part == Kind.TEXT, part > Kind.TEXT
    middle = words[1:-1]
    count = middle.sum(axis=1)
    filled = (part[1:-1] != Kind.EMPTY).sum(axis=1)
    under = (middle & values[:-2]).sum(axis=1)
    over = (middle & values[2:]).sum(axis=1)
    good = (count >= 2) & (count >= TEXT_SHARE * filled)
    good &= (under >= np.maximum(1, OVER_VALUES * count)) & (over >= 1)
    good &= (part[1:-1, :2] != Kind.EMPTY).any(axis=1)
    return [block.top + 1 + int(row) for row in good.nonzero()[0][:MAX_CANDIDATES]]


def _is_header(cells: Cells, block: Area, row: int) -> bool:
    bottom = min(block.bottom, row + 40)
    sample = sample_block(cells, Area(row, block.left, bottom, block.right))
    best, score = best_header(sample)
    return best == 0 and score >= CLEAR and len(set(sample.texts(0))) >= 2


def _with_title(cells: Cells, block: Area, row: int) -> int:
    """The row of the single text right above a header row, or else the header row."""
    above = cells.kinds[row - 1, block.left : block.right + 1]
    lone = (above != Kind.EMPTY).sum() == 1 and (above == Kind.TEXT).any()
    return row - 1 if lone and row - 1 > block.top else row
