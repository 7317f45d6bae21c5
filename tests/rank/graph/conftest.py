"""A small index with links, and a trained-like reranker for it."""

from __future__ import annotations

import pytest

from sat_retriever import Column, Link, SheetIndex, SheetRecord
from tests.fakes import HashedEncoder

WORDS = ("sales", "stock", "plan", "tax", "staff", "orders", "region")


def sheet(name, *headers, **fields):
    return SheetRecord(name, name, columns=tuple(Column(h) for h in headers), **fields)


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """210 sheets of seven kinds, linked in a chain; never changed by a test."""
    records = [
        sheet(
            f"{WORDS[i % 7]} {i:03}",
            *(f"{WORDS[(i + step) % 7]} amount" for step in range(i % 4)),
            workbook=f"book {i // 10}.xlsx" if i % 3 else "",
            num_rows=i % 11 or None,
            num_cols=i % 4,
            metadata={"half": "first" if i < 105 else "second"},
        )
        for i in range(210)
    ]
    chain = [
        Link(records[i].sheet_id, records[(i * 7 + 3) % 210].sheet_id, kind, 0.5)
        for i in range(210)
        for kind in ("formula_reference", "join_key")
        if (i * 7 + 3) % 210 != i
    ]
    path = tmp_path_factory.mktemp("index") / "large.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        index.add_records(records, chain, find_links=False)
        yield index


@pytest.fixture
def index(tmp_path):
    """A summary of the first quarter; the second quarter shares its headers."""
    records = [
        sheet("summary", "Total sales"),
        sheet("q1", "Region", "Amount"),
        sheet("q2", "Region", "Amount"),
        sheet("sales notes", "Text"),
    ]
    links = [Link("summary", "q1", "formula_reference", 1.0, "summary!A1 =q1!A1")]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(512)) as opened:
        opened.add_records(records, links, find_links=False)
        yield opened
