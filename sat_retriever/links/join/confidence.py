"""Confidence that one column refers to another: by headers, by values, by nearness of workbooks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from sat_retriever.links.join.fields import UNIQUE, Field, Match, match
from sat_retriever.links.join.names import GENERIC, KeyKind
from sat_retriever.links.join.sketches import containment
from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import words

FAR = -2.5
"""Change of the log-odds of a join between workbooks whose names share no word."""

_TELLING_WORDS = 2  # words from which on a name identifies the workbook's owner
_SHARED_WORDS = 2  # common words from which on two workbooks have one owner


def nearness_odds(one: str, other: str) -> float:
    """Change of log-odds for the paths of two workbooks, from `FAR` to 0.

    A name of one word is no evidence: orders.xlsx and customers.xlsx may well belong together.

    >>> nearness_odds("acme/Attendance 2024.xlsx", "acme/Staff list.xlsx")
    -1.25
    >>> nearness_odds("Budget Acme Foods.xlsx", "Budget Blue Motors.xlsx")
    -1.25
    >>> nearness_odds("orders.xlsx", "customers.xlsx")
    0.0
    """
    mine, theirs = path_words(one), path_words(other)
    if min(len(mine), len(theirs)) < _TELLING_WORDS:
        return 0.0
    return FAR * (1 - min(_SHARED_WORDS, len(mine & theirs)) / _SHARED_WORDS)


@lru_cache(maxsize=16_384)
def path_words(path: str) -> frozenset[str]:
    """Words of a path except times, file formats, numbers, and words of one or two letters."""
    found = (word for level in path.split("/")[-8:] for word in words(spelled(level).rest))
    return frozenset(w for w in found if len(w) > 2 and not w.isdigit() and w not in FORMAT_NAMES)


VALUES_ALONE = -1.5
"""Log-odds of a pair whose headers give no evidence, before its values are compared."""

PROFILED_ROWS = 5_000
"""Rows of a table that are sampled: a longer owner may have the missing values."""

_PARTLY_UNIQUE = 0.8
_SAME_VALUES = 0.8
ENOUGH_KNOWN = 16  # compared values from which on agreement counts in full
ENOUGH_WIDE = 8  # the same for texts or wide numbers
_MIN_KNOWN = 4  # with fewer compared values, only a share of 0 or 1 counts
# Change of log-odds by the share of values found: least share, change for texts or wide
# numbers, change for numbers that may merely count from one.
_FEW_KNOWN = ((1.0, 2.5, 0.0), (0.01, 0.0, 0.0), (0.0, -2.0, -2.0))
_SHARES = (
    (0.95, 2.5, 1.0),
    (0.8, 1.0, 0.3),
    (0.5, -1.0, -0.7),
    (0.2, -2.0, -1.5),
    (0.0, -4.0, -3.0),
)

# Log-odds of each trait of a pair (referring column, owner of the key).
# Learned by: python -m benchmarks run joins --fit
WEIGHTS: dict[str, float] = {
    "always": -3.52,
    "key, same header": 1.25,
    "column first": -1.06,
    "owner's sheet name longer": -1.02,
    "later candidate": -3.02,
    "names owner's sheet": 1.53,
    "owner's header names its sheet": -0.32,
    "owner's column first": 2.51,
    "owner's main key": 1.07,
    "names part of owner's sheet": -0.47,
    "owner's header names part of its sheet": 0.5,
    "owner's sheet name within own": 0.87,
    "column names own sheet": -3.18,
    "plain, same header": 0.67,
    "plain": -0.56,
    "owner's header names end of its sheet": 0.6,
    "owner's header bare": 1.24,
    "plain, names part of owner's sheet": -1.53,
    "longer by a role": 1.08,
    "last words name owner's sheet": 0.83,
    "column names end of own sheet": -0.88,
    "kinds differ": -2.23,
    "code, not id": 0.21,
    "key of two words, same header": 0.47,
    "plain, names owner's sheet": 0.47,
}


def header_traits(field: Field, owner: Field, place: int) -> dict[str, float]:
    """Traits of a pair of columns, by headers, sheet names, positions, and the owner's rank."""
    one, other = field.name, owner.name
    plain = one.kind is KeyKind.NONE
    same_words = one.words == other.words and bool(one.words)
    tail = not same_words and bool(other.words) and one.words[-len(other.words) :] == other.words
    whole = match(one.words, owner.entity)
    rest = rest_match(field, owner)
    plain_name = plain and owner.main and other.words != one.words
    traits = {
        "always": True,
        "key, same header": same_words and not plain,
        "key of two words, same header": same_words and not plain and len(one.words) > 1,
        "plain, same header": same_words and plain,
        "longer by a role": tail,
        "kinds differ": one.kind is not other.kind and not owner.bare and not plain,
        "code, not id": one.kind is KeyKind.CODE,
        "plain": plain,
        "names owner's sheet": whole is Match.EXACT,
        "names part of owner's sheet": whole is Match.PART and rest < Match.EXACT,
        "last words name owner's sheet": rest == Match.EXACT,
        "plain, names owner's sheet": plain_name and whole is Match.EXACT,
        "plain, names part of owner's sheet": plain_name and max(whole, rest) < Match.EXACT,
        "owner's header bare": owner.bare,
        "owner's header names its sheet": owner.match is Match.EXACT,
        "owner's header names end of its sheet": owner.match is Match.TAIL,
        "owner's header names part of its sheet": owner.match is Match.PART,
        "owner's column first": owner.place == 0,
        "owner's main key": owner.main,
        "column first": field.place == 0,
        "column names own sheet": field.match is Match.EXACT,
        "column names end of own sheet": field.match is Match.TAIL,
        "owner's sheet name longer": len(owner.entity) > len(field.entity),
        "owner's sheet name within own": _within(owner.entity, field.entity),
        "later candidate": place > 0,
    }
    return {name: float(value) for name, value in traits.items() if value}


def header_odds(field: Field, owner: Field, place: int) -> float:
    """Log-odds that the column refers to the owner, by headers alone."""
    return sum(WEIGHTS.get(name, 0.0) for name in header_traits(field, owner, place))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Evidence from the values of two columns."""

    share: float  # share of the column's values that the owner has
    known: int  # number of distinct values compared; 0 if values are not known
    odds: float  # change of the log-odds that the column refers to the owner


def overlap(field: Field, owner: Field) -> Overlap:
    """Compare the values of a column with those of the owner."""
    if not field.values or not owner.values:
        return Overlap(0.0, 0, 0.0)
    share, known = containment(field.sketch, owner.sketch, owner.distinct)
    wide = field.wide and owner.wide
    shift = _shift(share, known, wide=wide)
    enough = known >= _MIN_KNOWN or (wide and share == 1)
    if field.type is not owner.type and not (enough and share >= _SAME_VALUES):
        shift = -4.0  # texts in one and numbers in the other are the same only if they agree
    if owner.values >= PROFILED_ROWS:
        shift = max(shift, 0.0)
    if owner.unique < UNIQUE:
        repeats = owner.unique < _PARTLY_UNIQUE
        shift = min(shift, 0.0) - 3.0 if repeats else shift - 1.0
    return Overlap(share, known, shift)


def _shift(share: float, known: int, *, wide: bool) -> float:
    """Change of log-odds for a share of values; a few values that agree count little."""
    steps = _FEW_KNOWN if known < _MIN_KNOWN else _SHARES
    shift = next(
        telling if wide else counting for least, telling, counting in steps if share >= least
    )
    enough = ENOUGH_WIDE if wide else ENOUGH_KNOWN
    return shift * min(1.0, known / enough) if shift > 0 else shift


def sigmoid(value: float) -> float:
    """The logistic function, safe for large values."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))


def rest_match(field: Field, owner: Field) -> Match:
    """The best match of a header's last words, without the first, with the owner's sheet."""
    words = field.name.words
    rests = (words[start:] for start in range(1, len(words)))
    if field.name.kind is KeyKind.NONE:  # an e-mail address is not a key of addresses
        rests = (rest for rest in rests if not all(word in GENERIC for word in rest))
    return max((match(rest, owner.entity) for rest in rests), default=Match.NONE)


def _within(inner: tuple[str, ...], outer: tuple[str, ...]) -> bool:
    return 0 < len(inner) < len(outer) and all(word in outer for word in inner)
