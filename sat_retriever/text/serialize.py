"""Write a sheet as the texts that the Sheet Encoder reads: its names, or its names and contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from heapq import nsmallest
from itertools import chain, groupby, islice
from typing import Any, Literal, NamedTuple

from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of, split_ref
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.identifiers import split_identifiers

# The labels of the first and last part in each form. Both forms have the same content.
_LABELS = {"released": ("name", "columns"), "paper": ("source", "headers")}


@dataclass(frozen=True, slots=True)
class Serialization:
    """The options for writing a record as text; part of an index's fingerprint.

    Attributes:
        form: "released" writes `name … columns`, as the published recipe does;
            "paper" writes `source … headers`, as equation (1) does.
        split_identifiers: Split identifiers in names and headers
            (`net_Profit` → `net Profit`). Not in the paper; off by default.
        max_headers: Headers kept, left to right; None keeps all.
        examples: Append each column's example, or the placeholder of free text. Not used in
            reported comparisons.

    Raises:
        InputError: If the form is unknown or `max_headers` is negative.
    """

    form: Literal["released", "paper"] = "released"
    split_identifiers: bool = False
    max_headers: int | None = 12
    examples: bool = False

    def __post_init__(self) -> None:
        if self.form not in _LABELS:
            known = ", ".join(_LABELS)
            raise InputError(f"unknown serialization form {self.form!r}; choose one of: {known}")
        if self.max_headers is not None and self.max_headers < 0:
            raise InputError(f"max_headers is {self.max_headers}; give 0 or more, or None for all")

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change whenever the text can change.

        >>> Serialization().fingerprint == Serialization(form="paper").fingerprint
        False
        """
        # The rules of `split_identifiers` changed once; texts without it have never changed.
        version = 2 if self.split_identifiers else 1
        text = json.dumps({"serialization": version, **self.to_dict()}, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Serialization:
        """Read the options that `to_dict` wrote.

        >>> Serialization.from_dict(Serialization(max_headers=None).to_dict())
        Serialization(form='released', split_identifiers=False, max_headers=None, examples=False)

        Raises:
            InputError: If an option is unknown (a newer version wrote it) or invalid.
        """
        unknown = sorted(set(options) - {option.name for option in fields(cls)})
        if unknown:
            raise InputError(
                f"unknown serialization options {', '.join(unknown)}; "
                "a newer version may have written them: upgrade sat-retriever"
            )
        return cls(**options)


def serialize(record: SheetRecord, options: Serialization | None = None) -> str:
    """Write one sheet record as text: name, shape and headers, without empty parts.

    The default is the released form with twelve headers.

    Source: paper, equation (1), and the released recipe. Departs: the paper does not
    define the text of a record without a shape; here the shape is left out if its rows or
    columns are unknown (Spider and BIRD tables have no rows). Columns without a header do not
    count towards `max_headers`, and white space inside a part becomes one space.

    >>> columns = tuple(Column(name) for name in ("Order ID", "net_Profit"))
    >>> record = SheetRecord("1", "Q1", workbook="Sales", columns=columns, num_rows=34, num_cols=2)
    >>> serialize(record)
    'name: Sales__Q1 ; shape: 34 x 2 ; columns: Order ID | net_Profit'
    >>> serialize(record, Serialization(form="paper", split_identifiers=True, max_headers=None))
    'source: Sales Q1 ; shape: 34 x 2 ; headers: Order ID | net Profit'
    >>> serialize(SheetRecord("2", "Notes", num_rows=None, num_cols=3))
    'name: Notes'
    """
    options = options or Serialization()
    name_label, headers_label = _LABELS[options.form]
    named = [column for column in record.columns if column.name.strip()][: options.max_headers]
    parts = [
        (name_label, _clean(record.name, options)),
        ("shape", _shape(record)),
        (headers_label, " | ".join(_header(column, options) for column in named)),
    ]
    return " ; ".join(f"{label}: {text}" for label, text in parts if text)


def _shape(record: SheetRecord) -> str:
    if record.num_rows is None or record.num_cols is None:
        return ""
    return f"{record.num_rows} x {record.num_cols}"


def _header(column: Column, options: Serialization) -> str:
    """Return one header, followed by `= example` if requested."""
    header = _clean(column.name, options)
    example = column.encoded or column.example
    if options.examples and example:
        return f"{header} = {' '.join(example.split())}"
    return header


def _clean(text: str, options: Serialization) -> str:
    return split_identifiers(text) if options.split_identifiers else " ".join(text.split())


# Characters. Encoders read some 250 pieces, which are about as many.
_LONGEST = 1_000
_LONGEST_LINE = 240
# Of texts, none is shorter than one character and what parts it from the next.
_MOST_TEXTS = _LONGEST // 2
_MOST_IN_LINE = _LONGEST_LINE // 2
_MOST_READ = 20_000  # in tables; of a read workbook's sheet there are some 5,000 at most
_HEADER_LINE, _CELL_LINE, _LINE_OVER_CELLS = range(3)  # lines of one row of a sheet


class _Placed(NamedTuple):
    """A text and where it comes: the sheet's row, which of the row's lines, the column."""

    row: int
    line: int
    col: int
    text: str


def contents_text(record: SheetRecord) -> str | None:
    """A sheet's names, then its texts in the order of the sheet; None without contents.

    A line is a row of the sheet, whatever tables it crosses, or the headers of a table, or the
    shapes and charts over a row. What a row said before, contents do not repeat, so a row here has
    its new texts alone.

    >>> from sat_retriever.records.contents import CellText, TableContents
    >>> table = TableContents(None, (CellText("A2", "Oslo"),), (CellText("B2", "Norway"),))
    >>> record = SheetRecord("a", "Q1", "a.xlsx", columns=(Column("City"), Column("Country")),
    ...                      contents=SheetContents((CellText("A9", "Census"),), (table,)))
    >>> print(contents_text(record))
    a.xlsx | Q1
    City | Country
    Oslo | Norway
    Census
    """
    contents = record.contents
    if not contents:
        return None
    texts = chain(_table_headers(record), _texts(contents))
    first = nsmallest(_MOST_TEXTS, texts, key=lambda each: each[:3])
    lines = [_line(each.text for each in line) for _, line in groupby(first, lambda x: x[:2])]
    names = _line(dict.fromkeys((record.path, record.workbook, record.sheet)))
    return "\n".join(filter(None, (names, *lines)))[:_LONGEST]


def _texts(contents: SheetContents) -> Iterator[_Placed]:
    """The texts of a sheet in no order, but a cell's own before its comment."""
    in_tables = islice(chain.from_iterable(contents.tables), _MOST_READ)
    for text in chain(in_tables, contents.notes[:_MOST_TEXTS]):  # these are top down
        row, col = split_ref(text.cell) or (0, 0)
        yield _Placed(row, _CELL_LINE if text.is_on_cell else _LINE_OVER_CELLS, col, text.text)


def _table_headers(record: SheetRecord) -> Iterator[_Placed]:
    """The headers of each table, where it begins; those of a record without tables come first."""
    for table in record.tables[:_MOST_TEXTS]:
        area = area_of(table.range)
        row, col = (area.top, area.left) if area else (0, 0)
        yield _Placed(row, _HEADER_LINE, col, _column_names(table.columns))
    if not record.tables:
        yield _Placed(0, _HEADER_LINE, 0, _column_names(record.columns))


def _column_names(columns: Iterable[Column]) -> str:
    return _line(column.name for column in columns)


def _line(texts: Iterable[str]) -> str:
    found = (" ".join(text[:_LONGEST_LINE].split()) for text in islice(texts, _MOST_IN_LINE))
    return " | ".join(filter(None, found))[:_LONGEST_LINE]
