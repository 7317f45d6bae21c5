"""Change a store: which rows and links come and go together, whatever the database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from sat_retriever.index.store.claims import ClaimTables, row_ids
from sat_retriever.index.store.links import LinkTable, Origin
from sat_retriever.index.store.permissions import RESTRICTED, change_groups, put_groups
from sat_retriever.index.store.relink import STEPS, relink, unlink
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.store.session import Session
from sat_retriever.index.store.unsettled import Kind, Unsettled
from sat_retriever.index.store.write import (
    clash,
    holders,
    insert_workbooks,
    workbooks_at,
    workbooks_of,
)
from sat_retriever.links.claims import NO_CLAIMS, Claims, Discovery, gathered, without
from sat_retriever.links.formula.scope import file_key
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Skipped

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
        self, connection: Opened, rows: Sequence[tuple[int | None, SheetRow]]
    ) -> set[str]:
        """Add sheets, each with its workbook's id, if any; return the spellings they have."""

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

    def replace_workbooks(self, books: Sequence[NewWorkbook]) -> list[tuple[Skipped, ...]]:
        """Replace workbooks, with their sheets and links, by new states.

        Args:
            books: The workbooks; no two have a path or the id of a sheet in common.

        Returns:
            The sheets of each that are left out because another workbook already has their id.
        """
        rows = [row for book in books for row in book.rows]
        keys = [key for book in books for key in book.keys]
        with self._writing(keys, rows) as connection:
            held = holders(connection, [row.record.sheet_id for row in rows])
            moved = {(root, book.state.path) for book in books for root in book.left}
            gone = {*keys, *moved.intersection(held.values())}
            dropped = self._drop_workbooks(connection, gone)
            taken = holders(connection, list(held))
            clashes = [
                tuple(
                    clash(row, book.state.root, taken[row.record.sheet_id][0])
                    for row in book.rows
                    if row.record.sheet_id in taken
                )
                for book in books
            ]
            ids = insert_workbooks(connection, [book.state for book in books], clashes)
            placed = [
                (number, row)
                for number, book in zip(ids, books, strict=True)
                for row in book.rows
                if row.record.sheet_id not in taken
            ]
            added = self._insert_sheets(connection, placed)
            put_groups(connection, [row for _number, row in placed])
            self._drop_spellings(connection, dropped - added)
            found = gathered(book.discovery for book in books)
            relink(connection, without(found, taken.keys()))
            self._seal(connection, ids)
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
            self._drop_spellings(connection, self._drop_workbooks(connection, gone))

    def put_sheets(self, rows: Sequence[SheetRow], claims: Claims = NO_CLAIMS) -> None:
        """Add sheets without a file; each replaces a sheet of the same id."""
        last = {row.record.sheet_id: row for row in rows}  # the last one of each id
        with self._writing(rows=list(last.values())) as connection:
            homes = workbooks_of(connection, list(last))
            dropped = self._drop_sheets(connection, row_ids(connection, list(last)))
            added = self._insert_sheets(connection, [(None, row) for row in last.values()])
            put_groups(connection, list(last.values()))
            self._drop_spellings(connection, dropped - added)
            relink(connection, Discovery(claims=claims))
            self._seal(connection, homes)

    def remove_sheets(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets with the links found for them, and return how many existed."""
        with self._writing() as connection:
            homes = workbooks_of(connection, sheet_ids)
            found = row_ids(connection, sheet_ids)
            self._drop_spellings(connection, self._drop_sheets(connection, found))
            self._seal(connection, homes)
        return len(found)

    def put_links(self, links: Iterable[Link]) -> None:
        """Add links that a user gives; each replaces one with the same ends and type."""
        with self._writing() as connection:
            LinkTable(connection).put(links, Origin.GIVEN)

    def relink_sheets(self, found: Iterable[tuple[Sequence[str], Discovery]]) -> None:
        """Replace the links and claims of workbooks without a file.

        Args:
            found: Sheet ids of each workbook, and its links and claims.
        """
        books = list(found)
        sheet_ids = [each for ids, _discovery in books for each in ids]
        with self._writing() as connection:
            unlink(connection, sheet_ids)
            ClaimTables(connection).drop(sheet_ids)
            relink(connection, gathered(discovery for _ids, discovery in books))

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

    def settle(self) -> None:
        """Find the links and groups of copies of all that changes touched, page by page."""
        for noted, step in STEPS:
            while self._rows(f"SELECT 1 FROM {noted} LIMIT 1"):
                with self._writing() as connection:
                    step(connection)

    def _drop_workbooks(self, connection: Opened, keys: Collection[tuple[str, str]]) -> set[str]:
        """Remove those workbooks that exist, with their sheets; return their spellings.

        References to the name of each may mean another workbook from now on.
        """
        ids, sheets = workbooks_at(connection, keys)
        dropped = self._drop_sheets(connection, sheets)
        if ids:
            listed, value = connection.listed(ids, "bigint")
            connection.execute(f"DELETE FROM workbooks WHERE id IN {listed}", (value,))
        Unsettled(connection).note(Kind.FILE, (file_key(path) for _root, path in keys))
        return dropped

    def _drop_sheets(self, connection: Opened, sheets: Mapping[str, int]) -> set[str]:
        """Remove sheets, given as row ids by sheet id, with found links; return their spellings."""
        if not sheets:
            return set()
        unlink(connection, list(sheets))
        return self._delete_sheets(connection, list(sheets.values()))


def put_meta(connection: Session, meta: Mapping[str, str | None]) -> None:
    """Write notes about the index as a whole; None removes a key."""
    for key, value in meta.items():
        connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        if value is not None:
            connection.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, value))
