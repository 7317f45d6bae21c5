"""An index in PostgreSQL answers as an index file of the same sheets does."""

from __future__ import annotations

import datetime as dt
import random
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sat_retriever import Column, Filters, Link, SheetIndex, SheetRecord
from sat_retriever.index.store.conditions import postgres_conditions, sqlite_conditions
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.records.contents import CellText, SheetContents
from sat_retriever.records.sheets import Visibility
from tests.fakes import HashedEncoder
from tests.places import needs

CLOSE = 1e-6
NAMES = (
    *("Sales", "Costs", "Fleet", "Staff", "Rent", "Fuel", "Stock", "Orders"),
    *("Überschuß", "销售额", "NOx", "PM2.5", "L'été", "A/B"),
)
QUERIES = (
    "sales of the fleet in 2023",
    "überschuss 销售 nox",
    '"net sales" 2023-0815',
    "stafff costss",
    "PM2.5 by region",
    "notes on the source",
    "Q1 2024 rent",
)


def made_records(count: int) -> list[SheetRecord]:
    """Records with every kind of name, time, metadata, contents and copy, always the same."""
    draw = random.Random(7)
    found = []
    for number in range(count):
        book = f"{draw.choice(NAMES)} {draw.choice((2022, 2023, 2024))}.xlsx"
        tab = draw.choice((draw.choice(NAMES), f"Q{draw.randint(1, 4)}", "Notes"))
        cells = [
            CellText(f"A{row}", f"{draw.choice(NAMES)} 2023-{draw.randint(800, 830):04}")
            for row in range(draw.randint(0, 12))
        ]
        found.append(
            SheetRecord(
                f"{number:04}/{book}#{tab}",
                tab,
                workbook=book,
                path=draw.choice(("", f"{draw.choice(('a', 'b[1]'))}/{number}/{book}")),
                format=draw.choice(("xlsx", "csv")),
                visibility=draw.choice(list(Visibility)),
                columns=tuple(Column(draw.choice(NAMES)) for _ in range(draw.randint(0, 6))),
                metadata=draw.choice(
                    ({}, {"year": 2023}, {"year": "2023"}, {"x": 1.5, "ok": True}, {"x": 1e20})
                ),
                contents=SheetContents(notes=tuple(cells)) if cells else None,
            )
        )
    return found


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index file of made records, some changed and some removed again."""
    path = tmp_path_factory.mktemp("made") / "made.sat"
    with SheetIndex.create(path, HashedEncoder()) as index:
        fill(index)
    return path


def fill(index: SheetIndex) -> None:
    records = made_records(400)
    ids = [record.sheet_id for record in records]
    index.add_records(records, [Link(ids[3], ids[5], "join_key", 0.5, "x = y")])
    index.add_records(made_records(40))
    index.remove(ids[50:90])


def assert_same(one: SheetIndex, other: SheetIndex, queries: tuple[str, ...]) -> None:
    """Same sheets in the same order, with the same scores, for questions of every kind."""
    ids = one.sheet_ids()
    assert other.sheet_ids() == ids and ids
    assert other.records(ids, contents=True) == one.records(ids, contents=True)
    assert other.links(ids) == one.links(ids)
    assert [*other.all_links()] == [*one.all_links()]
    assert other.copies(ids) == one.copies(ids)
    assert other.workbook_of(ids) == one.workbook_of(ids)
    assert np.array_equal(one.search.tokens(ids), other.search.tokens(ids))
    for filters in FILTERS:
        assert one.search.count(filters) == other.search.count(filters), filters
        assert other.copies(ids, filters) == one.copies(ids, filters)
    for query in queries:
        asked, answered = one.question(query), other.question(query)
        assert asked.words == answered.words and asked.read_as == answered.read_as
        for filters in FILTERS:
            found = one.candidates(asked, 200, filters)
            same = other.candidates(answered, 200, filters)
            assert [each.sheet_id for each in same] == [each.sheet_id for each in found]
            assert all(
                abs(a.score - b.score) <= CLOSE and abs(a.contents - b.contents) <= CLOSE
                for a, b in zip(found, same, strict=True)
            )
        assert one.search.evidence(asked) == other.search.evidence(answered)


FILTERS = (
    None,
    Filters(path="a/*"),
    Filters(path="b[1]/*"),
    Filters(path="?/[!0-9]*"),
    Filters(format="csv", visibility=Visibility.HIDDEN),
    Filters(metadata={"year": "2023"}),
    Filters(metadata={"year": 2023}),
    Filters(metadata={"x": 1.5}),
    Filters(metadata={"ok": True}),
    Filters(metadata={"ok": "1"}),
    Filters(metadata={"x": "1.0e+20"}),
    Filters(period="2023"),
    Filters(modified_after=dt.datetime(2020, 1, 1)),
    Filters(workbook="Rent 2023.xlsx"),
)


def test_made_sheets_that_were_written_anew_answer_the_same(file, url):
    encoder = HashedEncoder()
    with SheetIndex.open(file, encoder) as one, SheetIndex.create(url, encoder) as other:
        fill(other)
        assert_same(one, other, QUERIES)


def test_words_postings_and_spellings_are_the_same(file, url):
    migrate_store(file, IndexUrl.parse(url))
    with SheetIndex.open(file) as index, SheetIndex.open(url) as moved:
        one, other = index._store, moved._store
        words = {row[0] for row in other._rows("SELECT substr(unnest(names), 2) FROM words")}
        inside = {row[0] for row in other._rows("SELECT unnest(contents) FROM words")}
        assert len(words) > 20 and len(inside) > 40
        for word in sorted(words | inside | {"absent", "a-b"}):
            for mine, theirs in zip(one.postings(word), other.postings(word), strict=True):
                assert np.array_equal(mine, theirs), word
            for after, most in ((-1, None), (9, None), (-1, 3)):
                mine = one.content_postings(word, after)
                # FTS5 may still name sheets that are gone.
                mine = mine[np.isin(mine, one.ids_by_sheet_id())][:most]
                assert np.array_equal(mine, other.content_postings(word, after, most)), word
        for word in ("saless", "stafff", "überschuss", "ordres"):
            assert one.spelled_near(word) == other.spelled_near(word)
        for name in ("documentation", "main_sheets", "ids_by_sheet_id", "fields"):
            assert list(getattr(one, name)()) == list(getattr(other, name)()), name
        assert one.counts() == other.counts()
        for fact in ("format", "visibility", "formulas"):
            assert one.sheet_counts(fact) == other.sheet_counts(fact)


@pytest.mark.slow  # real folders into both stores: a minute each
@pytest.mark.parametrize("folder", ["eps", "odd_files"])
def test_workbooks_synced_into_both_answer_the_same(folder, tmp_path, url):
    source = needs(f"data/{folder}")
    with (
        SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as one,
        SheetIndex.create(url, HashedEncoder()) as other,
    ):
        one.sync(source)
        other.sync(source)
        assert one.workbooks()
        assert_same(one, other, (*QUERIES, "fuel prices by year", "vehicle emissions of NOx"))


SIGNS = st.text(st.sampled_from("ab/.*?[]^-\\ü\n" + string.digits[:2]), max_size=8)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SIGNS, SIGNS)
def test_a_glob_matches_the_same_paths(file, globs, pattern, path):
    one, other = globs
    mine, values = sqlite_conditions(Filters(path=pattern))
    sql, same = postgres_conditions(Filters(path=pattern))
    here = one._rows(f"SELECT {mine} FROM (SELECT ? AS path) s", [*values, path])[0][0]
    there = other._rows(f"SELECT {sql} FROM (SELECT ?::text AS path) s", [*same, path])[0][0]
    assert bool(here) == bool(there), (pattern, path)


@pytest.fixture(scope="module")
def globs(file, postgres):
    url = postgres.url("globs")
    with SheetIndex.open(file) as one, SheetIndex.create(url, HashedEncoder()) as other:
        yield one._store, other._store
        other._store.delete()
