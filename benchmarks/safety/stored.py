"""The content of an index, as one hash a part: parts are equal if their content is.

Row numbers, the hour of a sync and checksums are no content and are left out; sheets, workbooks
and columns are named, not numbered.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

_NEAR = 1e-5  # tokens of one text in two batches differ by the order of sums
_SHEETS = "JOIN sheets s ON s.id ="
_PARTS = {
    "meta": "SELECT key, value FROM meta WHERE key NOT IN ('generation')",
    "workbooks": "SELECT root, path, file, size, mtime_ns, content_hash, skipped, within "
    "FROM workbooks",
    "sheets": "SELECT s.sheet_id, coalesce(w.root, ''), coalesce(w.path, ''), s.workbook, s.path, "
    "s.format, s.visibility, s.metadata, s.record "
    "FROM sheets s LEFT JOIN workbooks w ON w.id = s.workbook_id",
    "tokens": f"SELECT s.sheet_id, t.words, hex(t.token), t.months FROM tokens t {_SHEETS} t.id",
    "contents": f"SELECT s.sheet_id, hex(c.packed) FROM contents c {_SHEETS} c.id",
    "spellings": "SELECT word FROM spellings",
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
    # A group is called by its first sheet, since its number is that of a row.
    "copies": "SELECT s.sheet_id, c.versions, c.claim, (SELECT min(t.sheet_id) FROM copies d "
    f"JOIN sheets t ON t.id = d.sheet WHERE d.family = c.family) FROM copies c {_SHEETS} c.sheet",
    "stale_copies": f"SELECT s.sheet_id FROM stale_copies c {_SHEETS} c.sheet",
    "unsettled": "SELECT kind, name FROM unsettled",
    "crowded_blocks": "SELECT block FROM crowded_blocks",
}


def stored_hashes(index: Path) -> dict[str, str]:
    """Return sixteen hex digits for each part of an index file, the same for the same content."""
    return {part: _hash(_rows(index, sql)) for part, sql in _PARTS.items()}


def differing(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """Return parts whose hashes differ.

    >>> differing({"sheets": "1", "links": "2"}, {"sheets": "1", "links": "3"})
    ['links']
    """
    return [part for part, value in expected.items() if found[part] != value]


def differing_files(index: Path, fresh: Path) -> list[str]:
    """Return parts in which two index files differ whose tokens were encoded in other batches."""
    parts = differing(stored_hashes(index), stored_hashes(fresh))
    if "tokens" in parts and _near(index, fresh):
        parts.remove("tokens")
    return parts


def _near(index: Path, fresh: Path) -> bool:
    """True if tokens differ by rounding alone."""
    sql = f"SELECT s.sheet_id, t.words, t.months, t.token FROM tokens t {_SHEETS} t.id"
    ours, theirs = (sorted(_rows(path, sql)) for path in (index, fresh))
    if [row[:3] for row in ours] != [row[:3] for row in theirs]:
        return False
    one, other = (np.frombuffer(b"".join(row[3] for row in each), "<f4") for each in (ours, theirs))
    return one.shape == other.shape and np.allclose(one, other, rtol=0, atol=_NEAR)


def _rows(index: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query; text as bytes, since some is no valid text."""
    connection = sqlite3.connect(f"{index.resolve().as_uri()}?mode=ro", uri=True)
    connection.text_factory = bytes
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _hash(rows: Iterable[tuple[Any, ...]]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for row in sorted(map(repr, rows)):
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()
