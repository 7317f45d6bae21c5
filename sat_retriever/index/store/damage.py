"""Find damaged rows of an index file by checksums."""

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
from sat_retriever.index.store.contents import may_hold, unpacked
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.jsonform import record_from_json, skipped_from_json, to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord, Skipped

Read = TypeVar("Read")
_NAMED = 5  # damaged rows that an error message names
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
# All rows of one workbook, without those that changes of other workbooks may change.
_SEALED = (
    "SELECT root, path, file, content_hash, skipped FROM workbooks WHERE id = ?",
    "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, s.crc, "
    "t.words, t.token, t.months, t.texts, t.documentation, t.main, x.workbook, x.sheet, "
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


class RowDamage(Exception):  # noqa: N818 - becomes an `IndexDamagedError` that names the rows
    """A row differs from what was written."""


@dataclass(frozen=True, slots=True)
class Damage:
    """The rows that differ from what was written.

    Attributes:
        workbooks: Row id, root and path of the workbooks with a damaged row.
        unsealed: Row ids of workbooks from an older version, which stored no digest of them.
        sheets: Row ids and sheet ids of the unusable sheets.
        alone: Sheet ids of the unusable sheets without a file.
        links: Both ends of each damaged link, and True if a user gave it.
    """

    workbooks: tuple[tuple[int, str, str], ...]
    unsealed: tuple[int, ...]
    sheets: tuple[tuple[int, str], ...]
    alone: tuple[str, ...]
    links: tuple[tuple[str, str, bool], ...]


NO_DAMAGE = Damage((), (), (), (), ())


def checksum(*values: object) -> int:
    """Return the CRC-32 of some values; it is stored with their row to detect damage."""
    plain = [each.encode() if isinstance(each, str) else each for each in values]
    return zlib.crc32(repr(plain).encode())


def link_checksum(link: Link, origin: str) -> int:
    """Return the checksum of a stored link."""
    return checksum(link.source, link.target, link.type, origin, link.evidence, float(link.weight))


def record_of(text: str, crc: int) -> SheetRecord:
    """Return the record in a stored text.

    Raises:
        RowDamage: If the text differs from what was written, or holds no record.
    """
    if checksum(text) != crc:
        raise RowDamage("the record is not as it was written")
    return readable(lambda: record_from_json(json.loads(text)))


def contents_of(data: bytes, crc: int) -> SheetContents:
    """The contents of a sheet in stored bytes.

    Raises:
        RowDamage: If the bytes are not as they were written, or hold no contents.
    """
    return readable(lambda: unpacked(_whole(data, crc)))


def may_say(data: bytes, crc: int, phrases: Sequence[str]) -> bool:
    """False if the contents in stored bytes have none of some phrases; see `may_hold`.

    Raises:
        RowDamage: If the bytes are not as they were written, or hold no contents.
    """
    return readable(lambda: may_hold(_whole(data, crc), phrases))


def _whole(data: bytes, crc: int) -> bytes:
    if checksum(data) != crc:
        raise RowDamage("the contents are not as they were written")
    return data


def readable(read: Callable[[], Read]) -> Read:
    """Return the result of a function that reads stored text.

    Raises:
        RowDamage: If the text is damaged.
    """
    try:
        return read()
    except _MALFORMED as error:
        raise RowDamage(str(error)) from error


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
    """Let SQLite check its own structures, and rebuild a damaged lexical index.

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
    """Compare every row with the checksums from when it was written.

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
    """True if a workbook matches its digest; one without a digest need only be readable."""
    sql = f"SELECT skipped FROM workbooks WHERE id = {workbook_id}"
    try:
        same = _seal_of(connection, workbook_id) == noted
        skips_from_text(*_column(connection, sql))
    except (sqlite3.Error, RowDamage):  # invalid text, or text that cannot be parsed
        return False
    return same or not noted


def skips_from_text(text: str) -> tuple[Skipped, ...]:
    """Read the stored list of the skipped parts of a workbook, with reasons.

    Raises:
        RowDamage: If the text is damaged.
    """
    return readable(lambda: tuple(map(skipped_from_json, json.loads(text))))


def damaged(path: Path) -> IndexDamagedError:
    """Return the error for an index file with damaged rows; it names some of them."""
    names = _names(path)
    more = f" and {len(names) - _NAMED:,} more" if names[_NAMED:] else ""
    shown = f" ({', '.join(names[:_NAMED])}{more})" if names else ""
    return IndexDamagedError(
        f"{path} has damaged rows{shown}; repair them from their files "
        f"with: sat index FOLDER --verify --index {path}"
    )


def _names(path: Path) -> list[str]:
    """Return names of damaged sheets, then of other damaged workbooks; empty on failure."""
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
    """Make `checksum` available in SQL."""
    connection.create_function("checksum", -1, checksum, deterministic=True)


def _damaged_sheets(
    connection: sqlite3.Connection, width: int
) -> Iterator[tuple[int, str, int | None]]:
    """Yield row id, sheet id and workbook of the unusable sheets."""
    sql = (
        "SELECT s.sheet_id, s.workbook, s.path, s.format, s.visibility, s.metadata, s.record, "
        "s.crc, c.packed, c.crc, t.words, t.token, t.months, x.rowid FROM sheets s "
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


def check_sheet(row: Sequence[Any], width: int) -> None:
    """Refuse a sheet whose columns, record, contents, token and words do not match.

    Raises:
        RowDamage: If they do not match.
    """
    *columns, text, crc, contents, contents_crc, words, token, months, lexical = row
    record = record_of(text, crc)
    if contents is not None:
        contents_of(contents, contents_crc)
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
    """True if the lengths of tokens (n, d) are finite."""
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
