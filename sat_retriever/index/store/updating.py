"""Change a store: which rows and links come and go together, whatever the database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from sat_retriever.index.store.copies import CopyTables
from sat_retriever.index.store.links import LinkTables, Origin
from sat_retriever.index.store.permissions import RESTRICTED, change_groups, put_groups
from sat_retriever.index.store.relink import connect_externals, connect_family, relink, unlink
from sat_retriever.index.store.rows import SheetRow, WorkbookState
from sat_retriever.index.store.session import Session
from sat_retriever.index.store.write import clash, holders, ids_of, insert_workbook, workbooks_of
from sat_retriever.links.claims import NO_CLAIMS, NOTHING, Claims, Discovery, without
from sat_retriever.links.formula.external import file_key
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Skipped
from sat_retriever.remote.url import joined, under

_FAMILIES = 256  # families linked anew in one transaction
_COPIES = 2_048  # sheets grouped anew in one transaction, beside the rest of their groups

Opened = TypeVar("Opened", bound=Session)


class StoreWriter(ABC, Generic[Opened]):
    """Changes of a store; every method that writes is one transaction."""

    @abstractmethod
    def _writing(
        self, workbooks: Iterable[tuple[str, str]] = (), rows: Sequence[SheetRow] = ()
    ) -> AbstractContextManager[Opened]:
        """Open the transaction of one write.

        Args:
            workbooks: Root and path of the workbooks that it replaces or removes.
            rows: Sheets that it may insert.
        """

    @abstractmethod
    def _insert_sheets(
        self, connection: Opened, rows: Sequence[SheetRow], workbook_id: int | None
    ) -> set[str]:
        """Add sheets with their contents, tokens and words; return the spellings they have."""

    @abstractmethod
    def _delete_sheets(self, connection: Opened, ids: Sequence[int]) -> set[str]:
        """Remove sheets by row id; return their spellings, which `_drop_spellings` drops."""

    @abstractmethod
    def _drop_spellings(self, connection: Opened, words: Iterable[str]) -> None:
        """Drop those of some spellings that no sheet has, in names or contents."""

    def _seal(self, connection: Opened, workbook_ids: Iterable[int]) -> None:
        """Store a digest of all rows of each workbook, if the store keeps any."""

    def _protect(self, connection: Opened, *, protected: bool) -> None:
        """Have the database hold back sheets by itself, or no longer, if it can."""

    @abstractmethod
    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement; `?` stands for a value."""

    def replace_workbook(
        self,
        state: WorkbookState,
        rows: Sequence[SheetRow],
        discovery: Discovery = NOTHING,
        superseded: Sequence[str] = (),
        left: Sequence[str] = (),
    ) -> tuple[Skipped, ...]:
        """Replace a workbook, with its sheets and links, by its new state.

        Args:
            state: The workbook.
            rows: Its sheets.
            discovery: Links between them, and their claims on other workbooks.
            superseded: Other roots under which the same file was indexed before; its entries there
                are removed in the same transaction.
            left: Roots that are no longer folders; a workbook of the same path there is removed as
                well if it has one of these sheets.

        Returns:
            The sheets left out because another workbook already has their id.
        """
        place = joined(state.root, state.path)
        keys = [(root, under(root, place)) for root in (state.root, *superseded)]
        with self._writing(keys, rows) as connection:
            tables = LinkTables(connection)
            moved = {(root, state.path) for root in left}
            keys += sorted(moved.intersection(holders(connection, rows).values()))
            going = [sheet_id for key in keys for sheet_id in tables.sheets_of(*key)]
            before = unlink(tables, going, discovery.claims)
            dropped = {word for key in keys for word in self._delete_workbook(connection, *key)}
            taken = holders(connection, rows)
            clashes = tuple(
                clash(row, state.root, taken[row.record.sheet_id][0])
                for row in rows
                if row.record.sheet_id in taken
            )
            workbook_id = insert_workbook(connection, state, clashes)
            free = [row for row in rows if row.record.sheet_id not in taken]
            added = self._insert_sheets(connection, free, workbook_id)
            put_groups(connection, free)
            self._drop_spellings(connection, dropped - added)
            relink(tables, before, without(discovery, taken.keys()))
            connect_externals(tables, tables.sources_of(file_key(state.path)))
            self._seal(connection, [workbook_id])
        return clashes

    def touch_workbooks(self, states: Sequence[WorkbookState]) -> None:
        """Record new size, time and check time of workbooks with unchanged content."""
        with self._writing() as connection:
            connection.executemany(
                "UPDATE workbooks SET size = ?, mtime_ns = ?, checked_ns = ?, within = ?, "
                "version = ? WHERE root = ? AND path = ?",
                [
                    (s.size, s.mtime_ns, s.checked_ns, s.within, s.version, s.root, s.path)
                    for s in states
                ],
            )

    def remove_workbooks(self, keys: Iterable[tuple[str, str]]) -> None:
        """Remove workbooks, given as (root, path), with all their sheets and found links."""
        gone = list(keys)
        with self._writing(gone) as connection:
            tables = LinkTables(connection)
            for root, path in gone:
                before = unlink(tables, tables.sheets_of(root, path))
                self._drop_spellings(connection, self._delete_workbook(connection, root, path))
                relink(tables, before)
                # Formulas may now mean another workbook of that name.
                connect_externals(tables, tables.sources_of(file_key(path)))

    def put_sheets(self, rows: Sequence[SheetRow], claims: Claims = NO_CLAIMS) -> None:
        """Add sheets without a file; each replaces a sheet of the same id."""
        last = {row.record.sheet_id: row for row in rows}  # the last one of each id
        with self._writing(rows=list(last.values())) as connection:
            tables = LinkTables(connection)
            homes = workbooks_of(connection, list(last))
            before = unlink(tables, list(last), claims)
            dropped = self._delete_sheets(connection, ids_of(connection, list(last)))
            added = self._insert_sheets(connection, list(last.values()), None)
            put_groups(connection, list(last.values()))
            self._drop_spellings(connection, dropped - added)
            relink(tables, before, Discovery(claims=claims))
            self._seal(connection, homes)

    def remove_sheets(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets with the links found for them, and return how many existed."""
        with self._writing() as connection:
            tables = LinkTables(connection)
            homes = workbooks_of(connection, sheet_ids)
            before = unlink(tables, sheet_ids)
            ids = ids_of(connection, sheet_ids)
            self._drop_spellings(connection, self._delete_sheets(connection, ids))
            relink(tables, before)
            self._seal(connection, homes)
        return len(ids)

    def put_links(self, links: Iterable[Link]) -> None:
        """Add links that a user gives; each replaces one with the same ends and type."""
        with self._writing() as connection:
            LinkTables(connection).put(links, Origin.GIVEN)

    def relink_sheets(self, found: Iterable[tuple[Sequence[str], Discovery]]) -> None:
        """Replace the links and claims of workbooks without a file.

        Args:
            found: Sheet ids of each workbook, and its links and claims.
        """
        with self._writing() as connection:
            tables = LinkTables(connection)
            for sheet_ids, discovery in found:
                before = unlink(tables, sheet_ids, discovery.claims)
                tables.drop_claims(sheet_ids)
                relink(tables, before, discovery)

    def note(self, meta: Mapping[str, str | None]) -> None:
        """Write notes about the index as a whole; None removes a key.

        Raises:
            IndexStorageError: If the file cannot be written.
        """
        with self._writing() as connection:
            put_meta(connection, meta)

    def permit(
        self, groups: Iterable[tuple[str, Sequence[str]]], meta: Mapping[str, str | None]
    ) -> None:
        """Replace the groups of some sheets, and the notes about permissions.

        Args:
            groups: Sheet ids, and the groups that may see each.
            meta: New values by key; None removes a key.

        Raises:
            IndexStorageError: If the store cannot be written, or the role may not protect it.
        """
        with self._writing() as connection:
            change_groups(connection, groups)
            put_meta(connection, meta)
            if RESTRICTED in meta:
                self._protect(connection, protected=meta[RESTRICTED] is not None)

    def settle_families(self) -> None:
        """Link every family of periods and group all copies that a change touched."""
        while self._rows("SELECT 1 FROM stale_families LIMIT 1"):
            with self._writing() as connection:
                tables = LinkTables(connection)
                for family in tables.stale_families(_FAMILIES):
                    connect_family(tables, family)
        while self._rows("SELECT 1 FROM stale_copies LIMIT 1"):
            with self._writing() as connection:
                CopyTables(connection).group_stale(_COPIES)

    def _delete_workbook(self, connection: Opened, root: str, path: str) -> set[str]:
        """Remove a workbook, if it exists, with all its sheets; return their spellings."""
        sql = (
            "SELECT s.id FROM sheets s JOIN workbooks w ON w.id = s.workbook_id "
            "WHERE w.root = ? AND w.path = ?"
        )
        ids = [row[0] for row in connection.execute(sql, (root, path)).fetchall()]
        dropped = self._delete_sheets(connection, ids)
        connection.execute("DELETE FROM workbooks WHERE root = ? AND path = ?", (root, path))
        return dropped


def put_meta(connection: Session, meta: Mapping[str, str | None]) -> None:
    """Write notes about the index as a whole; None removes a key."""
    for key, value in meta.items():
        connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        if value is not None:
            connection.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))
