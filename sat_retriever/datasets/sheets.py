"""Read the sheets and the pairs of sheets of a corpus; refuse fields that could hold a value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels.jsontext import read_json, read_rows, sheet_id
from sat_retriever.errors import CorpusError
from sat_retriever.records.sheets import Column, SheetRecord

# Fields that describe a sheet. Another field could carry values, so it is refused.
_SHEET_TEXTS = ("name", "workbook", "sheet", "path", "category", "source")
_SHEET_COUNTS = ("num_rows", "num_cols")
_SHEET_FIELDS = frozenset(("sheet_id", "columns", *_SHEET_TEXTS, *_SHEET_COUNTS))
_COLUMN_FIELDS = frozenset(("name",))
MAX_NAME = 1_000  # characters of a name or header
MAX_DIGITS = 18  # digits of a sheet's number


def load_sheets(path: str | Path) -> tuple[SheetRecord, ...]:
    """Load the records of a sheets.json, in numeric order of their ids.

    Source: paper, section 4 and appendix on data sets: the release has names, headers and shapes,
    but no cell values.

    Raises:
        CorpusError: If the file is missing or malformed, or a sheet or column has a field that
            could hold a cell's value, such as `example`.
    """
    path = Path(path)
    sheets = read_json(path, dict)
    for key in sheets:
        if not (key.isascii() and key.isdigit() and len(key) <= MAX_DIGITS):
            raise CorpusError(f"{path}: every key must be a sheet number, not {key!r:.80}")
    ids = sorted(sheets, key=int)
    return tuple(_record(sheet_id, sheets[sheet_id], path) for sheet_id in ids)


def _record(sheet_id: str, row: Any, path: Path) -> SheetRecord:
    where = f"{path}, sheet {sheet_id}"
    if not isinstance(row, Mapping):
        raise CorpusError(f"{where}: malformed entry: an object is needed, not {row!r:.80}")
    _check_fields(row, _SHEET_FIELDS, where)
    if "sheet_id" in row and str(row["sheet_id"]) != sheet_id:
        raise CorpusError(f"{where}: its 'sheet_id' is {row['sheet_id']!r:.80}, not its key")
    for name in _SHEET_TEXTS:
        if name in row:
            _check_text(row[name], f"{where}: {name!r}")
    for name in _SHEET_COUNTS:
        _check_count(row.get(name), f"{where}: {name!r}")
    if "name" not in row and "sheet" not in row:
        raise CorpusError(f"{where}: malformed entry: 'name' or 'sheet' is missing")
    columns = row.get("columns")
    if not isinstance(columns, list):
        raise CorpusError(f"{where}: malformed entry: 'columns' is no list: {columns!r:.80}")
    workbook = row.get("workbook", "")
    return SheetRecord(
        sheet_id=sheet_id,
        sheet=row["sheet"] if "sheet" in row else row["name"],
        workbook=workbook,
        path=row.get("path", ""),
        columns=tuple(_column(column, place, where) for place, column in enumerate(columns)),
        num_rows=row.get("num_rows"),
        num_cols=row.get("num_cols"),
        metadata={"category": row["category"]} if row.get("category") else {},
    )


def _column(column: Any, place: int, where: str) -> Column:
    where = f"{where}, column {place}"
    if not isinstance(column, Mapping) or "name" not in column:
        raise CorpusError(f"{where}: malformed entry: an object with 'name', not {column!r:.80}")
    _check_fields(column, _COLUMN_FIELDS, where)
    _check_text(column["name"], f"{where}: 'name'")
    return Column(column["name"])


def _check_fields(row: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for name in row:
        if name not in known:
            raise CorpusError(
                f"{where} has a field {name!r:.80}, which could hold cell values; a released "
                f"sheets.json has only {', '.join(sorted(known))}: remove it"
            )


def _check_text(value: Any, where: str) -> None:
    if not isinstance(value, str):
        raise CorpusError(f"{where} must be a text, not {value!r:.80}")
    if len(value) > MAX_NAME:
        raise CorpusError(f"{where} has {len(value):,} characters, {MAX_NAME:,} at most")


def _check_count(value: Any, where: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise CorpusError(f"{where} must be a whole number from 0 on, not {value!r:.80}")


@dataclass(frozen=True, slots=True)
class SheetPair:
    """Two sheets, related if they come from one table.

    `matched_columns` are headers with the same meaning, of the first and of the second sheet.

    Source: paper, section 4 (fabricated source/target pairs); no reported method uses them.
    """

    first: str
    second: str
    related: bool
    matched_columns: tuple[tuple[str, str], ...] = ()


def load_pairs(
    path: str | Path, records: Sequence[SheetRecord] | None = None
) -> tuple[SheetPair, ...]:
    """Load the pairs of a train.json, in file order.

    If the corpus's records are given, every pair must join two of them, and every matched column
    must be one of theirs.

    Raises:
        CorpusError: If the file is missing or malformed, or names an unknown sheet or column.
    """
    path = Path(path)
    headers = None
    if records is not None:
        headers = {record.sheet_id: {each.name for each in record.columns} for record in records}
    rows = enumerate(read_rows(path))
    return tuple(_pair(row, headers, f"{path}, pair {place}") for place, row in rows)


def _pair(
    row: Mapping[str, Any], headers: Mapping[str, Collection[str]] | None, where: str
) -> SheetPair:
    ends = tuple(
        sheet_id(row.get(name), f"{where}, {name!r}") for name in ("sheet_id_1", "sheet_id_2")
    )
    if ends[0] == ends[1]:
        raise CorpusError(f"{where}: sheet {ends[0]!r} is paired with itself; name two sheets")
    label = row.get("label")
    if isinstance(label, bool) or label not in (0, 1):
        raise CorpusError(f"{where}: 'label' must be 0 or 1, not {label!r:.80}")
    matched = _matched(row.get("matched_columns"), where)
    for side, end in enumerate(ends):
        if headers is None:
            break
        if end not in headers:
            raise CorpusError(f"{where}: there is no sheet {end!r} in sheets.json")
        for columns in matched:
            if columns[side] not in headers[end]:
                raise CorpusError(f"{where}: sheet {end!r} has no column {columns[side]!r:.80}")
    return SheetPair(ends[0], ends[1], bool(label), matched)


def _matched(value: Any, where: str) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    pairs = value if isinstance(value, list) else [value]
    for pair in pairs:
        if not (
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(header, str) for header in pair)
        ):
            raise CorpusError(
                f"{where}: 'matched_columns' must be a list of two headers each, not {pair!r:.80}"
            )
    return tuple((first, second) for first, second in pairs)
