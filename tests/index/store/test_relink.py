"""The second pass over links: the same result in any order, in pages of any size."""

import random
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.made.company import Maker
from sat_retriever.index.store import relink
from sat_retriever.index.store.opening import create_store, open_store
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.links.claims import blocks_of, discover, join_links
from sat_retriever.links.copies.claims import copy_claims
from sat_retriever.links.join.keys import BLOCK_LIMIT
from sat_retriever.records.links import LinkType
from sat_retriever.records.structure import Structure
from tests.index.store.older import WITHOUT_NAMES

NOTES = "SELECT name FROM unsettled UNION SELECT family FROM stale_families"


@pytest.fixture(scope="module")
def books():
    """Workbooks of seven teams, whose monthly sheets crowd some blocks and share others."""
    made = []
    for book in Maker(3).books(1_000):
        found = discover(book.records, book.references, Structure(), book.profiles)
        claims = replace(found.claims, copies=copy_claims(book.records))
        rows = [SheetRow(x, np.ones(2, dtype=np.float32)) for x in book.records]
        state = WorkbookState("/made", book.records[0].path, 1, 1, 1, "hash")
        made.append(NewWorkbook(state, rows, replace(found, claims=claims)))
    return made


def content(store):
    links = [(x.source, x.target, x.type, x.weight, x.evidence) for x in store.links.all()]
    crowded = [row[0] for row in store._rows("SELECT block FROM crowded_blocks ORDER BY block")]
    return links, crowded


def written(place, parts, *, settled=lambda _: True):
    with closing(create_store(place, {"width": "2"})) as store:
        for number, part in enumerate(parts):
            store.replace_workbooks(part)
            if settled(number):
                store.settle()
        store.settle()
        assert not store._rows(NOTES)
        return content(store)


@pytest.fixture(scope="module")
def expected(books, tmp_path_factory):
    """Links and crowded blocks of all workbooks at once."""
    return written(tmp_path_factory.mktemp("all") / "a.sat", [books])


def test_joins_are_those_of_all_pairs_that_share_a_block_that_is_not_crowded(books, expected):
    links, crowded = expected
    columns = [column for book in books for column in book.discovery.claims.keys]
    counts = dict.fromkeys(blocks_of(columns), 0)
    for column in columns:
        for block in column.blocks:
            counts[block] += 1
    assert crowded == sorted(block for block, count in counts.items() if count > BLOCK_LIMIT)
    across = {
        (x.source, x.target, x.weight, x.evidence)
        for x in join_links(columns, columns, frozenset(crowded))
    }
    inside = {
        (x.source, x.target, x.weight, x.evidence)
        for book in books
        for x in book.discovery.links
        if x.type == LinkType.JOIN_KEY
    }
    found = {(*x[:2], *x[3:]) for x in links if x[2] == LinkType.JOIN_KEY}
    assert found == across | inside
    assert across and crowded


@pytest.mark.parametrize("seed", range(3))
def test_order_batches_and_pages_change_nothing(books, expected, seed, tmp_path, monkeypatch):
    draw = random.Random(seed)
    for name in ("_SHEETS", "_BLOCKS", "_FILES", "_FAMILIES"):
        monkeypatch.setattr(relink, name, draw.randint(1, 40))
    some = draw.sample(books, len(books))
    sizes = [draw.randint(1, 30) for _ in some]
    parts = [some[sum(sizes[:n]) : sum(sizes[: n + 1])] for n in range(len(sizes))]
    parts = [part for part in parts if part]
    settled = [draw.random() < 0.5 for _ in parts]
    assert written(tmp_path / "a.sat", parts, settled=settled.__getitem__) == expected


def test_what_goes_again_leaves_the_rest_as_if_it_had_never_come(books, tmp_path):
    half = books[::2]
    keys = [(book.state.root, book.state.path) for book in books[1::2]]
    with closing(create_store(tmp_path / "a.sat", {"width": "2"})) as store:
        store.replace_workbooks(books)
        store.settle()
        store.remove_workbooks(keys)
        store.settle()
        left = content(store)
    assert left == written(tmp_path / "b.sat", [half])


def test_a_pass_that_ends_half_way_goes_on_where_it_was(books, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(relink, "_SHEETS", 50)
    place = tmp_path / "a.sat"
    with closing(create_store(place, {"width": "2"})) as store, monkeypatch.context() as broken:
        store.replace_workbooks(books)
        pages = []

        def joined(columns, others, crowded):
            pages.append(columns)
            return join_links(columns, others, crowded) if len(pages) < 4 else 1 / 0

        broken.setattr(relink, "join_links", joined)
        with pytest.raises(ZeroDivisionError):
            store.settle()
    with closing(open_store(place)) as store:
        assert store._rows(NOTES)
        assert content(store) != expected
        store.settle()
        assert content(store) == expected


def test_an_older_file_knows_its_crowded_blocks_when_it_is_opened(books, expected, tmp_path):
    place = tmp_path / "a.sat"
    written(place, [books])
    with closing(sqlite3.connect(place)) as file:
        file.executescript(
            f"{WITHOUT_NAMES} DROP TABLE unsettled; DROP TABLE crowded_blocks; "
            "DROP TABLE permissions; "
            "CREATE TABLE contents_tokens (id, token); "
            "PRAGMA user_version = 8;"
        )
    with closing(open_store(place)) as store:
        assert content(store) == expected
        store.remove_workbooks([(book.state.root, book.state.path) for book in books[1::2]])
        store.settle()
        assert content(store) == written(tmp_path / "b.sat", [books[::2]])
