"""Margins around a table's data: titles above, units, notes below."""

from __future__ import annotations

import re

import numpy as np

from sat_retriever.records.area import Area
from sat_retriever.text.numbers import is_scaled
from sat_retriever.workbook.tables.regions import trim
from sat_retriever.workbook.tables.sample import Family, Sample
from sat_retriever.workbook.values.cells import Cells
from sat_retriever.workbook.values.grid import CellError

NOTE_LENGTH = 40
NOTE_WORDS = 4  # A single text below the data with more characters or words is a note
UNITS_SHARE = 0.6  # least share of units among the texts of a units row

_UNITS = """
    kg g mg t m km cm mm nm ft in yd mi lb lbs oz gal l ml ha acre acres km2 m2 m3 s ms h hr hrs
    min hour hours day days week weeks month months year years yr yrs w kw mw gw wp kwp wh kwh mwh
    gwh twh j kj mj gj tj pj ej pa kpa mpa bar hz khz mhz ghz v kv a ma k n kn nm mol ppm ppb db
    btu mmbtu quads b kb mb gb tb kbit mbit mph rpm usd eur gbp jpy cny chf rub inr dimensionless
    unitless dmnl person persons people count each pcs unit units ton tons tonne tonnes hpa mg
    ug µg l/s kcal cal number anzahl stück st piece pieces million millions billion thousand percent
    cent currency index
"""
_UNIT_NAMES = frozenset(_UNITS.split())
_UNIT_LABEL = re.compile(
    r"(?i:units?|einheit|unité|unidad|unità|unidade|eenheid|enhet|enhed|jedn|ед|単位|单位|單位|단위)"
)
_LINKS = frozenset("in of per pro par por je za na de x".split())
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[^\W\d_]+(?![^\W_])|[%°$€£¥]")  # not the "s" of a name such as "S1"
_UNIT = re.compile(
    r"[(\[]\s*(?=[^()\[\]]*[^\d\s.,()\[\]+-])[^()\[\]]{1,24}\s*[)\]]"  # (kg), [m/s], not (1,000)
    r"|[%‰#°$€£¥₽₹]|°[CFK]|m[²³]"
    r"|[^\W\d_]{0,6}[/^·*][^\W_]{1,10}"  # m/s, USD/kg, 10^6
)
_FOOTNOTE = re.compile(
    r"\s*(?:[*†‡§¹²³]|\(?[a-z\d]\)|notes?\b|source|sources\b|remark|quelle|fuente|注)",
    re.IGNORECASE,
)


def below_titles(sample: Sample, block: Area) -> Area:
    """A headerless block without rows of a single text at its top."""
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
    """The sampled row of units, at the best header row or right below it; None without one."""
    for row in (best, best + 1):
        if 0 < row < len(sample.rows) - 1 and _are_units(sample, row):
            header = (sample.families[row - 1] > 0).sum()
            if header >= 2 and header >= (sample.families[row] > 0).sum():
                return row
    return None


def _are_units(sample: Sample, row: int) -> bool:
    """True if a row holds units, gaps aside, over columns of numbers in which none recurs."""
    line = sample.families[row]
    if not np.isin(line, (Family.NONE, Family.WORDS, Family.CODE)).all():
        return False
    if _has_name(sample, row):
        return False
    said = {
        col: str(sample.values[row][col]).strip()
        for col in np.flatnonzero(line).tolist()
        if isinstance(sample.values[row][col], str)
    }
    units = [col for col, text in said.items() if _is_unit(text)]
    named = isinstance(sample.values[row][0], str) and _names_rows(sample, row, 0)
    if named and 0 in said and not _is_unit(said[0]) and not _UNIT_LABEL.match(said[0]):
        # A record whose words look like units, unless they are beyond doubt: "(new)", "A".
        units = [col for col in units if len(said[col]) > 1 and said[col][0] not in "(["]
    # A text over the names of the rows, such as "Unit", says nothing.
    others = [col for col in said if col not in units and not _names_rows(sample, row, col)]
    if not units or len(units) < UNITS_SHARE * (len(units) + len(others)):
        return False
    below = sample.likely(row + 1)
    numbers = [2 * below[Family.NUMBER - 1, col] > below[:, col].sum() for col in units]
    fuller = np.flatnonzero(sample.filled[row + 1 :].sum(axis=1) > len(said)) + row + 1
    recurring = any(
        str(sample.values[each][col]) == said[col] for each in fuller.tolist() for col in units
    )
    return sum(numbers) >= UNITS_SHARE * len(units) and not recurring


def _has_name(sample: Sample, row: int) -> bool:
    """True if the first cell holds a name with digits, as those of the rows below have them."""
    own = sample.values[row][0]
    if not isinstance(own, str) or not _DIGIT.search(own) or _is_unit(own.strip()):
        return False
    below = sample.column(0, row + 1)
    return 2 * sum(bool(_DIGIT.search(str(each))) for each in below) > len(below)


def _names_rows(sample: Sample, row: int, col: int) -> bool:
    below = sample.likely(row + 1)[:, col]
    return col == 0 and 2 * int(below[Family.NUMBER - 1]) <= int(below.sum())


def _is_unit(text: str) -> bool:
    if text.lower() in _UNIT_NAMES or _UNIT.fullmatch(text) or is_scaled(text):
        return True
    words = _WORDS.findall(text.lower())  # "1000 t", "USD bn", "g/100 g", "in kg", "% of GDP"
    known = [word not in _LINKS and (word in _UNIT_NAMES or is_scaled(word)) for word in words]
    linked = all(unit or word in _LINKS for word, unit in zip(words, known, strict=True))
    return words[:1] == ["%"] or (any(known) and linked)


def above_notes(cells: Cells, area: Area) -> Area:
    """The area without footnotes: rows of a single text at its end.

    A short text, such as a name with nothing beside it, is a footnote only below a note, or if it
    is the last row and its column is otherwise empty.
    """
    if area.right == area.left:
        return area
    end = row = area.bottom
    while row > area.top + 1:
        line = cells.kinds[row, area.left : area.right + 1].nonzero()[0]
        if len(line) > 1:
            break
        value = cells.value(row, area.left + int(line[0])) if len(line) else None
        if len(line) and (not isinstance(value, str) or isinstance(value, CellError)):
            break
        row -= 1
        if isinstance(value, str):
            column = cells.kinds[area.top : row + 1, area.left + int(line[0])]
            alone = end == area.bottom and not column.any()
            end = row if alone or is_note(value) else end
    return trim(cells.kinds, Area(area.top, area.left, end, area.right)) or area


def is_note(text: str) -> bool:
    """True if a single text beside a table reads as a note, not as a name."""
    words = len(text.split())
    return len(text) > NOTE_LENGTH or words > NOTE_WORDS or bool(_FOOTNOTE.match(text))
