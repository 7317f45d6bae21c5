"""Damage to the rows of an index file: checksums that show it, and the rows that have it."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sat_retriever.errors import IndexDamagedError, IndexFormatError
from sat_retriever.records.jsonform import record_from_json, skipped_from_json, to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, Skipped

Read = TypeVar("Read")
_NAMED = 5  # damaged rows that an error names
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)
# All rows of one workbook, without those that a change of another workbook may change.
_SEALED = (
    "SELECT root, path, file, content_hash, skipped FROM workbooks WHERE id = ?",
    "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, s.crc, "
    "t.words, t.token, t.months, x.workbook, x.sheet, x.headers, x.folder FROM sheets s "
    "LEFT JOIN tokens t ON t.id = s.id LEFT JOIN lexical x ON x.rowid = s.id "
    "WHERE s.workbook_id = ? ORDER BY s.id",
    "SELECT r.file, r.claim FROM sheets s JOIN external_references r ON r.sheet = s.id "
    "WHERE s.workbook_id = ? ORDER BY r.rowid",
    "SELECT p.family, p.claim FROM sheets s JOIN periods p ON p.sheet = s.id "
    "WHERE s.workbook_id = ? ORDER BY s.id",
    "SELECT k.claim FROM sheets s JOIN key_columns k ON k.sheet = s.id "
    "WHERE s.workbook_id = ? ORDER BY k.id",
    "SELECT b.block FROM sheets s JOIN key_columns k ON k.sheet = s.id "
    "JOIN key_blocks b ON b.key_column = k.id WHERE s.workbook_id = ? ORDER BY k.id, b.block",
    "SELECT c.versions, c.claim FROM sheets s JOIN copies c ON c.sheet = s.id "
    "WHERE s.workbook_id = ? ORDER BY s.id",
    "SELECT b.block, b.place FROM sheets s JOIN copy_blocks b ON b.sheet = s.id "
    "WHERE s.workbook_id = ? ORDER BY s.id, b.block",
    "SELECT l.target, l.type, l.weight, l.evidence FROM sheets s JOIN links l "
    "ON l.source = s.sheet_id AND l.origin = 'own' WHERE s.workbook_id = ? "
    "ORDER BY s.id, l.target, l.type",
)
# Compared as bytes, since damaged text may not be text any more.
_LINK_TEXTS = ("source", "target", "type", "origin", "evidence")
BAD_LINK = "crc != checksum({}, weight)".format(
    ", ".join(f"CAST({name} AS BLOB)" for name in _LINK_TEXTS)
)


class RowDamage(Exception):  # noqa: N818 - becomes an `IndexDamagedError` that names the rows
    """A row cannot be what was written."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Rows that are not as they were written.

    Attributes:
        workbooks: Row id, root and path of the workbooks of which any row is damaged.
        unsealed: Row ids of workbooks by an older version, which stored no digest of them.
        sheets: Row ids and sheet ids of the sheets that cannot be used.
        alone: Sheet ids of those among them that have no file.
        links: Both ends of each damaged link, and True if a user gave it.
    """

    workbooks: tuple[tuple[int, str, str], ...]
    unsealed: tuple[int, ...]
    sheets: tuple[tuple[int, str], ...]
    alone: tuple[str, ...]
    links: tuple[tuple[str, str, bool], ...]


NO_DAMAGE = Damage((), (), (), (), ())


def checksum(*values: object) -> int:
    """CRC-32 of some values, stored with their row to notice accidental changes."""
    plain = [each.encode() if isinstance(each, str) else each for each in values]
    return zlib.crc32(repr(plain).encode())


def link_checksum(link: Link, origin: str) -> int:
    """Checksum of a stored link."""
    return checksum(link.source, link.target, link.type, origin, link.evidence, float(link.weight))


def record_of(text: str, crc: int) -> SheetRecord:
    """The record in a stored text.

    Raises:
        RowDamage: If the text is not as it was written, or holds no record.
    """
    if checksum(text) != crc:
        raise RowDamage("the record is not as it was written")
    return readable(lambda: record_from_json(json.loads(text)))


def readable(read: Callable[[], Read]) -> Read:
    """Result of a function that reads stored text.

    Raises:
        RowDamage: If the text is damaged.
    """
    try:
        return read()
    except _MALFORMED as error:
        raise RowDamage(str(error)) from error


def seal(connection: sqlite3.Connection, workbook_ids: Iterable[int]) -> None:
    """Store a digest of all rows of each workbook; damage to them changes it."""
    for workbook_id in workbook_ids:
        connection.execute(
            "UPDATE workbooks SET seal = ? WHERE id = ?",
            (_seal_of(connection, workbook_id), workbook_id),
        )


def _seal_of(connection: sqlite3.Connection, workbook_id: int) -> str:
    digest = blake2b(digest_size=16)
    for sql in _SEALED:
        for row in connection.execute(sql, (workbook_id,)):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()


def check_file(connection: sqlite3.Connection, path: Path) -> None:
    """Let SQLite check its own structures; a damaged lexical index is built anew.

    Raises:
        IndexFormatError: If the file itself is broken.
    """
    try:
        connection.execute("INSERT INTO lexical (lexical) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        connection.execute("INSERT INTO lexical (lexical) VALUES ('rebuild')")
    found = [row[0] for row in connection.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise IndexFormatError(
            f"{path} is broken, not only rows of it: {found[0]}; this cannot be repaired, index "
            "the folders anew into another file"
        )


def find_damage(connection: sqlite3.Connection, width: int) -> Damage:
    """Compare every row with what was noted when it was written.

    Args:
        connection: An open index file, in a transaction.
        width: Token width d.
    """
    sheets = list(_damaged_sheets(connection, width))
    links = list(_damaged_links(connection))
    ends = {end for link in links for end in link[:2]}
    hit = {workbook_id for _row, _name, workbook_id in sheets}
    hit |= {found for end in ends for found in _workbooks_of(connection, end)}
    damaged, unsealed = [], []
    for workbook_id in _column(connection, "SELECT id FROM workbooks ORDER BY id"):
        [noted] = _column(connection, f"SELECT seal FROM workbooks WHERE id = {workbook_id}")
        if workbook_id in hit or not _is_as_noted(connection, workbook_id, noted):
            damaged.append((workbook_id, *_place(connection, workbook_id)))
        elif not noted:
            unsealed.append(workbook_id)
    return Damage(
        tuple(damaged),
        tuple(unsealed),
        tuple((row_id, name) for row_id, name, _workbook in sheets),
        tuple(name for _row, name, workbook_id in sheets if workbook_id is None),
        tuple(links),
    )


def _is_as_noted(connection: sqlite3.Connection, workbook_id: int, noted: str) -> bool:
    """True if a workbook fits its digest; one without a digest need only be readable."""
    sql = f"SELECT skipped FROM workbooks WHERE id = {workbook_id}"
    try:
        same = _seal_of(connection, workbook_id) == noted
        skips_from_text(*_column(connection, sql))
    except (sqlite3.Error, RowDamage):  # bytes that are no text, or text that cannot be read
        return False
    return same or not noted


def skips_from_text(text: str) -> tuple[Skipped, ...]:
    """Stored list of what was left out of a workbook, with reasons.

    Raises:
        RowDamage: If the text is damaged.
    """
    return readable(lambda: tuple(map(skipped_from_json, json.loads(text))))


def damaged(path: Path) -> IndexDamagedError:
    """The error for an index file with damaged rows; it names some of them."""
    names = _names(path)
    more = f" and {len(names) - _NAMED:,} more" if names[_NAMED:] else ""
    shown = f" ({', '.join(names[:_NAMED])}{more})" if names else ""
    return IndexDamagedError(
        f"{path} has damaged rows{shown}; repair them from their files "
        f"with: sat index FOLDER --verify --index {path}"
    )


def _names(path: Path) -> list[str]:
    """Names of damaged sheets, then of other workbooks with damaged rows; empty on failure."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as own:
            register(own)
            width = int(own.execute("SELECT value FROM meta WHERE key = 'width'").fetchone()[0])
            found = find_damage(own, width)
    except (sqlite3.Error, ValueError, TypeError):
        return []
    sheets = [name for _row, name in found.sheets]
    others = [place for _id, _root, place in found.workbooks]
    return sheets + [each for each in others if not any(s.startswith(f"{each}#") for s in sheets)]


def register(connection: sqlite3.Connection) -> None:
    """Let SQL compute checksums."""
    connection.create_function("checksum", -1, checksum, deterministic=True)


def _damaged_sheets(
    connection: sqlite3.Connection, width: int
) -> Iterator[tuple[int, str, int | None]]:
    """Row id, sheet id and workbook of the sheets that cannot be used."""
    sql = (
        "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, "
        "s.crc, t.words, t.token, t.months, x.rowid FROM sheets s "
        "LEFT JOIN tokens t ON t.id = s.id LEFT JOIN lexical x ON x.rowid = s.id WHERE s.id = ?"
    )
    ids = connection.execute("SELECT id, workbook_id FROM sheets ORDER BY id").fetchall()
    for row_id, workbook_id in ids:
        try:
            [row] = connection.execute(sql, (row_id,)).fetchall()
            _check_sheet(row, width)
        except (sqlite3.Error, RowDamage):
            sql_name = f"SELECT CAST(sheet_id AS BLOB) FROM sheets WHERE id = {row_id}"
            [name] = _column(connection, sql_name)
            yield row_id, name.decode("utf-8", "replace"), workbook_id


def _check_sheet(row: Sequence[Any], width: int) -> None:
    """Refuse a sheet whose columns, record, token and words do not fit together.

    Raises:
        RowDamage: If they do not.
    """
    *columns, text, crc, words, token, months, lexical = row
    record = record_of(text, crc)
    own = (record.sheet_id, record.workbook, record.path, record.format, record.visibility.value)
    plain = json.dumps(to_json(record.metadata))
    if (*own, plain) != tuple(columns):
        raise RowDamage("its columns do not fit its record")
    if lexical is None or not isinstance(words, int) or not isinstance(months, int):
        raise RowDamage("its words or times are missing")
    if not isinstance(token, bytes) or len(token) != 4 * width:
        raise RowDamage("its token has another width")
    if not finite(np.frombuffer(token, dtype="<f4").reshape(1, width)):
        raise RowDamage("its token has no direction")


def finite(tokens: np.ndarray[Any, Any]) -> bool:
    """True if the lengths of tokens (n, d) can be computed."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.einsum("ij,ij->i", tokens, tokens)).all())


def _damaged_links(connection: sqlite3.Connection) -> Iterator[tuple[str, str, bool]]:
    sql = (
        "SELECT CAST(source AS BLOB), CAST(target AS BLOB), origin = 'given' "
        f"FROM links WHERE {BAD_LINK}"
    )
    for source, target, given in connection.execute(sql):
        yield source.decode("utf-8", "replace"), target.decode("utf-8", "replace"), bool(given)


def _workbooks_of(connection: sqlite3.Connection, sheet_id: str) -> list[int]:
    sql = "SELECT workbook_id FROM sheets WHERE sheet_id = ? AND workbook_id IS NOT NULL"
    return [row[0] for row in connection.execute(sql, (sheet_id,))]


def _place(connection: sqlite3.Connection, workbook_id: int) -> tuple[str, str]:
    sql = "SELECT CAST(root AS BLOB), CAST(path AS BLOB) FROM workbooks WHERE id = ?"
    [(root, path)] = connection.execute(sql, (workbook_id,)).fetchall()
    return root.decode("utf-8", "replace"), path.decode("utf-8", "replace")


def _column(connection: sqlite3.Connection, sql: str) -> list[Any]:
    return [row[0] for row in connection.execute(sql)]
