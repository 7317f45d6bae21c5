"""Format codes of Excel, taken apart: sections, their conditions, and the parts that they show."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

MAX_CODE = 255  # characters; Excel takes no more
_MOST_SECTIONS = 4
_PART = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<fill>.)'
    r"|\[(?P<elapsed>h+|m+|s+)\](?P<fraction>\.0{1,3})?|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<end>;)|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<power>E[+\-])"
    r"|(?P<time>y+|m+|d+|h+|s+(?:\.0{1,3})?|e+)|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)"
    r"|(?P<slash>/)|(?P<percent>%)|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_COLOUR = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|colou?r ?\d+", re.IGNORECASE)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=) *(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)")
_MONEY = re.compile(r"\$(?P<sign>[^\-]*)(?:-(?P<locale>.*))?", re.DOTALL)
_ENGLISH = 0x09  # primary language of a locale's number
_OF_SYSTEM = ("F400", "F800")  # its own pattern of a time, or of a date, as the code goes on to say
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "<>": operator.ne,
}  # fmt: skip


class Kind(StrEnum):
    """What a section shows."""

    NUMBER = "number"
    MOMENT = "moment"
    TEXT = "text"
    WORDS = "words"
    """The same words for every value."""
    UNKNOWN = "unknown"
    """A part of unknown meaning, or parts that do not go together."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a section: a placeholder, a letter for a time, or a text.

    Attributes:
        name: Name of its group in the grammar; "quoted" for every text.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Condition:
    """Which numbers a section is for."""

    sign: str
    bound: float

    def holds(self, number: float) -> bool:
        """True for a number that the section shows."""
        return _HOLDS[self.sign](number, self.bound)

    @property
    def only_negative(self) -> bool:
        """True if it holds for no number from zero on, whose minus then is not shown."""
        below = self.sign in ("<", "<=", "=") and self.bound < 0
        return below or (self.sign == "<" and self.bound == 0)


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a code.

    Attributes:
        english: False if it asks for the names of months and days in another language.
    """

    parts: tuple[Part, ...]
    kind: Kind
    condition: Condition | None = None
    english: bool = True


@dataclass(frozen=True, slots=True)
class FormatCode:
    """The sections of a code: those for numbers, and that for texts if there is one."""

    numbers: tuple[Section, ...]
    text: Section | None

    def for_number(self, number: float) -> tuple[Section, bool] | None:
        """Return the section for a number, and True if it shows a minus; None without one.

        >>> code = format_code("0.0;(0.0)")
        >>> [code.for_number(x)[0] is code.numbers[x < 0] for x in (1, 0, -1)]
        [True, True, True]
        """
        for section, condition in zip(self.numbers, self._conditions(), strict=True):
            if condition is None or condition.holds(number):
                return section, number < 0 and not (condition and condition.only_negative)
        return None

    def _conditions(self) -> list[Condition | None]:
        """What each section is for: as it says, or else numbers above, below and at zero."""
        given = [each.condition for each in self.numbers]
        if len(given) < 2:
            return given
        three = len(given) > 2
        first = given[0] or Condition(">" if three else ">=", 0)
        second = given[1] or (None if given[0] and not three else Condition("<", 0))
        return [first, second, *given[2:]]


@lru_cache(maxsize=1_024)
def format_code(code: str) -> FormatCode | None:
    """Take a code apart; None for one that cannot be, or that has a part of unknown meaning.

    >>> [each.kind.value for each in format_code('#,##0.0;[Red]-0;"none";@').numbers]
    ['number', 'number', 'words']
    >>> format_code("[DBNum1]0"), format_code("0;0;0;@;0")
    (None, None)
    """
    if len(code) > MAX_CODE:
        return None
    found = sections(code)
    if len(found) > _MOST_SECTIONS or any(each.kind is Kind.UNKNOWN for each in found):
        return None
    text = found.pop() if found[-1].kind is Kind.TEXT or len(found) == _MOST_SECTIONS else None
    return None if any(each.kind is Kind.TEXT for each in found) else FormatCode(tuple(found), text)


def sections(code: str) -> list[Section]:
    """Return all sections of a code, at least one; those of unknown meaning, too.

    >>> [(each.kind.value, each.parts[-1].text) for each in sections('[DBNum1]0" kg";0')]
    [('unknown', ' kg'), ('number', '0')]
    """
    found: list[list[re.Match[str]]] = [[]]
    for match in _PART.finditer(code):
        if match.lastgroup == "end":
            found.append([])
        else:
            found[-1].append(match)
    return [_section(each) for each in found]


def _section(matches: Sequence[re.Match[str]]) -> Section:
    parts: list[Part] = []
    condition, english, known = None, True, True
    for match in matches:
        name = match.lastgroup or ""
        if name == "bracket":
            bracket = match["bracket"]
            if found := _CONDITION.fullmatch(bracket):
                condition = Condition(found[1], float(found[2]))
            elif money := _MONEY.fullmatch(bracket):
                english = english and _is_english(money["locale"] or "")
                parts.append(Part("quoted", money["sign"]))
            else:
                known = known and _COLOUR.fullmatch(bracket) is not None
        elif name in ("quoted", "escaped"):
            parts.append(Part("quoted", match[name]))
        elif name == "space":
            parts.append(Part("quoted", " "))
        elif name in ("elapsed", "fraction"):
            letters = match["elapsed"].lower() + (match["fraction"] or "")
            parts.append(Part("elapsed", letters))
        elif name != "fill":
            parts.append(Part(name, match[0]))
    kind = _kind({each.name for each in parts}) if known else Kind.UNKNOWN
    return Section(tuple(parts), kind, condition, english)


def _kind(names: set[str]) -> Kind:
    moment = not names.isdisjoint(("time", "elapsed", "half"))
    digits = not names.isdisjoint(("digit", "general", "power"))
    if moment + digits + ("text" in names) > 1 or names >= {"general", "digit"}:
        return Kind.UNKNOWN
    if moment:
        return Kind.UNKNOWN if "percent" in names else Kind.MOMENT
    if digits:
        return Kind.NUMBER
    return Kind.TEXT if "text" in names else Kind.WORDS


def _is_english(locale: str) -> bool:
    """True if a locale writes English, or the reader's own language.

    >>> [_is_english(each) for each in ("409", "en-US", "407", "de-AT", "F800", "", "2000407")]
    [True, True, False, False, True, True, False]
    """
    name = locale.split(",", maxsplit=1)[0].strip().upper()
    if not name or name in _OF_SYSTEM or name.startswith("EN-"):
        return True
    try:
        return int(name, 16) & 0x3FF == _ENGLISH
    except ValueError:
        return False
