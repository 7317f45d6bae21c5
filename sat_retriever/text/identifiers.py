"""Split identifiers into words: camel case is split, domain terms stay whole.

Most domain terms are recognised by their pattern of capitals, small letters and digits:
plural acronyms (LDVs), chemical formulas and units (NOx, CO2e, kWh), short forms (PhD, SoCC),
part numbers (BX-7740/2), versions (v2.1). A short table lists the terms without such a pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sat_retriever.text.pattern import pattern

MAX_CHARS = 20_000
_LONGEST_HUMP = 256  # characters; a longer one is not a name and stays unchanged

# Vowel signs and other marks belong to the letter before them, but `re` does not count them in \w.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u0a01-\u0a03"
    "\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0bbe-\u0bcd\u0c3e-\u0c56"
    "\u0cbc-\u0cd6\u0d3b-\u0d4d\u0dca-\u0ddf"
)
# Scripts written without spaces: Chinese, Japanese, Korean; Thai, Lao, Myanmar, Khmer.
UNSPACED = (
    "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)

UNITS = frozenset(
    "kg mg ng lb lbs oz km cm mm nm ft yd mi ml cl dl gal bbl bbls ha rpm psi bar kpa mpa hz khz "
    "mhz ghz kv kva mva kw mw gw kwh mwh gwh twh kwp mwp kj mj gj tj kcal btu mmbtu kb mb gb tb "
    "yr pcs kbps mbps gbps ppm ppb mah eur usd gbp chf jpy cny inr".split()
)
"""The units and currencies, in small letters, that may follow a number directly."""

_YEAR = r"(?:19|20)\d\d(?!\d)"


class _Shapes:
    """Shapes of words, in letters of two cases."""

    def __init__(self, capitals: str, small: str) -> None:
        any_case = capitals + small
        # Digits that belong to the letters before them. A year is split off after two or more
        # letters, any four digits after four or more: ISO9001 is one word, part0001 is two.
        four = rf"(?<=[{any_case}]{{4}})\d{{4}}(?!\d)"
        digits = rf"(?:(?<![{any_case}][{any_case}])\d+|(?!{_YEAR}|{four})\d+)?"
        # CO2e, A320neo, m8x40, Phase2B
        tail = (
            rf"(?:(?<=\d)(?:[{small}]{{1,4}}(?![{small}]){digits}"
            rf"|[{capitals}](?![{any_case}\d])))*"
        )
        unit = rf"(?:[{capitals}]+(?:[{small}](?![{small}])|(?![{small}])){digits})"
        # Terms whose pattern is not distinctive: units, chemistry, biology, software, names.
        trade = (
            r"[kMGT]W[hp]s?|[Mm]{1,2}Btus?|mmHg|keV|GmbHs?|[A-Z]aaS|(?:My|No)SQL|OAuth\d?"
            r"|(?:si|mi|sc|sn|ds|ss|lnc|mt|cf|ct)[RD]NAs?"
            rf"|Mc[A-Z][{small}]{{2,}}|[ei][A-Z][{small}]{{2,}}\d*"
        )
        self.hump = pattern(
            rf"(?P<whole>(?:{trade}|[{capitals}]{{2,}}s)(?![{small}]))"  # GmbH, LDVs
            rf"|(?:[{small}](?=[{capitals}]))?{unit}+{tail}"  # USD, NOx, kVA, pH, H2SO4, PhD
            rf"|[{capitals}]?[{small}]+?(?=kW[hp](?![{small}]))"  # totalkWh
            rf"|[{capitals}]?[{small}]+{digits}{tail}"
            rf"|\d{{4}}(?!\d)"
            rf"|\d+(?=(?i:{'|'.join(sorted(UNITS, key=len, reverse=True))})(?![{small}\d]))"
            rf"|\d+(?:[{capitals}]+(?![{small}])\d*|[{small}]{{1,4}}(?![{small}])\d*)*"
            rf"|(?P<other>[^{any_case}\d]+)"  # letters of other scripts stay with their neighbours
        )
        self.plain = pattern(rf"[{capitals}]?[{small}]+|[{capitals}]+|\d+")
        # Short words that begin with a capital and are no part of an abbreviation beside them.
        self.short = pattern(
            rf"(?<=[{any_case}\d][{any_case}\d])(?=(?:No|Id|Nr|Of|By|To|At|On|In|Is)$)"
            rf"|(?<=[{any_case}\d][{any_case}\d])(?=(?:Of|By|To)[{capitals}])"
            rf"|(?<=Of)(?=[{capitals}]{{2}})|(?<=By)(?=[{capitals}]{{2}})"
            rf"|(?<=^[{small}])(?=IDs?$)"
            rf"|(?<=^[{any_case}])(?=Ids?$)"  # the key of a one-letter table: mID
            rf"|(?<=^(?:My|No|Is|In|To|At|On|If|Do))(?=[{capitals}]{{2}})"
            r"|(?i:(?<=^[QH][1-4])(?=FY)|(?<=^FY\d\d)(?=[QH][1-4]))"
        )
        self.plural = pattern(rf"[{any_case}]+[{capitals}][{small}]*s")  # LDVs, PhDs, kWhs
        self.prefixed = pattern(rf"[ei]([A-Z][{small}]{{3,}})")  # eInvoice: invoice


_LETTERS = "".join(map(chr, range(0x41, 0x530)))  # Latin, Greek, Cyrillic
_EVERY = _Shapes(
    "".join(filter(str.isupper, _LETTERS)), "".join(filter(str.islower, _LETTERS)) + "\u00aa\u00ba"
)
# The same for text in ASCII alone: it takes a tenth of the time to compile.
_ASCII = _Shapes("A-Z", "a-z")


def _shapes(text: str) -> _Shapes:
    return _ASCII if text.isascii() else _EVERY


_LETTER = rf"(?:[{UNSPACED}]|[^\W_][{MARKS}]*)"
_CHUNK = pattern(
    rf"(?<![^\W_])[^\W\d_]{{1,2}}&[^\W\d_]{{1,2}}(?![^\W_]|[-./\\][^\W_])"  # P&L
    rf"|{_LETTER}+(?:[-./\\]{_LETTER}+)*"
)
_SEPARATOR = re.compile(r"[_\-./\\]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+%?")
_TIME = pattern(
    r"[qh][1-4]|[1-4][qh]|fy\d*|[ck]w\d+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.I
)
_ALSO = tuple(
    re.compile(shape)
    for shape in (
        r"([a-z]{2,})(\d{3,})",  # ISO9001: iso, 9001
        r"([a-z]{2,})(\d+(?:\.\d+)+)",  # PM2.5: pm, 2.5
        r"([a-z]\d+)(?:\.\d+)+",  # v2.1: v2
        r"(?:[kmg]?[gt]|lbs?)?(co2)(?:eq?)?",  # tCO2e: co2
        r"([a-z]{2}\d|[a-z]+\d{2,})[a-z]{1,3}",  # A320neo: a320
    )
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text as written, and further forms that match it: its singular, its parts."""

    text: str
    also: tuple[str, ...] = ()


def split_identifiers(text: str) -> str:
    """Split identifiers in a text by spaces; letters are unchanged.

    Splits camelCase, snake_case, "-", "." and "/", and a year joined to a word. Plural
    acronyms, formulas, units, versions, decimals and part numbers stay whole.

    >>> split_identifiers("Stock_Market__Q3-2021.finalReport")
    'Stock Market Q3 2021 final Report'
    >>> split_identifiers("HTTPServer Sales2021Q3 rate 3.5")
    'HTTP Server Sales 2021 Q3 rate 3.5'
    >>> split_identifiers("LDVsByState totalCO2Emissions kWhPerMonth PM2.5 BX-7740/2")
    'LDVs By State total CO2 Emissions kWh Per Month PM2.5 BX-7740/2'
    """
    parts: list[str] = []
    for word in text[:MAX_CHARS].split():
        if _DECIMAL.fullmatch(word):
            parts.append(word)
        else:
            parts.extend("".join(_spaced(word)).split())
    return " ".join(parts)


def read_words(text: str) -> Iterator[Word]:
    """Yield the words of a text, without the signs between them.

    >>> [word.text for word in read_words("(net_Profit, PM2.5)")]
    ['net', 'Profit', 'PM2.5']
    >>> list(read_words("POs"))
    [Word(text='POs', also=('PO',))]
    """
    for chunk in chunks(text):
        yield from chunk_words(chunk)


def chunks(text: str) -> list[str]:
    """Return the runs of letters and digits with single separators, which are read one by one.

    >>> chunks("(net_Profit, PM2.5 A/B)")
    ['net', 'Profit', 'PM2.5', 'A/B']
    """
    return _CHUNK.findall(text[:MAX_CHARS])


def _spaced(word: str) -> Iterator[str]:
    """Yield a word's parts, with spaces for separators and between joined words."""
    end = 0
    for match in _CHUNK.finditer(word):
        yield _SEPARATOR.sub(" ", word[end : match.start()])
        yield " ".join(part.text for part in chunk_words(match[0]))
        end = match.end()
    yield _SEPARATOR.sub(" ", word[end:])


def chunk_words(chunk: str) -> tuple[Word, ...]:
    """Return the words of one of the `chunks` of a text."""
    if _shapes(chunk).plain.fullmatch(chunk):
        return (Word(chunk),)
    if "&" in chunk:
        return (Word(chunk, tuple(chunk.split("&"))),)
    if _is_code(chunk):
        pieces = (part for piece in _SEPARATOR.split(chunk) for part in _humps(piece))
        return (Word(chunk, tuple(pieces)),)
    pieces = (part for piece in re.split(r"[-/\\]", chunk) for part in _dotted(piece))
    return tuple(Word(part, _also(part)) for part in pieces)


def _is_code(chunk: str) -> bool:
    """True if a chunk is a part number or another code: short letter groups and a number.

    >>> [_is_code(text) for text in ("BX-7740/2", "10-K", "Q3-2021", "net-profit", "Mar-24")]
    [True, True, False, False, False]
    """
    pieces = _SEPARATOR.split(chunk)
    if len(pieces) < 2 or not chunk.isascii() or "\\" in chunk or any(map(_TIME.fullmatch, pieces)):
        return False
    if len(pieces) == 2 and min(map(len, pieces)) == 1 and max(map(len, pieces)) < 4:
        return "." not in chunk and sum(map(str.isalpha, pieces)) == 1  # 10-K, F-16
    letters = [piece for piece in pieces if piece.isalpha()]
    if not any(map(str.isalpha, chunk)) or any(len(x) > (6 if x.isupper() else 3) for x in letters):
        return False
    fewest = 2 if chunk.isupper() else 3
    numbers = re.findall(r"\d+", chunk)
    return any(len(each) >= fewest and not re.fullmatch(_YEAR, each) for each in numbers)


def _dotted(piece: str) -> list[str]:
    """Split a piece at dots, unless a dot is within a number."""
    runs = piece.split(".")
    found = list(_humps(runs[0]))
    dated = len(runs) > 2 and any(re.fullmatch(_YEAR, run) for run in runs)  # 31.03.2024
    for run in runs[1:]:
        words = list(_humps(run))
        left, right = found[-1], words[0]
        timed = _TIME.fullmatch(left) or re.fullmatch(_YEAR, left) or re.fullmatch(_YEAR, right)
        if left[-1].isdigit() and right[0].isdigit() and not dated and not timed:
            found[-1] += f".{words.pop(0)}"
        found += words
    return found


def _humps(run: str) -> tuple[str, ...]:
    shapes = _shapes(run)
    if shapes.plain.fullmatch(run):
        return (run,)
    found: list[str] = []
    glued = False
    for match in shapes.hump.finditer(run):
        other = match["other"] is not None
        words = _cut(match, shapes)
        if found and (other or glued):
            found[-1] += words.pop(0)
        found += words
        glued = other
    return tuple(found)


def _cut(hump: re.Match[str], shapes: _Shapes) -> list[str]:
    """Return the words of a hump, with short words and times split off repeatedly."""
    found: list[str] = []
    waiting = [hump]
    while waiting:
        text, whole = waiting.pop().group(0, "whole")
        parts = [text]
        if not whole and len(text) <= _LONGEST_HUMP:
            parts = shapes.short.sub(" ", text).split(" ")
        if len(parts) == 1:
            found += parts
        else:
            waiting += reversed([each for part in parts for each in shapes.hump.finditer(part)])
    return found


def _also(word: str) -> tuple[str, ...]:
    """Return further forms of a word: the singular of a plural acronym, distinctive parts."""
    shapes = _shapes(word)
    if shapes.plural.fullmatch(word):
        return (word[:-1],)
    if prefixed := shapes.prefixed.fullmatch(word):
        return (prefixed[1],)
    if _NUMBER.fullmatch(word):
        return tuple(word.split("."))  # 3.8: 3, 8
    low = word.lower()
    matches = (shape.fullmatch(low) for shape in _ALSO)
    return next((match.groups() for match in matches if match), ())
