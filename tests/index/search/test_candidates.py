"""A candidate set: one answer reads each fact once, and later stages see what earlier ones read."""

import re
from collections import Counter
from datetime import date

import pytest

from sat_retriever import Link, SheetIndex, SheetRecord, SheetRetriever
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from tests.fakes import HashedEncoder

NAMES = [f"Fuel {number}" for number in range(60)]


@pytest.fixture
def index(tmp_path):
    """Sixty sheets with contents, each linked to the next two; the last ones have few words."""
    records = [
        SheetRecord(
            name, name, workbook="fuel.xlsx", path=f"{number % 7}/fuel.xlsx",
            contents=SheetContents(
                (), (TableContents(values=(CellText("A2", f"price of fuel {number}"),)),)
            ),
        )
        for number, name in enumerate(NAMES)
    ]  # fmt: skip
    links = [
        Link(NAMES[n], NAMES[n + step], "formula_reference", 0.9, "A1")
        for n in range(58)
        for step in (1, 2)
    ]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(512)) as made:
        made.add_records(records, links, find_links=False)
        yield made


def reads(index, ask):
    """The statements of a call, but for those that look at the state of the index."""
    sent = []
    index._store._connection.set_trace_callback(sent.append)
    try:
        ask()
    finally:
        index._store._connection.set_trace_callback(None)
    return [sql for sql in sent if sql not in ("BEGIN", "ROLLBACK") and "FROM meta" not in sql]


@pytest.mark.parametrize("top_k", [5, 50])
def test_an_answer_asks_for_nothing_twice(index, top_k):
    retriever = SheetRetriever(index)
    retriever.retrieve("price of fuel 7", top_k, today=date(2026, 1, 1))
    sent = reads(
        index, lambda: retriever.retrieve("price of fuel 7", top_k, today=date(2026, 1, 1))
    )
    assert [sql for sql, number in Counter(sent).items() if number > 1] == []
    for table in ("SELECT sheet_id, record", "s.sheet_id, c.packed", "s.sheet_id, t.name"):
        named = [re.findall(r"'([^']+)'", sql.partition(" IN ")[2]) for sql in sent if table in sql]
        ids = [sheet_id for each in named for sheet_id in each]
        assert named and len(ids) == len(set(ids))
    assert len(sent) <= 10


def test_sets_of_one_question_share_what_was_read(index):
    found = index.search.found(index.question("fuel 7"), 10, all_copies=True)
    records, links, homes = found.records(), found.links(found.ids), found.homes(found.ids)
    best = found.of(found.candidates[:3])
    assert reads(index, lambda: (best.records(), best.links(best.ids), best.homes(best.ids))) == []
    assert best.records() == {each: records[each] for each in best.ids}
    assert best.homes(best.ids) == {each: homes[each] for each in best.ids}
    own = set(best.ids)
    assert best.links(best.ids) == [x for x in links if {x.source, x.target} <= own]


def test_links_are_those_between_some_and_all_candidates(index):
    found = index.search.found(index.question("fuel"), 60, all_copies=True)
    for some in ([NAMES[3]], NAMES[:5], NAMES[4:9], []):
        wanted = index._seen.links.between(some, found.ids)
        assert found.links(some) == wanted
    few = found.of(each for each in found.candidates if each.sheet_id in NAMES[:4])
    assert few.links(few.ids) == index._seen.links.between(few.ids, few.ids)
    fresh = index.search.candidate_set(few.question, few.candidates)
    assert fresh.links(fresh.ids[:2]) == index._seen.links.between(fresh.ids[:2], fresh.ids)
    assert fresh.of(found.candidates).links(found.ids) == found.links(found.ids)
