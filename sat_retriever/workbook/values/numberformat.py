"""Number formats of cells: the unit and the scale that they show beside the digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from sat_retriever.text.numbers import money_in, unit_of_header
from sat_retriever.workbook.values.formatcode import MAX_CODE, Part, sections

# Unit of the values of a percent format: a cell that shows 7% holds 0.07.
FRACTION = "fraction (1 = 100%)"
ONES = "ones"  # unit of values whose format shows them in thousands or millions
_SCALED = re.compile(r"[0#?],+(?:\.|$)")
_UNIT = re.compile(r"/?(?:[^\W\d_]|[%‰°′″])[^()\[\]{}\"]{0,23}")
_SECTIONS = 3  # of numbers above, below and at zero; the fourth is for texts
_DIGITS = ("digit", "general", "point", "comma")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """What a number format shows beside the digits of a number."""

    # The unit that it writes, such as "kg" or "€"; `FRACTION` for a percent sign that multiplies by
    # a hundred; None without one. Units of several formats are joined by "or".
    unit: str | None = None
    scaled: bool = False  # True if it shows thousands or millions: a cell of 1,200,000 says 1.2
    code: str = ""  # the whole format code, where the texts of cells are asked for; else empty


PLAIN = NumberFormat()


def number_format(code: str) -> NumberFormat:
    """Return what a format code of Excel shows; `PLAIN` for dates, times and texts.

    >>> number_format('#,##0.00 [$€-407]').unit, number_format('0.0" kg"').unit
    ('€', 'kg')
    >>> number_format("0%").unit, number_format('0.0"%"').unit
    ('fraction (1 = 100%)', '%')
    >>> number_format('0.0,,"M €"') == NumberFormat("€", scaled=True)
    True
    >>> number_format('"Q"0') == number_format("dd.mm.yyyy") == number_format("[h]:mm") == PLAIN
    True
    """
    numbers = sections(code[:MAX_CODE])[:_SECTIONS]
    shown = [each for section in numbers if (each := _shown(section.parts))]
    units = {each.unit for each in shown} - {None}
    unit = units.pop() if len(units) == 1 else None
    return NumberFormat(unit, any(each.scaled for each in shown))


def _shown(parts: Sequence[Part]) -> NumberFormat | None:
    """What a section shows, also one of unknown meaning; None for dates, times and texts."""
    places = [at for at, each in enumerate(parts) if each.name in _DIGITS]
    if not places or any(_is_moment(each) for each in parts):
        return None
    if any(each.name == "percent" for each in parts):
        return NumberFormat(FRACTION)
    before = "".join(each.text for each in parts[: places[0]]).strip(" -+(")
    rest = parts[places[-1] + 1 :]
    if len(rest) > 1 and rest[0].name == "slash" and rest[1].text.isdecimal():
        rest = [*dropwhile(lambda each: each.text.isdecimal(), rest[1:])]  # of a fraction: # ?/16
    after = "".join(each.text for each in rest).strip(" -+)")
    if _SCALED.search("".join(parts[at].text for at in places)):
        return NumberFormat(money_in(after) or money_in(before), scaled=True)
    money = before if _is_money(before) else ""
    behind = after if _UNIT.fullmatch(after) or _is_money(after) else ""
    return NumberFormat(money + behind if behind.startswith("/") else behind or money or None)


def _is_moment(part: Part) -> bool:
    """True for a part of a date or time; an `e` among digits is a letter, as in `0 EUR`."""
    return part.name in ("elapsed", "half") or (part.name == "time" and part.text[0] not in "eE")


def _is_money(text: str) -> bool:
    """True for a text with a currency sign, and a known unit such as EUR."""
    signed = any(unicodedata.category(letter) == "Sc" for letter in text)
    return bool(text) and (signed or unit_of_header(f"({text})") is not None)


def joint_format(counts: Mapping[NumberFormat, int]) -> NumberFormat:
    """Return what the formats of a column's numbers show together; `counts` include `PLAIN`.

    Cells without a unit have that of the others if these are more. Several units stay several.

    >>> euro = NumberFormat("€")
    >>> joint_format({euro: 2, PLAIN: 1}).unit, joint_format({euro: 1, PLAIN: 2}).unit
    ('€', None)
    >>> joint_format({NumberFormat("kg"): 2, NumberFormat("g"): 1}).unit
    'kg or g'
    """
    units: dict[str, int] = {}
    for shown, count in counts.items():
        if shown.unit is not None:
            units[shown.unit] = units.get(shown.unit, 0) + count
    told = 2 * sum(units.values()) > sum(counts.values())
    return NumberFormat(" or ".join(units) if told else None, any(x.scaled for x in counts))


def told_unit(texts: str | None, shown: NumberFormat, row: str | None, header: str) -> str | None:
    """Return the unit of a column's numbers, by all that says it.

    A header, or a row of units, says more than a format: `kEUR` where cells show `€`. But where the
    format multiplies, it names what is shown, not what the cells hold. `texts` is what texts among
    the numbers write, `row` the content of the row of units.

    >>> told_unit(None, NumberFormat(FRACTION), "%", "Growth %")
    'fraction (1 = 100%)'
    >>> told_unit(None, NumberFormat(None, scaled=True), None, "Revenue (EUR million)")
    'EUR'
    """
    if shown.unit == FRACTION:
        return FRACTION
    said = row or unit_of_header(header)
    if shown.scaled:
        return money_in(said or "") or shown.unit or (ONES if said else None)
    return texts or said or shown.unit
