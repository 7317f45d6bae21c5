"""Everything that an index stores, as one hash a part: equal parts hold equal content.

Row numbers, the hour of a sync, and checksums of what stands beside them say nothing more
about content and are left out; sheets, workbooks and columns stand under their names.
"""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

_SHEETS = "JOIN sheets s ON s.id ="
_PARTS = {
    "meta": "SELECT key, value FROM meta WHERE key NOT IN ('generation')",
    "workbooks": "SELECT root, path, file, size, mtime_ns, content_hash, skipped, within "
    "FROM workbooks",
    "sheets": "SELECT s.sheet_id, coalesce(w.root, ''), coalesce(w.path, ''), s.workbook, s.path, "
    "s.format, s.visibility, s.metadata, s.record "
    "FROM sheets s LEFT JOIN workbooks w ON w.id = s.workbook_id",
    "tokens": f"SELECT s.sheet_id, t.words, hex(t.token), t.months FROM tokens t {_SHEETS} t.id",
    "words": "SELECT s.sheet_id, l.workbook, l.sheet, l.headers, l.folder "
    f"FROM lexical l {_SHEETS} l.rowid",
    "links": "SELECT source, target, type, origin, weight, evidence FROM links",
    "external_references": "SELECT s.sheet_id, e.file, e.claim "
    f"FROM external_references e {_SHEETS} e.sheet",
    "periods": f"SELECT s.sheet_id, p.family, p.claim FROM periods p {_SHEETS} p.sheet",
    "stale_families": "SELECT family FROM stale_families",
    "key_columns": f"SELECT s.sheet_id, k.claim FROM key_columns k {_SHEETS} k.sheet",
    "key_blocks": "SELECT s.sheet_id, k.claim, b.block FROM key_blocks b "
    f"JOIN key_columns k ON k.id = b.key_column {_SHEETS} k.sheet",
}


def stored_hashes(index: Path) -> dict[str, str]:
    """Sixteen hex digits for each part of an index file, the same for the same content."""
    connection = sqlite3.connect(f"{index.resolve().as_uri()}?mode=ro", uri=True)
    connection.text_factory = bytes  # also what is no valid text
    try:
        return {part: _hash(connection, sql) for part, sql in _PARTS.items()}
    finally:
        connection.close()


def _hash(connection: sqlite3.Connection, sql: str) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for row in sorted(repr(row) for row in connection.execute(sql)):
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()
