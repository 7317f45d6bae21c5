"""Values of delimited text: the columns of its tables decide on the types of their cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, repeat, zip_longest

from sat_retriever.text.dates import dates_of, iso_dates, moments, orders_of
from sat_retriever.text.numbers import NumberTexts, is_code, is_number, number_texts, numbers_of
from sat_retriever.workbook.values.grid import Value
from sat_retriever.workbook.values.read import MAX_TEXT, MISSING

Fields = Sequence[Sequence[str]]
_TITLES = 20  # most lines of titles and notes above a header
_MOST = 1_000  # parts; the rest of a text belongs to the last one
_WIDE = 0.6  # least share of the table's width that its header fills
_YEAR = re.compile(r"[12][0-9]{3}")
_DIGIT = re.compile(r"[0-9]")
_FEW = 8
_WHOLE = re.compile(r"-?[1-9][0-9]{0,14}|0")
_SMALL, _LARGE = re.compile(r"-?[0-9]{1,3}"), re.compile(r"-?[0-9]{4,}")
_BOOLEANS: Mapping[str, Value] = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of a text whose columns hold one table, by their position; blank ones included."""

    start: int  # first line, of titles or of the header
    header: int  # line of the header; the one before `start` if there is none
    stop: int  # line behind the last one


def parts_of(fields: Fields) -> Iterator[Part]:
    """Yield the parts of a text: a line of names, without a number, begins one behind a blank line.

    A line between two blank ones begins none, so a text with a blank line behind each is one part.
    """
    blocks = (
        line
        for line in range(1, len(fields) - 1)
        if fields[line] and not fields[line - 1] and fields[line + 1]
    )
    starts = [0, *islice((line for line in blocks if _names(fields[line])), _MOST)]
    for start, stop in zip(starts, [*starts[1:], len(fields)], strict=True):
        yield Part(start, _header(fields, start, stop), stop)


def _header(fields: Fields, start: int, stop: int) -> int:
    """The first line that is as wide as the table, if it holds names; else the one before all."""
    widths = Counter(map(len, fields[start:stop]))
    del widths[0]
    if not widths:
        return start - 1
    usual = max(widths.items(), key=lambda item: (item[1], item[0]))[0]
    for line in range(start, min(stop, start + _TITLES)):
        if sum(map(bool, map(str.strip, fields[line]))) >= _WIDE * usual:
            return line if _names(fields[line]) else start - 1
    return start - 1


def _names(line: Sequence[str]) -> bool:
    """True if no field is a number or a date; years are names, too."""
    return not any(map(_is_value, map(str.strip, line)))


def _is_value(text: str) -> bool:
    return not _YEAR.fullmatch(text) and (is_number(text) or bool(moments(text)))


@dataclass(frozen=True, slots=True)
class Notation:
    """How a text writes numbers and dates."""

    mark: str = ""  # mark before decimals, "." or ","; "" if it is not known
    order: str = ""  # order of days and months, "dmy" or "mdy"; "" if it is not known


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings that the texts of a column allow."""

    numbers: Sequence[str] = ()
    dates: Sequence[str] = ()
    words: Sequence[str] = ()
    written: NumberTexts | None = None
    orders: tuple[str, ...] = ()  # orders in which all dates can be read
    days: Sequence[Value] | None = None  # the dates, if they have their year first; None for others
    whole: bool = False  # True if these are all texts in turn, False if they are the different ones


@dataclass(frozen=True, slots=True)
class _Table:
    above: Fields
    header: Fields
    # Lines below, as pairs of the number of their fields and how many of them follow
    runs: Sequence[tuple[int, int]]
    columns: list[list[str]]  # fields of these lines by their position, for those that reach it
    readings: list[Readings]

    @classmethod
    def of(cls, fields: Fields, part: Part) -> _Table:
        first = part.header + 1
        header = fields[max(part.header, part.start) : first]
        names = _cleaned(header[0]) if header else []
        runs, columns = [], list[list[str]]()
        for width, lines in groupby(fields[first : part.stop], len):
            block = list(lines)
            runs.append((width, len(block)))
            columns += ([] for _ in range(width - len(columns)))
            for column, texts in zip(columns, zip(*block, strict=True), strict=False):
                column.extend(texts)
        for place, column in enumerate(columns):
            columns[place] = _cleaned(column)
        readings = [
            _readings_of_column(column, name or "")
            for column, name in zip_longest(columns, names[: len(columns)])
        ]
        above = fields[part.start : max(part.header, part.start)]
        return cls(above, header, runs, columns, readings)

    def rows(self, known: Notation, delimiter: str) -> Iterator[list[Value]]:
        """Yield the values of its lines, once: the texts are given up."""
        for line in self.above:
            yield [_alone(text, known, delimiter) for text in _cut(_cleaned(line))]
        yield from (list(map(_name, _cut(_cleaned(line)))) for line in self.header)
        columns = []
        while self.columns:
            texts, readings = self.columns.pop(), self.readings.pop()
            columns.append(iter(_values(texts, readings, known, delimiter)))
        columns.reverse()
        for width, lines in self.runs:
            if width:
                yield from map(list, islice(zip(*columns[:width], strict=False), lines))
            else:
                yield from repeat(MISSING, lines)


def typed_rows(fields: list[list[str]], delimiter: str) -> list[list[Value]]:
    """Return fields as values: numbers, dates, booleans, texts; None for blank ones.

    A column with a code, such as 007, 10A or 1.10.1, keeps all of its texts. Words among numbers or
    dates leave the others what they are. Where the texts of a column allow two notations, other
    columns decide; a date that stays open stays a text. A semicolon as delimiter suggests a decimal
    comma. The fields, without empty ones at the end of a line, are emptied to spare memory.

    >>> typed_rows([["Name", "Sum", "Day"], ["A", "2.155", "1/2/2024"], ["B", "1,5"]], ";")
    [['Name', 'Sum', 'Day'], ['A', 2155, datetime.date(2024, 2, 1)], ['B', 1.5]]
    """
    tables = [_Table.of(fields, part) for part in parts_of(fields)]
    fields.clear()
    known = _notation([readings for table in tables for readings in table.readings])
    return [row for table in tables for row in table.rows(known, delimiter)]


def _cleaned(fields: Iterable[str]) -> list[str]:
    return list(map(str.strip, fields))


def _cut(texts: Sequence[str]) -> Sequence[str]:
    if max(map(len, texts), default=0) > MAX_TEXT:
        return [text[:MAX_TEXT] for text in texts]
    return texts


def _readings_of_column(texts: Sequence[str], name: str) -> Readings:
    """The readings of a column below a name: of all texts if that is quick, else of each once."""
    said = list(filter(None, texts)) if "" in texts else texts
    if not said:
        return Readings()
    written = number_texts(said)
    if written and not written.unit:
        return Readings(numbers=said, written=written, whole=True)
    if (days := iso_dates(said)) is not None:
        return Readings(days=days, whole=True)
    if any(is_code(text) and text != name and not moments(text) for text in said[:_FEW]):
        return Readings()
    return readings_of([text for text in dict.fromkeys(said) if text != name])


def _values(
    texts: Sequence[str], readings: Readings, known: Notation, delimiter: str
) -> Sequence[Value]:
    if not readings.whole:
        meant, texts = _meanings(readings, known, delimiter), _cut(texts)
        return list(map(meant.get, texts, texts))
    values = readings.days
    if readings.written:
        found = readings.written.read(known.mark or _usual_mark(readings.numbers, delimiter))
        values = found.values if found else _cut(readings.numbers)
    assert values is not None
    if len(values) == len(texts):
        return values
    each = iter(values)
    return [next(each) if text else None for text in texts]


def _alone(text: str, known: Notation, delimiter: str) -> Value:
    """The value of a text that stands in no column."""
    return _meanings(readings_of([text] if text else []), known, delimiter).get(text, text)


def _name(text: str) -> Value:
    """The value of a text of a header: years and other whole numbers are numbers."""
    return int(text) if _WHOLE.fullmatch(text) else text or None


def readings_of(texts: Sequence[str]) -> Readings:
    """Return the readings that the different texts of a column allow; none if one is a code."""
    if not any(map(_DIGIT.search, texts)):
        return Readings(words=[text for text in texts if text.lower() in _BOOLEANS])
    if written := number_texts(texts):
        return Readings(numbers=texts, written=written)
    numbers, dates, words, found = [], [], [], []
    for text in texts:
        if is_number(text):
            numbers.append(text)
        elif text[0].isdigit() and (read := moments(text)):
            dates.append(text)
            found.append(read)
        elif is_code(text):
            return Readings()
        elif text.lower() in _BOOLEANS:
            words.append(text)
    written = number_texts(numbers) if numbers else None
    if numbers and not written:
        return Readings()
    return Readings(numbers, dates, words, written, orders_of(found))


def _notation(columns: Sequence[Readings]) -> Notation:
    """The notation of the columns that allow only one; none where as many have another."""
    written = (each.written.marks for each in columns if each.written)
    marks = Counter(each for each in written if len(each) == 1)
    orders = Counter(each.orders[0] for each in columns if each.dates and len(each.orders) == 1)
    mark = _commonest(marks)
    return Notation(mark, _commonest(orders) or ("dmy" if mark == "," else ""))


def _commonest(votes: Counter[str]) -> str:
    first, second = (*votes.most_common(2), ("", 0), ("", 0))[:2]
    return first[0] if first[1] > second[1] else ""


def _meanings(readings: Readings, known: Notation, delimiter: str) -> Mapping[str, Value]:
    """What the texts of a column mean, where it is not themselves."""
    meant: dict[str, Value] = {"": None}
    meant |= {text: _BOOLEANS[text.lower()] for text in readings.words}
    days = dates_of(readings.dates, known.order) if readings.dates else None
    meant.update(zip(readings.dates, days or (), strict=days is not None))
    if not readings.written:
        return meant
    mark = known.mark or _usual_mark(readings.numbers, delimiter)
    found = readings.written.read(mark)
    if found is None:
        return {"": None}
    meant.update(zip(readings.numbers, found.values, strict=True))
    if found.unit:
        _keep_units(meant, readings.numbers, found.unit)
    return meant


def _keep_units(meant: dict[str, Value], numbers: Sequence[str], unit: str) -> None:
    """Leave numbers with a unit texts: in plain digits if they alone would be read otherwise."""
    dressed = [text for text in numbers if unit.casefold() in text.casefold()]
    alone = numbers_of(dressed)
    for text, value in zip(dressed, alone.values if alone else (), strict=alone is not None):
        number = meant.pop(text)
        if value != number:
            meant[text] = f"{number} {unit}"


def _usual_mark(numbers: Sequence[str], delimiter: str) -> str:
    """The mark before decimals of numbers such as 2.155, if no column tells it.

    Semicolons part fields where commas stand before decimals, unless a comma stands in all numbers
    but those up to 999, which need none for thousands. Numbers from 1,000 on without a mark say
    that no mark is one for thousands.
    """
    if delimiter != ";":
        return "."
    if any(map(_LARGE.fullmatch, numbers)):
        return "." if any("." in text for text in numbers) else ","
    grouped = any("," in text for text in numbers) and any(map(_SMALL.fullmatch, numbers))
    return "." if grouped else ","
