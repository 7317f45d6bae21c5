"""Remove damaged rows from an index file; the caller owns the transaction."""

from __future__ import annotations

import json

from sat_retriever.index.store.connection import FileConnection
from sat_retriever.index.store.damage import BAD_LINK, Damage
from sat_retriever.index.store.relink import unlink
from sat_retriever.index.store.words import drop_spellings
from sat_retriever.index.store.write import delete_sheets
from sat_retriever.links.join.keys import BLOCK_LIMIT

_CLAIMS = ("external_references", "periods", "key_columns", "copies")
_IDS = {"tokens": "id", "contents": "id", "lexical": "rowid"}
_OF_SHEETS = _IDS | dict.fromkeys(_CLAIMS, "sheet")
# In SQL, not by id in Python: an id may be damaged, and its bytes no longer valid text.
_STAYS = "SELECT sheet_id FROM sheets WHERE id NOT IN (SELECT value FROM json_each(:going))"
_LOOSE = f"origin != 'given' AND (source NOT IN ({_STAYS}) OR target NOT IN ({_STAYS}))"


def take_out(connection: FileConnection, damage: Damage) -> None:
    """Delete damaged rows, so that every row left can be read.

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
    """Return row ids and sheet ids of damaged sheets, and of all sheets of damaged workbooks."""
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
