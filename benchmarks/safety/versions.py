"""Workbooks whose every sheet and text names its version: what of an index is old, new, or torn."""

from __future__ import annotations

import sqlite3
import string
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import xlsxwriter

from sat_retriever import SheetIndex, SheetRecord

SHEETS = 4  # of a workbook
_COLUMN = 1  # whose header is the version, as is the end of its cells
# Each has a row of every sheet. All sheets have contents.
_PARTS = (
    ("sheets", "id"), ("tokens", "id"), ("lexical", "rowid"), ("contents", "id"), ("found", "doc"),
)  # fmt: skip
_LETTERS = string.ascii_lowercase


def write_version(path: Path, version: str) -> None:
    """Write a workbook of this version in one atomic step."""
    partial = path.with_suffix(".partial")
    with xlsxwriter.Workbook(partial) as book:
        for number in range(SHEETS):
            sheet = book.add_worksheet(f"S{number}")
            sheet.write_row(0, 0, ("Key", version, f"Amount of {path.stem}"))
            for row in range(1, 20):
                sheet.write_row(row, 0, (row + 0.5, f"{_LETTERS[row]} of {version}", row * 2))
    partial.replace(path)


def version_of(record: SheetRecord) -> str:
    """Return the version that a sheet names."""
    return record.columns[_COLUMN].name


def versions_in(records: Iterable[SheetRecord]) -> dict[str, str]:
    """Return the version of each workbook, by its path.

    Raises:
        SystemExit: If a workbook lacks sheets, or its sheets are of several versions.
    """
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        found[record.path][version_of(record)] += 1
    torn = {path: dict(each) for path, each in found.items() if list(each.values()) != [SHEETS]}
    if torn:
        raise SystemExit(f"torn workbooks, sheets of each version: {torn}")
    return {path: next(iter(each)) for path, each in found.items()}


def versions_of(index: SheetIndex) -> dict[str, str]:
    """Return the version of each workbook of an index, by its path.

    Raises:
        SystemExit: If a workbook lacks sheets, its sheets are of several versions, or the texts of
            a sheet are not those of its version.
    """
    records = list(index.records(index.sheet_ids(), contents=True).values())
    for record in records:
        tables = record.contents.tables if record.contents else ()
        ends = {each.text.rpartition(" ")[2] for table in tables for each in table}
        if ends != {version_of(record)}:
            raise SystemExit(f"{record.sheet_id} is of {version_of(record)}, its texts of {ends}")
    return versions_in(records)


def check_integrity(path: Path) -> None:
    """Refuse a file that SQLite finds broken.

    Raises:
        SystemExit: If it is one.
    """
    with closing(sqlite3.connect(path)) as connection:
        said = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if said != "ok":
            raise SystemExit(f"{path}: SQLite's integrity check fails: {said}")
        for words in ("lexical", "content_words"):
            connection.execute(f"INSERT INTO {words} ({words}) VALUES ('integrity-check')")


def check_file(path: Path) -> None:
    """Refuse a file that SQLite finds broken, or whose parts are not of the same sheets.

    Raises:
        SystemExit: If it is one.
    """
    check_integrity(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.found USING fts5vocab (main, content_words, instance)"
        )
        ids = [
            {row[0] for row in connection.execute(f"SELECT {column} FROM {table}")}
            for table, column in _PARTS
        ]
    if any(part != ids[0] for part in ids):
        raise SystemExit(
            f"{path}: records, tokens, words, contents and words of contents are not of the same "
            "sheets"
        )
