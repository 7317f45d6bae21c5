"""How often a write asks the server, whatever it writes."""

from __future__ import annotations

import pytest

from sat_retriever import SheetIndex, SheetRecord
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.records.sheets import Column
from tests.fakes import HashedEncoder
from tests.index.store.postgres.test_writers import KINDS, PLACES, book

MOST = 50  # for a whole batch


@pytest.fixture
def asked(monkeypatch):
    """The statements that were run."""
    found = []
    for name in ("execute", "executemany", "copy"):
        real = getattr(PostgresSession, name)

        def counted(self, sql, *values, real=real):
            found.append(sql)
            return real(self, sql, *values)

        monkeypatch.setattr(PostgresSession, name, counted)
    return found


def test_a_batch_takes_as_many_statements_as_one_workbook(url, asked):
    books = [book(f"{kind}-{place}") for kind in KINDS for place in PLACES]
    with SheetIndex.create(url, HashedEncoder()) as index:
        store = index._store
        counts = []
        for batch in (books[:1], books[1:], books[:1], books[1:]):  # new, then replaced
            asked.clear()
            store.replace_workbooks(batch)
            counts.append(len(asked))
    assert counts[0] == counts[1] and counts[2] == counts[3]
    assert max(counts) <= MOST


def test_settling_many_workbooks_asks_by_the_page(url, asked):
    with SheetIndex.create(url, HashedEncoder()) as index:
        store = index._store
        store.replace_workbooks([book(f"{kind}-{place}") for kind in KINDS for place in PLACES])
        asked.clear()
        store.settle()
        assert len(asked) <= 2 * MOST
        assert "join_key" in store.links.counts()


def test_records_come_in_with_a_few_statements_for_a_thousand(url, asked):
    records = [
        SheetRecord(f"{n}", f"Sheet {n}", columns=(Column(f"key {n} id"), Column("x")))
        for n in range(1_000)
    ]
    with SheetIndex.create(url, HashedEncoder()) as index:
        asked.clear()
        index.add_records(records)
        assert len(index) == 1_000
    assert len(asked) < 200
