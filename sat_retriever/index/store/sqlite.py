"""A store in one SQLite file: its transactions, its only writer, and its own statements."""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.errors import IndexBusyError, IndexStorageError
from sat_retriever.index.store.conditions import sqlite_conditions
from sat_retriever.index.store.connection import (
    SIDE_FILES,
    create_file,
    identity_of,
    is_writable,
    open_file,
    translated,
)
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.damage import Damage, check_file, find_damage, seal, take_out
from sat_retriever.index.store.links import StoredLinks
from sat_retriever.index.store.rows import (
    LEXICAL_FIELDS,
    FileConnection,
    IdArray,
    RowToken,
    SheetRow,
)
from sat_retriever.index.store.store import Store
from sat_retriever.index.store.words import check_words, drop_spellings, merge_words, quoted
from sat_retriever.index.store.write import delete_sheets, insert_sheets
from sat_retriever.records.files import draft_of

WRITER_WAIT_S = 10.0  # time that a second writer waits for the first
_LOCK = ".lock"
BESIDE = "-snapshot"
_CHUNK = 500  # values in one IN (...) list; SQLite's own limit was 999 for a long time


class SqliteStore(Store):
    """One open index file; may be shared between threads.

    Readers see all of a write or none, even after a process was killed half-way. They never wait
    for a writer (WAL).
    """

    path: Path
    kept_by_readers = False  # readers may lack the right to write beside the file
    counted = {  # noqa: RUF012 - never changed
        "format": "format",
        "visibility": "visibility",
        "formulas": "coalesce(json_extract(record, '$.formulas'), 'none')",
    }

    def __init__(
        self, connection: FileConnection, path: Path, *, writable: bool, identity: tuple[int, ...]
    ) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self.identity = identity  # of the path just before the file was opened
        self.path = path
        self.writable = writable
        self.links = StoredLinks(self._rows, self._in, connection.listed, self._translated)
        self.copies = StoredCopies(self._rows, self._in, sqlite_conditions)

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> SqliteStore:
        create_file(path, meta)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> SqliteStore:
        identity = identity_of(path)  # before it is opened: a false error does no harm
        connection = open_file(path)
        return cls(connection, path, writable=is_writable(path), identity=identity)

    @property
    def own_files(self) -> frozenset[Path]:
        path = self.path.resolve()
        beside = (path.with_name(path.name + end) for end in ("", *SIDE_FILES, _LOCK))
        return frozenset((*beside, *path.with_name(path.name + BESIDE).rglob("*")))

    @property
    def beside(self) -> Path | None:
        return self.path.with_name(self.path.name + BESIDE)

    def bytes(self) -> int:
        return int(self.path.stat().st_size)

    def copy_to(self, path: Path) -> None:
        with (
            draft_of(path) as draft, self._lock, translated(path),
            closing(sqlite3.connect(draft)) as target,
        ):  # fmt: skip
            draft.chmod(stat.S_IMODE(self.path.stat().st_mode) | stat.S_IWUSR)
            self._connection.backup(target)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def delete(self) -> None:
        path = self.path.resolve()
        self.close()
        try:
            # The lock last: a writer that waited for it must not find the file.
            for end in (*SIDE_FILES, "", _LOCK):
                path.with_name(path.name + end).unlink(missing_ok=True)
        except OSError as error:
            raise IndexStorageError(f"cannot delete {self.path}: {error.strerror}") from error

    def writing_beside_others(self) -> AbstractContextManager[None]:
        return self.sole_writer()  # a file has one writer

    @contextmanager
    def sole_writer(self) -> Iterator[None]:
        self._check_writable()
        with sole_writer_of(self.path):
            if identity_of(self.path) != self.identity:  # a write to it would be lost
                raise IndexStorageError(
                    f"{self.path} was deleted or replaced meanwhile; open it again, or index anew"
                )
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._lock, self._translated():
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def answering(self) -> AbstractContextManager[None]:
        return nullcontext()  # blocks cost little, and other threads must not wait for an answer

    @contextmanager
    def _writing(
        self, workbooks: Iterable[tuple[str, str]] = (), rows: Sequence[SheetRow] = ()
    ) -> Iterator[FileConnection]:
        self._check_writable()
        with self._lock, translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute(
                    "INSERT INTO meta VALUES ('generation', '1') ON CONFLICT (key) "
                    "DO UPDATE SET value = CAST(value AS INTEGER) + 1"
                )
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _check_writable(self) -> None:
        if not self.writable:
            raise IndexStorageError(f"{self.path} is read-only; copy it to a writable folder")

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.path)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock, self._translated():
            return self._connection.execute(sql, values).fetchall()

    def _in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for start in range(0, len(values), _CHUNK):
            part = values[start : start + _CHUNK]
            found.extend(self._rows(sql.format(",".join("?" * len(part))), part))
        return found

    # ---- readings

    def _ids(self, name: str, source: str, order: str, values: Sequence[Any] = ()) -> IdArray:
        # As a JSON array, which NumPy parses many times faster than rows.
        sql = f"SELECT json_group_array(n) FROM (SELECT {name} AS n FROM {source} ORDER BY {order})"
        text = self._rows(sql, values)[0][0][1:-1]
        return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)

    def _stream(self, sql: str, values: Sequence[Any]) -> Generator[Sequence[Any]]:
        with self._lock:
            yield from self._connection.execute(sql, values)

    def _tokens_in(self, ids: Sequence[int]) -> list[Any]:
        # A tenth of the time of a list of placeholders.
        sql = "SELECT t.id, t.token FROM json_each(?) j JOIN tokens t ON t.id = j.value"
        return self._rows(sql, (json.dumps(ids),))

    def common_words(self, least: int, *, contents: bool) -> list[str]:
        table = "content_words" if contents else "lexical"
        name = f"temp.all_{table}"
        self._rows(f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab(main, {table}, row)")
        sql = f"SELECT term FROM {name} WHERE doc >= ? ORDER BY term"
        return [row[0] for row in self._rows(sql, (least,))]

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        found = "lexical WHERE lexical MATCH ? AND rowid > ?"
        return tuple(
            self._ids("rowid", found, "rowid", (f"{field} : {quoted(word)}", after))
            for field in LEXICAL_FIELDS
        )

    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        return map(self.postings, words)

    def content_postings(self, word: str, after: int = -1, most: int | None = None) -> IdArray:
        found = "content_words WHERE content_words MATCH ? AND rowid > ?"
        values = quoted(word), after, -1 if most is None else most
        return self._ids("rowid", found, "rowid LIMIT ?", values)

    def all_content_postings(self, words: Sequence[str]) -> Iterator[IdArray]:
        return map(self.content_postings, words)

    def has_field(self, name: str) -> bool:
        sql = "SELECT 1 FROM sheets, json_each(sheets.metadata) WHERE key = ? LIMIT 1"
        return bool(self._rows(sql, (name,)))

    def fields(self) -> list[str]:
        sql = "SELECT DISTINCT key FROM sheets, json_each(sheets.metadata) ORDER BY key"
        return [row[0] for row in self._rows(sql)]

    # ---- changes

    def _replace_tokens(
        self, connection: FileConnection, tokens: Iterable[RowToken], _width: int, /
    ) -> int:
        update = "UPDATE tokens SET token = ? WHERE id = ?"
        done = sum(connection.execute(update, (token, row)).rowcount for row, token in tokens)
        sealed = "SELECT id FROM workbooks WHERE seal != ''"
        seal(connection, [row[0] for row in connection.execute(sealed).fetchall()])
        return done

    def _find_damage(self, connection: FileConnection, width: int, /) -> Damage:
        check_words(connection)
        check_file(connection, self.path)
        return find_damage(connection, width)

    def forget_words(self) -> None:
        with self._writing() as connection:
            merge_words(connection)

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        ids = [workbook_id for workbook_id, _root, _path in damage.workbooks]
        return self._in("SELECT root, path FROM workbooks WHERE seal = '' AND id IN ({})", ids)

    _insert_sheets = staticmethod(insert_sheets)
    _delete_sheets = staticmethod(delete_sheets)
    _drop_spellings = staticmethod(drop_spellings)
    _take_out = staticmethod(take_out)
    _seal = staticmethod(seal)


@contextmanager
def sole_writer_of(path: Path) -> Iterator[None]:
    """Keep other processes from writing to an index file; raises `IndexBusyError`."""
    from filelock import FileLock, Timeout

    lock = FileLock(f"{path}{_LOCK}", timeout=WRITER_WAIT_S)
    try:
        lock.acquire()
    except Timeout as error:
        raise IndexBusyError(
            f"another process is writing to {path}; try again when it has finished"
        ) from error
    try:
        yield
    finally:
        lock.release()
