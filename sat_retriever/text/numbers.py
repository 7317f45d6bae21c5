"""Numbers with their units and scales in texts, where all texts of a column are such numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sat_retriever.text.identifiers import UNITS
from sat_retriever.text.pattern import pattern

_CURRENCY = r"(?:usd|eur|gbp|jpy|cny|rmb|chf|rub|inr|sek|nok|dkk|pln|czk|aud|cad|[$€£¥₽₹])"
_SCALE = (
    r"(?:'?000s?|thousands?|millions?|billions?|[kmt]|th|mn|mln|mio|bn|tsd|mrd|mill?|lakh|crores?)"
)
_SCALED = pattern(  # kEUR, EUR thousand, EUR '000, in USD millions
    rf"(?:in )?(?:{_SCALE}\.? ?(?:of )?{_CURRENCY}|{_CURRENCY}(?: in)? ?{_SCALE}\.?"
    rf"|{_SCALE}(?<=.{{3}}))",
    re.IGNORECASE,
)
_HAN_SCALE = "(?:[十百千万萬]?[千万萬亿億兆]|百)"
_HAN_MONEY = "(?:美|[欧歐]|日|港|[台臺]|韩|韓)?[元圆圓]|円|人民[币幣]|美金|英[镑鎊]|ユーロ|ドル"
_HAN_MEASURE = (
    "[个個件台套次人户戶家辆輛吨噸克米升亩畝天]|人次|公斤|千克|公里|千米|平方公里|平方米|立方米"
    "|公[顷頃]|千瓦[时時]?|小[时時]|分[钟鐘]|トン"
)
_HAN = pattern(  # 千欧元, 千欧, 亿元, 万人, 百万
    rf"{_HAN_SCALE}?(?:{_HAN_MONEY}|{_HAN_MEASURE})|{_HAN_SCALE}[欧歐]?"
)


def decimal_text(value: float) -> str:
    """A number as every spreadsheet program shows it: with 15 digits at most.

    A file holds two more, from which a sum such as 0.1 + 0.2 shows what binary fractions are.

    >>> decimal_text(0.20099999999999998), decimal_text(0.1 + 0.2), decimal_text(1e21)
    ('0.201', '0.3', '1e+21')
    """
    return repr(float(f"{value:.15g}"))


def is_scaled(text: str) -> bool:
    """True if a text is a currency with a scale, a scale, or a Chinese or Japanese unit.

    >>> is_scaled("kEUR"), is_scaled("in USD millions"), is_scaled("亿元"), is_scaled("net")
    (True, True, True, False)
    """
    return bool(_SCALED.fullmatch(text) or _HAN.fullmatch(text))


_POWERS = {
    "k": 3, "thousand": 3, "thousands": 3, "tsd": 3, "th": 3,
    "m": 6, "mio": 6, "mn": 6, "mln": 6, "million": 6, "millions": 6,
    "bn": 9, "mrd": 9, "billion": 9, "billions": 9,
}  # fmt: skip
_SCALED_NUMBER = pattern(
    rf"(?P<number>[^\n]*[0-9])\s?(?P<scale>[kKM]|(?i:{'|'.join(x for x in _POWERS if x[1:])}))\.?"
    rf"(?P<money>\s?(?i:{_CURRENCY}))?(?P<close>\)?)"
)
_LONGEST_SCALED = 40  # characters of a number with its scale
_MONEY_IN = pattern(rf"(?<![^\W\d_]{{2}}){_CURRENCY}(?![^\W\d_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scaled:
    """A number in a text with a scale behind it."""

    number: str
    power: int = 0  # power of ten that it stands for; 0 without one
    sure: bool = False  # True if it cannot mean something else, as a lone letter M can


def scaled(text: str) -> Scaled:
    """Split a text into its number and the scale behind it.

    >>> scaled("1.2M"), scaled("€3k").sure, scaled("2 Mio. EUR").number
    (Scaled(number='1.2', power=6, sure=False), True, '2 EUR')
    >>> scaled("5 kg").power, scaled("3m").power
    (0, 0)
    """
    plain = text.strip()
    match = _SCALED_NUMBER.fullmatch(plain) if len(plain) <= _LONGEST_SCALED else None
    if match is None:
        return Scaled(text)
    number = match["number"] + (match["money"] or "") + match["close"]
    word = len(match["scale"]) > 1
    return Scaled(number, _POWERS[match["scale"].lower()], word or money_in(number) is not None)


def money_in(text: str) -> str | None:
    """Return the currency that a text names, whatever the scale before it; None without one.

    >>> money_in("kEUR"), money_in("in USD millions"), money_in("M€"), money_in("neural")
    ('EUR', 'USD', '€', None)
    """
    match = _MONEY_IN.search(text)
    return match[0] if match else None


_SPACES = "\u0020\u00a0\u202f\u2009"
_CURRENCIES = "usd|eur|gbp|jpy|cny|rmb|chf|inr|sek|nok|dkk|pln|czk|aud|cad|brl|zar"
_UNIT_NAMES = "|".join(sorted({*UNITS, "m", "g", "t", "l", "s", "h", "w", "v", "a", "ha", "min"}))
_UNIT = (
    rf"%|‰|°\s?[CF]|[$€£¥₽₹]|(?i:{_CURRENCIES}|{_UNIT_NAMES})(?:[²³]|\^[23])?"
    rf"(?:/(?i:{_UNIT_NAMES}|kg|day|month|year|capita|person)(?:[²³])?)?"
)
_MONEY = rf"[$€£¥₽₹]|(?i:{_CURRENCIES})"
_DRESSED = pattern(
    rf"(?P<open>\()?\s?(?P<sign>[+\-−])?\s?(?:(?P<before>{_MONEY})\s?)?(?P<minus>[\-−])?"
    rf"(?P<digits>[0-9][0-9.,'’{_SPACES}]*|[.,][0-9]+)(?:[eE](?P<exponent>[+\-]?[0-9]{{1,3}}))?"
    rf"(?P<last>[\-−])?(?P<after>\s?(?:{_UNIT}))?\s?(?(open)\)(?:\s?(?P<outside>{_UNIT}))?)"
)
_START = pattern(rf"[+\-−(]?\s?(?:(?:{_MONEY})\s?)?[\-−]?[.,]?[0-9]")
_SIGNS = ("open", "sign", "minus", "last")
_UNITS = ("before", "after", "outside")
_FEW = 8
_MOST = 64  # characters of a number with its unit
_CODE = pattern(r"(?=[^0-9]*[0-9])[+#]?\w[\w./\\-]*|[+(]?[0-9][0-9 ()./\-]*")


def _lines(mark: str, between: str, more: str = "") -> re.Pattern[str]:
    """Lines of bare numbers: digits with a mark before decimals, others between thousands.

    More than 15 digits before the mark are a code, and do not fit in a float. So are digits with
    an exponent, as in 12E5, that neither decimals nor its sign tell from letters.
    """
    mark = re.escape(mark)
    between = rf"[{between}'’{_SPACES}]"
    plain = rf"(?>[1-9][0-9]{{0,14}}|0)(?!{between})"
    grouped = rf"[1-9][0-9]{{0,2}}(?:{between}[0-9]{{3}}){{1,4}}(?![0-9])"
    decimals = rf"{mark}[0-9]+(?:e[+\-]?[0-9]{{1,3}})?|e[+\-][0-9]{{1,3}}"
    return pattern(rf"(?>-?(?=[0-9{mark}])(?>{plain}|{grouped}{more})?(?>{decimals})?\n)*+")


_WRITTEN = {
    ".": _lines(".", ",", r"|[1-9][0-9]?(?:,[0-9]{2}){1,5},[0-9]{3}(?![0-9])"),  # India's, too
    ",": _lines(",", "."),
}
_BETWEEN = {mark: pattern(rf"[{other}'’{_SPACES}]") for mark, other in (".,", ",.")}


@dataclass(frozen=True, slots=True)
class TextNumbers:
    """Texts read as numbers, one a text, and the unit that they have in common, if any."""

    values: Sequence[int | float]
    unit: str | None


@dataclass(frozen=True, slots=True)
class NumberTexts:
    """Texts that can be read as numbers."""

    marks: str  # the marks before decimals with which all of them can be: ".", ",", or ".," if both
    unit: str | None
    bare: Sequence[str]  # their signs, digits, marks and exponents

    def read(self, mark: str = "") -> TextNumbers | None:
        """Return the numbers; None for versions, or too large ones. `mark` decides if both fit."""
        chosen = mark if mark and mark in self.marks else self.marks[0]
        if chosen == "." and self.unit is None and _are_versions(self.bare):
            return None
        values = _values(self.bare, chosen)
        return None if math.inf in values or -math.inf in values else TextNumbers(values, self.unit)


def numbers_of(texts: Iterable[str]) -> TextNumbers | None:
    """Return texts as numbers if all of them are, in one notation and of one unit; else None.

    A number with zeros before it, such as 007, or of more than 15 digits is a code, and so are
    versions, which are counted up behind their point (1.9, 1.10), numbers that all have a plus
    (telephones), and a letter behind some of them alone (10, 10A). A comma stands before decimals
    if the texts cannot be read otherwise: `1,234` alone is a thousand. A text without a unit has
    that of the others.

    >>> numbers_of(["1,200.5 kg", "-3kg", "7"])
    TextNumbers(values=[1200.5, -3, 7], unit='kg')
    >>> numbers_of(["1.234,5", "2"]), numbers_of(["12 kg", "3 g"]), numbers_of(["007", "12"])
    (TextNumbers(values=[1234.5, 2], unit=None), None, None)
    >>> numbers_of(["1.9", "1.10"]), numbers_of(["12E5"])
    (None, None)
    """
    found = number_texts(list(texts))
    return found.read() if found else None


def number_texts(texts: Sequence[str]) -> NumberTexts | None:
    """Return texts as those of numbers, if all of them are, in one notation and of one unit.

    >>> number_texts(["2.155"]).marks, number_texts(["2.155", "1,5"]).marks
    ('.,', ',')
    >>> number_texts(["1.5", "1,5"])
    """
    if not all(map(is_number, texts[:_FEW])):  # most columns of texts need no more
        return None
    bare, unit = list(map(str.strip, texts)), None
    marks = _marks(bare)
    if not marks:
        undressed = _undressed(bare)
        if undressed is None:
            return None
        bare, unit = undressed
        marks = _marks(bare)
    return NumberTexts(marks, unit, bare) if marks else None


def is_number(text: str) -> bool:
    """True if a text alone is a number in some notation, with or without a unit.

    >>> is_number("(1.200,5 €)"), is_number("+49"), is_number("007"), is_number("1.2.3")
    (True, True, False, False)
    """
    plain = text.strip()
    if not _START.match(plain) or len(plain) > _MOST:
        return False
    match = _DRESSED.fullmatch(plain)
    return bool(match and not _twice(match) and _marks([_bare(match)]))


def is_code(text: str) -> bool:
    """True if digits stand among letters, points, slashes or hyphens, as in 10A; no number.

    Blanks may only part digits from digits, as in a telephone's.

    >>> is_code("AB12"), is_code("1.10.1"), is_code("007"), is_code("030 12-34"), is_code("12E5")
    (True, True, True, True, True)
    >>> is_code("n.d."), is_code("< 5"), is_code("see note 5")
    (False, False, False)
    >>> is_code("1.10"), is_code("12 kg")
    (False, False)
    """
    return bool(_CODE.fullmatch(text)) and not is_number(text)


def _marks(bare: Sequence[str]) -> str:
    lines = "\n".join((*bare, ""))
    if lines.count("\n") != len(bare):
        return ""
    if "." not in lines and "," not in lines:
        return ".," if _WRITTEN["."].fullmatch(lines) else ""
    return "".join(mark for mark, written in _WRITTEN.items() if written.fullmatch(lines))


def _undressed(texts: Sequence[str]) -> tuple[list[str], str | None] | None:
    """Numbers without brackets, signs behind them and units, and their unit; None if they differ.

    A bracket means a minus; around each of some short whole numbers it is that of a list or a note.
    """
    matches = [match for text in texts if (match := _DRESSED.fullmatch(text[:_MOST]))]
    if len(matches) < len(texts) or any(map(_twice, matches)) or max(map(len, texts)) > _MOST:
        return None
    units = [unit for match in matches for name in _UNITS if (unit := match[name])]
    own = {unit.strip().casefold() for unit in units}
    if len(own) > 1 or (len(units) < len(matches) and any(map(_is_lettered, matches))):
        return None
    bare = [_bare(match) for match in matches]
    if not own and (_are_dialled(matches, bare) or _are_numbering(matches)):
        return None
    return bare, units[0].strip() if units else None


def _twice(match: re.Match[str]) -> bool:
    signs = sum(match[name] is not None for name in _SIGNS)
    return signs > 1 or sum(bool(match[name]) for name in _UNITS) > 1


def _is_lettered(match: re.Match[str]) -> bool:
    after = match["after"] or ""
    return len(after) == 1 and after.isalpha() and match["digits"][-1].isdigit()


def _bare(match: re.Match[str]) -> str:
    signs = {match[name] for name in _SIGNS} - {None, "+"}
    exponent = f"e{match['exponent']}" if match["exponent"] else ""
    return f"{'-' if signs else ''}{match['digits'].strip()}{exponent}"


def _are_dialled(matches: Sequence[re.Match[str]], bare: Sequence[str]) -> bool:
    """True if a plus stands before whole numbers of which none is zero or negative."""
    plus = any(match["sign"] == "+" for match in matches)
    return plus and all(text.replace(" ", "").isdigit() and text != "0" for text in bare)


def _are_numbering(matches: Sequence[re.Match[str]]) -> bool:
    return bool(matches) and all(
        match["open"] and len(match["digits"]) <= 2 and match["digits"].isdigit()
        for match in matches
    )


def _are_versions(bare: Sequence[str]) -> bool:
    """True if the digits behind the points are counted up: 1.9, 1.10, 1.11, not 1.5, 2.25."""
    pairs = [text.partition(".") for text in bare if "." in text]
    behind = set[str]()
    shortest: dict[str, int] = {}  # of those with the same digits before the point
    for before, _, digits in pairs:
        if not digits.isdigit() or before[:1] == "-" or (digits[0] == "0" and len(digits) > 1):
            return False
        behind.add(digits)
        shortest[before] = min(len(digits), shortest.get(before, _MOST))
    if not any(digits[-1] == "0" and len(digits) > shortest[before] for before, _, digits in pairs):
        return False
    return all(len(each) < _FEW and int(each) <= 10 + 4 * len(behind) for each in behind)


def _values(bare: Sequence[str], mark: str) -> Sequence[int | float]:
    if not bare:
        return []
    lines = "\n".join(bare)
    if _BETWEEN[mark].search(lines) or mark != ".":
        lines = _BETWEEN[mark].sub("", lines).replace(mark, ".")
        bare = lines.split("\n")
    points = lines.count(".")
    if points == len(bare):
        return list(map(float, bare))
    if not points and "e" not in lines:
        return list(map(int, bare))
    return [float(text) if "." in text or "e" in text else int(text) for text in bare]


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


_UNIT_ALONE = pattern(_UNIT)
_AT_END = pattern(r"[(\[（]\s*(?P<inside>[^()\[\]（）]{1,24}?)\s*[)\]）]\s*$|\s(?P<sign>[%‰])\s*$")
