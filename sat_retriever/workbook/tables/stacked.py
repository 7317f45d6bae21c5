"""Headers amid the rows of a block: of tables stacked without a blank row, or repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.text.totalwords import total_label
from sat_retriever.workbook.tables.rowscores import CLEAR, best_header, text_case
from sat_retriever.workbook.tables.sample import sample_block
from sat_retriever.workbook.values.cells import Cells, Kind, plain_text
from sat_retriever.workbook.values.grid import Value

MAX_CANDIDATES = 64
TEXT_SHARE = 0.6
OVER_VALUES = 0.4
AROUND = 5  # rows above and below a row whose kinds are compared
NEAR = 100  # rows above and below a row in which its words are looked for

_ALIKE = np.arange(len(Kind), dtype=np.uint8)
_ALIKE[Kind.NUMBER] = Kind.INTEGER
_DIGIT = re.compile(r"\d")
MIN_REPEATED = 2  # least texts of a repeated header
FIRST_ROWS = 16  # first rows of a table among which its header is looked for


def split_stacked(cells: Cells, block: Area) -> list[Area]:
    """Cut a block above each row that is the header of a further table.

    Such a row is mostly text, has values above and below, and scores as the header of the rows
    that follow. A single text right above it belongs to it.
    """
    starts = [
        row
        for row in _candidates(cells, block)
        if not repeats_header(cells, block, row)
        and _breaks(cells, block, row)
        and not _is_record(cells, block, row)
        and _is_header(cells, block, row)
    ]
    edges = [block.top, *(_with_title(cells, block, row) for row in starts), block.bottom + 1]
    return [
        Area(start, block.left, stop - 1, block.right)
        for start, stop in pairwise(edges)
        if stop > start
    ]


def _candidates(cells: Cells, block: Area) -> list[int]:
    """Rows of text that start in one of the first two columns, amid values of the same columns."""
    part = cells.part(block)
    if part.shape[0] < 4 or part.shape[1] < 2:
        return []
    words, values = part == Kind.TEXT, part > Kind.TEXT
    above = values.copy()  # of a title, those of the row above it
    titles = np.flatnonzero(((part != Kind.EMPTY).sum(axis=1) == 1) & words.any(axis=1))
    above[titles] = values[np.maximum(titles - 1, 0)]
    middle = words[1:-1]
    count = middle.sum(axis=1)
    filled = (part[1:-1] != Kind.EMPTY).sum(axis=1)
    under = (middle & above[:-2]).sum(axis=1)
    over = (middle & values[2:]).sum(axis=1)
    good = (count >= 2) & (count >= TEXT_SHARE * filled)
    good &= (under >= np.maximum(1, OVER_VALUES * count)) & (over >= 1)
    good &= (part[1:-1, :2] != Kind.EMPTY).any(axis=1)
    return [block.top + 1 + int(row) for row in good.nonzero()[0][:MAX_CANDIDATES]]


def _breaks(cells: Cells, block: Area, row: int) -> bool:
    """True if a table ends above a row: by a title or a total, or other cells are filled below.

    Without such a sign a row of words amid numbers is a record, whose words stand for numbers.
    """
    columns = block.columns
    part = cells.part(block)
    at = row - block.top
    before = part[at - 1]
    if (before != Kind.EMPTY).sum() == 1 and (before == Kind.TEXT).any():
        return True
    label = next((text for text in cells.line(row - 1, columns) if isinstance(text, str)), "")
    if total_label(label.strip()):
        return True
    upper, lower = part[max(at - AROUND, 0) : at], part[at + 1 : at + 1 + AROUND]
    for above, below in zip(_ALIKE[upper].T, _ALIKE[lower].T, strict=True):
        held = {*above.tolist()} - {0}, {*below.tolist()} - {0}
        if any(held) and not held[0] & held[1]:
            return True
    return _is_named_otherwise(cells, block, row)


def _is_named_otherwise(cells: Cells, block: Area, row: int) -> bool:
    """True if a row's first text is written as the table's first header, unlike those around."""
    around = [cells.value(at, block.left) for at in (row - 2, row - 1, row + 1, row + 2)]
    head, own = cells.value(block.top, block.left), cells.value(row, block.left)
    cases = {text_case(each.strip()) for each in around if isinstance(each, str) and each.strip()}
    texts = [each.strip() for each in (head, own) if isinstance(each, str) and each.strip()]
    return (
        len(texts) > 1 and bool(cases) and text_case(texts[0]) == text_case(texts[1]) not in cases
    )


def _is_record(cells: Cells, block: Area, row: int) -> bool:
    """True if a row of texts is a record with words in place of its values: "n.d.", "closed".

    Such words stand alone, or are alike, or recur in their columns, or are written small, unlike
    the names of the table's first row; or the row's name has digits as the names around it have.
    """
    columns = block.columns
    kinds = cells.kinds[:, block.left : block.right + 1]
    above = row - 1 - (_with_title(cells, block, row) < row)
    places = np.flatnonzero((kinds[row] == Kind.TEXT) & (kinds[above] > Kind.TEXT)).tolist()
    said = [str(cells.value(row, columns[place])).strip() for place in places]
    if len(set(said)) < max(len(said), 2):
        return True
    around = [each for each in range(row - NEAR, row + NEAR + 1) if each != row]
    around = [each for each in around if block.top < each <= block.bottom]
    for place, text in zip(places, said, strict=True):
        others = (cells.value(each, columns[place]) for each in around)
        if any(isinstance(other, str) and other.strip() == text for other in others):
            return True
    first = [cells.value(block.top, columns[place]) for place in places]
    named = [text.strip() for text in first if isinstance(text, str) and text.strip()]
    if named and all(map(str.islower, said)) and not any(map(str.islower, named)):
        return True
    names = [cells.value(each, block.left) for each in (row - 1, row, row + 1)]
    return all(isinstance(name, str) and _DIGIT.search(name) for name in names)


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


def same_rows(
    cells: Cells, area: Area, rows: range, head: int, least: int = MIN_REPEATED
) -> Iterator[int]:
    """Yield rows that hold the values of one row, and nothing else.

    Of three and more, the first may differ: "Price", 2020, 2021 and further down "Tax", 2020, 2021.
    Where it is empty, theirs may be filled. They repeat the texts of the grid row `head`.
    """
    columns = area.columns
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
    """True if a row repeats one of the first rows of a table above it, one of texts only."""
    kinds = cells.kinds[row, above.left : above.right + 1]
    if not np.isin(kinds, (Kind.EMPTY, Kind.TEXT)).all():
        return False
    stop = min(above.top + FIRST_ROWS, above.bottom + 1, row)
    return next(same_rows(cells, above, range(above.top, stop), row), None) is not None


def _texts(line: Sequence[Value]) -> list[str]:
    return [_text(value) for value in line]


def _text(value: Value) -> str:
    return plain_text(value).casefold()
