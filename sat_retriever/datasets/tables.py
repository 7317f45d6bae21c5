"""Load corpora of tables with all their cells, read as a workbook of one sheet each.

A corpus is two files of JSON lines: NAME_tables.jsonl with `id, workbook, sheet, headers, rows`,
and NAME_questions.jsonl with `query, positives`. The title of a table's page stands as its
workbook, that of its section as its sheet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels.jsontext import parsed, sheet_id, sheet_ids
from sat_retriever.datasets.labels.query import Query
from sat_retriever.errors import CorpusError
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.formats.text.columns import typed_rows
from sat_retriever.workbook.tables.records import Source, sheet_record
from sat_retriever.workbook.values.grid import Grid

DISTRACTORS = "ottqa_train"
"""The corpus of tables without questions."""
MAX_LINE = 16 << 20
"""Bytes of a line: far more than a table of any of these corpora has."""
_HELD_OUT = 0.25  # share of the tables
_PLAIN_SHEET = "Sheet1"

Part = Literal["all", "train", "validation"]


def load_tables(
    folder: str | Path,
    name: str,
    *,
    titles: bool = True,
    distractors: bool = False,
    part: Part = "all",
) -> Dataset:
    """Load a corpus of tables as records with contents and roles, and its questions.

    The two files begin with the corpus's name; the records are in their order, and the data set's
    name says what was chosen.

    Args:
        titles: False replaces the names of workbooks and sheets by numbers, which tell nothing.
        distractors: Add the tables of `DISTRACTORS`, about which there is no question.
        part: "validation" has a quarter of the tables, chosen by a hash of their ids, and the
            questions about them; "train" has the other tables with theirs.

    Raises:
        CorpusError: If a file is missing, or a line of it is malformed; a table's id occurs
            twice; a question names a table that does not exist; there is no such part.
    """
    if part not in get_args(Part):
        raise CorpusError(f"there is no part {part!r}; choose from {', '.join(get_args(Part))}")
    folder = Path(folder)
    tables, questions = tables_files(folder, name)
    others = (tables_files(folder, DISTRACTORS)[0],) if distractors else ()
    records: list[SheetRecord] = []
    kept: dict[str, bool] = {}  # every table; True for those of the part
    for path in (tables, *others):
        for table in read_tables(path):
            if table.table_id in kept:
                raise CorpusError(f"{path}: the table {table.table_id!r:.80} is in {tables} too")
            kept[table.table_id] = (
                path != tables
                or part == "all"
                or is_held_out(table.table_id) == (part == "validation")
            )
            if kept[table.table_id]:
                names = (table.workbook, table.sheet) if titles else plain_names(len(records) + 1)
                records.append(table_record(table.table_id, names, table.headers, table.rows))
    queries = read_questions(questions, kept)
    return Dataset(
        name=tables_name(name, titles=titles, distractors=distractors, part=part),
        records=tuple(records),
        queries=tuple(each for each in queries if all(kept[table] for table in each.positives)),
        files=(tables, questions, *others),
    )


@dataclass(frozen=True, slots=True)
class CellTable:
    """A table with its cells as texts; its page is the workbook, its section the sheet."""

    table_id: str
    workbook: str
    sheet: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables_files(folder: Path, name: str) -> tuple[Path, Path]:
    """Files of a corpus: its tables, its questions."""
    return folder / f"{name}_tables.jsonl", folder / f"{name}_questions.jsonl"


def read_tables(path: Path) -> Iterator[CellTable]:
    """Yield the tables of a file line by line; a CorpusError for a malformed or repeated one."""
    known: set[str] = set()
    for where, row in _lines(path):
        table_id = sheet_id(row.get("id"), where)
        if table_id in known:
            raise CorpusError(f"{where}: the table {table_id!r:.80} is there already")
        known.add(table_id)
        yield CellTable(
            table_id,
            _text(row, "workbook", where),
            _text(row, "sheet", where),
            _texts(row.get("headers"), f"{where}: 'headers'"),
            _rows(row, where),
        )


def read_questions(path: Path, known: Collection[str]) -> Iterator[Query]:
    """Yield the questions of a file about known tables; a CorpusError for any other line."""
    for where, row in _lines(path):
        text = _text(row, "query", where).strip()
        positives = sheet_ids(row.get("positives"), f"{where}: 'positives'")
        if not text or not positives:
            raise CorpusError(f"{where}: a text 'query' and at least one of 'positives' are needed")
        for table in positives:
            if table not in known:
                raise CorpusError(f"{where}: there is no table {table!r:.80}")
        yield Query(text, positives)


def table_record(
    table_id: str,
    names: tuple[str, str],
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> SheetRecord:
    """The record of one table, as if it were the only sheet of a workbook, from cell A1 on.

    Cells get the types that the same texts have in a CSV file. The first row is declared to be
    the header, as in a table object of Excel. A row may be shorter or longer than the header.
    """
    workbook, sheet = names
    grid = Grid(typed_rows([list(headers), *map(list, rows)], ","))
    width = max(1, len(headers), *map(len, rows))
    area = Area(1, 1, len(rows) + 1, width)
    declared = TableObject("", area, columns=tuple(headers))
    source = Source(path="", workbook=workbook, format="", content_hash="")
    record = sheet_record(source, sheet, grid, area, table_objects=[declared])
    return replace(record, sheet_id=table_id)


def plain_names(number: int) -> tuple[str, str]:
    """Names of a workbook and its sheet without a hint at their contents.

    >>> plain_names(17)
    ('000017', 'Sheet1')
    """
    return f"{number:06}", _PLAIN_SHEET


def tables_name(
    name: str, *, titles: bool = True, distractors: bool = False, part: Part = "all"
) -> str:
    """Name of a data set of `load_tables`, with all that was chosen.

    >>> tables_name("a", titles=False, distractors=True, part="validation")
    'a_validation_untitled_distractors'
    """
    chosen = {part: part != "all", "untitled": not titles, "distractors": distractors}
    return "_".join([name, *(word for word, is_so in chosen.items() if is_so)])


def is_held_out(table_id: str) -> bool:
    """True for the tables of the validation part: a quarter of all, the same ones for ever."""
    digest = hashlib.sha256(table_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") < _HELD_OUT * 2**32


def _lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), start=1):
                where = f"{path}, line {number}"
                if len(line) > MAX_LINE:
                    raise CorpusError(f"{where} has more than {MAX_LINE:,} bytes")
                if line.strip():
                    yield where, _object(line, where)
    except FileNotFoundError as error:
        raise CorpusError(f"{path} is missing") from error
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}") from error


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{where} is not UTF-8 text ({error}); save it as UTF-8") from error
    row = parsed(text, where)
    if not isinstance(row, dict):
        raise CorpusError(f"{where}: an object is needed, not {row!r:.80}")
    return row


def _rows(row: Mapping[str, Any], where: str) -> list[list[str]]:
    rows = row.get("rows")
    if not isinstance(rows, list):
        raise CorpusError(f"{where}: 'rows' must be a list of rows, not {rows!r:.80}")
    return [_texts(each, f"{where}: row {place}") for place, each in enumerate(rows)]


def _texts(values: Any, where: str) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise CorpusError(f"{where} must be a list of texts, not {values!r:.80}")
    return values


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise CorpusError(f"{where}: {name!r} must be a text, not {value!r:.80}")
    return value
