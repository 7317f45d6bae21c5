"""Messages about delimited text: encoding, delimiter and cell types come from the content."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath, PurePosixPath
from typing import Any, BinaryIO

from sat_retriever.records.area import Area
from sat_retriever.records.formats import FLAT_EXTENSIONS, FormulaState, extension_of
from sat_retriever.records.jsonform import Json
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.reading import Reading
from sat_retriever.workbook.formats.sheets import value_messages
from sat_retriever.workbook.formats.text.columns import typed_rows
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.messages import Request, skip
from sat_retriever.workbook.opening.encoding import Encoding, find_encoding
from sat_retriever.workbook.share import Share
from sat_retriever.workbook.values.grid import Grid
from sat_retriever.workbook.values.read import ListedSheet, SheetValues

DELIMITERS = (",", ";", "\t", "|")
_COUNTED = "sat_retriever.counted"
_SAMPLE_BYTES = 262_144
_CHUNK_BYTES = 65_536
_FIELD_CHARACTERS = 4 << 20
_GAPS = 4  # empty rows that count as a cell
_ROWS = 1_000  # rows between two checks of the processor time
_SPLITTING = 0.25  # part of the processor time for fields; types and the record take the rest
_BLANK: list[str] = []  # shared: a file can have a million of them
_TABLE = 0.4  # least consistency of a table; half of the rows in two columns give .375


def read_table(reading: Reading) -> Iterator[Json]:
    """Yield messages about a delimited text file: its one sheet has the name of the file."""
    request = reading.request
    strict = extension_of(PurePath(request.path).name) not in FLAT_EXTENSIONS
    shown = request.window is not None
    named = request.encoding
    encoding = Encoding(named) if named else find_encoding(reading.file)
    found = text_values(reading.file, encoding.name, reading.budget, strict=strict, texts=shown)
    values = found.values
    reading.source = replace(
        reading.source,
        format=found.format,
        encoding=encoding.name,
        unsure_encoding=not encoding.sure,
    )
    sheet = ListedSheet(PurePosixPath(request.relative).stem)
    if values.area is None:
        empty = "The file has no cell with a value."
        yield skip(request, SkipReason.EMPTY_SHEET, empty, sheet.name)
    elif request.asks_for(sheet.name):
        yield from value_messages(reading, sheet, values, None, (), FormulaState.NONE)
        if request.window is None:
            yield from _doubts(request, encoding, found.lost, sheet.name)


def _doubts(request: Request, encoding: Encoding, lost: int, sheet: str) -> Iterator[Json]:
    """Yield what the reader of a text must know of its encoding."""
    if lost:
        many = f"{lost:,} characters are" if lost > 1 else "One character is"
        said = f"{many} not {encoding.name} and shown as \ufffd; --encoding sets another encoding."
        yield skip(request, SkipReason.DAMAGED, said, sheet)
    if not encoding.sure:
        said = f"It was read as {encoding.name}, but that is not sure; --encoding sets another."
        yield skip(request, SkipReason.UNSURE_ENCODING, said, sheet)


@dataclass(frozen=True, slots=True)
class Delimited:
    """A delimited text."""

    values: SheetValues
    format: str
    lost: int = 0  # number of characters that are not of its encoding


def text_values(
    file: BinaryIO, encoding: str, budget: Budget, *, strict: bool, texts: bool = False
) -> Delimited:
    """Read a delimited text file.

    The limit of the budget on a sheet's cells cuts the grid, but not the used range. `strict`
    refuses text in which no delimiter makes columns: prose, code, logs.
    """
    file.seek(0)
    start = file.read(_SAMPLE_BYTES).decode(encoding, errors="replace").replace("\0", "")
    budget.share.sizes = [file.seek(0, io.SEEK_END)]
    budget.share.begin(0, 1)
    file.seek(0)
    raw = file
    if not encoding.startswith(("utf-16", "utf-32")):
        raw = io.BufferedReader(_WithoutZeros(file, budget.share), _CHUNK_BYTES)
    text = io.TextIOWrapper(raw, encoding=encoding, errors=_COUNTED, newline="")
    lost = _counting()
    try:
        delimiter, skip = detect_delimiter(start)
        if strict and not skip and not _is_table(start, delimiter):
            message = "Flat text in which no delimiter makes columns."
            raise Refused(SkipReason.NOT_A_SPREADSHEET, message)
        if skip:
            text.readline()
        values = _values(text, delimiter or ",", 1 + skip, budget, texts=texts)
    finally:
        text.detach()
    return Delimited(values, "tsv" if delimiter == "\t" else "csv", len(lost))


def _counting() -> list[int]:
    """Register the handler of errors, which adds each place to the list that is returned."""
    lost: list[int] = []

    def replaced(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        lost.append(error.start)
        return "\ufffd", error.end

    codecs.register_error(_COUNTED, replaced)
    return lost


def detect_delimiter(sample: str) -> tuple[str, int]:
    r"""Find (delimiter, lines to skip before the table); the delimiter is empty if none fits.

    A first line such as `sep=;` names it. Otherwise it is the delimiter that splits the
    largest share of rows into the same number of columns; quoted fields are respected.

    >>> detect_delimiter("sep=|\na|b"), detect_delimiter("a;b,c\nd;e\n")
    (('|', 1), (';', 0))
    """
    first = sample.lstrip("\ufeff").split("\n", 1)[0].strip("\r\"' ")
    if (len(first) == 5 and first.lower().startswith("sep=")) or first.lower() == "sep=":
        return first[4:] or "\t", 1
    scored = [(_consistency(sample, each), -index) for index, each in enumerate(DELIMITERS)]
    best, index = max(scored)
    return (DELIMITERS[-index], 0) if best > 0 else ("", 0)


def _is_table(sample: str, delimiter: str) -> bool:
    json_like = sample.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", "<")
    return bool(delimiter) and not json_like and _consistency(sample, delimiter) >= _TABLE


def _consistency(sample: str, delimiter: str) -> float:
    """Consistency of a delimiter: share of rows with the commonest width, more for wider rows."""
    if delimiter not in sample:
        return 0.0
    widths = Counter[int]()
    try:
        rows = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths.update(len(row) for row in islice(rows, 400) if row)
    except csv.Error:
        return 0.0
    wide = {width: count for width, count in widths.items() if width > 1}
    if not wide:
        return 0.0
    width, count = max(wide.items(), key=lambda item: (item[1], item[0]))
    share = count / sum(widths.values())
    return share * (1.0 - 0.5 / width) if share > 0.3 or width > 2 else 0.0


def _values(
    text: io.TextIOWrapper, delimiter: str, first_row: int, budget: Budget, *, texts: bool
) -> SheetValues:
    csv.field_size_limit(_FIELD_CHARACTERS)
    rows: list[list[str]] = []
    left_over = budget.limits.cells
    bottom = right = 0
    top = left = 1 << 31
    cut: SkipReason | None = None
    try:
        lines = (line.replace("\0", "") for line in text)  # they may remain in wide encodings
        fields_of_rows = csv.reader(lines, delimiter=delimiter)
        for number, fields in enumerate(fields_of_rows, start=first_row):
            if number % _ROWS == 0 and budget.late(_SPLITTING):
                cut = SkipReason.TIMEOUT
                break
            first, last = _used(fields)
            if last:
                top, bottom, right = min(top, number), number, max(right, last)
                left = min(left, first)
            left_over -= last or number % _GAPS == 0
            if left_over >= 0:
                rows.append(fields[:last] if last else _BLANK)
    except csv.Error as error:
        if not bottom:
            message = f"The text is not a delimited table: {error}."
            raise Refused(SkipReason.DAMAGED, message) from error
        cut = SkipReason.DAMAGED
    if not bottom:
        return SheetValues(Grid([]), None)
    rows = rows[top - first_row : bottom - first_row + 1]
    if left > 1:
        rows = [row[left - 1 :] for row in rows]
    kept = list(rows) if texts else None
    grid = Grid(typed_rows(rows, delimiter), top, left, texts=kept)
    return SheetValues(grid, Area(top, left, bottom, right), cut=cut)


def _used(fields: list[str]) -> tuple[int, int]:
    """First and last column of a row with a value, 1-based; (0, 0) without one."""
    last = len(fields)
    while last and not fields[last - 1].strip():
        last -= 1
    if not last:
        return 0, 0
    first = 1
    while not fields[first - 1].strip():
        first += 1
    return first, last


class _WithoutZeros(io.RawIOBase):
    """The bytes of a file without zeros, which a broken file may have even within characters."""

    def __init__(self, file: BinaryIO, share: Share) -> None:
        self._file, self._share = file, share

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        space = memoryview(buffer)
        while chunk := self._file.read(len(space)):
            self._share.scanned(len(chunk))
            if kept := chunk.replace(b"\0", b""):
                space[: len(kept)] = kept
                return len(kept)
        return 0
