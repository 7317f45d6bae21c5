"""Find and take out damaged rows of an index in PostgreSQL by their checksums.

The server itself keeps rows of different tables together, and its own checksums of pages tell
damage on disk. These checks find what was changed past this package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sat_retriever.index.store.claims import ClaimTables
from sat_retriever.index.store.damage import Damage
from sat_retriever.index.store.packing import RowDamage, check_sheet, link_checksum, skips_from_text
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.postgres.write import delete_sheets, drop_spellings
from sat_retriever.index.store.relink import unlink
from sat_retriever.records.links import Link

_AT_ONCE = 1_000  # rows read together
_LINK = "source, target, type, origin"


def find_damage(session: PostgresSession, width: int) -> Damage:
    """Compare every sheet and link with the checksum from when it was written."""
    sheets = list(_damaged_sheets(session, width))
    links = list(_damaged_links(session))
    hit = {workbook for _row, _name, workbook in sheets if workbook is not None}
    ends = list({end for source, target, _given in links for end in (source, target)})
    of_ends = "SELECT DISTINCT workbook_id FROM sheets WHERE sheet_id = ANY(?)"
    hit.update(row[0] for row in session.execute(of_ends, (ends,)).fetchall() if row[0])
    hit.update(_unreadable(session))
    workbooks = session.execute(
        "SELECT id, root, path FROM workbooks WHERE id = ANY(?) ORDER BY id", (list(hit),)
    ).fetchall()
    return Damage(
        workbooks=tuple((row_id, root, path) for row_id, root, path in workbooks),
        unsealed=(),
        sheets=tuple((row_id, name) for row_id, name, _workbook in sheets),
        alone=tuple(name for _row, name, workbook in sheets if workbook is None),
        links=tuple(links),
    )


def take_out(session: PostgresSession, damage: Damage) -> None:
    """Delete damaged rows, as `index.store.damage.take_out` does."""
    workbooks = [row_id for row_id, _root, _path in damage.workbooks]
    of_workbooks = "SELECT sheet_id FROM sheets WHERE workbook_id = ANY(?) ORDER BY id"
    going = [row[0] for row in session.execute(of_workbooks, (workbooks,)).fetchall()]
    going = list(dict.fromkeys([*going, *(name for _row, name in damage.sheets)]))
    for source, target, _given in damage.links:
        session.execute("DELETE FROM links WHERE source = ? AND target = ?", (source, target))
    unlink(session, going)
    drop_spellings(session, delete_sheets(session, [row_id for row_id, _name in damage.sheets]))
    ClaimTables(session).drop(going)
    session.execute(
        "DELETE FROM stale_families WHERE NOT EXISTS "
        "(SELECT FROM periods p WHERE p.family = stale_families.family)"
    )
    session.execute(
        "UPDATE workbooks SET content_hash = '', mtime_ns = -1, skipped = '[]' WHERE id = ANY(?)",
        (workbooks,),
    )


def _damaged_sheets(session: PostgresSession, width: int) -> Iterator[tuple[int, str, int | None]]:
    sql = (
        "SELECT s.id, s.workbook_id, s.sheet_id, s.workbook, s.path, s.format, s.visibility, "
        "s.metadata, s.record, s.crc, c.packed, c.crc, t.words, t.token, t.months, t.name, x.id "
        "FROM sheets s LEFT JOIN contents c ON c.id = s.id LEFT JOIN tokens t ON t.id = s.id "
        "LEFT JOIN words x ON x.id = s.id WHERE s.id > ? ORDER BY s.id LIMIT ?"
    )
    for row_id, workbook_id, *row in _all(session, sql, 1, (-1,)):
        try:
            check_sheet(row, width)
        except RowDamage:
            yield row_id, row[0], workbook_id


def _damaged_links(session: PostgresSession) -> Iterator[tuple[str, str, bool]]:
    sql = (
        f"SELECT {_LINK}, weight, evidence, crc FROM links WHERE ({_LINK}) > (?, ?, ?, ?) "
        f"ORDER BY {_LINK} LIMIT ?"
    )
    for source, target, kind, origin, weight, evidence, crc in _all(session, sql, 4, ("",) * 4):
        if link_checksum(Link(source, target, kind, weight, evidence), origin) != crc:
            yield source, target, origin == "given"


def _unreadable(session: PostgresSession) -> Iterator[int]:
    for row_id, text in session.execute("SELECT id, skipped FROM workbooks").fetchall():
        try:
            skips_from_text(text)
        except RowDamage:
            yield row_id


def _all(
    session: PostgresSession, sql: str, keys: int, last: tuple[Any, ...]
) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of a statement that reads those after some keys, which begin a row."""
    while rows := session.execute(sql, (*last, _AT_ONCE)).fetchall():
        yield from rows
        last = rows[-1][:keys]
