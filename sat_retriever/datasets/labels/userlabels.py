"""Read a user's own labels from JSON lines, CSV, or a published query.json."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sat_retriever.datasets.labels.jsontext import parsed, read_rows, sheet_ids
from sat_retriever.datasets.labels.query import FIELDS, UNANSWERABLE, Query, check_sides, query_of
from sat_retriever.errors import CorpusError

MAX_BYTES = 512 * 2**20  # of a file of labels
MAX_LINE = 4 * 2**20  # characters of a line: some hundreds of thousands of sheet ids
MAX_TEXT = 4_000  # characters of a query
MAX_QUERIES = 1_000_000
_LINE_FIELDS = ("query", "positives", "negatives", "type")
_COLUMNS = ("query", "sheet_id", "relevance")


def load_labels(
    path: str | Path,
    merged: Callable[[Mapping[str, int]], None] | None = None,
    *,
    unanswerable: bool = False,
) -> tuple[Query, ...]:
    """Load a user's own labelled questions, in the order of their first appearance.

    The file's name decides between three forms:

    - `.jsonl`: one object a line, `{"query": …, "positives": [sheet id, …]}`, optionally with
      `"negatives"` and `"type"`.
    - `.csv`: columns `query,sheet_id,relevance`, one row for each query and sheet. A relevance
      of 0 marks a sheet as not relevant, any number above 0 as relevant. A row without a sheet
      and with relevance 0 marks a question without an answer.
    - `.json`: a list in the form of the published `query.json`, including old field names.

    Rows of equal queries are merged. The files are UTF-8. In the other forms, a question that
    nothing answers has the type "unanswerable" and no relevant sheet.

    Args:
        merged: Receives the texts that several lines of a `.jsonl` or entries of a `.json` share,
            each with their number. Not called for a `.csv`, where every sheet of a query has a row.
        unanswerable: True keeps questions without an answer; otherwise they are left out, like
            all others without a relevant sheet.

    Raises:
        CorpusError: If the file is missing, of another type, or has an unusable row; the message
            names file, row, value and what is needed.
    """
    path = Path(path)
    read = {".jsonl": _from_lines, ".csv": _from_table, ".json": _from_list}.get(
        path.suffix.lower()
    )
    if read is None:
        raise CorpusError(
            f"{path}: labels are read from .jsonl, .csv or .json, not {path.suffix or path.name!r}"
        )
    _check_size(path)
    found = _joined(read(path), path)
    labels = tuple(
        _query(text, sides)
        for text, sides in found.items()
        if sides.positives or (unanswerable and sides.first.query_type == UNANSWERABLE)
    )
    if not any(query.positives for query in labels):
        raise CorpusError(f"{path} holds no query with a relevant sheet")
    several = {query.text: count for query in labels if (count := found[query.text].rows) > 1}
    if several and merged is not None and read is not _from_table:
        merged(several)
    return labels


_Row = tuple[str, Query]  # its place, for messages, and its query


@dataclass(slots=True)
class _Sides:
    """The sheets of one query so far, the location of its first row, and its number of rows."""

    where: str
    first: Query
    rows: int = 0
    positives: dict[str, None] = field(default_factory=dict)
    negatives: dict[str, None] = field(default_factory=dict)
    hard: dict[str, str] = field(default_factory=dict)


def _check_size(path: Path) -> None:
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    if path.is_dir():
        raise CorpusError(f"{path} is a folder; name a file of labels")
    if size > MAX_BYTES:
        raise CorpusError(f"{path} has {size:,} bytes; labels may have {MAX_BYTES:,} at most")


def _joined(rows: Iterable[_Row], path: Path) -> dict[str, _Sides]:
    found: dict[str, _Sides] = {}
    for where, query in rows:
        sides = found.setdefault(query.text, _Sides(where, query))
        sides.rows += 1
        if len(found) > MAX_QUERIES:
            raise CorpusError(f"{path} has more than {MAX_QUERIES:,} queries; split the file")
        sides.positives.update(dict.fromkeys(query.positives))
        sides.negatives.update(dict.fromkeys(query.negatives))
        sides.hard.update(dict.fromkeys(query.hard_negatives, ""))
        sides.hard.update(query.hard_negative_types)
        for sheet in (*query.positives, *query.negatives, *query.hard_negatives):
            if sheet in sides.positives and (sheet in sides.negatives or sheet in sides.hard):
                raise CorpusError(
                    f"{where}: sheet {sheet!r:.200} is both relevant and not relevant for "
                    f"{query.text!r:.80}; keep one of the two"
                )
        if sides.first.query_type != query.query_type and query.query_type:
            if sides.first.query_type:
                raise CorpusError(
                    f"{where}: {query.text!r:.80} is of type {query.query_type!r:.80}, but of "
                    f"{sides.first.query_type!r:.80} in {sides.where}; give one type"
                )
            sides.first = query
        if sides.positives and sides.first.query_type == UNANSWERABLE:
            raise CorpusError(
                f"{where}: {query.text!r:.80} is marked as a question without an answer, "
                f"but has sheet {next(iter(sides.positives))!r:.200}; keep one of the two"
            )
    return found


def _query(text: str, sides: _Sides) -> Query:
    first = sides.first
    return Query(
        text=text,
        positives=tuple(sides.positives),
        negatives=tuple(sides.negatives),
        hard_negatives=tuple(sides.hard),
        hard_negative_types={sheet: kind for sheet, kind in sides.hard.items() if kind},
        query_type=first.query_type,
        dependency_type=first.dependency_type,
        workbook=first.workbook,
        evidence=first.evidence,
    )


def _checked_text(text: Any, where: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise CorpusError(f"{where}: 'query' must be a text with words, not {text!r:.80}")
    if len(text) > MAX_TEXT:
        raise CorpusError(
            f"{where}: 'query' has {len(text):,} characters, {MAX_TEXT:,} are allowed: {text!r:.80}"
        )
    return text.strip()


def _check_fields(row: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for name in row:
        if name not in known:
            raise CorpusError(
                f"{where}: {name!r:.80} is unknown; the fields are {', '.join(sorted(known))}"
            )


# ---- JSON: a list as published


def _from_list(path: Path) -> Iterator[_Row]:
    for place, row in enumerate(read_rows(path)):
        where = f"{path}, entry {place}"
        _check_fields(row, FIELDS, where)
        _checked_text(row.get("query"), where)
        yield where, query_of(row, where)


# ---- JSON lines: one object a line


def _from_lines(path: Path) -> Iterator[_Row]:
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        row = parsed(line, where)
        if not isinstance(row, Mapping):
            raise CorpusError(f"{where}: an object is needed, not {row!r:.80}")
        _check_fields(row, _LINE_FIELDS, where)
        text = _checked_text(row.get("query"), where)
        if "positives" not in row:
            raise CorpusError(f"{where}: 'positives' is missing; list the relevant sheet ids")
        kind = row.get("type") or ""
        if not isinstance(kind, str):
            raise CorpusError(f"{where}: 'type' must be a text, not {kind!r:.80}")
        positives = sheet_ids(row["positives"], f"{where}, 'positives'")
        negatives = sheet_ids(row.get("negatives") or (), f"{where}, 'negatives'")
        query = Query(text, positives, negatives, query_type=kind)
        check_sides(query, where)
        yield where, query


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines that are not blank; refuse a line that is too long."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise CorpusError(f"{path}, line {number}: longer than {MAX_LINE:,} characters")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8 text ({error}); save it as UTF-8") from error


# ---- CSV: one row for each query and sheet


def _from_table(path: Path) -> Iterator[_Row]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _table_rows(csv.reader(_bounded(file, path), strict=True), path)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path} is not UTF-8 text ({error}); save it as UTF-8") from error


def _bounded(file: Any, path: Path) -> Iterator[str]:
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise CorpusError(f"{path}: a line is longer than {MAX_LINE:,} characters")
        yield line


def _table_rows(reader: Any, path: Path) -> Iterator[_Row]:
    places: dict[str, int] | None = None
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise CorpusError(f"{path}, line {reader.line_num}: no valid csv: {error}") from error
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            continue
        where = f"{path}, line {reader.line_num}"
        if places is None:
            places = _places(cells, where)
        else:
            yield _table_row(cells, places, where)
    if places is None:
        raise CorpusError(f"{path} is empty; the first line must be {','.join(_COLUMNS)}")


def _places(header: list[str], where: str) -> dict[str, int]:
    names = [name.strip().lower() for name in header]
    unknown = [name for name in names if name not in _COLUMNS]
    missing = [name for name in _COLUMNS if name not in names]
    if unknown or missing or len(set(names)) < len(names):
        raise CorpusError(
            f"{where}: the columns must be {','.join(_COLUMNS)}, separated by commas, not "
            f"{','.join(header)!r:.200}"
        )
    return {name: place for place, name in enumerate(names)}


def _table_row(cells: list[str], places: Mapping[str, int], where: str) -> _Row:
    if len(cells) != len(places):
        raise CorpusError(
            f"{where}: {len(cells)} cells, {len(places)} are needed ({','.join(places)}); text "
            f"with a comma goes in quotes: {','.join(cells)!r:.120}"
        )
    text = _checked_text(cells[places["query"]], where)
    sheet, given = cells[places["sheet_id"]], cells[places["relevance"]].strip()
    try:
        relevance = float(given)
    except ValueError:
        relevance = -1.0
    if not 0 <= relevance < math.inf:
        raise CorpusError(
            f"{where}: 'relevance' must be 0 (not relevant) or a number above 0, not {given!r:.80}"
        )
    if sheet.strip():
        return where, Query(text, (sheet,)) if relevance else Query(text, (), (sheet,))
    if relevance:
        raise CorpusError(
            f"{where}: 'sheet_id' is empty; name the sheet, or give relevance 0 if no sheet answers"
        )
    return where, Query(text, (), query_type=UNANSWERABLE)
