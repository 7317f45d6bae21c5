"""Groups of what shares something, and a few of many."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.records.grouping import connected, evenly

KEYS = st.lists(st.tuples(st.integers(0, 9), st.frozensets(st.integers(0, 9), max_size=3)))


@given(KEYS)
def test_two_items_are_in_one_group_if_a_chain_of_keys_leads_from_one_to_the_other(items):
    groups = connected(items)
    assert [item for group in groups for item in sorted(group)] == sorted(
        dict.fromkeys(item for item, _ in items),
        key=lambda item: (next(n for n, group in enumerate(groups) if item in group), item),
    )
    for item, keys in items:
        [group] = [group for group in groups if item in group]
        for other, others in items:
            assert other in group or not keys & others
    # No smaller groups would do: within one, whoever is left reaches the first.
    for group in groups:
        reached, before = {group[0]}, 0
        while before < len(reached):
            before = len(reached)
            open_keys = set().union(*(keys for item, keys in items if item in reached))
            reached |= {item for item, keys in items if keys & open_keys}
        assert reached == set(group)


@given(KEYS)
def test_groups_and_items_are_in_the_order_they_came(items):
    came = list(dict.fromkeys(item for item, _ in items))
    groups = connected(items)
    assert all(group == sorted(group, key=came.index) for group in groups)
    assert [group[0] for group in groups] == sorted((g[0] for g in groups), key=came.index)


def test_a_long_chain_is_one_group():
    long = 2 * sys.getrecursionlimit()
    assert connected((n, [n, n + 1]) for n in range(long)) == [list(range(long))]


@given(st.integers(0, 60), st.integers(1, 30))
def test_a_few_of_many_lie_about_equally_far_apart(count, most):
    found = evenly(range(count), most)
    assert len(found) == min(count, most)
    assert found[:1] == list(range(count))[:1]
    steps = {b - a for a, b in zip([*found], [*found[1:], count], strict=True)} if found else {0}
    assert max(steps) - min(steps) <= 1
