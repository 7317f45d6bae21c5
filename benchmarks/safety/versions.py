"""Workbooks whose every sheet names its version: what of an index is old, new, or torn."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import xlsxwriter

from sat_retriever import SheetIndex, SheetRecord

SHEETS = 4  # of a workbook
_COLUMN = 1  # whose header is the version


def write_version(path: Path, version: str) -> None:
    """Write a workbook of this version in one atomic step."""
    partial = path.with_suffix(".partial")
    with xlsxwriter.Workbook(partial) as book:
        for number in range(SHEETS):
            sheet = book.add_worksheet(f"S{number}")
            sheet.write_row(0, 0, ("Key", version, f"Amount of {path.stem}"))
            for row in range(1, 20):
                sheet.write_row(row, 0, (row, "x", row * 2))
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
    """Return the version of each workbook of an index, by its path; see `versions_in`."""
    return versions_in(index.records(index.sheet_ids()).values())


def check_file(path: Path) -> None:
    """Refuse a file that SQLite finds broken, or whose parts are not of the same sheets.

    Raises:
        SystemExit: If it is one.
    """
    with closing(sqlite3.connect(path)) as connection:
        said = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if said != "ok":
            raise SystemExit(f"{path}: SQLite's integrity check fails: {said}")
        for words in ("lexical", "content_words"):
            connection.execute(f"INSERT INTO {words} ({words}) VALUES ('integrity-check')")
        ids = [
            {row[0] for row in connection.execute(f"SELECT {column} FROM {table}")}
            for table, column in (("sheets", "id"), ("tokens", "id"), ("lexical", "rowid"))
        ]
    if not ids[0] == ids[1] == ids[2]:
        raise SystemExit(f"{path}: records, tokens and words are not of the same sheets")
