"""Store records, tokens, links and the lexical index in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.connection import create_file, identity_of, is_writable, open_file
from sat_retriever.index.store.copies import CopyTables
from sat_retriever.index.store.damage import Damage, check_file, find_damage, seal
from sat_retriever.index.store.links import LinkTables, Origin
from sat_retriever.index.store.reading import StoreReader
from sat_retriever.index.store.relink import connect_externals, connect_family, relink, unlink
from sat_retriever.index.store.repair import take_out
from sat_retriever.index.store.rows import SheetRow, WorkbookState
from sat_retriever.index.store.words import check_words, drop_spellings, merge_words
from sat_retriever.index.store.write import (
    clash,
    delete_sheets,
    delete_workbook,
    holders,
    ids_of,
    insert_sheets,
    insert_workbook,
    workbooks_of,
)
from sat_retriever.links.claims import NO_CLAIMS, NOTHING, Claims, Discovery, without
from sat_retriever.links.formula.external import file_key
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Skipped
from sat_retriever.remote.url import joined, under

_FAMILIES = 256  # families linked anew in one transaction
_COPIES = 2_048  # sheets grouped anew in one transaction, beside the rest of their groups


class SqliteStore(StoreReader):
    """A reader and writer of one index file; every method that writes is one transaction."""

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> SqliteStore:
        """Create a new, empty store; the file appears whole or not at all.

        Raises:
            InputError: If there is already a file at `path`.
            IndexStorageError: If the folder is not writable.
        """
        create_file(path, meta)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, busy_timeout_s: float = 10.0) -> SqliteStore:
        """Open an existing store, read-only if file or folder is not writable.

        Raises:
            IndexNotFoundError: If there is no such file.
            IndexFormatError: If it is not an index, or was written by a newer version.
            IndexBusyError: If another process held it for longer than the time-out.
        """
        identity = identity_of(path)  # before it is opened: a false error does no harm
        connection = open_file(path, busy_timeout_s=busy_timeout_s)
        return cls(connection, path, writable=is_writable(path), identity=identity)

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
        with self._writing() as connection:
            tables = LinkTables(connection)
            moved = {(root, state.path) for root in left}
            keys += sorted(moved.intersection(holders(connection, rows).values()))
            going = [sheet_id for key in keys for sheet_id in tables.sheets_of(*key)]
            before = unlink(tables, going, discovery.claims)
            dropped = {word for key in keys for word in delete_workbook(connection, *key)}
            taken = holders(connection, rows)
            clashes = tuple(
                clash(row, state.root, taken[row.record.sheet_id][0])
                for row in rows
                if row.record.sheet_id in taken
            )
            workbook_id = insert_workbook(connection, state, clashes)
            free = [row for row in rows if row.record.sheet_id not in taken]
            added = insert_sheets(connection, free, workbook_id)
            drop_spellings(connection, dropped - added)
            relink(tables, before, without(discovery, taken.keys()))
            connect_externals(tables, tables.sources_of(file_key(state.path)))
            seal(connection, [workbook_id])
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
        with self._writing() as connection:
            tables = LinkTables(connection)
            for root, path in keys:
                before = unlink(tables, tables.sheets_of(root, path))
                drop_spellings(connection, delete_workbook(connection, root, path))
                relink(tables, before)
                # Formulas may now mean another workbook of that name.
                connect_externals(tables, tables.sources_of(file_key(path)))

    def put_sheets(self, rows: Sequence[SheetRow], claims: Claims = NO_CLAIMS) -> None:
        """Add sheets without a file; each replaces a sheet of the same id."""
        last = {row.record.sheet_id: row for row in rows}  # the last one of each id
        with self._writing() as connection:
            tables = LinkTables(connection)
            homes = workbooks_of(connection, list(last))
            before = unlink(tables, list(last), claims)
            dropped = delete_sheets(connection, ids_of(connection, list(last)))
            added = insert_sheets(connection, list(last.values()), None)
            drop_spellings(connection, dropped - added)
            relink(tables, before, Discovery(claims=claims))
            seal(connection, homes)

    def remove_sheets(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets with the links found for them, and return how many existed."""
        with self._writing() as connection:
            tables = LinkTables(connection)
            homes = workbooks_of(connection, sheet_ids)
            before = unlink(tables, sheet_ids)
            ids = ids_of(connection, sheet_ids)
            drop_spellings(connection, delete_sheets(connection, ids))
            relink(tables, before)
            seal(connection, homes)
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

    def replace_tokens(
        self, tokens: Iterable[tuple[int, bytes, bytes | None]], meta: Mapping[str, str | None]
    ) -> None:
        """Replace all tokens, and the notes about them, or nothing.

        Args:
            tokens: Row id and token of every sheet, and the token of its contents; None without.
            meta: New values by key; None removes a key.

        Raises:
            IndexStorageError: If the file cannot be written, or there is not one token per sheet.
        """
        with self._writing() as connection:
            connection.execute("DELETE FROM contents_tokens")
            done = 0
            for row_id, token, second in tokens:
                update = "UPDATE tokens SET token = ? WHERE id = ?"
                done += connection.execute(update, (token, row_id)).rowcount
                if second is not None:
                    insert = "INSERT INTO contents_tokens (id, token) VALUES (?, ?)"
                    connection.execute(insert, (row_id, second))
            sheets = connection.execute("SELECT count(*) FROM tokens").fetchone()[0]
            if done != sheets:
                raise IndexStorageError(
                    f"{done:,} new tokens do not fit the {sheets:,} sheets of {self.path}; another "
                    "program changed it meanwhile, try again"
                )
            _put_meta(connection, meta)
            sealed = "SELECT id FROM workbooks WHERE seal != ''"
            seal(connection, [row[0] for row in connection.execute(sealed).fetchall()])

    def note(self, meta: Mapping[str, str | None]) -> None:
        """Write notes about the index as a whole; None removes a key.

        Raises:
            IndexStorageError: If the file cannot be written.
        """
        with self._writing() as connection:
            _put_meta(connection, meta)

    def repair(self, width: int) -> Damage:
        """Delete every damaged row; reading its workbook again replaces it.

        Args:
            width: Token width d.

        Returns:
            The damage.

        Raises:
            IndexFormatError: If the file itself is broken.
        """
        with self._writing() as connection:
            check_words(connection)
            check_file(connection, self.path)
            damage = find_damage(connection, width)
            take_out(connection, damage)
        return damage

    def forget_words(self) -> None:
        """Take the words of deleted sheets out of the file, which only marks them as deleted."""
        with self._writing() as connection:
            merge_words(connection)

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        """Return root and path of the damaged workbooks that were not read again since."""
        ids = [workbook_id for workbook_id, _root, _path in damage.workbooks]
        return self._in("SELECT root, path FROM workbooks WHERE seal = '' AND id IN ({})", ids)

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


def _put_meta(connection: sqlite3.Connection, meta: Mapping[str, str | None]) -> None:
    for key, value in meta.items():
        connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        if value is not None:
            connection.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
