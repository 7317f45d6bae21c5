"""Frozen records of workbooks and their sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sat_retriever.records.contents import Role, SheetContents
from sat_retriever.records.formats import FormulaState, without_extension
from sat_retriever.records.leftout import SECTION, LeftOut, LeftOutReason, left_out_note


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
    """The name of a file at a URL cannot be part of a path: `..`, `//`, control characters."""
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


@dataclass(frozen=True, slots=True)
class Table:
    """One table found on a sheet.

    Attributes:
        range: A1 range from the first header cell to the last cell of data or totals.
        header_row: 1-based sheet row of the topmost header row; None without a
            header row (no header at all, or a transposed table).
        header_height: Number of header rows (0 when there are none).
        transposed: True when the headers are in the first column of the range.
        num_rows: Data records (columns of data if transposed), without rows left out.
        columns: The table's columns, left to right (top to bottom if transposed).
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


MAX_LEFT_OUT = 100


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
        num_rows: Rows of the used range; None when unknown.
        num_cols: Columns of the used range; None when unknown.
        range: Used range in A1 form; None when unknown.
        header_row: 1-based header row of the main table; None without one.
        visibility: How the workbook shows the sheet.
        format: One of `FORMAT_NAMES`, or "".
        tables: Every table found, the main table first.
        content_hash: Hash of the workbook file's bytes; empty without a file.
        formulas: State of its formulas; some formats give values only.
        partial: True if only part of the sheet was read; a `Skipped` gives the reason.
        metadata: Filter fields that the user set.
        role: What it is for.
        contents: Texts of its cells; None if they are not kept, or were not asked for.
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
        """A1 range of the main table, else the used range; None when unknown.

        >>> SheetRecord("a.csv#a", "a", range="A1:D20").main_range
        'A1:D20'
        """
        return self.tables[0].range if self.tables else self.range

    @property
    def cited(self) -> str:
        """What a citation calls the sheet: its id, with the whole URL if the workbook has one.

        >>> SheetRecord("a.xlsx#Q1", "Q1", url="s3://bucket/2024/a.xlsx").cited
        's3://bucket/2024/a.xlsx#Q1'
        """
        return f"{self.url}#{self.sheet}" if self.url else self.sheet_id

    def at_url(self) -> dict[str, str]:
        """The URL of its workbook under the key "url", for results as plain values; else nothing.

        >>> SheetRecord("a.xlsx#Q1", "Q1").at_url()
        {}
        """
        return {"url": self.url} if self.url else {}

    @property
    def citation(self) -> str:
        """Citation of the sheet's data: the sheet, and the range of its main table.

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
        sheet: Sheet that holds it.
        cell: A1 address of the cell that carries the text.
        text: Formula text without the leading "=".
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
        reason: Stable code.
        message: The reason as a sentence.
        sheet: Name of the sheet; None for the whole file.
    """

    path: str
    reason: SkipReason
    message: str
    sheet: str | None = None
