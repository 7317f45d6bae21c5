"""A store: its changes, which make rows and links come and go together in any database."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.claims import ClaimTables, row_ids
from sat_retriever.index.store.damage import Damage
from sat_retriever.index.store.links import LinkTable, Origin
from sat_retriever.index.store.reader import StoreReader
from sat_retriever.index.store.relink import STEPS, NoteKind, Unsettled, relink, unlink
from sat_retriever.index.store.rows import (
    RESTRICTED,
    NewWorkbook,
    RowToken,
    Session,
    SheetRow,
    WorkbookState,
    run_in,
)
from sat_retriever.links.claims import NO_CLAIMS, Claims, Discovery, gathered, without
from sat_retriever.links.formula.scope import file_key
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Skipped, SkipReason

_WORKBOOK = "id root path file size mtime_ns checked_ns content_hash skipped within version".split()


class Store(StoreReader):
    """A store, open; every method that writes is one transaction."""

    # ---- what each database does in its own way

    @abstractmethod
    def _writing(
        self, workbooks: Iterable[tuple[str, str]] = (), rows: Sequence[SheetRow] = ()
    ) -> AbstractContextManager[Any]:
        """Open the transaction of one write, in a session that the methods below take.

        It replaces or removes workbooks, given by root and path, and may insert the sheets `rows`.
        """

    @abstractmethod
    def _insert_sheets(
        self, session: Any, rows: Sequence[tuple[int | None, SheetRow]], /
    ) -> set[str]:
        """Add sheets, each with its workbook's id, if any; return the spellings they have."""

    @abstractmethod
    def _delete_sheets(self, session: Any, ids: Sequence[int], /) -> set[str]:
        """Remove sheets by row id; return their spellings, which `_drop_spellings` drops."""

    @abstractmethod
    def _drop_spellings(self, session: Any, words: Iterable[str], /) -> None:
        """Drop those of some spellings that no sheet has, in names or contents."""

    def _seal(self, session: Any, workbook_ids: Iterable[int], /) -> None:
        """Store a digest of all rows of each workbook, if the store keeps any."""

    def _protect(self, session: Any, *, protected: bool) -> None:
        """Have the database hold back sheets by itself, or no longer, if it can."""

    @property
    @abstractmethod
    def own_files(self) -> frozenset[Path]:
        """Files of the store, which are no workbooks whatever they are called."""

    @abstractmethod
    def bytes(self) -> int:
        """Size of the store in bytes."""

    @abstractmethod
    def writing_beside_others(self) -> AbstractContextManager[None]:
        """Write in the block, beside other writers of other workbooks if the store allows them.

        Raises `IndexStorageError` if the store is read-only, or no longer at its place,
        `IndexBusyError` if another process needs it alone.
        """

    @abstractmethod
    def sole_writer(self) -> AbstractContextManager[None]:
        """Keep other processes from writing in the block; raises as `writing_beside_others`."""

    @abstractmethod
    def copy_to(self, path: Path) -> None:
        """Write the last complete state to an index file, which replaces an existing one.

        Raises `OutputError` if it cannot be written, `PermissionsError` if only some groups see it.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the store."""

    @abstractmethod
    def delete(self) -> None:
        """Release the store and delete it."""

    @abstractmethod
    def _replace_tokens(self, session: Any, tokens: Iterable[RowToken], width: int, /) -> int:
        """Replace tokens by row id, which have a width; return how many existed."""

    @abstractmethod
    def _find_damage(self, session: Any, width: int, /) -> Damage:
        """Compare all rows with their checksums; tokens have a width."""

    @abstractmethod
    def _take_out(self, session: Any, damage: Damage, /) -> None:
        """Delete damaged rows, so that every row left can be read."""

    @abstractmethod
    def forget_words(self) -> None:
        """Take the words of deleted sheets out of a file, which only marks them as deleted."""

    @abstractmethod
    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        """Root and path of the damaged workbooks that were not read again since."""

    # ---- what all databases do alike

    def replace_workbooks(self, books: Sequence[NewWorkbook]) -> list[tuple[Skipped, ...]]:
        """Replace workbooks, with sheets and links; no two share a path or the id of a sheet.

        Return the sheets of each that are left out because another workbook already has their id.
        """
        rows = [row for book in books for row in book.rows]
        keys = [key for book in books for key in book.keys]
        with self._writing(keys, rows) as connection:
            held = _holders(connection, [row.record.sheet_id for row in rows])
            moved = {(root, book.state.path) for book in books for root in book.left}
            gone = {*keys, *moved.intersection(held.values())}
            dropped = self._drop_workbooks(connection, gone)
            taken = _holders(connection, list(held))
            clashes = [
                tuple(
                    _clash(row, book.state.root, taken[row.record.sheet_id][0])
                    for row in book.rows
                    if row.record.sheet_id in taken
                )
                for book in books
            ]
            ids = _insert_workbooks(connection, [book.state for book in books], clashes)
            placed = [
                (number, row)
                for number, book in zip(ids, books, strict=True)
                for row in book.rows
                if row.record.sheet_id not in taken
            ]
            added = self._insert_sheets(connection, placed)
            _put_groups(connection, [(row.record.sheet_id, row.groups) for _, row in placed])
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
            homes = _workbooks_of(connection, list(last))
            dropped = self._drop_sheets(connection, row_ids(connection, list(last)))
            added = self._insert_sheets(connection, [(None, row) for row in last.values()])
            _put_groups(connection, [(each, row.groups) for each, row in last.items()])
            self._drop_spellings(connection, dropped - added)
            relink(connection, Discovery(claims=claims))
            self._seal(connection, homes)

    def remove_sheets(self, sheet_ids: Sequence[str]) -> int:
        """Remove sheets with the links found for them; return how many existed."""
        with self._writing() as connection:
            homes = _workbooks_of(connection, sheet_ids)
            found = row_ids(connection, sheet_ids)
            self._drop_spellings(connection, self._drop_sheets(connection, found))
            self._seal(connection, homes)
        return len(found)

    def put_links(self, links: Iterable[Link]) -> None:
        """Add links that a user gives; each replaces one with the same ends and type."""
        with self._writing() as connection:
            LinkTable(connection).put(links, Origin.GIVEN)

    def relink_sheets(self, found: Iterable[tuple[Sequence[str], Discovery]]) -> None:
        """Replace links and claims of workbooks without a file, given with their sheet ids."""
        books = list(found)
        sheet_ids = [each for ids, _discovery in books for each in ids]
        with self._writing() as connection:
            unlink(connection, sheet_ids)
            ClaimTables(connection).drop(sheet_ids)
            relink(connection, gathered(discovery for _ids, discovery in books))

    def note(self, meta: Mapping[str, str | None]) -> None:
        """Write notes about the index as a whole; None removes a key."""
        with self._writing() as connection:
            put_meta(connection, meta)

    def replace_tokens(self, tokens: Iterable[RowToken], meta: Mapping[str, str | None]) -> None:
        """Replace all tokens, and the notes about them (see `note`), or nothing."""
        with self._writing() as connection:
            done = self._replace_tokens(connection, tokens, int(meta["width"] or 0))
            sheets = connection.execute("SELECT count(*) FROM tokens").fetchall()[0][0]
            if done != sheets:
                raise IndexStorageError(
                    f"{done:,} new tokens do not fit the {sheets:,} sheets of {self.path}; another "
                    "program changed it meanwhile, try again"
                )
            put_meta(connection, meta)

    def repair(self, width: int) -> Damage:
        """Delete damaged rows, to be read again; `IndexFormatError` if a file itself is broken."""
        with self._writing() as connection:
            damage = self._find_damage(connection, width)
            self._take_out(connection, damage)
        return damage

    def permit(
        self, groups: Iterable[tuple[str, Sequence[str]]], meta: Mapping[str, str | None]
    ) -> None:
        """Replace the groups of some sheets, by sheet id, and notes about permissions."""
        with self._writing() as connection:
            given = list(groups)
            connection.executemany(
                "DELETE FROM permissions WHERE sheet = (SELECT id FROM sheets WHERE sheet_id = ?)",
                [(sheet_id,) for sheet_id, _names in given],
            )
            _put_groups(connection, given)
            put_meta(connection, meta)
            if RESTRICTED in meta:
                self._protect(connection, protected=meta[RESTRICTED] is not None)

    def settle(self) -> None:
        """Find, page by page, the links and groups of copies that changes left missing."""
        for noted, step in STEPS:
            while self._rows(f"SELECT 1 FROM {noted} LIMIT 1"):
                with self._writing() as connection:
                    step(connection)

    def _drop_workbooks(self, connection: Session, keys: Collection[tuple[str, str]]) -> set[str]:
        """Remove those workbooks that exist, with their sheets; return their spellings.

        References to the name of each may mean another workbook from now on.
        """
        ids, sheets = _workbooks_at(connection, keys)
        dropped = self._drop_sheets(connection, sheets)
        if ids:
            run_in(connection, "DELETE FROM workbooks WHERE id IN {}", ids, "bigint")
        Unsettled(connection).note(NoteKind.FILE, (file_key(path) for _root, path in keys))
        return dropped

    def _drop_sheets(self, connection: Session, sheets: Mapping[str, int]) -> set[str]:
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


def _put_groups(connection: Session, groups: Iterable[tuple[str, Sequence[str]]]) -> None:
    connection.executemany(
        "INSERT INTO permissions (sheet, name) SELECT id, ? FROM sheets WHERE sheet_id = ?",
        [(name, sheet_id) for sheet_id, names in groups for name in names],
    )


def _holders(connection: Session, sheet_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Root and path of the workbook of each taken sheet id; empty for one without a file."""
    rows = run_in(
        connection,
        "SELECT s.sheet_id, coalesce(w.root, ''), coalesce(w.path, '') FROM sheets s "
        "LEFT JOIN workbooks w ON w.id = s.workbook_id WHERE s.sheet_id IN {}",
        sheet_ids,
    )
    return {sheet_id: (root, path) for sheet_id, root, path in rows}


def _clash(row: SheetRow, root: str, other: str) -> Skipped:
    """The note on a sheet left out because another root, empty without a file, has its id."""
    record = row.record
    message = (
        f"the indexed folder {other} has a sheet {record.sheet_id!r}, so that of {root} is left "
        "out: index the folder that holds both instead"
        if other
        else f"a sheet {record.sheet_id!r} was added without a file, so that of {root} is left "
        "out: remove the other, and verify"
    )
    return Skipped(record.path, SkipReason.DUPLICATE_ID, message, record.sheet)


def _insert_workbooks(
    connection: Session, states: Sequence[WorkbookState], clashes: Sequence[Sequence[Skipped]]
) -> list[int]:
    ids = connection.new_ids("workbooks", len(states))
    connection.insert(
        "workbooks",
        _WORKBOOK,
        [
            (
                *(number, x.root, x.path, file_key(x.path), x.size, x.mtime_ns, x.checked_ns),
                *(x.content_hash, json.dumps(to_json([*x.skipped, *out])), x.within, x.version),
            )
            for number, x, out in zip(ids, states, clashes, strict=True)
        ],
    )
    return ids


def _workbooks_at(
    connection: Session, keys: Iterable[tuple[str, str]]
) -> tuple[list[int], dict[str, int]]:
    wanted = set(keys)
    (roots, first), (paths, second) = (
        connection.listed(sorted({key[place] for key in wanted})) for place in (0, 1)
    )
    rows = connection.execute(
        "SELECT w.id, w.root, w.path, s.id, s.sheet_id FROM workbooks w "
        "LEFT JOIN sheets s ON s.workbook_id = w.id "
        f"WHERE w.root IN {roots} AND w.path IN {paths} ORDER BY s.id",
        (first, second),
    ).fetchall()
    found = [(row[0], *row[3:]) for row in rows if (row[1], row[2]) in wanted]
    sheets = {sheet_id: row_id for _, row_id, sheet_id in found if row_id is not None}
    return sorted({workbook for workbook, *_ in found}), sheets


def _workbooks_of(connection: Session, sheet_ids: Sequence[str]) -> list[int]:
    sql = "SELECT DISTINCT workbook_id FROM sheets WHERE sheet_id IN {}"
    return sorted(row[0] for row in run_in(connection, sql, sheet_ids) if row[0])
