"""Layout of a block of cells as one table: header rows or column, units, data and totals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import LeftOutReason
from sat_retriever.workbook.tables.margins import above_notes, below_titles, units_row
from sat_retriever.workbook.tables.regions import trim
from sat_retriever.workbook.tables.rowscores import (
    CLEAR,
    MAX_LABEL,
    THRESHOLD,
    best_header,
    row_scores,
)
from sat_retriever.workbook.tables.sample import Family, Sample, sample_block, steps
from sat_retriever.workbook.tables.sideways import sideways_score
from sat_retriever.workbook.values.cells import Cells, Kind

MAX_HEADER_HEIGHT = 5
# Lines of notes above a table from which on they are left out, but for the last ones.
MAX_NOTES, KEPT_NOTES = 12, 4
# A key and its value in one text, unlike a time ("10:30") or an address.
_FACT = re.compile(r"([^:：]*[^:：\d\s])\s*[:：]\s*[^/\s]")


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of the parts of one table; rows and columns are 0-based."""

    area: Area  # area from the first header cell to the last data cell, including totals
    header_height: int = 0  # header rows at its top, or header columns at its left if transposed
    transposed: bool = False
    units: int | None = None  # grid row (column if transposed) of units below the header, or None
    # Rows below the header that are no records, and why, ascending
    out: Mapping[int, LeftOutReason] = field(default_factory=dict)
    # Rows that look like totals but do not add up: records, unless left out, too
    doubtful: tuple[int, ...] = ()
    score: float = 0.0

    @property
    def data(self) -> range:
        """Rows below header and units (columns if transposed), those left out among them."""
        if self.transposed:
            return range(self.area.left + self.header_height, self.area.right + 1)
        start = self.area.top + self.header_height + (self.units is not None)
        return range(start, self.area.bottom + 1)

    @property
    def block(self) -> tuple[slice, slice]:
        """The rows and columns of its data."""
        data = slice(self.data.start, self.data.stop)
        lines = slice(self.lines.start, self.lines.stop)
        return (lines, data) if self.transposed else (data, lines)

    @property
    def lines(self) -> range:
        """Columns of the table (rows if transposed)."""
        return self.area.rows if self.transposed else self.area.columns


def read_layout(cells: Cells, block: Area) -> Layout:
    """The layout of a block of cells that is one table."""
    block = _below_notes(cells, block)
    sample = sample_block(cells, block)
    best, score = best_header(sample)
    turned = sideways_score(sample, best, score)
    if turned is not None and turned >= THRESHOLD:
        return Layout(block, 1, transposed=True, score=turned)
    if score < (CLEAR if len(sample.cols) == 1 else THRESHOLD):
        area = above_notes(cells, below_titles(sample, block))
        return Layout(area)
    best = _header_bottom(sample, _upper_full(cells, sample, best))
    units = units_row(sample, best)
    bottom = best if units is None else units - 1
    top = _header_top(cells, sample, bottom)
    area = Area(sample.rows[top], block.left, block.bottom, block.right)
    area = above_notes(cells, trim(cells.kinds, area) or area)
    height = sample.rows[bottom] - sample.rows[top] + 1
    unit_row = None if units is None else sample.rows[units]
    return Layout(area, height, units=unit_row, score=score)


def _below_notes(cells: Cells, block: Area) -> Area:
    """The block without many lines of notes at its top, so that its header is among the sample.

    Such lines are a text, or a key and its value; a few right above the table are kept.
    """
    part = cells.part(block)
    counts = part.astype(bool).sum(axis=1)
    widest = int(counts.max())
    first = int((counts >= max(2, widest / 2)).argmax())
    few = bool((counts[:first] <= min(2, widest / 2)).all())
    texts = (part[:first] == Kind.TEXT).any(axis=1).sum()
    few = few and 2 * texts >= int((counts[:first] > 0).sum())
    if first <= MAX_NOTES or not few:
        return block
    top = block.top + first - KEPT_NOTES
    return trim(cells.kinds, Area(top, block.left, block.bottom, block.right)) or block


def _upper_full(cells: Cells, sample: Sample, best: int) -> int:
    """The row above the best one if both could be the header alone; else the best row.

    Both hold words, the upper one distinct ones in all columns: the lower one is a record with
    words in place of its numbers, unless it is a row of units.
    """
    upper = best - 1
    if upper < 0 or sample.rows[best] - sample.rows[upper] > 1 or units_row(sample, upper):
        return best
    words = (sample.families[upper : best + 1] <= Family.WORDS).all()
    full = not (sample.filled[best] & ~sample.filled[upper]).any()
    full = full and bool(sample.filled[best, int(sample.filled[upper].argmax())])
    texts = sample.texts(upper)
    distinct = len(set(texts)) == len(texts) == int(sample.filled[upper].sum()) > 1
    merged = any((sample.rows[upper], col) in cells.anchors for col in sample.cols)
    short = max(map(len, texts), default=0) <= MAX_LABEL
    return upper if words and full and distinct and short and not merged else best


def _header_bottom(sample: Sample, best: int) -> int:
    """The last header row from the best one on; further ones are rows of names over values.

    Further header rows leave the key columns blank, which the best row names: a row that fills
    all columns of the best row is data.
    """
    bottom = best
    while bottom + 2 < len(sample.rows) and bottom - best + 1 < MAX_HEADER_HEIGHT:
        line = sample.families[bottom + 1]
        names = line == Family.WORDS
        over_values = names & (sample.below[1:, bottom + 2].argmax(axis=0) + 1 != Family.WORDS)
        gap = sample.rows[bottom + 1] - sample.rows[bottom] > 1
        full = not (sample.filled[best] & ~sample.filled[bottom + 1]).any()
        alike = len(set(sample.texts(bottom + 1))) < 2
        if gap or full or alike or names.sum() < 2 or (line > Family.WORDS).any():
            break
        score = row_scores(sample, bottom + 2)[bottom + 1]
        if 2 * over_values.sum() < names.sum() or score < CLEAR:
            break
        bottom += 1
    return bottom


def _header_top(cells: Cells, sample: Sample, bottom: int) -> int:
    top = bottom
    while (
        top and bottom - top + 1 < MAX_HEADER_HEIGHT and _is_upper(cells, sample, top - 1, bottom)
    ):
        if sample.rows[top] - sample.rows[top - 1] > 1:
            break
        top -= 1
    return top


def _is_upper(cells: Cells, sample: Sample, row: int, bottom: int) -> bool:
    """True if a row above a header row belongs to the header and is not a title.

    It has short texts (or years), one of them over a column of values or, if merged, over more
    than one header cell; titles are over the labels. A row as full as the last one must be a
    clear header by itself.
    """
    line = sample.values[row]
    filled = [j for j, value in enumerate(line) if value is not None]
    families = sample.families[row][filled]
    if not filled or ((families == Family.NUMBER).any() and steps(line) < 1.0):
        return False
    if _is_title(cells, sample, row) or _is_pair(cells, sample, row, filled):
        return False
    short = [j for j in filled if len(str(line[j])) <= MAX_LABEL]
    if any(cells.anchors.get((sample.rows[row] + 1, sample.cols[j])) for j in short):
        return True
    if len(filled) >= int((sample.families[bottom] > 0).sum()):
        return row_scores(sample, row + 1)[row] >= CLEAR
    counts = sample.below[1:, row + 2]
    over_values = [j for j in short if j and counts[:, j].argmax() + 1 != Family.WORDS]
    return bool(over_values) or len(short) > max(1, len(filled) // 2)


def _is_title(cells: Cells, sample: Sample, row: int) -> bool:
    """True if a row is one text merged over the first columns, or has facts ("Date: May")."""
    texts = set(sample.texts(row))
    keys = [fact[1] for text in texts if (fact := _FACT.match(text))]
    if keys and len(set(keys)) == len(keys) and 2 * len(keys) >= len(texts):
        return True
    place, left = sample.rows[row], sample.cols[0]
    anchors = [cells.anchors.get((place, col)) for col in (left, left + 1)]
    wide = len(sample.cols) > 1 and anchors[0] is not None and anchors[0] == anchors[1]
    return wide and texts == {str(cells.spread(place, left)).strip()}


def _is_pair(cells: Cells, sample: Sample, row: int, filled: list[int]) -> bool:
    """True if a row is a key, perhaps with its value, above a wider header row."""
    if len(filled) > 2 or filled[0] > 0 or len(sample.cols) < 3:
        return False
    anchored = cells.anchors.get((sample.rows[row], sample.cols[0])) is not None
    return not anchored and sample.values[row + 1][0] is not None
