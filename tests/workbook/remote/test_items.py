"""Names of items: one for each file whatever services call them, and always part of a path."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("httpx")

from sat_retriever.workbook.remote.items import Item, Kind, by_name, clean_name, size_of

NAMES = st.sampled_from(["a.csv", "a [1].csv", "a [1] [1].csv", "a [2].csv", "a", ""])


@given(st.lists(st.tuples(NAMES, st.sampled_from(list(Kind)))))
def test_every_item_is_named_and_only_folders_share_a_name(listed):
    items = [Item(str(n), name, kind, "") for n, (name, kind) in enumerate(listed)]
    found = by_name(items)
    assert sorted(each.id for same in found.values() for each in same) == sorted(
        each.id for each in items
    )
    for name, same in found.items():
        if len(same) > 1 or same[0].kind is Kind.FOLDER:
            assert {(each.kind, each.name) for each in same} == {(Kind.FOLDER, name)}
        elif sum(each.name == same[0].name for each in items) == 1:
            assert name == same[0].name or f" [{same[0].id}]" in name
        else:
            assert f" [{same[0].id}]" in name


@given(st.text())
def test_a_name_is_one_part_of_a_path_that_can_be_stored(name):
    clean = clean_name(name)
    assert "/" not in clean and len(clean) <= 1025
    assert clean.encode("utf-8").decode() == clean
    if name.isprintable() and "/" not in name and len(name) < 1025:
        assert clean == name


@given(st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.booleans()))
def test_a_size_is_a_number_that_can_be_stored_or_unknown(told):
    size = size_of(told)
    assert size is None or 0 <= size < 1 << 62
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 1 << 62:
        assert size == told == size_of(str(told))
