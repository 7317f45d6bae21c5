"""Texts of one column that identify its rows or its table: names, codes, years, no measures.

Where not all fit, a fair and stable sample of them is kept.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from operator import methodcaller
from typing import cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sat_retriever.workbook.values.cells import GAPS, Kind, KindArray, plain_text
from sat_retriever.workbook.values.grid import Value

LookUp = Callable[[NDArray[np.intp]], Iterable[Value]]
Mask = NDArray[np.bool_]

# Characters kept of a text in a table: a name, a code, the first sentence of a remark.
MAX_TEXT = 200
# Different texts of one column that are looked at further; no sheet has room for more.
MAX_OF_COLUMN = 6_000
SAMPLE = 400  # cells of a column, spread over all of it, by which its numbers are judged
# Different dates up to which each names an event; of a longer series only the years count.
MAX_DATES = 40
FIRST_YEAR, LAST_YEAR = 1900, 2100
MIN_YEARS = 3  # numbers in the range of years without a year's header that are taken for years
# Numbers, and digits of each, from which a form of their own tells ids from amounts.
MIN_IDS, ID_DIGITS = 8, 5
DISTINCT = 0.95  # share of the sampled numbers that differ where they are ids
MOST = 0.8  # share of a column's sampled texts by which all of it is taken for amounts or dates

_YEAR_HEADER = re.compile(
    r"(?<![^\W_])(?:years?|yrs?|fy|jahre?|geschäftsjahr|année|ann[eé]es?|anno|anni|año|años|ano"
    r"|rok|vintage)(?![^\W_])",
    re.IGNORECASE,
)
_ID_HEADER = re.compile(
    r"(?<![^\W_])(?:ids?|codes?|keys?|sku|ean|gtin|isbn|issn|upc|zip|plz|cas|iban|bic|vat|cik"
    r"|barcode|postcode|postal|serial|account|konto|uuid|guid|ref|fips|naics|nace|isic|sic)"
    r"(?![^\W_])|nummer$"
    r"|(?<![^\W_])(?:no|nr|number|num|#)\W*$",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AMOUNT = re.compile(
    r"[-+(]?\s?[$€£¥]?\s?[-+]?\d{1,3}(?:[ ,.']?\d{3})*(?:[.,]\d+)?(?:[eE][-+]?\d+)?\s?[%€$£)]*"
)
_PLAIN_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d.*)?|\d{1,2}:\d\d(?::\d\d.*)?")
_YEAR_IN = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TEXT, _INTEGER, _NUMBER, _DATE_KIND = map(int, (Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.DATE))
CELL_BYTES = 12  # what a text costs beside its own bytes: its address, and what stands around both

_BYTES = methodcaller("encode", "utf-8", "surrogatepass")


def identifying(header: str, kinds: KindArray, values: LookUp) -> dict[str, int]:
    """Each different text of a column that identifies, with the position of its first cell.

    Texts count but for amounts and long series of dates written as texts. Numbers count where they
    are years, or ids by their header or their form. Of dates each counts where they are few, else
    their years. They are on one line, of at most 200 characters, in the order of their positions;
    of more than 6,000 those of the least hashes.

    `kinds` are those of the data cells, first to last, (n,). `values` looks up some of these cells
    by ascending positions, and is asked only for those with a value.
    """
    found: dict[str, int] = {}
    counts = np.bincount(kinds, minlength=len(Kind))
    if counts[_TEXT]:
        _earliest(found, _texts(_first(kinds == _TEXT, values)).items())
    if counts[_INTEGER] + counts[_NUMBER]:
        mask = (kinds == _INTEGER) | (kinds == _NUMBER)
        keep = _numbers_kept(header, mask, values)
        if keep is not None:
            numbers = {v: at for v, at in _first(mask, values).items() if keep(v)}
            texts = list(map(str, map(int, cast("Iterable[float]", numbers))))
            _earliest(found, _thinned(texts, numbers.values()).items())
    if counts[_DATE_KIND]:
        _earliest(found, _dates(_first(kinds == _DATE_KIND, values)).items())
    found = _thinned(list(found), found.values())
    return dict(sorted(found.items(), key=lambda item: item[1]))


def says_something(text: str) -> bool:
    """True if a text has a letter or a digit and does not stand for a missing value.

    >>> says_something("n/a"), says_something("--"), says_something("007")
    (False, False, True)
    """
    return any(map(str.isalnum, text)) and text.lower() not in GAPS


def _first(mask: Mask, values: LookUp) -> dict[Value, int]:
    places = np.flatnonzero(mask)
    held = list(values(places))
    return dict(zip(reversed(held), reversed(places.tolist()), strict=True))


def _thinned(texts: list[str], places: Iterable[int]) -> dict[str, int]:
    pairs = zip(texts, places, strict=True)
    if len(texts) <= MAX_OF_COLUMN:
        return dict(pairs)
    chosen = least(texts, MAX_OF_COLUMN)
    return dict(compress(pairs, chosen))


def _texts(raw: dict[Value, int]) -> dict[str, int]:
    """Texts as they are kept; years alone of many dates, nothing of amounts."""
    found: dict[str, int] = {}
    for value, place in _thinned(list(map(str, raw)), raw.values()).items():
        text = plain_text(value)[:MAX_TEXT].rstrip()
        if says_something(text):
            _earliest(found, [(text, place)])
    amounts = [_is_amount(text) for text in found]
    if sum(amounts) >= MOST * len(found) and sum(amounts) > 1:
        return dict(compress(found.items(), (not each for each in amounts)))
    dates = sum(_DATE.fullmatch(text) is not None for text in found)
    if dates > MAX_DATES and dates >= MOST * len(found):
        years: dict[str, int] = {}
        for text, place in found.items():
            _earliest(years, ((year, place) for year in _YEAR_IN.findall(text)))
        return years
    return found


def _is_amount(text: str) -> bool:
    """True if a text is a measured number: with a separator, a fraction, a sign or a currency."""
    return _AMOUNT.fullmatch(text) is not None and _PLAIN_DIGITS.fullmatch(text) is None


def _numbers_kept(header: str, mask: Mask, values: LookUp) -> Callable[[Value], bool] | None:
    """Tells the numbers that identify; None if those of the column measure."""
    places = np.flatnonzero(mask)
    if len(places) > SAMPLE:
        places = places[np.linspace(0, len(places) - 1, SAMPLE).astype(np.int64)]
    sample = list(values(places))
    if not all(map(_is_whole, sample)):
        return None
    numbers = [int(value) for value in sample]  # type: ignore[arg-type]
    header = _HUMP.sub(" ", header)
    years = all(map(_is_year, numbers))
    if years and (len(numbers) >= MIN_YEARS or _YEAR_HEADER.search(header)):
        return lambda value: _is_whole(value) and _is_year(value)
    return _is_whole if _ID_HEADER.search(header) or _look_like_ids(numbers) else None


def _look_like_ids(numbers: Sequence[int]) -> bool:
    """True if numbers are nearly all different, of one length, and not rounded."""
    if len(numbers) < MIN_IDS or min(numbers) < 10 ** (ID_DIGITS - 1):
        return False
    return (
        len(set(numbers)) >= DISTINCT * len(numbers)
        and len(str(min(numbers))) == len(str(max(numbers)))
        and any(number % 10 for number in numbers)
    )


def _is_year(value: Value) -> bool:
    return isinstance(value, int | float) and FIRST_YEAR <= value <= LAST_YEAR


def _is_whole(value: Value) -> bool:
    if isinstance(value, float):
        return value.is_integer() and 0 <= value < 1e15
    return isinstance(value, int) and value >= 0


def _dates(raw: dict[Value, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for value, place in raw.items():
        assert isinstance(value, dt.date)
        day = value.date() if isinstance(value, dt.datetime) else value
        text = day.isoformat() if len(raw) <= MAX_DATES else f"{day.year:04}"
        _earliest(found, [(text, place)])
    return found


def _earliest(found: dict[str, int], pairs: Iterable[tuple[str, int]]) -> None:
    for text, place in pairs:
        found[text] = min(place, found.get(text, place))


def fair_sample(groups: Sequence[Sequence[str]], room: int) -> list[list[int]]:
    """Texts of each group that fit into some room, by their position, ascending.

    The groups take turns, each with the text of the least hash that it has left, until the room is
    used up. So a long column leaves room for others, a text stands the same chance in every row,
    and it is taken or left again when other texts are added or go. The room is in bytes of all
    texts together, with `CELL_BYTES` for each.

    >>> fair_sample([["a", "b"], ["c"]], 3 * 13)
    [[0, 1], [0]]
    >>> [len(kept) for kept in fair_sample([list(map(str, range(1000))), ["c"]], 10 * 16)]
    [9, 1]
    """
    costs = [text_costs(texts) for texts in groups]
    if sum(int(each.sum()) for each in costs) <= room:
        return [list(range(len(texts))) for texts in groups]
    orders = [np.argsort(hashes(texts), kind="stable") for texts in groups]
    group = np.repeat(np.arange(len(groups)), [len(order) for order in orders])
    place = np.concatenate(orders)
    turn = np.concatenate([np.arange(len(order)) for order in orders])
    cost = np.concatenate([each[order] for each, order in zip(costs, orders, strict=True)])
    in_turn = np.lexsort((group, turn))
    taken = in_turn[: int(np.searchsorted(np.cumsum(cost[in_turn]), room, side="right"))]
    kept: list[list[int]] = [[] for _ in groups]
    for each, position in zip(group[taken].tolist(), place[taken].tolist(), strict=True):
        kept[each].append(position)
    return [sorted(positions) for positions in kept]


def least(texts: Sequence[str], most: int) -> list[bool]:
    """Which texts are among those of the least hashes; more than `most` only if hashes are equal.

    >>> least(["a", "b"], 2), sum(least(["a", "b", "c"], 2))
    ([True, True], 2)
    """
    if len(texts) <= most:
        return [True] * len(texts)
    found = hashes(texts)
    chosen: list[bool] = (found <= np.partition(found, most - 1)[most - 1]).tolist()
    return chosen


def hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of each text that is the same in every process and version.

    The checksums of similar texts are similar; SplitMix64's last steps spread them out.
    """
    sums = np.fromiter(map(crc32, map(_BYTES, texts)), dtype=np.uint64, count=len(texts))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        sums = (sums ^ (sums >> np.uint64(shift))) * np.uint64(factor)
    return sums ^ (sums >> np.uint64(31))


def text_costs(texts: Sequence[str]) -> NDArray[np.int64]:
    """Bytes of each text, with what it costs beside them."""
    sizes = np.fromiter(map(len, map(_BYTES, texts)), dtype=np.int64, count=len(texts))
    return sizes + CELL_BYTES
