"""Families of sheets, and questions divided so that training sees none of the held-out ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.datasets.dataset import Dataset, Split
from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.train.data.holdout import (
    by_family,
    divided,
    families,
    families_of,
    held_out_families,
)
from sat_retriever.train.data.reading import from_index
from tests.fakes import HashedEncoder


def sheet(sheet_id, name="", *headers, path=""):
    columns = tuple(Column(each) for each in headers)
    return SheetRecord(sheet_id, name or sheet_id, path.split("/")[-1], path, columns=columns)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (sheet("a", "x", "Region", "Net Sales"), sheet("b", "y", "net_sales", "region"), True),
        (sheet("a", "x", "Sales 2023", "City"), sheet("b", "y", "City", "Sales 2024"), True),
        (sheet("a", "x", "Region", "Sales"), sheet("b", "y", "Region"), False),
        (sheet("a", "Pay Jan 2024", "Name"), sheet("b", "Pay Feb 2024", "Staff", "Sum"), True),
        (sheet("a", "Pay Jan 2024", "Name"), sheet("b", "Tax Jan 2024", "Staff"), False),
        (sheet("a", "Q1", path="hr/2023.xlsx"), sheet("b", "Q2", path="hr/2024.xlsx"), True),
        (sheet("a", "Q1", path="2023.xlsx"), sheet("b", "Q2", path="2024.xlsx"), False),
        (sheet("a", "2023", path="hr/x.xlsx"), sheet("b", "2024", path="it/x.xlsx"), False),
        (sheet("a", "one"), sheet("b", "two"), False),  # no headers are no like headers
        (sheet("a", "one", "2023", "2024"), sheet("b", "two", "7", "8"), False),
    ],
)
def test_like_headers_and_series_over_time_make_a_family(first, second, together):
    assert len(families([first, second])) == (1 if together else 2)


def test_links_between_periods_make_a_family_and_no_others_do():
    sheets = [sheet(name, name, f"only {name}") for name in ("a", "b", "c")]
    links = [Link("a", "c", "sibling_period"), Link("a", "b", "join_key"),
             Link("b", "gone", "sibling_period")]  # fmt: skip
    assert families(sheets, links) == [["a", "c"], ["b"]]


WORDS = st.sampled_from(["north", "south", "east", "west"])
SHEETS = st.lists(
    st.tuples(st.frozensets(WORDS, max_size=3), st.sampled_from(["sales", "pay", "tax"]),
              st.sampled_from(["2023", "2024 Q1", "March 2024", ""])),
    min_size=1, max_size=14,
)  # fmt: skip
PAIRS = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=6)


def records_of(drawn):
    return [
        sheet(f"s{place:02}", f"{subject} {time}".strip(), *sorted(headers))
        for place, (headers, subject, time) in enumerate(drawn)
    ]


def slow_families(drawn, pairs):
    """Components by trying every pair until nothing changes."""
    groups = [{place} for place in range(len(drawn))]
    alike = {
        frozenset((a, b))
        for a, (headers, subject, time) in enumerate(drawn)
        for b, (others, other, then) in enumerate(drawn)
        if (headers and headers == others) or (subject == other and time and then)
    } | {frozenset(pair) for pair in pairs if max(pair) < len(drawn)}
    changed = True
    while changed:
        changed = False
        for pair in alike:
            touched = [group for group in groups if group & pair]
            if len(touched) > 1:
                groups = [group for group in groups if not group & pair] + [set().union(*touched)]
                changed = True
    return sorted(sorted(f"s{place:02}" for place in group) for group in groups)


@given(SHEETS, PAIRS, st.randoms())
def test_families_are_the_connected_parts_in_whatever_order_sheets_come(drawn, pairs, chance):
    records = records_of(drawn)
    links = [Link(f"s{a:02}", f"s{b:02}", "sibling_period") for a, b in pairs]
    found = families(records, links)
    assert found == slow_families(drawn, pairs)
    chance.shuffle(records)
    chance.shuffle(links)
    assert families(records, links) == found


@settings(max_examples=40)
@given(SHEETS, st.lists(st.frozensets(st.integers(0, 13), min_size=1, max_size=4), max_size=12),
       st.floats(0.05, 0.95), st.integers(0, 5))  # fmt: skip
def test_a_question_is_on_a_side_with_all_its_sheets_and_no_family_is_on_both(
    tmp_path_factory, drawn, asked, share, seed
):
    path = tmp_path_factory.mktemp("f") / "a.sat"
    records = records_of(drawn)
    queries = [
        Query(f"q{number}", tuple(f"s{place % len(records):02}" for place in sorted(places)))
        for number, places in enumerate(asked)
    ]
    with SheetIndex.create(path, HashedEncoder(16)) as index:
        index.add_records(records)
        groups = families_of(index)
        try:
            split = by_family(index, queries, share=share, seed=seed)
        except InputError as error:
            assert "family" in str(error) or "families" in str(error)
            return
        own = Dataset("own", (), tuple(queries), split=split)
        held_out = set(index.sheet_ids()) - split.seen
        assert all(held_out.issuperset(group) or not held_out & set(group) for group in groups)
        assert all(split.seen.issuperset(query.positives) for query in own.train)
        assert all(held_out.issuperset(query.positives) for query in own.validation)
        assert len(own.train) + len(own.validation) + own.left_out == len(queries)
        assert {query.text for query in own.train}.isdisjoint(q.text for q in own.validation)
        assert by_family(index, queries, share=share, seed=seed) == split
        from_index(index, own)


def test_the_share_is_kept_to_where_families_are_small_and_another_seed_draws_others():
    groups = [[f"{family}-{number}" for number in range(3)] for family in range(40)]
    drawn = {seed: held_out_families(groups, share=0.2, seed=seed) for seed in range(4)}
    assert {len(each) for each in drawn.values()} == {24}
    assert len(set(drawn.values())) == 4


def test_one_family_cannot_be_held_out_and_a_question_must_be_left_on_each_side(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records([sheet("a", "x", "one"), sheet("b", "y", "two"), sheet("c", "z", "one")])
        with pytest.raises(InputError, match="of one family"):
            by_family(index, [Query("?", ("a",)), Query("!", ("c",))])
        both = [Query("?", ("a", "b"))]
        with pytest.raises(InputError, match="of 1 questions 0 are about sheets for training"):
            by_family(index, both)
        with pytest.raises(InputError, match="must lie between 0 and 1"):
            by_family(index, both, share=1)


def test_questions_about_both_sides_are_counted_as_left_out():
    queries = [Query("a", ("1",)), Query("b", ("2",)), Query("c", ("1", "2"))]
    split = divided(queries, ("1", "2", "3"), {"2"})
    assert split == Split((0,), (1,), seen=frozenset({"1", "3"}))
    assert Dataset("own", (), tuple(queries), split=split).left_out == 1
