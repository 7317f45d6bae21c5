"""Find damaged rows of an index file by checksums, and take them out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sat_retriever.errors import IndexDamagedError, IndexFormatError
from sat_retriever.index.store.packing import RowDamage, check_sheet, register, skips_from_text
from sat_retriever.index.store.relink import unlink
from sat_retriever.index.store.rows import FileConnection
from sat_retriever.index.store.words import drop_spellings
from sat_retriever.index.store.write import delete_sheets
from sat_retriever.links.join.keys import BLOCK_LIMIT

_NAMED = 5  # damaged rows that an error message names
# All rows of one workbook, without those that changes of other workbooks may change.
_SEALED = (
    "SELECT root, path, file, content_hash, skipped FROM workbooks WHERE id = ?",
    "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, s.crc, "
    "t.words, t.token, t.months, t.texts, t.documentation, t.main, t.name, x.workbook, x.sheet, "
    "x.headers, x.folder FROM sheets s "
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
    "SELECT s.sheet_id, c.crc FROM sheets s LEFT JOIN contents c ON c.id = s.id "
    "WHERE s.workbook_id = ? ORDER BY s.id",
)
# Compared as bytes, since damaged text may no longer be valid text.
_LINK_TEXTS = ("source", "target", "type", "origin", "evidence")
BAD_LINK = "crc != checksum({}, weight)".format(
    ", ".join(f"CAST({name} AS BLOB)" for name in _LINK_TEXTS)
)

_CLAIMS = ("external_references", "periods", "key_columns", "copies")
_IDS = {"tokens": "id", "contents": "id", "lexical": "rowid"}
_OF_SHEETS = _IDS | dict.fromkeys(_CLAIMS, "sheet")
# In SQL, not by id in Python: an id may be damaged, and its bytes no longer valid text.
_STAYS = "SELECT sheet_id FROM sheets WHERE id NOT IN (SELECT value FROM json_each(:going))"
_LOOSE = f"origin != 'given' AND (source NOT IN ({_STAYS}) OR target NOT IN ({_STAYS}))"


@dataclass(frozen=True, slots=True)
class Damage:
    """The rows that differ from what was written."""

    workbooks: tuple[tuple[int, str, str], ...]  # id, root and path of each with a damaged row
    unsealed: tuple[int, ...]  # ids of workbooks whose version stored no digest of them
    sheets: tuple[tuple[int, str], ...]  # row ids and sheet ids of the unusable sheets
    alone: tuple[str, ...]  # sheet ids of those without a file
    links: tuple[tuple[str, str, bool], ...]  # both ends of each, and True if a user gave it


NO_DAMAGE = Damage((), (), (), (), ())


def seal(connection: sqlite3.Connection, workbook_ids: Iterable[int]) -> None:
    """Store a digest of all rows of each workbook, which damage changes."""
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
    """Let SQLite check its own structures, and rebuild a damaged lexical index."""
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
    """Compare every row with the checksums from when it was written; tokens have a width."""
    sheets = list(_damaged_sheets(connection, width))
    links = list(_damaged_links(connection))
    ends = {end for link in links for end in link[:2]}
    hit = {workbook_id for _row, _name, workbook_id in sheets}
    of_sheet = "SELECT workbook_id FROM sheets WHERE sheet_id = ? AND workbook_id IS NOT NULL"
    hit |= {row[0] for end in ends for row in connection.execute(of_sheet, (end,))}
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
    """True if a workbook matches its digest; one without a digest need only be readable."""
    sql = f"SELECT skipped FROM workbooks WHERE id = {workbook_id}"
    try:
        same = _seal_of(connection, workbook_id) == noted
        skips_from_text(*_column(connection, sql))
    except (sqlite3.Error, RowDamage):  # invalid text, or text that cannot be parsed
        return False
    return same or not noted


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
    """Names of damaged sheets, then of other damaged workbooks; empty on failure."""
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


def _damaged_sheets(
    connection: sqlite3.Connection, width: int
) -> Iterator[tuple[int, str, int | None]]:
    sql = (
        "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, "
        "s.crc, c.packed, c.crc, t.words, t.token, t.months, t.name, x.rowid FROM sheets s "
        "LEFT JOIN contents c ON c.id = s.id LEFT JOIN tokens t ON t.id = s.id "
        "LEFT JOIN lexical x ON x.rowid = s.id WHERE s.id = ?"
    )
    ids = connection.execute("SELECT id, workbook_id FROM sheets ORDER BY id").fetchall()
    for row_id, workbook_id in ids:
        try:
            [row] = connection.execute(sql, (row_id,)).fetchall()
            check_sheet(row, width)
        except (sqlite3.Error, RowDamage):
            sql_name = f"SELECT CAST(sheet_id AS BLOB) FROM sheets WHERE id = {row_id}"
            [name] = _column(connection, sql_name)
            yield row_id, name.decode("utf-8", "replace"), workbook_id


def _damaged_links(connection: sqlite3.Connection) -> Iterator[tuple[str, str, bool]]:
    sql = (
        "SELECT CAST(source AS BLOB), CAST(target AS BLOB), origin = 'given' "
        f"FROM links WHERE {BAD_LINK}"
    )
    for source, target, given in connection.execute(sql):
        yield source.decode("utf-8", "replace"), target.decode("utf-8", "replace"), bool(given)


def _place(connection: sqlite3.Connection, workbook_id: int) -> tuple[str, str]:
    sql = "SELECT CAST(root AS BLOB), CAST(path AS BLOB) FROM workbooks WHERE id = ?"
    [(root, path)] = connection.execute(sql, (workbook_id,)).fetchall()
    return root.decode("utf-8", "replace"), path.decode("utf-8", "replace")


def _column(connection: sqlite3.Connection, sql: str) -> list[Any]:
    return [row[0] for row in connection.execute(sql)]


def take_out(connection: FileConnection, damage: Damage) -> None:
    """Delete damaged rows, so that every row left can be read; the caller owns the transaction.

    Sheets of damaged workbooks lose all found links; the next sync reads these workbooks again and
    finds them anew.
    """
    going = _sheets_of(connection, damage)
    _drop_loose(connection, list(going))
    _drop_unreadable_blocks(connection, list(going))
    unlink(connection, list(going.values()))
    dropped = delete_sheets(connection, [row_id for row_id, _name in damage.sheets])
    drop_spellings(connection, dropped)
    connection.execute(f"DELETE FROM links WHERE {BAD_LINK}")
    for table in _CLAIMS:
        connection.executemany(
            f"DELETE FROM {table} WHERE sheet = ?", [(row_id,) for row_id in going]
        )
    for table, key in _OF_SHEETS.items():
        connection.execute(f"DELETE FROM {table} WHERE {key} NOT IN (SELECT id FROM sheets)")
    # A family without a sheet may be a damaged name.
    connection.execute(
        "DELETE FROM stale_families WHERE family NOT IN (SELECT family FROM periods)"
    )
    # Groups are no workbook's own, so no digest tells that one is as it was written.
    connection.execute("INSERT OR IGNORE INTO stale_copies SELECT sheet FROM copies")
    connection.execute(
        "DELETE FROM crowded_blocks WHERE block NOT IN (SELECT block FROM key_blocks)"
    )
    connection.execute(
        "INSERT OR IGNORE INTO unsettled SELECT 'block', block FROM crowded_blocks UNION "
        "SELECT 'block', block FROM key_blocks GROUP BY block HAVING count(*) > ?",
        (BLOCK_LIMIT,),
    )
    _forget(connection, damage)


def _sheets_of(connection: FileConnection, damage: Damage) -> dict[int, str]:
    found = dict(damage.sheets)
    sql = "SELECT id, CAST(sheet_id AS BLOB) FROM sheets WHERE workbook_id = ?"
    for workbook_id, _root, _path in damage.workbooks:
        for row_id, name in connection.execute(sql, (workbook_id,)):
            found[row_id] = name.decode("utf-8", "replace")
    return found


def _drop_loose(connection: FileConnection, going: list[int]) -> None:
    """Remove found links of sheets that go or are missing; their families become stale."""
    values = {"going": json.dumps(going)}
    connection.execute(
        "INSERT OR IGNORE INTO stale_families SELECT p.family FROM links l "
        "JOIN sheets s ON s.sheet_id IN (l.source, l.target) JOIN periods p ON p.sheet = s.id "
        f"WHERE l.origin = 'period' AND {_LOOSE}",
        values,
    )
    connection.execute(f"DELETE FROM links WHERE {_LOOSE}", values)


def _drop_unreadable_blocks(connection: FileConnection, going: list[int]) -> None:
    """Remove blocks of sheets that go whose bytes are no longer valid text."""
    sql = (
        "SELECT CAST(b.block AS BLOB), b.key_column FROM key_columns k "
        "JOIN key_blocks b ON b.key_column = k.id WHERE k.sheet = ?"
    )
    for row_id in going:
        for block, column in connection.execute(sql, (row_id,)).fetchall():
            if block.decode("utf-8", "ignore").encode() != block:
                drop = "DELETE FROM key_blocks WHERE key_column = ? AND CAST(block AS BLOB) = ?"
                connection.execute(drop, (column, block))


def _forget(connection: FileConnection, damage: Damage) -> None:
    """Clear the stored state of damaged and unsealed workbooks, so that they are read again."""
    forget = "UPDATE workbooks SET content_hash = '', mtime_ns = -1, seal = ''"
    connection.executemany(
        f"{forget}, skipped = '[]' WHERE id = ?", [(found[0],) for found in damage.workbooks]
    )
    connection.executemany(f"{forget} WHERE id = ?", [(each,) for each in damage.unsealed])
