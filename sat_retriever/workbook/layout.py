"""One block of cells: its header rows or column, units, data and totals."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sat_retriever.workbook.cells import Cells, Kind
from sat_retriever.workbook.grid import Area, CellError, Value
from sat_retriever.workbook.regions import trim
from sat_retriever.workbook.sample import Family, Sample, sample_block, steps
from sat_retriever.workbook.scoring import THRESHOLD, row_score

MAX_HEADER_POSITION = 30
MAX_HEADER_HEIGHT = 5
MAX_TOTALS = 4
NOTE_LENGTH = 40
MAX_SPANNER_LENGTH = 60

MIN_PURITY_GAIN = 0.2
"""How much purer lines must be across than down for a first column to beat a header row."""
FORM_COLON = 0.5
MIN_REPEATS = 5
REPEATING = 0.7
MAX_FORM_ROWS = 60

_UNIT = re.compile(
    r"[(\[]\s*[^()\[\]]{1,24}\s*[)\]]|[%‰#°$€£¥₽₹]|[^\W\d_]{0,6}[/^·*][^\W_]{1,10}|°[CFK]|m[²³]|[kMGT]?W(?:h|p|e)?"
    r"|[kMGTP]?J|[kMµnc]?m|[kmM]?g|[kKMmGT]?[BtlLVAN]|[kMG]?Hz|[kM]?Pa|bar|ppm|ppb|dB|mol|h|s|ms|min|hrs?|hours?|days?"
    r"|weeks?|months?|years?|yrs?|pcs|units?|tons?|tonnes?|ha|km2|m2|m3|ft|in|lbs?|oz|gal|mi|mph|btu|BTU|MMBtu"
    r"|USD|EUR|GBP|JPY|CNY|CHF|RUB|INR|dimensionless|persons?|people|count|each|n/?a|-"
)
_TOTAL = re.compile(
    r"\W*(?:(?:grand|sub|overall|net)[\s-]*)?(?:totals?|sum|summe|gesamt\w*|insgesamt|ergebnis|gesamtergebnis"
    r"|zwischensumme|totales|totaux|totale|totaal|suma|somme|soma|summa|total\s+g[eé]n[eé]ral|итого|всего|razem|toplam"
    r"|合计|合計|总计|總計|小计|小計|총계|합계|average|mean|mittelwert|durchschnitt|maximum|minimum)\b.{0,24}",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\s*(?:[*†‡§¹²³]|\(?[a-z\d]\)|notes?\b|source|sources\b|remark|quelle|fuente|注)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of one table stand; rows and columns are 0-based.

    Attributes:
        area: From the first header cell to the last data cell, totals included.
        header_height: Header rows at its top, or header columns at its left if
            transposed.
        transposed: Whether the headers stand in the first column.
        units: Grid row (column if transposed) of units below the header, or None.
        totals: Number of totals rows at its end.
        score: How surely the header is one; 0 without.
    """

    area: Area
    header_height: int = 0
    transposed: bool = False
    units: int | None = None
    totals: int = 0
    score: float = 0.0


def read_layout(cells: Cells, block: Area) -> Layout:
    """The layout of a block of cells that holds one table."""
    sample = sample_block(cells, block)
    best, score = best_header(sample)
    turned = _turned_score(sample, score)
    if turned is not None and turned >= THRESHOLD:
        return Layout(block, 1, transposed=True, score=turned)
    if score < THRESHOLD:
        area = _without_notes(cells, _without_titles(sample, block))
        return Layout(area, totals=_totals(cells, area, area.top))
    units = _units_row(sample, best)
    bottom = best if units is None else units - 1
    top = _header_top(cells, sample, bottom)
    area = Area(sample.rows[top], block.left, block.bottom, block.right)
    area = _without_notes(cells, trim(cells.kinds != 0, area) or area)
    height = sample.rows[bottom] - sample.rows[top] + 1
    unit_row = None if units is None else sample.rows[units]
    first_data = (sample.rows[bottom] if unit_row is None else unit_row) + 1
    return Layout(area, height, False, unit_row, _totals(cells, area, first_data), score)


def best_header(sample: Sample) -> tuple[int, float]:
    """The sampled row that reads most like the header's last row, and its score."""
    scores = [row_score(sample, row) for row in range(min(len(sample.rows), MAX_HEADER_POSITION))]
    if len(sample.rows) > 1 and len(scores) == len(sample.rows):
        scores[-1] -= 0.5
    best = max(range(len(scores)), key=scores.__getitem__)
    return best, scores[best]


def _turned_score(sample: Sample, row_score_: float) -> float | None:
    """Header score of the first column; None where it cannot be the header."""
    rows, cols = len(sample.rows), len(sample.cols)
    first = [line[0] for line in sample.values]
    texts = [v.strip() for v in first if isinstance(v, str)]
    if cols < 2 or rows < 2 or len(texts) < rows or rows > MAX_FORM_ROWS:
        return None
    if len(set(texts)) < rows or max(map(len, texts)) > MAX_SPANNER_LENGTH:
        return None
    if 10 * int((sample.families[:, 0] == Family.WORDS).sum()) < 9 * rows:
        return None
    if row_score_ < THRESHOLD and _has_categories(sample):
        return None
    turned = sample.turned()
    gain = _purity(turned) - _purity(sample)
    score = row_score(turned, 0) + FORM_COLON * sum(t.endswith(":") for t in texts) / rows
    if row_score_ >= THRESHOLD:
        return score if gain > MIN_PURITY_GAIN else None
    return score if gain > -0.05 else None


def _has_categories(sample: Sample) -> bool:
    """Whether a column of words right of the first one repeats itself, as records do."""
    for col in range(1, len(sample.cols)):
        texts = [value for value in sample.column(col, 0) if isinstance(value, str)]
        if len(texts) >= MIN_REPEATS and len(set(texts)) <= REPEATING * len(texts):
            return True
    return False


def _purity(sample: Sample) -> float:
    """Mean share of the commonest family in each column, the first row left out."""
    counts = sample.below[1:, 1]
    totals = counts.sum(axis=0)
    if not (totals > 0).any():
        return 1.0
    return float((counts.max(axis=0)[totals > 0] / totals[totals > 0]).mean())


def _without_titles(sample: Sample, block: Area) -> Area:
    """A headerless block without lone text rows at its top."""
    top = 0
    while (
        top + 1 < len(sample.rows)
        and len(sample.cols) > 1
        and (sample.families[top] > 0).sum() == 1
        and len(sample.texts(top)) == 1
    ):
        top += 1
    if top + 1 >= len(sample.rows):
        return block
    return replace_top(block, sample.rows[top])


def replace_top(block: Area, top: int) -> Area:
    """The block from another row on."""
    return Area(top, block.left, block.bottom, block.right)


def _units_row(sample: Sample, best: int) -> int | None:
    """The sampled row of units at the best header row or right below it."""
    for row in (best, best + 1):
        if 0 < row < len(sample.rows) - 1 and _are_units(sample, row):
            header = (sample.families[row - 1] > 0).sum()
            if header >= 2 and header >= (sample.families[row] > 0).sum():
                return row
    return None


def _are_units(sample: Sample, row: int) -> bool:
    texts = sample.texts(row)
    filled = int((sample.families[row] > 0).sum())
    units = sum(bool(_UNIT.fullmatch(text)) for text in texts)
    return bool(texts) and len(texts) == filled and units >= 0.6 * len(texts)


def _header_top(cells: Cells, sample: Sample, bottom: int) -> int:
    """The first of the header rows that end at `bottom`."""
    top = bottom
    while top and bottom - top + 1 < MAX_HEADER_HEIGHT and _is_upper(cells, sample, top - 1):
        if sample.rows[top] - sample.rows[top - 1] > 1:
            break
        top -= 1
    return top


def _is_upper(cells: Cells, sample: Sample, row: int) -> bool:
    """Whether a row above a header row belongs to the header, and is no title.

    It has short texts (or years), one of them over a column of values or, merged,
    over more than one header cell; titles stand over the labels.
    """
    line = sample.values[row]
    filled = [j for j, value in enumerate(line) if value is not None]
    families = sample.families[row][filled]
    if not filled or ((families == Family.NUMBER).any() and not steps(line)):
        return False
    short = [j for j in filled if len(str(line[j])) <= MAX_SPANNER_LENGTH]
    if any(cells.anchors.get((sample.rows[row] + 1, sample.cols[j])) for j in short):
        return True
    counts = sample.below[1:, row + 2]
    over_values = [j for j in short if j and counts[:, j].argmax() + 1 != Family.WORDS]
    return bool(over_values) or len(short) > max(1, len(filled) // 2)


def _without_notes(cells: Cells, area: Area) -> Area:
    """The area without footnotes: lone texts in its last rows."""
    width = area.right - area.left + 1
    bottom = area.bottom
    while bottom > area.top + 1 and width >= 2:
        line = cells.kinds[bottom, area.left : area.right + 1].nonzero()[0]
        if len(line) > 1:
            break
        if len(line) == 1 and not _is_note(cells.value(bottom, area.left + int(line[0])), width):
            break
        bottom -= 1
    return Area(area.top, area.left, bottom, area.right)


def _is_note(value: Value, width: int) -> bool:
    if not isinstance(value, str) or isinstance(value, CellError):
        return False
    return width >= 3 or len(value) > NOTE_LENGTH or bool(_FOOTNOTE.match(value))


def _totals(cells: Cells, area: Area, first_data: int) -> int:
    """Number of totals rows at the end of the area."""
    count = 0
    for row in range(area.bottom, max(first_data, area.bottom - MAX_TOTALS), -1):
        words = [
            value
            for col in range(area.left, min(area.right, area.left + 3) + 1)
            if isinstance(value := cells.value(row, col), str)
        ]
        if words and _TOTAL.fullmatch(words[0].strip()):
            count = area.bottom - row + 1
        elif cells.kinds[row, area.left : area.right + 1].any() and not words:
            break
    return count
