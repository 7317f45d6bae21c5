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
from sat_retriever.tools.sql.check import MAX_SQL

_MOST_DIFFERENT = 20_000  # values of a column that are compared
_SHOWN = 3  # values of a column, and records
_LEAST_SHARE = 0.5  # of the best value's score; one below it says little
_COUNTED = 100  # a number below it may count something else, as in "the 3 best"
_COUNT_SCORE = 0.25
_NUMBER_SCORE = 1.0
_DAY_SCORE = 2.0  # of a day that is said, not its year alone
_DATED = (ColumnKind.DATE, ColumnKind.DATETIME)
# Texts and numbers of a query, with an equals sign before them, and the column of rows before that.
_LITERAL = re.compile(
    r"(?:(?P<row>\b_row\s*)?(?P<equal>(?<![<>!])=\s*(?:DATE\s*)?))?"
    r"(?P<value>'(?P<text>(?:[^']|'')*)'|(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?![\w.]))",
    re.IGNORECASE,
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# What stands around a condition that can be left out.
_BEFORE = re.compile(
    r"\b(?P<word>AND|WHERE)\s+(?:[\w.]|\"[^\"]*\")+\s*(?:=|\bI?LIKE\b)\s*(?:DATE\s*)?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:(?P<word>AND)\b|(?=[;)]|$|(?:GROUP|ORDER|HAVING|QUALIFY|LIMIT|UNION)\b))", re.IGNORECASE
)
# Where a condition that is left out may change more than it says: the query is then not offered.
_UNSURE = re.compile(r"--|/\*|\bFILTER\b|\bNOT\s*(?:\(|EXISTS\b|IN\b)|\bBETWEEN\b", re.IGNORECASE)
_LONGEST_COLUMN = 200  # characters before a value that are looked at
_LEAST_QUOTED = 3  # letters; shorter ones are codes, whose words a question may say


@dataclass(frozen=True, slots=True)
class TableMatch:
    """What a question names of a table.

    Attributes:
        headers: How many words the header of a column shares with it, by place, if any.
        values: Values that it names or shares words with, best first, by the place of their column.
        records: Places of records with most of these values, in the order of the sheet.
        said: What of it the question says: words of headers, of these texts and of the sheet's
            name, whole headers, numbers and days.
    """

    headers: Mapping[int, int] = field(default_factory=dict)
    values: Mapping[int, tuple[DataValue, ...]] = field(default_factory=dict)
    records: tuple[int, ...] = ()
    said: frozenset[object] = frozenset()

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
        own = [frozenset(stems(f"{column.name} {column.unit or ''}")) for column in table.columns]
        shared = [self._words & words for words in own]
        headers = {place: len(words) for place, words in enumerate(shared) if words}
        names: set[object] = {words for words in own if words <= self._words}
        values: dict[int, tuple[DataValue, ...]] = {}
        scores = [0.0] * len(table)
        for place, column in enumerate(table.columns):
            found = dict(self._scored(column))
            best = max(found.values(), default=0.0)
            if not best:
                continue
            kept = [value for value in found if found[value] >= _LEAST_SHARE * best]
            least = _DAY_SCORE if column.kind in _DATED else _NUMBER_SCORE
            names.update(
                value for value in kept if found[value] >= least and not isinstance(value, str)
            )
            values[place] = tuple(sorted(kept, key=lambda value: -found[value])[:_SHOWN])
            for at, value in enumerate(column.values):
                scores[at] += found.get(value, 0.0)
        most = max(scores, default=0.0)
        records = [at for at, score in enumerate(scores) if score == most > 0]
        texts = (value for kept in values.values() for value in kept if isinstance(value, str))
        words = (word for text in (table.sheet_id, *texts) for word in stems(text))
        names.update(self._words.intersection(words), *shared)
        return TableMatch(headers, values, tuple(records[:_SHOWN]), frozenset(names))

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
                counts = abs(value) < _COUNTED and value == int(value)
                return _COUNT_SCORE if counts else _NUMBER_SCORE
            return 0.0
        text = value_text(value) or ""
        if any(each.readings.days and each.readings.hold(text) for each in self._said):
            return _DAY_SCORE
        return float(kind in _DATED and text[:4] in self._words)


def matches_of(question: str, tables: Sequence[TypedTable]) -> tuple[TableMatch, ...]:
    """Return what a question names of each of some tables."""
    asked = Asked(question)
    return tuple(map(asked.match, tables))


@dataclass(frozen=True, slots=True)
class Unnamed:
    """Values of a query's conditions that its question does not name.

    Attributes:
        values: The values, as written.
        without: The query without these conditions, as far as each is one of several that all must
            hold; empty if none is.
    """

    values: tuple[str, ...] = ()
    without: str = ""


def unnamed(
    question: str, times: Sequence[Span], sql: str, tables: Sequence[TypedTable]
) -> Unnamed:
    """Return the values that a query compares with and the question does not name.

    They are values of text columns that the question has no word of, nor a word that begins alike,
    and behind an equals sign: days outside its times, numbers from a hundred on that it does not
    say, and numbers of rows. A small model takes conditions from the samples that it is shown.

    >>> sql = "SELECT x FROM t WHERE a = 34422 AND day = '2024-11-28' AND y = 2024"
    >>> unnamed("total x in 2024", [Span(2024, 2024, 1, 3)], sql, [])
    Unnamed(values=('34422', "'2024-11-28'"), without='SELECT x FROM t WHERE y = 2024')
    """
    if len(sql) > MAX_SQL:  # it is not run
        return Unnamed()
    asked, numbers = set(stems(question)), said(question)
    words, joined = _words(question), "".join(question.split())
    own: frozenset[str] | None = None
    found: dict[str, None] = {}
    places: list[tuple[int, int]] = []
    for match in _LITERAL.finditer(sql):
        equal = match["equal"]
        text = match["number"] or match["text"].replace("''", "'").strip("% ")
        if match["number"]:
            new = equal and (match["row"] or float(text) >= _COUNTED)
            new = new and not _said(numbers, float(text)) and not _timed(text, times)
            # As in "no.12345" and "10 000".
            new = new and not re.search(rf"(?<!\d){re.escape(text)}(?!\d)", joined)
        elif _DAY.fullmatch(text):
            new = equal and not _said(numbers, text) and not _timed(text, times)
        elif new := len(text) >= _LEAST_QUOTED and not (
            asked.intersection(stems(text)) or _begun(words, _words(text))
        ):
            own = _texts(tables) if own is None else own
            pattern = "%" in match["text"]
            small = text.casefold()
            new = any(small in each for each in own) if pattern else small in own
        if new:
            found[text if match["number"] else repr(text)] = None
            places.append(match.span("value"))
    without = sql
    if _UNSURE.search(sql):
        places = []
    for start, end in reversed(places):
        without = _without(without, start, end)
    return Unnamed(tuple(found), without if without != sql else "")


def _words(text: str) -> frozenset[str]:
    return frozenset(form for word in forms(text) for form in word)


def _begun(asked: Iterable[str], words: Iterable[str]) -> bool:
    """True if one of some words begins a word of a question, as Feb does in February."""
    begins = tuple(each for each in words if len(each) >= _LEAST_QUOTED and not each.isdigit())
    return any(each.startswith(begins) for each in asked)


def _texts(tables: Sequence[TypedTable]) -> frozenset[str]:
    """Return all values of the tables' text columns, in small letters."""
    return frozenset(
        value.casefold()
        for table in tables
        for column in table.columns
        if column.kind is ColumnKind.TEXT
        for value in column.values
        if isinstance(value, str)
    )


def _without(sql: str, start: int, end: int) -> str:
    """Return a query without the condition on a value; unchanged if it is not one of several.

    Args:
        start: Where the value begins.
        end: Where it ends.
    """
    before = _BEFORE.search(sql, max(0, start - _LONGEST_COLUMN), start)
    after = _AFTER.match(sql, end)
    if before is None or after is None:
        return sql
    head, tail = sql[: before.start()], sql[end:]
    if before["word"].upper() == "WHERE" and after["word"]:
        return f"{head}{before['word']} {sql[after.end() :].lstrip()}"
    return head.rstrip() + tail


def _said(numbers: Iterable[Said], value: str | float) -> bool:
    return any(each.readings.hold(value) for each in numbers)


def _timed(text: str, times: Sequence[Span]) -> bool:
    """True if one of some times holds what a text writes, a day or a year."""
    return any(holds_times([text], [each]) for each in times)
