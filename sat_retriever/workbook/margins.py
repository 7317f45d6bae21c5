"""What stands around a table's data: titles above, units, totals, notes below."""

from __future__ import annotations

import re

from sat_retriever.area import Area
from sat_retriever.workbook.cells import Cells
from sat_retriever.workbook.grid import CellError
from sat_retriever.workbook.regions import trim
from sat_retriever.workbook.sample import Sample

MAX_TOTALS = 4
NOTE_LENGTH = 40
NOTE_WORDS = 4
"""A lone text below the data with more characters or words is a note."""
UNITS_SHARE = 0.6
"""Share of a row's texts that have to be units."""

_UNITS = """
    kg g mg t m km cm mm nm ft in yd mi lb lbs oz gal l ml ha acre acres km2 m2 m3 s ms h hr hrs
    min hour hours day days week weeks month months year years yr yrs w kw mw gw wp kwp wh kwh mwh
    gwh twh j kj mj gj tj pj ej pa kpa mpa bar hz khz mhz ghz v kv a ma k n kn nm mol ppm ppb db
    btu mmbtu quads b kb mb gb tb kbit mbit mph rpm usd eur gbp jpy cny chf rub inr dimensionless
    unitless dmnl person persons people count each pcs unit units ton tons tonne tonnes n/a -
"""
_UNIT_NAMES = frozenset(_UNITS.split())
_UNIT = re.compile(
    r"[(\[]\s*[^()\[\]]{1,24}\s*[)\]]"  # (kg), [m/s]
    r"|[%‰#°$€£¥₽₹]|°[CFK]|m[²³]"
    r"|[^\W\d_]{0,6}[/^·*][^\W_]{1,10}"  # m/s, USD/kg, 10^6
)
_TOTAL = re.compile(
    r"\W*(?:(?:grand|sub|overall|net)[\s-]*)?(?:totals?|sum|summe|gesamt\w*|insgesamt|ergebnis"
    r"|zwischensumme|totales|totaux|totale|totaal|suma|somme|soma|summa|итого|всего|razem|toplam"
    r"|合计|合計|总计|總計|小计|小計|총계|합계|average|mean|mittelwert|durchschnitt|maximum|minimum)"
    r"\b.{0,24}",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(
    r"\s*(?:[*†‡§¹²³]|\(?[a-z\d]\)|notes?\b|source|sources\b|remark|quelle|fuente|注)",
    re.IGNORECASE,
)


def below_titles(sample: Sample, block: Area) -> Area:
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
    return Area(sample.rows[top], block.left, block.bottom, block.right)


def units_row(sample: Sample, best: int) -> int | None:
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
    units = sum(text.lower() in _UNIT_NAMES or bool(_UNIT.fullmatch(text)) for text in texts)
    return bool(texts) and len(texts) >= filled and units >= UNITS_SHARE * len(texts)


def above_notes(cells: Cells, area: Area) -> Area:
    """The area without footnotes: lone texts in its last rows.

    A short one, such as a name with nothing beside it, is one only below a note.
    """
    if area.right == area.left:
        return area
    end = row = area.bottom
    while row > area.top + 1:
        line = cells.kinds[row, area.left : area.right + 1].nonzero()[0]
        if len(line) > 1:
            break
        value = cells.value(row, area.left + int(line[0])) if len(line) else None
        if value is not None and (not isinstance(value, str) or isinstance(value, CellError)):
            break
        row -= 1
        end = row if value is not None and _is_note(value) else end
    return trim(cells.kinds, Area(area.top, area.left, end, area.right)) or area


def _is_note(text: str) -> bool:
    words = len(text.split())
    return len(text) > NOTE_LENGTH or words > NOTE_WORDS or bool(_FOOTNOTE.match(text))


def count_totals(cells: Cells, area: Area, first_data: int) -> int:
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
