"""Tests of whether neighbouring blocks belong together, and whether a sheet is prose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.rowscores import CLEAR, are_formula_headings, best_header
from sat_retriever.workbook.tables.sample import YEARS, Family, Sample, sample_block, steps
from sat_retriever.workbook.tables.stacked import repeats_header
from sat_retriever.workbook.values.cells import Cells, Kind

COVERED = 0.5  # least share of a header's columns that the block below it fills
BESIDE_ROWS = 0.8  # least share of common rows at which blocks side by side count as equally long
HEADER_ROWS = 2
CLOSE_GAP = 3  # most blank rows before further rows of a table that begin with a title
# Least share of the columns above that further rows fill, after one blank row and after more.
WIDTH_BY_GAP = (0.25, 0.5)
MAX_LONE_ROWS = 3
MAX_SECTION_ROWS = 6
MAX_HEADER_ROWS = 6
SHARED = 0.6  # least share of rows with a text of the table above that its further rows have
SHARED_ROWS = 200  # rows above and below a gap in which texts that recur are looked for
ALIKE = 0.75
MAX_PROSE_COLUMNS = 4
PROSE_LONE_ROWS = 0.55
PROSE_TEXT = 0.6
PROSE_LENGTH = 16.0
# Least mean characters of prose: `PROSE_LENGTH` in several columns, this in one.
LONE_PROSE_LENGTH = 30.0
PROSE_ROWS = 400
MIN_PROSE_ROWS = 3
TABLE_ROWS = 4  # least rows of a table that stands among running text, its header included
# Most mean characters of its texts, and least share of its cells that are filled.
SHORT, FULL = 16, 0.8


def continues_below(cells: Cells, above: Area, block: Area) -> bool:
    """True if a block continues the table above it, after a blank row.

    Either the block above is only a header, and the columns of this block's first full row lie
    below it. Or all columns of this block do, and that row has the kinds of the data above.
    """
    first = _first_rows(cells, block)
    if first is None:
        return False
    bare = _is_bare_header(cells, above)
    filled = [col for col, full in zip(first.cols, first.filled[0].tolist(), strict=True) if full]
    left, right = (filled[0], filled[-1]) if bare else (block.left, block.right)
    if left < above.left or right > _reach(cells, above):
        return False
    gap = _gap(cells, above, block)
    whole = gap <= 1 and first.rows[0] == block.top
    if whole and repeats_header(cells, above, block.top):
        return True
    if gap > CLOSE_GAP and first.rows[0] > block.top:
        return False
    if bare:
        width = int(np.count_nonzero(cells.kinds[above.bottom, above.left : above.right + 1]))
        fits = len(first.cols) >= COVERED * width
        fits = fits and not _is_text_table(cells, above, block, first)
    else:
        last = _last_rows(cells, above)
        wide = len(first.cols) >= WIDTH_BY_GAP[gap > 1] * len(last.cols)
        fits = wide and len(last.rows) >= 2 and _alike(last, first)
        fits = fits and (not _all_words(last, first) or _share_texts(cells, above, block))
    return fits and not _is_header(
        cells, above, first
    )  # last, because it is the most expensive test


def _reach(cells: Cells, block: Area) -> int:
    """The last column of a block, including cells merged with those of its last column."""
    col = block.right
    rows = range(max(block.top, block.bottom - MAX_HEADER_ROWS), block.bottom + 1)
    while any(cells.anchors.get((row, col + 1), (row, col + 1))[1] <= block.right for row in rows):
        col += 1
    return col


def _gap(cells: Cells, above: Area, block: Area) -> int:
    between = cells.kinds[above.bottom : block.top, above.left : above.right + 1]
    return int(between[::-1].any(axis=1).argmax())


def is_lone(cells: Cells, block: Area) -> bool:
    """True if a block is only a few texts in one column."""
    if block.right > block.left or block.bottom - block.top > MAX_LONE_ROWS:
        return False
    return bool((cells.kinds[block.top : block.bottom + 1, block.left] <= Kind.TEXT).all())


def _first_rows(cells: Cells, block: Area) -> Sample | None:
    """A sample of the block's first rows, starting at one with two filled cells."""
    part = cells.kinds[block.top : block.bottom + 1][:MAX_SECTION_ROWS]
    filled = (part[:, block.left : block.right + 1] != Kind.EMPTY).sum(axis=1)
    full = (filled >= 2).nonzero()[0]
    if not len(full):
        return None
    top = block.top + int(full[0])
    return sample_block(cells, Area(top, block.left, min(block.bottom, top + 11), block.right))


def _last_rows(cells: Cells, block: Area) -> Sample:
    return sample_block(
        cells, Area(max(block.top, block.bottom - 11), block.left, block.bottom, block.right)
    )


def _is_header(cells: Cells, above: Area, sample: Sample) -> bool:
    families = sample.families[0]
    filled = families > 0
    words = int((families == Family.WORDS).sum())
    if _are_years(sample, 0) or are_formula_headings(sample, 0):
        return True
    numbers = np.flatnonzero(families == Family.NUMBER)
    if len(numbers):
        head = cells.value(above.top, sample.cols[int(numbers[0])])
        if not isinstance(head, (int, float)) or not YEARS[0] <= head <= YEARS[1]:
            return False  # a lone number like a year, in a table that years do not head
    best, score = best_header(sample)
    return best <= 1 and score >= CLEAR and 2 * words >= filled.sum()


def _are_years(sample: Sample, row: int) -> bool:
    numbers = int((sample.families[row] == Family.NUMBER).sum())
    return numbers > 1 and steps(sample.values[row]) == 1.0


def _is_bare_header(cells: Cells, block: Area) -> bool:
    """True if a block is a few rows of short texts, with two or more in the last row.

    A single text may follow: a remark, or the title of the first section.
    """
    if block.bottom - block.top >= MAX_HEADER_ROWS:
        return False
    sample = sample_block(cells, block)
    if len(sample.rows) > 1 and sample.filled[-1].sum() == 1:
        sample = sample_block(cells, Area(block.top, block.left, sample.rows[-2], block.right))
    filled = sample.families > 0
    words = (sample.families == Family.WORDS) | (sample.families == Family.CODE)
    if not (words | ~filled)[:-1].all():
        return False
    if not (words | ~filled)[-1].all() and not _are_years(sample, -1):
        return False
    texts = sample.texts(len(sample.rows) - 1)
    return bool(filled[-1].sum() >= 2) and all(len(text) <= 60 for text in texts)


def _alike(above: Sample, first: Sample) -> bool:
    """True if the first row of a block has the kinds of the columns above it."""
    columns = {col: j for j, col in enumerate(above.cols)}
    likely = above.likely(0)
    alike = compared = 0
    for j, col in enumerate(first.cols):
        family = int(first.families[0, j])
        if not family or col not in columns:
            continue
        counts = likely[:, columns[col]]
        if not counts.sum():
            continue
        compared += 1
        family = int(Family.NUMBER) if family == Family.UNKNOWN else family
        alike += 2 * int(counts[family - 1]) >= int(counts.max())
    return compared >= 2 and alike >= ALIKE * compared


def _all_words(above: Sample, first: Sample) -> bool:
    """True if the rows around a gap hold nothing but words."""
    parts = (above.families, first.families[0])
    return all(bool((part <= Family.WORDS).all()) for part in parts)


def _is_text_table(cells: Cells, above: Area, block: Area, first: Sample) -> bool:
    """True if rows of words are no header of the words below, but a table of their own."""
    last = _last_rows(cells, above)
    wide = np.flatnonzero(last.filled.sum(axis=1) > 1).tolist()
    if len(wide) < HEADER_ROWS or not _all_words(last, first):
        return False
    texts = last.texts(wide[0])
    merged = any((last.rows[wide[0]], col) in cells.anchors for col in last.cols)
    return len(set(texts)) == len(texts) and not merged and not _share_texts(cells, above, block)


def _share_texts(cells: Cells, above: Area, block: Area) -> bool:
    """True if the texts of a block stand in the same columns of the table above it, too.

    The kinds of texts tell nothing about whether a table of words goes on or another one begins.
    Its categories recur: teams, towns, states. The names of columns do not.
    """
    upper = range(max(above.top, above.bottom - SHARED_ROWS + 1), above.bottom + 1)
    lower = range(block.top, min(block.bottom, block.top + SHARED_ROWS - 1) + 1)
    columns = block.columns
    known = [{cells.value(row, col) for row in upper} - {None} for col in columns]
    shared = [
        any(value in texts for value, texts in zip(cells.line(row, columns), known, strict=True))
        for row in lower
    ]
    if shared[0]:
        return True
    others = [{cells.value(row, col) for row in lower[1:]} - {None} for col in columns]
    first = cells.line(block.top, columns)
    if any(value in texts for value, texts in zip(first, others, strict=True)):
        return True
    return sum(shared) > 1 and sum(shared) >= SHARED * len(shared)


def continues_beside(cells: Cells, left: Area, block: Area) -> bool:
    """True if a block continues the table left of it, after one blank column.

    Either one of the two is a single column and they share most rows, or they share nearly
    all rows and the block has no keys, only numbers.
    """
    if block.left - left.right > 2:
        return False
    shared = min(left.bottom, block.bottom) - max(left.top, block.top) + 1
    union = max(left.bottom, block.bottom) - min(left.top, block.top) + 1
    if min(left.right - left.left, block.right - block.left) > 0:
        return shared >= BESIDE_ROWS * union and _is_keyless(cells, block)
    return shared >= 0.7 * union


def _is_keyless(cells: Cells, block: Area) -> bool:
    """True if a block has only numbers below at most two header rows, some in its first column.

    A formula without a saved value may be a text. It counts as a number except in the first
    column.
    """
    top = min(block.top + HEADER_ROWS, block.bottom)
    kinds = cells.kinds[top : block.bottom + 1, block.left : block.right + 1]
    numbers = np.isin(kinds, (Kind.EMPTY, Kind.INTEGER, Kind.NUMBER))
    first = kinds[:, 0] != Kind.EMPTY
    others = numbers | (kinds == Kind.UNKNOWN)
    return bool(first.sum() > 1 and numbers[:, 0].all() and others.all())


def is_prose(cells: Cells, whole: Area) -> bool:
    """True if a sheet is running text: few columns, long texts, mostly one per row."""
    part = cells.part(whole)[:PROSE_ROWS]
    columns = int(part.any(axis=0).sum())
    if columns > MAX_PROSE_COLUMNS or part.shape[0] < MIN_PROSE_ROWS:
        return False
    per_row = (part != Kind.EMPTY).sum(axis=1)
    if _holds_table(cells, whole, per_row):
        return False
    lone = float((per_row == 1).sum() / max((per_row > 0).sum(), 1))
    words = float((part == Kind.TEXT).sum() / max(per_row.sum(), 1))
    if words < PROSE_TEXT or (lone < PROSE_LONE_ROWS and columns > 1):
        return False
    found = np.argwhere(part == Kind.TEXT)[:PROSE_ROWS]
    lengths = [len(str(cells.value(int(r) + whole.top, int(c) + whole.left))) for r, c in found]
    return float(np.mean(lengths)) >= (PROSE_LENGTH if columns > 1 else LONE_PROSE_LENGTH)


def _holds_table(cells: Cells, whole: Area, per_row: NDArray[np.int64]) -> bool:
    """True if rows of several short texts or values stand below each other among the text."""
    wide = per_row > 1
    edges = np.flatnonzero(np.diff(np.concatenate(([False], wide, [False])).astype(np.int8)))
    starts, stops = edges[::2], edges[1::2]
    if not len(starts):
        return False
    longest = int((stops - starts).argmax())
    top, bottom = whole.top + int(starts[longest]), whole.top + int(stops[longest])
    part = cells.kinds[top:bottom, whole.left : whole.right + 1]
    filled = int((part != Kind.EMPTY).sum())
    if len(part) < TABLE_ROWS or filled < len(part) * int(per_row.max()) * FULL:
        return False
    places = np.argwhere(part == Kind.TEXT)[:PROSE_ROWS].tolist()
    lengths = [len(str(cells.value(row + top, col + whole.left))) for row, col in places]
    short = not lengths or float(np.mean(lengths)) <= SHORT
    return short or 2 * int((part > Kind.TEXT).sum()) >= filled
