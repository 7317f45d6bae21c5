"""Draw texts to ask for from the contents of sheets: a bounded, fair sample of all sheets."""

from __future__ import annotations

import heapq
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

from sat_retriever.datasets.labels.query import UNANSWERABLE
from sat_retriever.questions.facts import Words
from sat_retriever.questions.headers import said_header, sayable_header
from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.contents import CellText, TableContents
from sat_retriever.records.sheets import Column, ColumnType, SheetRecord, Table
from sat_retriever.text.segment import stems

VALUE, NOTE, LABEL, COPY = "value", "note", "label", "copy"
KINDS = (VALUE, NOTE, LABEL, COPY, UNANSWERABLE)
"""The query types about contents."""
PHRASED = (VALUE, NOTE, LABEL)
"""The query types about a text that some sheet holds."""

_WORD = re.compile(r"[^\W_]+")
_WITH_HEADER = (
    "Which sheet has {header} {text}?",
    "{header} {text}",
    "Where is {header} {text} listed?",
    "find the row with {header} {text}",
)
_ALONE = (
    "Which sheet has {text}?",
    "where is {text} listed",
    "{text}",
    'sheet with "{text}"',
)
_NOTED = (
    'Which sheet says "{text}"?',
    "sheet with the note {text}",
    "where is it written: {text}",
    "the table about {text}",
)
_LABELLED = (
    "{header} of {text}",
    "What is the {header} of {text}?",
    "{text}: {header}",
    "Where do I find {header} for {text}?",
)
_FORMS: Mapping[tuple[str, bool], tuple[str, ...]] = MappingProxyType(
    {
        (VALUE, True): (*_WITH_HEADER, *_ALONE[:2]),
        (VALUE, False): _ALONE,
        (NOTE, False): _NOTED,
        (LABEL, True): _LABELLED,
        (UNANSWERABLE, True): (*_WITH_HEADER, *_LABELLED),
        (UNANSWERABLE, False): _ALONE,
    }
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question about a text.

    Attributes:
        text: The text as it stands in a cell, or as it was invented.
        header: Header that the question names; "" for none.
        sheet_id: The sheet that it was drawn from; "" for an invented one.
    """

    kind: str
    text: str
    header: str = ""
    sheet_id: str = ""

    @property
    def phrase(self) -> Words:
        """The words of the text, which stand side by side in a sheet that holds it."""
        return folded(self.text)

    def said(self, chance: random.Random) -> str:
        """The question in words."""
        form = chance.choice(_FORMS[self.kind, bool(self.header)])
        return form.format(header=self.header, text=self.text)


def folded(text: str) -> Words:
    """Return the words and numbers of a text, whatever the case and the signs.

    >>> folded("Part TH-100"), folded("part th 100")
    (('part', 'th', '100'), ('part', 'th', '100'))
    """
    return tuple(_WORD.findall(text.casefold()))


def contains_phrase(text: str, phrase: Words) -> bool:
    """True if a text has a phrase that is no part of a longer code.

    >>> contains_phrase("See TH-100.", ("th", "100")), contains_phrase("TH-100-2", ("th", "100"))
    (True, False)
    """
    said = r"[\W_]+".join(map(re.escape, phrase))
    pattern = rf"(?<![^\W_])(?<![^\W_][-./_:#]){said}(?![-./_:#]?[^\W_])"
    return re.search(pattern, text.casefold()) is not None


_CHARS = range(3, 61)  # of a text
_MOST_WORDS = 6
_NOTE_WORDS = range(3, 7)  # of a note's words that are said
_TRIES = 8  # texts of a sheet's part that are looked at for each kind
_A_SHEET = 4  # drafts of a sheet and kind
_DATE = re.compile(r"\d{1,4}([-./ ])\d{1,2}\1\d{1,4}(?:[T ].*)?|(?:19|20)\d\d|\d{1,4}")
_NUMBERS = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
_EDGES = " \t.,;:!?()[]\"'“”"


@dataclass(slots=True)
class Reservoir:
    """A sample of drafts of one kind: those with the smallest of random numbers."""

    most: int
    _kept: list[tuple[float, str, Draft]] = field(default_factory=list)

    def add(self, draft: Draft, draw: float) -> None:
        """Keep a draft, in place of the one with the largest number if there are enough."""
        item = (-draw, draft.sheet_id, draft)
        if len(self._kept) < self.most:
            heapq.heappush(self._kept, item)
        elif item[:2] > self._kept[0][:2]:
            heapq.heapreplace(self._kept, item)

    def drafts(self) -> list[Draft]:
        """The drafts in random order, each text once."""
        ordered = sorted(self._kept, key=lambda item: (-item[0], item[1]))
        found = {(each.phrase, each.header): each for _, _, each in reversed(ordered)}
        return list(found.values())[::-1]


def drawn(
    records: Iterable[SheetRecord], kinds: Sequence[str], most: int, seed: int
) -> dict[str, list[Draft]]:
    """Return texts of sheets by kind, in random order.

    The choice in a sheet depends on the seed and the sheet alone. Second drafts of sheets come
    after the first ones of all.
    """
    draws = {kind: Reservoir(most) for kind in kinds}
    for record in records:
        if not record.contents:
            continue
        chance = random.Random(f"contents {seed} {record.sheet_id}")  # noqa: S311 - no secret
        named = frozenset(stems(f"{record.path} {record.workbook} {record.sheet}"))
        for kind in kinds:
            for place, draft in enumerate(islice(_DRAFTS[kind](record, named, chance), _A_SHEET)):
                draws[kind].add(draft, place + chance.random())
    return {kind: each.drafts() for kind, each in draws.items()}


def _value(record: SheetRecord, named: frozenset[str], chance: random.Random) -> Iterator[Draft]:
    for table, texts in _tables(record, chance):
        for each in _some(texts.values, chance):
            if _askable(each.text) and not named.issuperset(stems(each.text)):
                column = _column(table, each)
                header = "" if column is None else said_header(column.name)
                sayable = bool(header) and sayable_header(header)
                yield Draft(VALUE, each.text, header if sayable else "", record.sheet_id)


def _label(record: SheetRecord, named: frozenset[str], chance: random.Random) -> Iterator[Draft]:
    """A row's name with the header of a number in that row."""
    for table, texts in _tables(record, chance):
        headers = [said_header(each.name) for each in table.columns if each.type in _NUMBERS]
        headers = [each for each in headers if sayable_header(each)]
        for each in _some(texts.labels, chance) if headers else ():
            if _askable(each.text) and not named.issuperset(stems(each.text)):
                yield Draft(LABEL, each.text, chance.choice(headers), record.sheet_id)


def _note(record: SheetRecord, named: frozenset[str], chance: random.Random) -> Iterator[Draft]:
    """Some words side by side of a title, caption or note, which the sheet's names do not say."""
    if record.contents is None:
        return
    captions = (table.caption for table in record.contents.tables if table.caption is not None)
    told = named.union(*(stems(column.name) for column in record.columns))
    for each in _some((*record.contents.notes, *captions), chance):
        said = each.text.split()
        if len(said) < _NOTE_WORDS.start or len(each.text) > 2_000:
            continue
        number = min(len(said), chance.choice(_NOTE_WORDS))
        start = chance.randrange(len(said) - number + 1)
        text = " ".join(said[start : start + number]).strip(_EDGES)
        new = [word for word in stems(text) if len(word) > 3 and word not in told]
        if len(set(new)) > 1 and '"' not in text:
            yield Draft(NOTE, text, "", record.sheet_id)


_DRAFTS = {VALUE: _value, NOTE: _note, LABEL: _label}


def _tables(record: SheetRecord, chance: random.Random) -> Iterator[tuple[Table, TableContents]]:
    contents = () if record.contents is None else record.contents.tables
    found = list(zip(record.tables, contents, strict=False))
    chance.shuffle(found)
    yield from found


def _some(texts: Sequence[CellText], chance: random.Random) -> list[CellText]:
    return chance.sample(texts, min(_TRIES, len(texts)))


def _askable(text: str) -> bool:
    """True if people would ask for a text: short, with a name or a code, and no date or year.

    >>> [_askable(text) for text in ("TH-100", "2024", "2024-03-11", "Ann Roth", "204815")]
    [True, False, False, True, True]
    """
    few = len(text) in _CHARS and 0 < len(folded(text)) <= _MOST_WORDS
    return few and not _DATE.fullmatch(text.strip()) and "{" not in text and '"' not in text


def _column(table: Table, text: CellText) -> Column | None:
    """The column of a table that a text stands in; None if that is not known."""
    area, place = area_of(table.range), split_ref(text.cell)
    if area is None or place is None:
        return None
    line = place[0] - area.top if table.transposed else place[1] - area.left
    return table.columns[line] if 0 <= line < len(table.columns) else None
