"""Numbers with their units in texts, where all texts of a column are such numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sat_retriever.text.identifiers import UNITS
from sat_retriever.text.scales import is_scaled

_SPACES = "\u0020\u00a0\u202f\u2009"
_CURRENCIES = "usd|eur|gbp|jpy|cny|rmb|chf|inr|sek|nok|dkk|pln|czk|aud|cad|brl|zar"
_UNIT_NAMES = "|".join(sorted({*UNITS, "m", "g", "t", "l", "s", "h", "w", "v", "a", "ha", "min"}))
_UNIT = (
    rf"%|‰|°\s?[CF]|[$€£¥₽₹]|(?i:{_CURRENCIES}|{_UNIT_NAMES})(?:[²³]|\^[23])?"
    rf"(?:/(?i:{_UNIT_NAMES}|kg|day|month|year|capita|person)(?:[²³])?)?"
)
_MONEY = rf"[$€£¥₽₹]|(?i:{_CURRENCIES})"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s?(?P<sign>[+\-−])?\s?(?:(?P<before>{_MONEY})\s?)?(?P<minus>[\-−])?"
    rf"(?P<digits>\d[\d.,'’{_SPACES}]*)(?:[eE](?P<exponent>[+\-]?\d{{1,3}}))?"
    rf"\s?(?P<after>{_UNIT})?\s?(?(open)\)(?:\s?(?P<outside>{_UNIT}))?)"
)
_UNIT_PLACES = ("before", "after", "outside")
# Digits with a point or a comma for decimals, and another mark, a blank or none between thousands.
_POINT = re.compile(rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[,'’{_SPACES}]\d{{3}})+)(?:\.\d+)?")
_COMMA = re.compile(rf"(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[.'’{_SPACES}]\d{{3}})+)(?:,\d+)?")
_BETWEEN = re.compile(rf"['’{_SPACES}]")
_MOST_DIGITS = 15  # more are a code, and do not fit in a float


@dataclass(frozen=True, slots=True)
class TextNumbers:
    """Texts read as numbers.

    Attributes:
        values: One number a text.
        unit: The unit that they have in common; None without one.
    """

    values: Sequence[int | float]
    unit: str | None


def numbers_of(texts: Iterable[str]) -> TextNumbers | None:
    """Return texts as numbers if all of them are, in one notation and of one unit; else None.

    A number with zeros before it, such as 007, or of more than 15 digits is a code. A comma
    stands before decimals if the texts cannot be read otherwise: `1,234` alone is a thousand. A
    text without a unit has that of the others.

    >>> numbers_of(["1,200.5 kg", "-3kg", "7"])
    TextNumbers(values=(1200.5, -3, 7), unit='kg')
    >>> numbers_of(["1.234,5", "2"]), numbers_of(["12 kg", "3 g"]), numbers_of(["007", "12"])
    (TextNumbers(values=(1234.5, 2), unit=None), None, None)
    """
    matches, units = [], []
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        own = [match[name] for name in _UNIT_PLACES if match[name]] if match else []
        if match is None or len(own) > 1:
            return None
        matches.append(match)
        units += own
    if len(set(map(str.casefold, units))) > 1:
        return None
    digits = [each["digits"].strip() for each in matches]
    written = ((_POINT, "."), (_COMMA, ","))
    mark = next((mark for pattern, mark in written if all(map(pattern.fullmatch, digits))), None)
    if mark is None:
        return None
    if any(sum(map(str.isdigit, text)) > _MOST_DIGITS for text in digits):
        return None
    values = tuple(_value(each, text, mark) for each, text in zip(matches, digits, strict=True))
    return TextNumbers(values, units[0] if units else None)


def _value(match: re.Match[str], digits: str, mark: str) -> int | float:
    """Return the number that a match writes, with a mark before its decimals."""
    plain = _BETWEEN.sub("", digits).replace("," if mark == "." else ".", "").replace(mark, ".")
    negative = bool(match["open"]) ^ ((match["sign"] or match["minus"] or "+") in "-−")
    exponent = f"e{match['exponent']}" if match["exponent"] else ""
    number = float(plain + exponent) if exponent or "." in plain else int(plain)
    return -number if negative else number


def unit_of_header(name: str) -> str | None:
    """Return the unit in brackets at the end of a header; None without one.

    >>> unit_of_header("Mass (kg)"), unit_of_header("Mass [net]"), unit_of_header("Growth %")
    ('kg', None, '%')
    >>> unit_of_header("Turnover (EUR thousand)"), unit_of_header("金额（亿元）")
    ('EUR thousand', '亿元')
    """
    match = _AT_END.search(name)
    if match is None:
        return None
    inside = match["inside"]
    known = inside is None or _UNIT_ALONE.fullmatch(inside) or is_scaled(inside)
    return (inside or match["sign"]) if known else None


_UNIT_ALONE = re.compile(_UNIT)
_AT_END = re.compile(
    r"[(\[（]\s*(?P<inside>[^()\[\]（）]{1,24}?)\s*[)\]）]\s*$|\s(?P<sign>[%‰])\s*$"
)
