"""Which families are held out, and which questions about them choose and judge."""

from __future__ import annotations

import pytest

from sat_retriever.datasets.labels import Query
from sat_retriever.train.data.holdout import FEWEST, even, kept_apart, sides


def families(*sizes):
    return [[f"{number}.{sheet}" for sheet in range(size)] for number, size in enumerate(sizes)]


@pytest.mark.parametrize("seed", range(5))
def test_many_small_families_are_held_out_in_place_of_a_large_one(seed):
    held_out = kept_apart(families(*[9] * 4, *[2] * 32), share=0.2, seed=seed)
    assert not any(int(sheet.partition(".")[0]) < 4 for sheet in held_out)
    assert len(held_out) == 20
    assert held_out != kept_apart(families(*[9] * 4, *[2] * 32), share=0.2, seed=seed + 1)


def test_a_large_family_is_held_out_where_there_is_little_else():
    assert len(kept_apart(families(10, 10, 1, 1), share=0.5, seed=1)) >= 10


def test_no_type_is_asked_more_than_the_median_one():
    asked = [Query(f"{kind} {n}", ("a",), query_type=kind) for n in range(9) for kind in "abcd"]
    asked = [query for query in asked if query.query_type in "ab" or int(query.text[-1]) < 3]
    fewer = [query for query in asked if query.query_type != "b"]
    kept = [query.query_type for query in even(fewer, enough=2)]
    assert [kept.count(kind) for kind in "acd"] == [3, 3, 3]
    assert even([]) == ()


def test_a_type_of_two_questions_does_not_hold_the_others_down():
    kinds = ["lookup"] * 300 + ["comparison"] * 76 + ["tracing"] * 22 + ["summary"] * 2
    asked = [Query(str(n), ("a",), query_type=kind) for n, kind in enumerate(kinds)]
    kept = [query.query_type for query in even(asked)]
    counts = [kept.count(kind) for kind in ("lookup", "comparison", "tracing", "summary")]
    assert counts == [100, 76, 22, 2]


def test_of_two_types_the_frequent_one_is_thinned():
    kinds = ["comparison"] * 705 + ["lookup"] * 120
    asked = [Query(str(n), ("a",), query_type=kind) for n, kind in enumerate(kinds)]
    kept = [query.query_type for query in even(asked)]
    assert [kept.count(kind) for kind in ("comparison", "lookup")] == [120, 120]


def test_most_held_out_families_judge_and_none_of_them_chooses():
    names = [f"{number:02}" for number in range(40)]
    asked = [Query(f"{name}{n}", (name,)) for name in names for n in range(2)]
    choose, judge, apart = sides(asked, [[name] for name in (*names, "seen")], set(names), 0)
    assert apart
    assert (len(choose), len(judge)) == (24, 56)
    assert {q.positives for q in choose}.isdisjoint(q.positives for q in judge)


def test_few_questions_do_both():
    groups = [["a"], ["b"], ["c"]]
    asked = [Query(f"{sheet}{number}", (sheet,)) for sheet in "ab" for number in range(FEWEST)]
    assert sides(asked, groups, {"a", "b"}, 0)[2]
    few = asked[1:]
    assert sides(few, groups, {"a", "b"}, 0) == (tuple(few), tuple(few), False)
    alone = asked[:FEWEST]
    assert sides(alone, groups, {"a"}, 0) == (tuple(alone), tuple(alone), False)
