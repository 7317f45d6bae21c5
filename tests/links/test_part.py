"""Parts of a graph: the surroundings of some sheets, and the best linked ones."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Link
from sat_retriever.links.graph import around, best_linked

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20)


@given(PAIRS, st.integers(0, 9), st.integers(0, 4))
def test_around_is_what_a_breadth_first_search_finds(pairs, start, hops):
    links = [Link(str(a), str(b), "join_key") for a, b in pairs]
    graph = nx.Graph(pairs)
    graph.add_node(start)
    near = nx.single_source_shortest_path_length(graph, start, cutoff=hops)
    assert around([str(start)], links, hops) == sorted(map(str, near))


def test_going_round_ends_where_no_sheet_is_left_however_many_hops_are_allowed():
    links = [Link("a", "b", "join_key"), Link("b", "a", "join_key")]
    assert around(["a"], links, 10**18) == ["a", "b"]


def test_the_best_linked_stay_and_the_same_workbook_counts_last():
    links = [
        Link("d", "e", "join_key"),
        *(Link("a", other, "same_workbook") for other in "bcde"),
        Link("x", "b", "join_key"),  # x is not among the sheets
    ]
    assert best_linked("abcde", links, 5) == list("abcde")
    assert best_linked("abcde", links, 3) == ["a", "d", "e"]
    assert best_linked("abcde", links, 2) == ["d", "e"]
