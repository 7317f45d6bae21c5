"""Made workbooks written, indexed by the real reader, and held against the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sat_retriever import SheetIndex
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import ColumnType, SheetRecord
from sat_retriever.synth.book.model import Book
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.calculate.evaluate import Values
from sat_retriever.synth.truth.links import true_links, true_siblings
from sat_retriever.synth.truth.records import true_records
from sat_retriever.synth.write.xlsx import write_xlsx
from tests.fakes import HashedEncoder

KINDS = ("formula_reference", "aggregation", "summary_source", "sibling_period")
"""Joins are left out: values show many that no formula does."""
OTHERWISE = {ColumnType.TEXT: (ColumnType.INTEGER,), ColumnType.INTEGER: (ColumnType.EMPTY,)}
Truth = tuple[list[SheetRecord], list[Link], set[str]]


def check_read_back(books: Sequence[Book], folder: Path) -> None:
    """An index of the written workbooks has the records and links that were meant."""
    records, links, silent = _written(books, folder / "books")
    with SheetIndex.create(folder / "index.sat", HashedEncoder()) as index:
        report = index.sync(folder / "books", workers=1)
        found = index.records([record.sheet_id for record in records])
        every = list(index.all_links())
    assert report.skipped == ()
    assert len(found) == len(records)
    for record in records:
        assert _seen(found[record.sheet_id], record) == _seen(record, record)
    meant = {(link.source, link.target, str(link.type)) for link in links}
    read = {
        (link.source, link.target, str(link.type)) for link in every if link.source not in silent
    }
    for kind in KINDS:
        assert {ends for ends in read if ends[2] == kind} == {
            ends for ends in meant if ends[2] == kind
        }


def _written(books: Sequence[Book], folder: Path) -> Truth:
    """True records and links, and sheets without facts: what no sibling is meant of."""
    by_path = {book.path: book for book in books}
    values = Values(by_path.get)
    records: list[SheetRecord] = []
    links: list[Link] = []
    facts, silent = [], set()
    for book in books:
        ready = compiled(book, by_path.get, values)
        write_xlsx(ready, folder / book.path)
        own = true_records(ready)
        records += own
        links += true_links(ready)
        for sheet, record in zip(book.sheets, own, strict=True):
            if sheet.facts:
                facts.append(replace(sheet.facts, sheet_id=record.sheet_id))
            else:
                silent.add(record.sheet_id)
    return records, links + true_siblings(facts), silent


def _seen(record: SheetRecord, meant: SheetRecord) -> object:
    """Names, place, headers, types and units.

    The number of data rows is left out: the reader takes the sums of a statement for totals, the
    truth for lines of it, and either may be said. A column that only such lines fill is then empty,
    and texts of whole numbers that recur are integers.
    """
    columns = [
        (column.name, own.type if column.type in OTHERWISE.get(own.type, ()) else column.type,
         column.unit)
        for column, own in zip(record.columns, meant.columns, strict=True)
    ]  # fmt: skip
    main = record.tables[0]
    table = (main.range, main.header_row, main.header_height, main.name)
    shape = (record.range, record.num_rows, record.num_cols, record.visibility, record.formulas)
    return record.sheet, record.path, columns, table, shape
