"""Count statements and seconds of writing to PostgreSQL: workbooks, sheets without files, a move.

    python -m benchmarks run postgres_writes [--sheets 10000]

Workbooks of a made company, with notes in their cells and random tokens, are written to a server
of one's own: in batches as `sat index` does, settled, some of them replaced, put as sheets without
files, and moved there from an index file. A second table shows the same for the file.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.made.company import Book, Maker
from benchmarks.pgserver import new_server
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from sat_retriever.index.store.opening import create_store, migrate_store
from sat_retriever.index.store.place import IndexUrl, Place, place_of
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.store.store import Store
from sat_retriever.index.sync.executor import BATCH_SHEETS
from sat_retriever.index.sync.sync import Storing
from sat_retriever.links.claims import discover
from sat_retriever.links.copies.claims import copy_claims
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import Structure

WIDTH = 256  # of tokens
NOTES = 8  # texts of a sheet
REPLACED = 100  # workbooks that are written again
_ASKING = ("execute", "executemany", "copy")  # methods of a session: one round trip each, or none


class Steps:
    """Seconds and statements of each step."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, int]] = []

    def time(self, name: str, step: Callable[[], object]) -> None:
        """Run a step."""
        with _counted() as asked:
            before = time.perf_counter()
            step()
            self.rows.append((name, time.perf_counter() - before, len(asked)))


@contextmanager
def _counted() -> Iterator[list[str]]:
    """The statements that are run in the block."""
    asked: list[str] = []
    kept = {name: getattr(PostgresSession, name) for name in _ASKING}
    for name, method in kept.items():

        def counted(self: object, sql: str, *values: object, method: object = method) -> object:
            asked.append(sql)
            assert callable(method)
            return method(self, sql, *values)

        setattr(PostgresSession, name, counted)
    try:
        yield asked
    finally:
        for name, method in kept.items():
            setattr(PostgresSession, name, method)


def made_books(sheets: int) -> list[NewWorkbook]:
    """Workbooks with about so many sheets, the same ones each time."""
    random = np.random.default_rng(0)
    return [_new(book, random) for book in Maker(0).books(sheets)]


def _new(book: Book, random: np.random.Generator) -> NewWorkbook:
    records = [replace(each, contents=_notes(each)) for each in book.records]
    found = discover(records, book.references, Structure(), book.profiles)
    found = replace(found, claims=replace(found.claims, copies=copy_claims(records)))
    tokens = random.standard_normal((len(records), WIDTH)).astype(np.float32)
    tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
    rows = [SheetRow(x, t) for x, t in zip(records, tokens, strict=True)]
    return NewWorkbook(WorkbookState("/made", records[0].path, 1, 1, 1, "0" * 64), rows, found)


def _notes(record: SheetRecord) -> SheetContents:
    texts = (CellText(f"A{n}", f"{record.sheet} {n} of {record.path}") for n in range(1, NOTES + 1))
    return SheetContents(notes=tuple(texts))


def written(place: Place, books: Sequence[NewWorkbook], steps: Steps) -> None:
    """Write workbooks to a new index, and some of them again."""
    with closing(create_store(place, {"width": str(WIDTH)})) as store:
        steps.time("workbooks", lambda: _store(store, books))
        steps.time("settled", store.settle)
        steps.time(f"{REPLACED} replaced", lambda: _store(store, books[:REPLACED]))
        steps.time("settled again", store.settle)


def _store(store: Store, books: Sequence[NewWorkbook]) -> None:
    storing = Storing(store)
    for book in books:
        storing.add(book, lambda _: None)
    storing.flush()


def put(place: Place, rows: Sequence[SheetRow]) -> None:
    """Put sheets without files into a new index."""
    with closing(create_store(place, {"width": str(WIDTH)})) as store:
        for start in range(0, len(rows), 8 * BATCH_SHEETS):
            store.put_sheets(rows[start : start + 8 * BATCH_SHEETS])
        store.settle()


@suite("postgres_writes", sheets=10_000)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    books = made_books(options.sheets)
    rows = [row for book in books for row in book.rows]
    with tempfile.TemporaryDirectory() as folder, new_server() as server:
        file = Path(folder, "index.sat")
        here, there = Steps(), Steps()
        written(file, books, here)
        written(place_of(server.url("written")), books, there)
        there.time("put, settled", lambda: put(place_of(server.url("put")), rows))
        moved = place_of(server.url("moved"))
        assert isinstance(moved, IndexUrl)
        there.time("moved", lambda: migrate_store(file, moved))
    for title, steps in (("file", here), ("PostgreSQL", there)):
        metrics: dict[str, float] = {"workbooks": len(books), "sheets": len(rows)}
        for name, seconds, asked in steps.rows:
            step = name.replace(", ", "_").replace(" ", "_")
            metrics |= {f"{step}_s": round(seconds, 2), f"{step}_statements": asked}
        yield Result(title, f"made_{len(rows)}", metrics)
