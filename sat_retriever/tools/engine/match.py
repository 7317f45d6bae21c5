"""What of a table a question names: columns by their headers, values, and the records with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sat_retriever.records.typedtable import (
    ColumnKind,
    DataValue,
    TypedColumn,
    TypedTable,
    value_text,
)
from sat_retriever.text.lexical import query_words
from sat_retriever.text.locate import sequence
from sat_retriever.text.period.spans import Span
from sat_retriever.text.segment import forms, stems
from sat_retriever.tools.engine.evidence import holds_times
from sat_retriever.tools.readings import Said, said

_MOST_DIFFERENT = 20_000  # values of a column that are compared
_SHOWN = 3  # values of a column, and records
_LEAST_SHARE = 0.5  # of the best value's score; one below it says little
_COUNTED = 100  # a number below it may count something else, as in "the 3 best"
_COUNT_SCORE = 0.25
# Texts and numbers of a query, with an equals sign before them, and the column of rows before that.
_LITERAL = re.compile(
    r"(?:(?P<row>\b_row\s*)?(?P<equal>(?<![<>!])=\s*(?:DATE\s*)?))?"
    r"(?:'(?P<text>(?:[^']|'')*)'|(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?![\w.]))",
    re.IGNORECASE,
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LEAST_QUOTED = 3  # letters; shorter ones are codes, whose words a question may say


@dataclass(frozen=True, slots=True)
class TableMatch:
    """What a question names of a table.

    Attributes:
        headers: How many words the header of a column shares with it, by place, if any.
        values: Values that it names or shares words with, best first, by the place of their column.
        records: Places of records with most of these values, in the order of the sheet.
    """

    headers: Mapping[int, int] = field(default_factory=dict)
    values: Mapping[int, tuple[DataValue, ...]] = field(default_factory=dict)
    records: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.headers or self.values)

    @property
    def named(self) -> dict[int, tuple[DataValue, ...]]:
        """The values of all columns that it names anything of, those with most of it first."""
        places = sorted(
            {*self.headers, *self.values},
            key=lambda at: (-self.headers.get(at, 0) - (at in self.values), at),
        )
        return {at: self.values.get(at, ()) for at in places}


class Asked:
    """A question, to be compared with tables."""

    def __init__(self, question: str) -> None:
        self._words = frozenset(query_words(question))
        self._sequence = sequence(forms(question))
        self._said = said(question)
        # Most values share no word; a beginning tells that sooner than its stem.
        self._beginnings = {word[: max(3, len(word) - 1)] for word in self._words}

    def match(self, table: TypedTable) -> TableMatch:
        """Return what the question names of a table."""
        shared = (
            len(self._words.intersection(stems(f"{column.name} {column.unit or ''}")))
            for column in table.columns
        )
        headers = {place: count for place, count in enumerate(shared) if count}
        values: dict[int, tuple[DataValue, ...]] = {}
        scores = [0.0] * len(table)
        for place, column in enumerate(table.columns):
            found = dict(self._scored(column))
            best = max(found.values(), default=0.0)
            if not best:
                continue
            kept = [value for value in found if found[value] >= _LEAST_SHARE * best]
            values[place] = tuple(sorted(kept, key=lambda value: -found[value])[:_SHOWN])
            for at, value in enumerate(column.values):
                scores[at] += found.get(value, 0.0)
        most = max(scores, default=0.0)
        records = [at for at, score in enumerate(scores) if score == most > 0]
        return TableMatch(headers, values, tuple(records[:_SHOWN]))

    def _scored(self, column: TypedColumn) -> Iterator[tuple[DataValue, float]]:
        different = dict.fromkeys(value for value in column.values if value is not None)
        if len(different) > _MOST_DIFFERENT:
            return
        for value in different:
            score = self._text(value) if isinstance(value, str) else self._value(column.kind, value)
            if score:
                yield value, score

    def _text(self, value: str) -> float:
        """How many of the question's words a text has, up to half lost to others, or doubled."""
        small = value.lower()
        if value.isascii() and not any(each in small for each in self._beginnings):
            return 0.0
        own = stems(value)
        common = self._words.intersection(own)
        whole = sequence(forms(value)) in self._sequence
        return (
            len(common) * (0.5 + 0.5 * len(common) / len(set(own))) * (1 + whole) if common else 0
        )

    def _value(self, kind: ColumnKind, value: DataValue) -> float:
        if isinstance(value, bool):
            return 0.0
        if isinstance(value, (int, float)):
            if any(each.readings.hold(value) for each in self._said):
                return _COUNT_SCORE if abs(value) < _COUNTED and value == int(value) else 1.0
            return 0.0
        text = value_text(value) or ""
        if any(each.readings.days and each.readings.hold(text) for each in self._said):
            return 2.0
        dated = kind in (ColumnKind.DATE, ColumnKind.DATETIME)
        return float(dated and text[:4] in self._words)


def matches_of(question: str, tables: Sequence[TypedTable]) -> tuple[TableMatch, ...]:
    """Return what a question names of each of some tables."""
    asked = Asked(question)
    return tuple(map(asked.match, tables))


def unnamed_values(
    question: str, times: Sequence[Span], sql: str, tables: Sequence[TypedTable]
) -> tuple[str, ...]:
    """Return the values that a query compares with and the question does not name, as written.

    They are values of text columns that the question has no word of, and behind an equals sign:
    days outside its times, numbers from a hundred on that it does not say, and numbers of rows. A
    small model takes conditions from the samples that it is shown.

    >>> sql = "… WHERE a = 34422 AND day = '2024-11-28' AND y = 2024"
    >>> unnamed_values("total x in 2024", [Span(2024, 2024, 1, 3)], sql, [])
    ('34422', "'2024-11-28'")
    """
    asked, numbers = set(stems(question)), said(question)
    texts: dict[str, str] = {}
    found: list[str] = []
    for match in _LITERAL.finditer(sql):
        equal = match["equal"]
        text = match["number"] or match["text"].replace("''", "'").strip("% ")
        if match["number"]:
            if (
                equal
                and (match["row"] or float(text) >= _COUNTED)
                and not _said(numbers, float(text))
                and not _timed(text, times)
            ):
                found.append(text)
        elif _DAY.fullmatch(text):
            if equal and not _said(numbers, text) and not _timed(text, times):
                found.append(repr(text))
        elif len(text) >= _LEAST_QUOTED and asked.isdisjoint(stems(text)):
            texts[text.casefold()] = text
    if texts:
        own = {
            value.casefold()
            for table in tables
            for column in table.columns
            if column.kind is ColumnKind.TEXT
            for value in column.values
            if isinstance(value, str)
        }
        found += [repr(texts[each]) for each in texts if each in own]
    return tuple(dict.fromkeys(found))


def _said(numbers: Iterable[Said], value: str | float) -> bool:
    return any(each.readings.hold(value) for each in numbers)


def _timed(text: str, times: Sequence[Span]) -> bool:
    """True if one of some times holds what a text writes, a day or a year."""
    return any(holds_times([text], [each]) for each in times)
