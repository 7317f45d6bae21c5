"""Records under other names: dropped, abbreviated, shortened, shuffled.

An encoder that learns from such records finds a sheet without any single one of its names.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sat_retriever.records.sheets import SheetRecord

_WORD = re.compile(r"[^\W\d_]+")
_LETTERS_LEFT = (3, 4)  # of a word that is cut off
_LONG = 5  # letters of a word that is abbreviated, at least
_KEPT_HEADERS = 0.7  # share of a table's headers where some are dropped
_ABBREVIATED = 0.5  # share of a name's words where it is abbreviated
_TELL_NOTHING = (
    "Book1", "export", "data", "report (2)", "Copy of workbook", "final", "untitled", "download",
)  # fmt: skip

Rename = Callable[[str, random.Random], str]


def varied(records: Sequence[SheetRecord], seed: int) -> tuple[SheetRecord, ...]:
    """Return the records with changed names and headers, in their order; the same for one seed.

    Of the workbooks 30 % lose their name, and of their sheets all keep theirs; of the other
    workbooks 40 % have an acronym or an abbreviated name, and 30 % of their sheets lose theirs.
    Of all sheets 60 % have their headers in another order, half lack some of them, and 30 % have
    abbreviated ones.

    Args:
        records: The records; sheets of one workbook get the same workbook name.
        seed: Decides which names change.
    """
    return tuple(_varied(record, f"{seed} {number}", seed) for number, record in enumerate(records))


def _varied(record: SheetRecord, own_seed: str, seed: int) -> SheetRecord:
    own = random.Random(own_seed)
    workbook = _of_workbook(record.workbook, random.Random(f"{seed} {record.workbook}"))
    sheet = record.sheet
    if record.workbook and workbook not in _TELL_NOTHING:
        sheet = _changed(sheet, own, ((0.3, _plain_sheet), (0.1, _acronym), (0.2, _abbreviated)))
    columns = list(record.columns)
    if own.random() < 0.6:
        own.shuffle(columns)
    if own.random() < 0.5:
        columns = [each for each in columns if own.random() < _KEPT_HEADERS] or columns
    if own.random() < 0.3:
        columns = [replace(each, name=_abbreviated(each.name, own)) for each in columns]
    return replace(record, workbook=workbook, sheet=sheet, columns=tuple(columns))


def _of_workbook(name: str, chance: random.Random) -> str:
    if not name:
        return name
    kinds: tuple[tuple[float, Rename], ...] = (
        (0.3, lambda _, chance: chance.choice(_TELL_NOTHING)),
        (0.14, _acronym),
        (0.14, _abbreviated),
    )
    return _changed(name, chance, kinds)


def _changed(name: str, chance: random.Random, kinds: Sequence[tuple[float, Rename]]) -> str:
    """Return the name as one of the kinds makes it, each with its probability, or as it is."""
    drawn = chance.random()
    for probability, rename in kinds:
        if drawn < probability:
            return rename(name, chance)
        drawn -= probability
    return name


def _plain_sheet(_: str, chance: random.Random) -> str:
    return f"Sheet{chance.randint(1, 9)}"


def _acronym(name: str, _: random.Random) -> str:
    words = _WORD.findall(name)
    return "".join(word[0].upper() for word in words) if len(words) > 1 else name


def _abbreviated(name: str, chance: random.Random) -> str:
    return _WORD.sub(
        lambda word: _short(word[0], chance) if chance.random() < _ABBREVIATED else word[0], name
    )


def _short(word: str, chance: random.Random) -> str:
    """Return a word without its end, or without its vowels: "quan" or "qntty" of "quantity"."""
    if len(word) < _LONG:
        return word
    if chance.random() < 0.5:
        return word[: chance.choice(_LETTERS_LEFT)]
    return word[0] + re.sub("[aeiou]", "", word[1:])
