"""Frozen records of workbooks, sheets, tables, columns, and of what could not be read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby

from sat_retriever.records.contents import Role, SheetContents
from sat_retriever.records.formats import FormulaState, without_extension

MAX_TOLD = 12
"""Most rows of one reason whose numbers are written out."""
SECTION = "Section"
"""Name of the column that holds the heading above each record."""
MAX_LEFT_OUT = 100


class ColumnType(StrEnum):
    """Type of the cells of a column; `time` is for durations, too."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    BOOLEAN = "boolean"
    ERROR = "error"
    EMPTY = "empty"
    UNKNOWN = "unknown"


class Visibility(StrEnum):
    """Visibility of a sheet in its workbook."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    VERY_HIDDEN = "very_hidden"


class SkipReason(StrEnum):
    """Reason why a file or a sheet gave no record: stable codes, safe to match on."""

    NOT_A_SPREADSHEET = "not_a_spreadsheet"
    """The content is not a spreadsheet, whatever the file name suggests. A Git LFS pointer needs
    `git lfs pull`."""
    EMPTY_FILE = "empty_file"
    """The file has no bytes."""
    EMPTY_SHEET = "empty_sheet"
    """No cell of the sheet has a value."""
    NOT_A_WORKSHEET = "not_a_worksheet"
    """A chart, dialog or macro sheet."""
    ENCRYPTED = "encrypted"
    """A password is needed."""
    WRONG_PASSWORD = "wrong_password"
    """The given password does not open the file."""
    DAMAGED = "damaged"
    """The file is cut off, or its parts do not fit together."""
    UNSUPPORTED = "unsupported"
    """A spreadsheet of a kind that is not read, or an unknown encryption."""
    ZIP_BOMB = "zip_bomb"
    """The file unpacks to far more than its size."""
    XML_BOMB = "xml_bomb"
    """The XML of the file expands or nests without end."""
    TOO_LARGE = "too_large"
    """The file is over a limit. Of a sheet, only the first part was read. `--limits` raises the
    limits."""
    TIMEOUT = "timeout"
    """The file was not read within its processor time. Results so far are kept, and the next sync
    tries again."""
    OUT_OF_MEMORY = "out_of_memory"
    """The file was not read within the memory cap."""
    READER_CRASHED = "reader_crashed"
    """The reading process crashed on the file."""
    UNREADABLE = "unreadable"
    """The operating system, or the server of a URL, denies access: no permission, no answer, or the
    file is gone."""
    BAD_NAME = "bad_name"
    """The name of a file at a URL cannot be part of a path: `..`, `//`, control characters. Or the
    index cannot hold a name or a text of the workbook: a very long name, in PostgreSQL."""
    UNSURE_ENCODING = "unsure_encoding"
    """The encoding of a delimited file was guessed, and another is almost as likely. The sheet was
    read; `--encoding` sets the right one."""
    OUTSIDE_LINK = "outside_link"
    """A link to a file outside the named folders and files. `--follow-links` reads it."""
    DUPLICATE_ID = "duplicate_id"
    """A sheet of another folder, which the message names, already has the same id."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: canonical header, example and inferred type.

    Attributes:
        name: Canonical header; multi-row headers are joined top-down with " / ".
            Empty when the table has no header.
        example: First non-null cell as text, cut with "…" at 60 characters; None when the column
            is empty or its values are not kept.
        type: Type of its data cells, that of the table's data; a few words do not count.
        unit: Unit of its numbers, by the cells, their formats, a units row or the header.
        encoded: What an encoder reads in place of the example, such as the typed placeholder of
            free text; None if that is the example. It is no cell, so it is shown nowhere.
    """

    name: str
    example: str | None = None
    type: ColumnType = ColumnType.UNKNOWN
    unit: str | None = None
    encoded: str | None = field(default=None, repr=False, metadata={"shown": False})


class LeftOutReason(StrEnum):
    """Reason why a row of a table is no record."""

    UNITS = "units"
    TOTAL = "total"
    """It sums up all records, or all of a kind (an average, a maximum)."""
    SUBTOTAL = "subtotal"
    """It sums up some of the records."""
    REPEATED_HEADER = "repeated_header"
    SECTION = "section"
    """It is a heading; its text belongs to the records below."""


_NAMES: Mapping[LeftOutReason, tuple[str, str]] = {
    LeftOutReason.UNITS: ("units", "units"),
    LeftOutReason.TOTAL: ("total", "totals"),
    LeftOutReason.SUBTOTAL: ("subtotal", "subtotals"),
    LeftOutReason.REPEATED_HEADER: ("repeated header", "repeated headers"),
    LeftOutReason.SECTION: ("section", "sections"),
}
_WRONG = ", does not add up", ", do not add up"
SUMS = frozenset({LeftOutReason.TOTAL, LeftOutReason.SUBTOTAL})
"""Reasons of rows that `totals=True` brings back."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One row of a table that is no record, or that may be none.

    Attributes:
        row: Row of the sheet, 1-based.
        text: Its first text, at most 60 characters; empty without one, or if it is not kept.
    """

    row: int
    reason: LeftOutReason
    text: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table found on a sheet.

    Attributes:
        range: A1 range from the first header cell to the last cell of data or totals.
        header_row: 1-based sheet row of the topmost header row; None without a header row (no
            header at all, or a transposed table).
        header_height: Number of header rows.
        transposed: True when the headers are in the first column of the range.
        num_rows: Data records (columns of data if transposed), without rows left out.
        columns: Left to right (top to bottom if transposed).
        name: Name of the workbook's table object over this range, if any.
        left_out: The first `MAX_LEFT_OUT` rows below the header that are no records.
        num_left_out: Number of all such rows.
        doubtful: Rows that look like totals but do not add up, at most as many: records, unless
            they are in `left_out`, too.
    """

    range: str
    header_row: int | None
    header_height: int
    transposed: bool
    num_rows: int
    columns: tuple[Column, ...]
    name: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    num_left_out: int = 0
    doubtful: tuple[LeftOut, ...] = ()

    @property
    def note(self) -> str:
        """The rows that are no records, or may be none, in words; empty without any."""
        said = left_out_note(self.left_out, self.doubtful, self.num_left_out)
        headed = any(each.reason is LeftOutReason.SECTION for each in self.left_out)
        return f"{said} The column {SECTION} has the heading above each record." if headed else said


@dataclass(frozen=True, slots=True)
class SheetRecord:
    """Description of one worksheet: name, headers, examples and shape.

    Source: paper, section 3.2 (Feature Extractor). Beyond the paper: tables,
    used range, visibility and content hash.

    Attributes:
        sheet_id: `<POSIX path relative to its root>#<sheet>`; published corpora
            keep their number as a string.
        sheet: Name of the tab. Published corpora: the whole sheet name.
        workbook: File name without folder; empty for published corpora that have
            only one name per sheet.
        path: POSIX path of the workbook relative to its root; empty without a file.
        columns: Columns of the main table.
        num_rows: Rows of the used range.
        num_cols: Columns of the used range.
        range: Used range in A1 form.
        header_row: 1-based header row of the main table.
        format: One of `FORMAT_NAMES`, or "".
        tables: Every table found, the main table first.
        content_hash: Hash of the workbook file's bytes; empty without a file.
        partial: True if only part of the sheet was read; a `Skipped` gives the reason.
        metadata: Filter fields that the user set.
        contents: None if they are not kept, or were not asked for.
        url: URL of the workbook; empty for a file of this machine.
        encoding: Encoding with which a delimited file was read; empty for other formats.
        unsure_encoding: True if another encoding is almost as likely.
    """

    sheet_id: str
    sheet: str
    workbook: str = ""
    path: str = ""
    columns: tuple[Column, ...] = ()
    num_rows: int | None = None
    num_cols: int | None = None
    range: str | None = None
    header_row: int | None = None
    visibility: Visibility = Visibility.VISIBLE
    format: str = ""
    tables: tuple[Table, ...] = ()
    content_hash: str = ""
    formulas: FormulaState = FormulaState.NONE
    partial: bool = False
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    role: Role = Role.DATA
    contents: SheetContents | None = None
    url: str = ""
    encoding: str = ""
    unsure_encoding: bool = False

    @property
    def workbook_name(self) -> str:
        """The workbook's file name without its extension.

        >>> SheetRecord("a#b", "b", workbook="v1.2 Sales.xlsx").workbook_name
        'v1.2 Sales'
        """
        return without_extension(self.workbook)

    @property
    def main_range(self) -> str | None:
        """A1 range of the main table, else the used range; None when unknown."""
        return self.tables[0].range if self.tables else self.range

    @property
    def cited(self) -> str:
        """Name of the sheet in a citation: its id, with the whole URL if the workbook has one.

        >>> SheetRecord("a.xlsx#Q1", "Q1", url="s3://bucket/2024/a.xlsx").cited
        's3://bucket/2024/a.xlsx#Q1'
        """
        return f"{self.url}#{self.sheet}" if self.url else self.sheet_id

    def at_url(self) -> dict[str, str]:
        """The URL under the key "url", for results as plain values; empty without one."""
        return {"url": self.url} if self.url else {}

    @property
    def citation(self) -> str:
        """The sheet as `cited`, and its main range.

        >>> SheetRecord("a/Sales.xlsx#Q1", "Q1", range="A1:D20").citation
        'a/Sales.xlsx#Q1!A1:D20'
        """
        place = self.main_range
        return f"{self.cited}!{place}" if place else self.cited

    @property
    def name(self) -> str:
        """Sheet name in the paper's sense: workbook file name and tab name.

        >>> SheetRecord("a/Sales.xlsx#Q1", "Q1", workbook="Sales.xlsx").name
        'Sales__Q1'
        """
        return "__".join(part for part in (self.workbook_name, self.sheet) if part)


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula of a workbook.

    Attributes:
        cell: A1 address of the cell that carries the text.
        text: Without the leading "=".
        range: A1 range filled by an array or shared formula; None for a plain one.
        kind: "normal", "array" or "shared".
    """

    sheet: str
    cell: str
    text: str
    range: str | None = None
    kind: str = "normal"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or a sheet that could not be read, or not completely, with the reason.

    The sheet may also have a record: a partial one that was cut at a limit (`TOO_LARGE`), by
    the time limit (`TIMEOUT`) or at damage (`DAMAGED`), one in which single cells cannot be
    read (`DAMAGED`), one whose encoding was guessed (`UNSURE_ENCODING`), or one whose values were
    read although its XML was rejected (`XML_BOMB`).

    Attributes:
        path: POSIX path of the workbook relative to its root.
        message: The reason as a sentence.
        sheet: None for the whole file.
    """

    path: str
    reason: SkipReason
    message: str
    sheet: str | None = None


def left_out_note(left_out: Sequence[LeftOut], doubtful: Sequence[LeftOut], number: int = 0) -> str:
    """Sentences about the rows of a table that are no records, or may be none.

    Args:
        left_out: Rows that are no records.
        doubtful: Rows that may be records or totals; those not left out are records.
        number: Number of all rows that are no records, if only the first are given.

    >>> wrong = LeftOut(9, LeftOutReason.TOTAL)
    >>> left_out_note([wrong], [wrong, LeftOut(5, LeftOutReason.TOTAL)])
    'Left out: row 9 (total, does not add up). Kept, though it may sum up others: row 5 (total).'
    """
    said = [f"Left out: {told_rows(left_out, number, doubtful)}."] if left_out else []
    if kept := only_kept(left_out, doubtful):
        they = "they" if len(kept) > 1 else "it"
        said.append(f"Kept, though {they} may sum up others: {told_rows(kept)}.")
    return " ".join(said)


def only_kept(left_out: Sequence[LeftOut], doubtful: Sequence[LeftOut]) -> list[LeftOut]:
    """The doubtful rows that are records."""
    out = set(left_out)
    return [each for each in doubtful if each not in out]


def reason_name(reason: LeftOutReason, *, doubtful: bool = False) -> str:
    """A reason in words, for one row; `doubtful` for a total whose numbers do not add up."""
    return _NAMES[reason][0] + _WRONG[0] * doubtful


def told_rows(rows: Sequence[LeftOut], number: int = 0, doubtful: Collection[LeftOut] = ()) -> str:
    """The rows by reason, in the order of the first row of each; empty without any.

    Args:
        rows: Rows that are no records, or may be none.
        number: Number of all such rows, if only the first are given.
        doubtful: Totals whose numbers do not add up, perhaps among other rows.

    >>> total, sub = LeftOutReason.TOTAL, LeftOutReason.SUBTOTAL
    >>> told_rows([LeftOut(3, LeftOutReason.UNITS), LeftOut(14, sub), LeftOut(27, sub)])
    'row 3 (units), rows 14 and 27 (subtotals)'
    >>> told_rows([LeftOut(row, total) for row in range(9, 12)])
    'rows 9-11 (totals)'
    >>> told_rows([LeftOut(9, total)], number=3)
    'row 9 (total), and 2 more rows'
    """
    wrong = set(doubtful)
    by_reason: dict[tuple[LeftOutReason, bool], list[int]] = {}
    for each in rows:
        by_reason.setdefault((each.reason, each in wrong), []).append(each.row)
    parts = []
    for (reason, is_wrong), places in by_reason.items():
        several = len(places) > 1
        said = _NAMES[reason][several] + _WRONG[several] * is_wrong
        parts.append(f"row{'s' * several} {_listed(places)} ({said})")
    if parts and (more := number - len(rows)) > 0:
        parts.append(f"and {more:,} more row{'s' * (more > 1)}")
    return ", ".join(parts)


def _listed(places: Iterable[int]) -> str:
    """Numbers of rows, runs of three or more joined: "3, 5-9 and 12"."""
    numbered = enumerate(sorted(places))
    runs = [[row for _, row in run] for _, run in groupby(numbered, lambda each: each[1] - each[0])]
    texts: list[str] = []
    for run in runs:
        texts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    if len(texts) > MAX_TOLD:
        shown = texts[: MAX_TOLD - 1]
        return f"{', '.join(shown)} and {len(texts) - len(shown):,} more"
    return " and ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))
