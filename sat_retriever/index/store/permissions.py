"""The groups of sheets in a store; the caller owns the transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sat_retriever.index.store.rows import SheetRow
from sat_retriever.index.store.session import Session

RESTRICTED = "restricted"
"""Note of an index whose sheets are for their groups alone."""
SOURCE = "permissions"
"""Note of where the groups come from; for the owner alone."""


def put_groups(connection: Session, rows: Sequence[SheetRow]) -> None:
    """Store the groups of sheets that were just added."""
    connection.executemany(
        "INSERT INTO permissions (sheet, name) SELECT id, ? FROM sheets WHERE sheet_id = ?",
        [(name, row.record.sheet_id) for row in rows for name in row.groups],
    )


def change_groups(connection: Session, groups: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Replace the groups of sheets, given by sheet id."""
    sheet = "(SELECT id FROM sheets WHERE sheet_id = ?)"
    for sheet_id, names in groups:
        connection.execute(f"DELETE FROM permissions WHERE sheet = {sheet}", (sheet_id,))
        connection.executemany(
            "INSERT INTO permissions (sheet, name) SELECT id, ? FROM sheets WHERE sheet_id = ?",
            [(name, sheet_id) for name in names],
        )
